"""The dataset card (README.md with the metadata for Hugging Face), and the changes since the previous version."""

from collections.abc import Sequence
from typing import Any

from . import citation, markup
from .about import About, Exclusion
from .release_formats import FORMATS

Manifest = dict[str, Any]
# Hugging Face's size categories, by their largest number of rows.
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
LARGER = "100M<n<1B"
# Default table of the card: the first of these that exists.
FIRST = ("responses", "judgments", "topics")


def write_card(about: About, manifest: Manifest) -> str:
    """Return README.md."""
    parts = [
        f"---\n{markup.dump_yaml(metadata(about, manifest))}---",
        f"# {markup.line(about.title)}, version {about.version}",
        *_what_it_is(about),
        "## Tables",
        markup.table(
            ["table", "rows", "one row is"],
            [[markup.code(t["name"]), f"{t['rows']:,}", markup.line(t["meaning"])] for t in manifest["tables"]],
        ),
        (
            "[FIELDS.md](FIELDS.md) describes every field. [DATASHEET.md](DATASHEET.md) describes how the "
            "data were collected."
        ),
        "## Loading",
        _loading(manifest),
        "## Files",
        _files(),
        "## Left out",
        left_out(about),
        *_not_in_the_layout(about),
        "## Licence",
        _licence(about),
        "## Citation",
        f"```bibtex\n{citation.bibtex(about)}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def metadata(about: About, manifest: Manifest) -> dict[str, Any]:
    """Return the metadata for Hugging Face: each table with rows is a configuration."""
    known = citation.licence_of(about.licence)
    fields: dict[str, Any] = {
        "pretty_name": about.title,
        "language": [about.language.split("-")[0]],
        "license": known.hub,
    }
    if known.hub == "other":
        fields |= {"license_name": about.licence, "license_link": "LICENSE"}
    full = [table for table in manifest["tables"] if table["rows"]]
    return fields | {
        "annotations_creators": ["crowdsourced"],
        "task_categories": ["text-generation", "question-answering"],
        "tags": ["retrieval-augmented-generation", "evaluation", "crowdsourcing", "crowdrag"],
        "size_categories": [_size(max((table["rows"] for table in full), default=0))],
        "configs": [_configuration(table["name"], default=table["name"] == _first(full)) for table in full],
    }


def _size(rows: int) -> str:
    return next((name for most, name in SIZES if rows < most), LARGER)


def _first(tables: list[Manifest]) -> str:
    names = [table["name"] for table in tables]
    return next((name for name in FIRST if name in names), names[0] if names else "")


def _configuration(name: str, *, default: bool) -> dict[str, Any]:
    configuration: dict[str, Any] = {"config_name": name}
    if default:
        configuration["default"] = True
    return configuration | {"data_files": [{"split": "train", "path": f"parquet/{name}.parquet"}]}


def _what_it_is(about: About) -> list[str]:
    parts = [markup.paragraphs(about.description)] if about.description.strip() else []
    if about.is_simulated:
        parts.append("**The crowd of this study is simulated.** No person wrote or judged any of it.")
    if about.address:
        parts.append(f"Published at <{about.address}>.")
    return parts


def _loading(manifest: Manifest) -> str:
    name = _first([table for table in manifest["tables"] if table["rows"]])
    if not name:
        return "This release has no rows."
    return f"""```python
import datasets, duckdb, pandas

datasets.load_dataset("path/to/this/folder", "{name}", split="train")
pandas.read_parquet("parquet/{name}.parquet")
pandas.read_json("jsonl/{name}.jsonl.gz", lines=True, dtype=False)
duckdb.sql("SELECT * FROM 'parquet/{name}.parquet'")
```"""  # noqa: S608 -- an example to read


_OTHER_FILES = """| `croissant.json` | Croissant metadata |
| `release.json` | the manifest: fields, files, choices, left-out data, and the runs of the results |
| `CHANGES.md`, `SHA256SUMS`, `LICENSE`, `CITATION.cff` | as named (verify with `sha256sum --check SHA256SUMS`) |

A table without rows is a file without rows. The layout of CrowdRAG-25 has only files with data."""


def _files() -> str:
    formats = [f"| `{form.folder}/` | {form.description} |" for form in FORMATS]
    return "\n".join(["| path | content |", "| --- | --- |", *formats, _OTHER_FILES])


def left_out(about: About) -> str:
    """Return a table of the study's data that are not in the release."""
    if not about.left_out:
        return "Nothing was left out of the data chosen for this release."
    return _counted(about.left_out)


def _not_in_the_layout(about: About) -> list[str]:
    if not about.layout_left_out:
        return []
    return [
        "The tables contain these data, but the CrowdRAG-25 layout has no field for them:",
        _counted(about.layout_left_out),
    ]


def _counted(left_out: Sequence[Exclusion]) -> str:
    rows = [
        [markup.line(exclusion.what), f"{exclusion.count:,}", markup.line(exclusion.reason)] for exclusion in left_out
    ]
    return markup.table(["data", "count", "reason"], rows)


def _licence(about: About) -> str:
    licence = citation.licence_of(about.licence)
    name = markup.line(licence.name)
    text = f"Texts by people and models, judgments by people, and results derived from them: {name}"
    text += f" (<{licence.address}>)." if licence.address else "."
    if about.passage_terms:
        terms = markup.line(about.passage_terms)
        text += f"\n\nRetrieved passages are the work of others and are shared under these terms: {terms}"
    return text


def write_changes(about: About, manifest: Manifest) -> str:
    """Return CHANGES.md."""
    parts = [f"# Changes in version {about.version}"]
    if about.changes.strip():
        parts += [markup.paragraphs(about.changes)]
    if about.previous is None:
        parts += ["This is the first version."]
    else:
        differences = compared(about.previous, manifest)
        since = f"Since version {about.previous.get('version')}:"
        parts += [
            since,
            "\n".join(f"- {difference}" for difference in differences) if differences else "The tables are identical.",
        ]
    return "\n\n".join(parts) + "\n"


def compared(before: Manifest, after: Manifest) -> list[str]:
    """Describe the differences between the manifests of two versions in Markdown sentences."""
    sentences = []
    if before.get("schema_version") != after["schema_version"]:
        sentences.append(
            f"The schema version changed from {before.get('schema_version')} to {after['schema_version']}."
        )
    sentences += _licences(before, after)
    earlier, later = _tables(before), _tables(after)
    sentences += [
        f"The table {markup.code(name)} is new: {markup.count_rows(later[name]['rows'])}."
        for name in later
        if name not in earlier
    ]
    sentences += [f"The table {markup.code(name)} was removed." for name in earlier if name not in later]
    for name in later:
        if name in earlier:
            sentences += _table(name, earlier[name], later[name])
    return sentences + _choices(before, after)


def _tables(manifest: Manifest) -> dict[str, Manifest]:
    return {table["name"]: table for table in manifest.get("tables", [])}


def _licences(before: Manifest, after: Manifest) -> list[str]:
    if before.get("licence") == after["licence"]:
        return []
    return [f"The licence changed from {markup.code(str(before.get('licence')))} to {markup.code(after['licence'])}."]


def _table(name: str, before: Manifest, after: Manifest) -> list[str]:
    sentences = []
    title = markup.code(name)
    earlier = {field["name"]: field for field in before["fields"]}
    later = {field["name"]: field for field in after["fields"]}
    if new := [field for field in later if field not in earlier]:
        sentences.append(f"{title} has new fields: {', '.join(markup.code(field) for field in new)}.")
    if gone := [field for field in earlier if field not in later]:
        sentences.append(f"{title} no longer has the fields: {', '.join(markup.code(field) for field in gone)}.")
    for field in later:
        if field in earlier and earlier[field]["type"] != later[field]["type"]:
            was, is_ = earlier[field]["type"], later[field]["type"]
            sentences.append(f"{title}: {markup.code(field)} changed from {markup.code(was)} to {markup.code(is_)}.")
    if before["rows"] != after["rows"]:
        sentences.append(f"{title} changed from {before['rows']:,} to {markup.count_rows(after['rows'])}.")
    elif before["content_sha256"] != after["content_sha256"] and not sentences:
        sentences.append(f"{title} has the same number of rows ({after['rows']:,}), but different content.")
    return sentences


def _choices(before: Manifest, after: Manifest) -> list[str]:
    earlier, later = before.get("choices", {}), after["choices"]
    return [
        f"The choice {markup.code(name)} changed from {_value_code(earlier.get(name))} to {_value_code(later[name])}."
        # Runs have new keys whenever a version is analysed again.
        for name in later
        if name != "runs" and name in earlier and earlier[name] != later[name]
    ]


def _value_code(value: Any) -> str:
    words = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return markup.code(words) if words else "nothing"
