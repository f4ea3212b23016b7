"""What the tables and fields of an archive mean, as the manifest holds it and the docs show it. None is missing."""

from typing import Any

from writing.corpus.imports.fields import OneOf

from . import exclusions, field_meanings
from .archive_tables import ALL, FORMAT, SCHEMA_VERSION, ArchiveTable
from .columns import ArchiveColumn

ID = "The row's line in its file, from 1; other tables refer to it by this."
COMMON = {
    "name": "What it is called in this study; all versions of it have this name.",
    "version": "Counts up from 1; a version never changes.",
    "created_at": "When it came into the system.",
    "is_simulated": "Whether it is simulated: no person stands behind it.",
    "is_included": "What the latest decision on inclusion says: whether it counts in analyses.",
    "about": "What was decided: PAY (is it paid?) or INCLUDE (does it count?). Neither follows from the other.",
    "holds": "Which way it was decided.",
    "reason": "Why.",
    "evidence": "What the decision rests on.",
    "decided_at": "When it was decided; the latest decision on a question holds.",
}

TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "study": (
        "The study: one row.",
        {
            "title": "Its title.",
            "description": "What it is about.",
            "language": "Of its texts, as a BCP 47 tag.",
            "text_licence": "The licence under which its texts are released.",
            "currency": "Of all amounts of money in it, as an ISO 4217 code.",
        },
    ),
    "participants": (
        "Whoever writes or judges, by pseudonym.",
        {
            "external_id": "The study's pseudonym of a person (no platform's id), or the name of a model or system.",
            "kind": "CROWD (crowd worker), EXPERT, MODEL (language model) or SYSTEM (RAG system).",
            "specification": "Of a model: which version, with which prompt and parameters.",
            "platform_facts": "What the platform said of a person, its ids taken out.",
            "withdrawn_at": "When the person took part no further; null: they did not withdraw.",
            "erased_at": "When what is known of the person was erased; null: it was not.",
        },
    ),
    "consent_texts": (
        "What people were asked to agree to, by version.",
        {
            "text": "The text, in Markdown.",
            "text_licence": "The licence under which texts are released.",
            "log_licence": "The licence under which writing logs are released; empty: they are not.",
            "timing_licence": "The licence under which timing is released; empty: it is not.",
        },
    ),
    "consents": (
        "Who agreed to what.",
        {
            "participant": "Who.",
            "text": "To which text.",
            "given_at": "When.",
            "releases_text": "Whether the person's texts may be released.",
            "releases_log": "Whether the person's writing logs may be released.",
            "releases_timing": "Whether the person's timing may be released.",
            "withdrawn_at": "When the consent was withdrawn; null: it holds.",
        },
    ),
    **field_meanings.WRITING_TABLES,
    **field_meanings.JUDGING_TABLES,
    "runs": (
        "Finished analyses.",
        {
            "kind": "What was computed.",
            "queue": "Which workers did it.",
            "state": "DONE.",
            "parameters": "What was asked for.",
            "seed": "Where its randomness began.",
            "inputs_digest": "SHA-256 of what it was computed from.",
            "code_version": "The code that computed it.",
            "environment": "Python, platform and versions of packages.",
            "summary": "The result at a glance.",
            "created_at": "When it was asked for.",
            "started_at": "When it began.",
            "finished_at": "When it was done.",
            "stale_at": "When its inputs changed (were erased, say); null: they did not.",
            "stale_reason": "How they changed.",
        },
    ),
    "result_tables": (
        "Tables of results.",
        {"run": "Of which run.", "name": "Its name (docs/results.md).", "rows": "Its rows: a list of objects."},
    ),
    "snapshots": (
        "The exact judgments and responses that a run used.",
        {
            "run": "Which run.",
            "pool": "Whose judgments were analysed.",
            "digest": "SHA-256 of the payload without row ids.",
            "judgments": "How many judgments.",
            "responses": "How many responses.",
            "mark": "Whether these are still the judgments and responses that count, and how many counted.",
            "payload": "The inputs, packed; judgments go by their id here, 0: it is gone.",
            "created_at": "When they were read.",
        },
    ),
}


def meaning_of(table: str, column: str) -> str:
    """Return what a column means."""
    return TABLES[table][1].get(column) or COMMON[column]


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
    return exclusions.MODELS | exclusions.FIELDS


def _table(table: ArchiveTable) -> dict[str, Any]:
    id_field = {"name": "id", "type": "integer", "nullable": False, "meaning": ID}
    return {
        "meaning": TABLES[table.name][0],
        "fields": [id_field, *(_field(table, column) for column in table.columns)],
    }


def _field(table: ArchiveTable, column: ArchiveColumn) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": column.name,
        "type": column.type,
        "nullable": column.nullable,
        "meaning": meaning_of(table.name, column.name),
    }
    if column.references:
        entry["references"] = column.references
    if isinstance(column.check, OneOf):
        entry["values"] = list(column.check.values)
    return entry


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
