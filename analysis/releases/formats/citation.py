"""The licence of a release, and how to cite it."""

import re
from dataclasses import dataclass

from . import markup
from .about import About, Creator

_CC = "https://creativecommons.org/licenses"
_ODC = "https://opendatacommons.org/licenses"


@dataclass(frozen=True)
class Licence:
    """A licence.

    Attributes
    ----------
    spdx
        SPDX identifier; empty if unknown.
    name
        Common name.
    address
        URL of its text; empty if unknown.
    hub
        Identifier on Hugging Face.
    """

    spdx: str
    name: str
    address: str
    hub: str


def _creative_commons(kind: str, title: str) -> Licence:
    return Licence(
        f"CC-{kind.upper()}-4.0",
        f"Creative Commons {title} 4.0 International",
        f"{_CC}/{kind}/4.0/legalcode",
        f"cc-{kind}-4.0",
    )


_ALL = (
    Licence(
        "CC0-1.0",
        "Creative Commons Zero 1.0 Universal",
        "https://creativecommons.org/publicdomain/zero/1.0/legalcode",
        "cc0-1.0",
    ),
    _creative_commons("by", "Attribution"),
    _creative_commons("by-sa", "Attribution-ShareAlike"),
    _creative_commons("by-nc", "Attribution-NonCommercial"),
    _creative_commons("by-nc-sa", "Attribution-NonCommercial-ShareAlike"),
    _creative_commons("by-nd", "Attribution-NoDerivatives"),
    _creative_commons("by-nc-nd", "Attribution-NonCommercial-NoDerivatives"),
    Licence("ODC-By-1.0", "Open Data Commons Attribution License v1.0", f"{_ODC}/by/1-0/", "odc-by"),
    Licence("ODbL-1.0", "Open Data Commons Open Database License v1.0", f"{_ODC}/odbl/1-0/", "odbl"),
    Licence("PDDL-1.0", "Open Data Commons Public Domain Dedication and License v1.0", f"{_ODC}/pddl/1-0/", "pddl"),
)
KNOWN = {licence.spdx: licence for licence in _ALL}
#: Common names of licences that have only one version; other names without a version are ambiguous.
_ALSO = {"cc0": "CC0-1.0", "odc-by": "ODC-By-1.0", "odbl": "ODbL-1.0", "pddl": "PDDL-1.0"}
_WRITTEN = {licence.spdx.lower(): licence for licence in _ALL} | {name: KNOWN[spdx] for name, spdx in _ALSO.items()}


def licence_of(name: str) -> Licence:
    """Return the licence with this SPDX identifier, such as CC-BY-4.0 or CC BY 4.0; unknown ones only have a name."""
    return _WRITTEN.get("-".join(name.lower().split()), Licence("", name, "", "other"))


def write_licence(about: About) -> str:
    """Return the file LICENSE: the licence, the URL of its text, and what it does not cover."""
    licence = licence_of(about.licence)
    lines = [
        f"{about.title}, version {about.version}",
        f"Copyright {about.released.year} {about.makers}",
        "",
        "Texts by people and models, their judgments, and results derived from both are licensed under",
        "",
        f"    {licence.name}",
    ]
    if licence.address:
        lines += [f"    SPDX-License-Identifier: {licence.spdx}", f"    {licence.address}"]
        lines += ["", "This file only names the licence. The legally binding text is at that address."]
    else:
        lines += [
            "",
            f"The text of this licence is not known here. Ask {about.contact or 'the creators of the data'} for it.",
        ]
    if others := [name for name in about.licences if name != about.licence]:
        lines += ["", f"Some people released their texts under {', '.join(others)}. Each response names its licence."]
    if about.passage_terms:
        lines += ["", "Retrieved passages are the work of others. They are shared under these terms:", ""]
        lines += [f"    {line}" for line in about.passage_terms.splitlines()]
    return "\n".join(lines) + "\n"


def write_citation(about: About) -> str:
    """Return CITATION.cff, in version 1.2.0 of the Citation File Format."""
    fields = {
        "cff-version": "1.2.0",
        "message": "If you use these data, please cite them as below.",
        "type": "dataset",
        "title": about.title,
        "version": str(about.version),
        "date-released": about.released.isoformat(),
        "authors": [_author(creator) for creator in about.creators] or [{"name": about.makers}],
    }
    if spdx := licence_of(about.licence).spdx:
        fields["license"] = spdx
    if about.description.strip():
        fields["abstract"] = about.description.strip()
    if about.doi:
        fields["doi"] = about.doi
    if about.address:
        fields["url"] = about.address
    return markup.dump_yaml(fields)


def _author(creator: Creator) -> dict[str, str]:
    # Which part is the family name differs between languages, so use an entity, which has a single name.
    entity = {"name": creator.name}
    if creator.orcid:
        entity["orcid"] = f"https://orcid.org/{creator.orcid.rsplit('/', 1)[-1]}"
    return entity


def sentence(about: About) -> str:
    """Return the citation as one line, as in a list of references."""
    at = f"https://doi.org/{about.doi}" if about.doi else about.address
    makers = ", ".join(creator.name for creator in about.creators) or about.makers
    return f"{makers} ({about.released.year}). {about.title} (version {about.version}) [Data set]. {at}".strip()


def bibtex(about: About) -> str:
    """Return the citation as a BibTeX entry."""
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
    """Remove characters that would end a field, begin a command, or end the surrounding code block."""
    return " ".join(re.sub(r"[{}\\`]", "", text).split())
