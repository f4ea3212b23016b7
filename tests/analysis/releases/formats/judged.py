"""The tables that TREC's files are made of."""

from dataclasses import replace
from typing import Any

from analysis.releases.contents.content_table import ContentColumn, ContentTable, Row
from tests.analysis.releases.formats.made import RESPONSES, text


def table(name: str, columns: tuple[ContentColumn, ...], rows: list[Row]) -> ContentTable:
    return ContentTable(name, f"A row of {name}.", columns, lambda: iter(rows))


def integer(name: str) -> ContentColumn:
    return ContentColumn(name, "integer", nullable=False, meaning=f"The {name}.")


def number(name: str) -> ContentColumn:
    return ContentColumn(name, "number", nullable=True, meaning=f"The {name}.")


def topics(*rows: tuple[str, int, str]) -> ContentTable:
    columns = (text("topic"), integer("topic_version"), text("query"))
    return table("topics", columns, [{"topic": t, "topic_version": v, "query": q} for t, v, q in rows])


def retrieved(*rows: tuple[str, int, int, str, float | None]) -> ContentTable:
    names = ("topic", "topic_version", "rank", "passage", "score")
    columns = (text("topic"), integer("topic_version"), integer("rank"), text("passage"), number("score"))
    return table("retrieved", columns, [dict(zip(names, row, strict=True)) for row in rows])


def grades(*rows: tuple[str, str, str, str, float | None]) -> ContentTable:
    names = ("run", "topic", "response", "dimension", "grade")
    columns = (*map(text, names[:-1]), number("grade"))
    return table("grades", columns, [dict(zip(names, row, strict=True)) for row in rows])


def gold(*rows: tuple[str, str, str, str, Any]) -> ContentTable:
    names = ("run", "response_a", "response_b", "dimension", "label")
    columns = (*map(text, names[:-1]), ContentColumn("label", "text", nullable=True, meaning="The label."))
    return table("gold", columns, [dict(zip(names, row, strict=True)) for row in rows])


def responses(*rows: tuple[str, str]) -> ContentTable:
    columns = tuple(column for column in RESPONSES.columns if column.name in {"response", "topic"})
    return replace(
        RESPONSES, columns=columns, rows=lambda: iter([{"response": name, "topic": topic} for name, topic in rows])
    )
