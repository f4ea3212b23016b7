"""How to cite a release: CITATION.cff, and the same as BibTeX for the card."""

import re

from . import licence, yaml
from .about import About, Creator


def write(about: About) -> str:
    """Return CITATION.cff, in version 1.2.0 of the Citation File Format."""
    said = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": about.title,
        "version": str(about.version),
        "date-released": about.released.isoformat(),
        "authors": [_author(each) for each in about.creators] or [{"name": about.makers}],
    }
    if spdx := licence.of(about.licence).spdx:
        said["license"] = spdx
    if about.description.strip():
        said["abstract"] = about.description.strip()
    if about.doi:
        said["doi"] = about.doi
    if about.address:
        said["url"] = about.address
    return yaml.dump(said)


def _author(creator: Creator) -> dict[str, str]:
    # Which part of a name is the family's differs between languages, so it is not guessed: an entity has one name.
    said = {"name": creator.name}
    if creator.orcid:
        said["orcid"] = f"https://orcid.org/{creator.orcid.rsplit('/', 1)[-1]}"
    return said


def sentence(about: About) -> str:
    """Return the same as one line, as a list of references has it."""
    at = f"https://doi.org/{about.doi}" if about.doi else about.address
    makers = ", ".join(creator.name for creator in about.creators) or about.makers
    return f"{makers} ({about.released.year}). {about.title} (version {about.version}) [Data set]. {at}".strip()


def bibtex(about: About) -> str:
    """Return the same as an entry of BibTeX."""
    fields = {
        "author": " and ".join(f"{{{_bare(creator.name)}}}" for creator in about.creators)
        or f"{{{_bare(about.makers)}}}",
        "title": f"{{{_bare(about.title)}}}",
        "version": str(about.version),
        "year": str(about.released.year),
    }
    if about.doi:
        fields["doi"] = _bare(about.doi)
    if about.address:
        fields["url"] = _bare(about.address)
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{about.name.replace('-', '_')},\n{lines}\n}}"


def _bare(text: str) -> str:
    """Return a text without what ends a field, begins a command, or ends the block of code that it stands in."""
    return " ".join(re.sub(r"[{}\\`]", "", text).split())
