"""The dataset card: README.md, with the block of metadata that Hugging Face reads."""

from collections.abc import Sequence
from typing import Any

from . import citation, licence, prose, yaml
from .about import About, LeftOut

Manifest = dict[str, Any]
# The name of a class of size is the largest number of rows in it.
SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)
LARGER = "100M<n<1B"
# What a reader who names no table gets, if it is there.
FIRST = ("responses", "judgments", "topics")


def write(about: About, manifest: Manifest) -> str:
    """Return README.md."""
    parts = [
        f"---\n{yaml.dump(metadata(about, manifest))}---",
        f"# {prose.line(about.title)}, version {about.version}",
        *_what_it_is(about),
        "## Tables",
        prose.table(
            ["table", "rows", "a row is"],
            [[prose.code(t["name"]), f"{t['rows']:,}", prose.line(t["meaning"])] for t in manifest["tables"]],
        ),
        "Every field is described in [FIELDS.md](FIELDS.md); how the data came about, in [DATASHEET.md](DATASHEET.md).",
        "## Loading",
        _loading(manifest),
        "## Files",
        _FILES,
        "## What is not in it",
        left_out(about),
        *_not_in_the_layout(about),
        "## Licence",
        _licence(about),
        "## Citation",
        f"```bibtex\n{citation.bibtex(about)}\n```",
    ]
    return "\n\n".join(parts) + "\n"


def metadata(about: About, manifest: Manifest) -> dict[str, Any]:
    """Return what Hugging Face reads: each table that has rows is a configuration of its own."""
    known = licence.of(about.licence)
    said: dict[str, Any] = {
        "pretty_name": about.title,
        "language": [about.language.split("-")[0]],
        "license": known.hub,
    }
    if known.hub == "other":
        said |= {"license_name": about.licence, "license_link": "LICENSE"}
    full = [table for table in manifest["tables"] if table["rows"]]
    return said | {
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
    said: dict[str, Any] = {"config_name": name}
    if default:
        said["default"] = True
    return said | {"data_files": [{"split": "train", "path": f"parquet/{name}.parquet"}]}


def _what_it_is(about: About) -> list[str]:
    said = [prose.paragraphs(about.description)] if about.description.strip() else []
    if about.is_simulated:
        said.append("**The crowd of this study is simulated**: no person wrote or judged any of it.")
    if about.address:
        said.append(f"Published at <{about.address}>.")
    return said


def _loading(manifest: Manifest) -> str:
    name = _first([table for table in manifest["tables"] if table["rows"]])
    if not name:
        return "There are no rows in this release."
    return f"""```python
import datasets, duckdb, pandas

datasets.load_dataset("path/to/this/folder", "{name}", split="train")
pandas.read_parquet("parquet/{name}.parquet")
pandas.read_json("jsonl/{name}.jsonl.gz", lines=True, dtype=False)
duckdb.sql("SELECT * FROM 'parquet/{name}.parquet'")
```"""  # noqa: S608 -- an example to read


_FILES = """| where | what |
| --- | --- |
| `jsonl/` | every table as gzipped JSON lines: every text as it is |
| `parquet/` | the same with types, and with the meaning of every column in the metadata |
| `csv/` | the same for spreadsheets: a cell that would begin a formula has an apostrophe in front, so texts differ |
| `trec/` | topics, grades as qrels and pair preferences, for tools of information retrieval |
| `crowdrag25/` | the layout of the CrowdRAG-25 corpus |
| `croissant.json` | Croissant metadata |
| `release.json` | the manifest: fields, files, choices, what was left out, the runs that results came from |
| `CHANGES.md`, `SHA256SUMS`, `LICENSE`, `CITATION.cff` | as their names say: `sha256sum --check SHA256SUMS` |

Files for which the study has nothing are not there."""


def left_out(about: About) -> str:
    """Return what the study has and the release has not, as a table."""
    if not about.left_out:
        return "Nothing of what was chosen for this release had to be left out."
    return _counted(about.left_out)


def _not_in_the_layout(about: About) -> list[str]:
    if not about.layout_left_out:
        return []
    return ["The CrowdRAG-25 layout has no room for these, which the tables hold:", _counted(about.layout_left_out)]


def _counted(left_out: Sequence[LeftOut]) -> str:
    rows = [[prose.line(each.what), f"{each.count:,}", prose.line(each.reason)] for each in left_out]
    return prose.table(["what", "how many", "why"], rows)


def _licence(about: About) -> str:
    found = licence.of(about.licence)
    name = prose.line(found.name)
    said = f"What people and models wrote, what people judged, and what follows from it: {name}"
    said += f" (<{found.address}>)." if found.address else "."
    if about.passage_terms:
        terms = prose.line(about.passage_terms)
        said += f"\n\nRetrieved passages are the work of others, passed on under these terms: {terms}"
    return said
