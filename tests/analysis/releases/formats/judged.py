"""The tables that TREC's files are made of."""

from dataclasses import replace
from typing import Any

from analysis.domain.releases.contents.table import Column, Row, Table

from .made import RESPONSES, text


def table(name: str, columns: tuple[Column, ...], rows: list[Row]) -> Table:
    return Table(name, f"A row of {name}.", columns, lambda: iter(rows))


def integer(name: str) -> Column:
    return Column(name, "integer", nullable=False, meaning=f"The {name}.")


def number(name: str) -> Column:
    return Column(name, "number", nullable=True, meaning=f"The {name}.")


def topics(*rows: tuple[str, int, str]) -> Table:
    columns = (text("topic"), integer("topic_version"), text("query"))
    return table("topics", columns, [{"topic": t, "topic_version": v, "query": q} for t, v, q in rows])


def retrieved(*rows: tuple[str, int, int, str, float | None]) -> Table:
    names = ("topic", "topic_version", "rank", "passage", "score")
    columns = (text("topic"), integer("topic_version"), integer("rank"), text("passage"), number("score"))
    return table("retrieved", columns, [dict(zip(names, row, strict=True)) for row in rows])


def grades(*rows: tuple[str, str, str, str, float | None]) -> Table:
    names = ("run", "topic", "response", "dimension", "grade")
    columns = (*map(text, names[:-1]), number("grade"))
    return table("grades", columns, [dict(zip(names, row, strict=True)) for row in rows])


def gold(*rows: tuple[str, str, str, str, Any]) -> Table:
    names = ("run", "response_a", "response_b", "dimension", "label")
    columns = (*map(text, names[:-1]), Column("label", "text", nullable=True, meaning="The label."))
    return table("gold", columns, [dict(zip(names, row, strict=True)) for row in rows])


def responses(*rows: tuple[str, str]) -> Table:
    columns = tuple(column for column in RESPONSES.columns if column.name in {"response", "topic"})
    return replace(
        RESPONSES, columns=columns, rows=lambda: iter([{"response": name, "topic": topic} for name, topic in rows])
    )
