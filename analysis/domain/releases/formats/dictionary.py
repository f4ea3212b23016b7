"""What every field of a release means: for people (FIELDS.md), and for programs (in the manifest)."""

from collections.abc import Sequence
from typing import Any

from ..contents.table import Column, Table
from . import prose
from .about import FORMAT, SCHEMA_VERSION
from .columns import WORDS


def of_tables(tables: Sequence[Table]) -> list[dict[str, Any]]:
    """Return every table's meaning, key and fields."""
    return [
        {
            "name": table.name,
            "meaning": table.meaning,
            "key": list(table.key),
            "fields": [_field(column) for column in table.columns],
        }
        for table in tables
    ]


def _field(column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "nullable": column.nullable,
        "meaning": column.meaning,
    }
    if column.refers_to:
        found["refers_to"] = column.refers_to
    if column.values:
        found["values"] = list(column.values)
    return found


def write(tables: Sequence[Table]) -> str:
    """Return FIELDS.md."""
    parts = [
        "# What every field means",
        "",
        f"Format `{FORMAT}`, schema version {SCHEMA_VERSION}. Each table is in `jsonl/`, `parquet/` and `csv/` under "
        "its name, with the same rows in the same order. Types: " + ", ".join(sorted(set(WORDS.values()))) + ".",
    ]
    for table in tables:
        rows = [_row(column) for column in table.columns]
        parts += ["", f"## {table.name}", "", prose.line(table.meaning), ""]
        if table.key:
            parts += ["A row is named by " + ", ".join(prose.code(name) for name in table.key) + ".", ""]
        parts.append(prose.table(["field", "type", "null", "meaning"], rows))
    return "\n".join(parts) + "\n"


def _row(column: Column) -> list[str]:
    kind = WORDS[column.type]
    if column.refers_to:
        kind += f"; one of {prose.code(column.refers_to)}"
    if column.values:
        kind += ": " + ", ".join(prose.code(value) for value in column.values)
    return [prose.code(column.name), kind, "yes" if column.nullable else "", prose.line(column.meaning)]
