"""The field dictionary of archives, as the manifest holds it and as the docs show it (docs/schema/archive.md)."""

from typing import Any

from writing.corpus.imports.fields import OneOf

from . import left_out, meanings
from .columns import Column
from .tables import ALL, FORMAT, SCHEMA_VERSION, ArchiveTable

TYPES = {
    "text": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "time": "time in UTC (ISO 8601)",
    "json": "JSON",
    "uuid": "UUID",
    "bytes": "bytes in Base64",
    "reference": "id of a row of another table",
}
INTRODUCTION = (
    f"Format `{FORMAT}`, schema version {SCHEMA_VERSION}. This page is made from the tables themselves "
    "(`python manage.py export --schema`); a test fails when it is not current. How to make and read archives: "
    "[guides/export.md](../guides/export.md)."
)


def of_archive() -> dict[str, Any]:
    """Return every file's fields: name, type, meaning, whether it may be null, and what it refers to."""
    return {table.file: _table(table) for table in ALL}


def left_out_of_archive() -> dict[str, str]:
    """Return what an archive leaves out, with the reasons."""
    return left_out.MODELS | left_out.FIELDS


def _table(table: ArchiveTable) -> dict[str, Any]:
    own = {"name": "id", "type": "integer", "nullable": False, "meaning": meanings.ID}
    return {
        "meaning": meanings.TABLES[table.name][0],
        "fields": [own, *(_field(table, each) for each in table.columns)],
    }


def _field(table: ArchiveTable, column: Column) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "nullable": column.nullable,
        "meaning": meanings.of(table.name, column.name),
    }
    if column.references:
        found["references"] = column.references
    if isinstance(column.check, OneOf):
        found["values"] = list(column.check.values)
    return found


def as_markdown() -> str:
    """Return the dictionary as the page of the docs."""
    parts = [
        "# What is in an archive",
        "",
        INTRODUCTION,
        "",
        "Each file is gzipped JSON lines, UTF-8, one object a line. Types: "
        + ", ".join(f"*{name}*: {words}" for name, words in TYPES.items() if name != words)
        + ".",
    ]
    for path, about in of_archive().items():
        parts += ["", f"## {path}", "", about["meaning"], "", "| field | type | null | meaning |", "|---|---|---|---|"]
        parts += [_markdown_row(field) for field in about["fields"]]
    parts += ["", "## Left out", "", "| what | why |", "|---|---|"]
    parts += [f"| `{name}` | {reason} |" for name, reason in left_out_of_archive().items()]
    return "\n".join(parts) + "\n"


def _markdown_row(field: dict[str, Any]) -> str:
    kind = f"id of `{field['references']}`" if "references" in field else field["type"]
    return f"| `{field['name']}` | {kind} | {'yes' if field['nullable'] else ''} | {field['meaning']} |"
