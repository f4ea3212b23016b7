"""Data dictionary of an archive, for the manifest and the docs. Every table and field has an entry."""

from typing import Any

from writing.corpus.imports.fields import OneOf

from . import exclusions, field_meanings
from .archive_tables import ALL, FORMAT, SCHEMA_VERSION, ArchiveTable
from .columns import ArchiveColumn

ID = "The row's line number in its file, from 1. Other tables refer to the row by it."
COMMON = {
    "name": "Its name in this study. All versions share it.",
    "version": "Version number, from 1. A version never changes.",
    "created_at": "When it was created in the database.",
    "is_simulated": "Whether it is simulated, not made by a person.",
    "is_included": "Whether it is included in analyses, according to the latest decision.",
    "about": ("What was decided: PAY (is it paid?) or INCLUDE (is it included in analyses?). The two are independent."),
    "holds": "The outcome of the decision.",
    "reason": "The reason.",
    "evidence": "The basis of the decision.",
    "campaign": "The campaign.",
    "item": "The item.",
    "participant": "The participant.",
    "decided_at": "When it was decided. The latest decision on each question applies.",
}

TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "study": (
        "The study: one row.",
        {
            "title": "Its title.",
            "description": "Its description.",
            "language": "The language of its texts, as a BCP 47 tag.",
            "text_licence": "The licence under which its texts are released.",
            "currency": "The currency of all amounts, as an ISO 4217 code.",
        },
    ),
    "participants": (
        "Writers and judges, by pseudonym.",
        {
            "external_id": "The study's pseudonym of a person (never a platform ID), or the name of a model or system.",
            "kind": "CROWD (crowd worker), EXPERT, MODEL (language model) or SYSTEM (RAG system).",
            "specification": "For models: version, prompt and parameters.",
            "platform_facts": "The platform's data about a person, without IDs.",
            "withdrawn_at": "When the person withdrew. Null: they did not withdraw.",
            "erased_at": "When the person's data were erased. Null: they were not erased.",
        },
    ),
    "consent_texts": (
        "Consent texts, by version.",
        {
            "text": "The text, in Markdown.",
            "text_licence": "The licence under which texts are released.",
            "log_licence": "The licence under which writing logs are released. Empty: they are not released.",
            "timing_licence": "The licence under which timing is released. Empty: it is not released.",
        },
    ),
    "consents": (
        "Consents of participants.",
        {
            "participant": "The participant.",
            "text": "The consent text.",
            "given_at": "The time.",
            "releases_text": "Whether the person's texts may be released.",
            "releases_log": "Whether the person's writing logs may be released.",
            "releases_timing": "Whether the person's timing may be released.",
            "withdrawn_at": "When the consent was withdrawn. Null: it is valid.",
        },
    ),
    **field_meanings.WRITING_TABLES,
    "citations": (
        "Passages that statements cite.",
        {"statement": "The statement.", "retrieved": "The passage in the topic's list."},
    ),
    "model_answers": (
        "Answers of models that were prompted for a response, accepted or not.",
        {
            "participant": "The model and prompt.",
            "topic": "The topic.",
            "style": "The style.",
            "outcome": "WRITTEN, OVERLONG, EMPTY, REFUSED, BROKEN (no prose) or FAILED (no usable answer).",
            "text": "The model's answer.",
            "words": "Number of words.",
            "response": "The resulting response. Null: none.",
            "answered_at": "The time.",
        },
    ),
    **field_meanings.JUDGING_TABLES,
    "runs": (
        "Finished analyses.",
        {
            "kind": "The kind of run.",
            "queue": "The queue of the workers that computed it.",
            "state": "DONE.",
            "parameters": "The parameters.",
            "seed": "The random seed.",
            "inputs_digest": "SHA-256 of its inputs.",
            "code_version": "The code version.",
            "environment": "Python, platform and versions of packages.",
            "summary": "A summary of the result.",
            "created_at": "When it was created.",
            "started_at": "When it started.",
            "finished_at": "When it finished.",
            "stale_at": "When its inputs changed, for example by an erasure. Null: they have not changed.",
            "stale_reason": "How they changed.",
        },
    ),
    "result_tables": (
        "Tables of results.",
        {"run": "The run.", "name": "Its name (docs/reference/tables.md).", "rows": "Its rows: a list of objects."},
    ),
    "snapshots": (
        "The exact judgments and responses that a run used.",
        {
            "run": "The run.",
            "pool": "The judges whose judgments were analysed.",
            "digest": "SHA-256 of the payload without row IDs.",
            "judgments": "The number of judgments.",
            "responses": "The number of responses.",
            "mark": "Tells whether these are still the included judgments and responses, and how many were included.",
            "payload": (
                "The compressed inputs. Judgments are given by their ID in this archive, or 0 if they no longer exist."
            ),
            "created_at": "When the inputs were read.",
        },
    ),
}


def meaning_of(table: str, column: str) -> str:
    """Return the meaning of a column."""
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
    "reference": "ID of a row of another table",
}
INTRODUCTION = (
    f"Format `{FORMAT}`, schema version {SCHEMA_VERSION}. This page is generated from the tables "
    "(`python manage.py export --schema`). A test fails if it is out of date. How to create and read archives: "
    "[guides/export.md](../guides/export.md)."
)


def of_archive() -> dict[str, Any]:
    """Return the fields of every file: name, type, meaning, whether nullable, and references."""
    return {table.file: _table(table) for table in ALL}


def left_out_of_archive() -> dict[str, str]:
    """Return the contents left out of an archive, with reasons."""
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
    """Return the data dictionary as a page of the docs."""
    parts = [
        "# Archive contents",
        "",
        INTRODUCTION,
        "",
        "Each file is gzipped JSON lines, UTF-8, one object per line. Types: "
        + ", ".join(f"*{name}*: {words}" for name, words in TYPES.items() if name != words)
        + ".",
    ]
    for path, about in of_archive().items():
        parts += ["", f"## {path}", "", about["meaning"], "", "| field | type | null | meaning |", "|---|---|---|---|"]
        parts += [_markdown_row(field) for field in about["fields"]]
    parts += ["", "## Left out", "", "| data | reason |", "|---|---|"]
    parts += [f"| `{name}` | {reason} |" for name, reason in left_out_of_archive().items()]
    return "\n".join(parts) + "\n"


def _markdown_row(field: dict[str, Any]) -> str:
    kind = f"id of `{field['references']}`" if "references" in field else field["type"]
    return f"| `{field['name']}` | {kind} | {'yes' if field['nullable'] else ''} | {field['meaning']} |"
