"""What is new since the last version: what the researcher says, and what a comparison of the two manifests shows."""

from typing import Any

from . import prose
from .about import About

Manifest = dict[str, Any]


def write(about: About, manifest: Manifest) -> str:
    """Return CHANGES.md."""
    parts = [f"# Changes in version {about.version}"]
    if about.changes.strip():
        parts += [prose.paragraphs(about.changes)]
    if about.previous is None:
        parts += ["This is the first version."]
    else:
        found = compared(about.previous, manifest)
        since = f"Since version {about.previous.get('version')}:"
        parts += [since, "\n".join(f"- {each}" for each in found) if found else "The tables hold exactly the same."]
    return "\n\n".join(parts) + "\n"


def compared(before: Manifest, after: Manifest) -> list[str]:
    """Return in sentences of Markdown what differs between two versions' manifests."""
    found = []
    if before.get("schema_version") != after["schema_version"]:
        found.append(f"The schema version was {before.get('schema_version')} and is {after['schema_version']}.")
    found += _licences(before, after)
    earlier, later = _tables(before), _tables(after)
    found += [
        f"The table {prose.code(name)} is new: {later[name]['rows']:,} rows." for name in later if name not in earlier
    ]
    found += [f"The table {prose.code(name)} is not there any more." for name in earlier if name not in later]
    for name in later:
        if name in earlier:
            found += _table(name, earlier[name], later[name])
    return found + _choices(before, after)


def _tables(manifest: Manifest) -> dict[str, Manifest]:
    return {table["name"]: table for table in manifest.get("tables", [])}


def _licences(before: Manifest, after: Manifest) -> list[str]:
    if before.get("licence") == after["licence"]:
        return []
    return [f"The licence was {prose.code(str(before.get('licence')))} and is {prose.code(after['licence'])}."]


def _table(name: str, before: Manifest, after: Manifest) -> list[str]:
    found = []
    title = prose.code(name)
    earlier = {field["name"]: field for field in before["fields"]}
    later = {field["name"]: field for field in after["fields"]}
    if new := [field for field in later if field not in earlier]:
        found.append(f"{title} has new fields: {', '.join(prose.code(each) for each in new)}.")
    if gone := [field for field in earlier if field not in later]:
        found.append(f"{title} has these fields no more: {', '.join(prose.code(each) for each in gone)}.")
    for field in later:
        if field in earlier and earlier[field]["type"] != later[field]["type"]:
            was, is_ = earlier[field]["type"], later[field]["type"]
            found.append(f"{title}: {prose.code(field)} was {prose.code(was)} and is {prose.code(is_)}.")
    if before["rows"] != after["rows"]:
        found.append(f"{title} had {before['rows']:,} rows and has {after['rows']:,}.")
    elif before["content_sha256"] != after["content_sha256"] and not found:
        found.append(f"{title} has as many rows as before ({after['rows']:,}), and not the same.")
    return found


def _choices(before: Manifest, after: Manifest) -> list[str]:
    earlier, later = before.get("choices", {}), after["choices"]
    return [
        f"The choice {prose.code(name)} was {_said(earlier.get(name))} and is {_said(later[name])}."
        # Runs have other keys in every version that is analysed anew.
        for name in later
        if name != "runs" and name in earlier and earlier[name] != later[name]
    ]


def _said(value: Any) -> str:
    words = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return prose.code(words) if words else "nothing"
