"""Reading what a release would hold, in tests."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from analysis.inputs import snapshots
from analysis.releases.choices import Choices
from analysis.releases.contents import release_contents
from analysis.releases.contents.content_table import ContentColumn, ContentTable
from crowdrag.studies.models import Study

Rows = Mapping[str, list[dict[str, Any]]]
_IS = {
    "text": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, float) and value == value,
    "boolean": lambda value: isinstance(value, bool),
    "time": lambda value: isinstance(value, datetime) and value.tzinfo is not None,
    "texts": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "json": lambda value: value is not None,
}


class WhenLookedAt(Rows):
    """The rows of tables, each read when a test looks at it: most tests look at none of the layout's."""

    def __init__(self, tables: Sequence[ContentTable]) -> None:
        self.tables = {table.name: table for table in tables}

    def __getitem__(self, name: str) -> list[dict[str, Any]]:
        return list(self.tables[name].rows())

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __repr__(self) -> str:
        return repr(dict(self))


def read(study: Study, release: str = "1", **choices: Any) -> tuple[Rows, Rows, dict[tuple[str, str], int]]:
    """Return the rows of all tables, of the layout's too, and what is left out; each row is what its table says."""
    with snapshots.repeatable_read():
        found = release_contents.read_contents(study=study, choices=Choices(**choices), release=release)
        tables = {table.name: list(table.rows()) for table in found.tables}
        for table in found.tables:
            assert list(table.rows()) == tables[table.name]  # read again, the same
            check(table, tables)
    return tables, WhenLookedAt(found.layout), {(each.what, each.reason): each.count for each in found.left_out}


def check(table: ContentTable, tables: Rows) -> None:
    """Hold the rows of a table to what its columns say."""
    names = [column.name for column in table.columns]
    rows = tables[table.name]
    for row in rows:
        assert list(row) == names, table.name
        for column in table.columns:
            value = row[column.name]
            assert column.nullable if value is None else _IS[column.type](value), (table.name, column, value)
            assert value is None or not column.values or value in column.values, (column, value)
    for column in table.columns:
        assert column.meaning.endswith((".", "█.")), column
        if column.refers_to:
            refers(column, rows, tables)
    if table.key:
        keys = [tuple(row[name] for name in table.key) for row in rows]
        assert len(set(keys)) == len(keys), table.name


def refers(column: ContentColumn, rows: list[dict[str, Any]], tables: Rows) -> None:
    """Hold a column's values to the table that it refers to."""
    name, other = column.refers_to.split(".")
    there = {row[other] for row in tables[name]}
    assert {row[column.name] for row in rows} - {None} <= there, column
