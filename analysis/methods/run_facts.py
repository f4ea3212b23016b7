"""Facts about a run that determine the sentences of the methods text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..tables.rows import Row
from .settings import AnalysisSettings


@dataclass(frozen=True)
class RunFacts:
    """Facts about a run.

    Attributes
    ----------
    names : frozenset of str
        Names of its tables.
    rows : dict
        Rows of its small tables, by name.
    has_known : bool
        Whether there were known labels.
    """

    settings: AnalysisSettings
    seed: int
    code_version: str
    summary: Mapping[str, Any]
    names: frozenset[str]
    rows: Mapping[str, list[Row]]
    has_known: bool = False

    @property
    def is_judged(self) -> bool:
        """Whether the analysed pool has judgments."""
        return self.summary.get("judgments") != 0

    def has(self, table: str, **values: str) -> bool:
        """Return whether a table has a row with these values, or any row."""
        if not values:
            return bool(self.rows.get(table)) or (table in self.names and table not in self.rows)
        return any(row.items() >= values.items() for row in self.rows.get(table, []))

    def measured(self, table: str, column: str, **values: str) -> bool:
        """Return whether a table has a number in this column (in rows with these values).

        Rows may only give the reason why there is no number, so a row is not enough. Of a large table, whose rows are
        not read here, any row counts.
        """
        if table not in self.rows:
            return table in self.names and not values
        return any(row.items() >= values.items() and row.get(column) is not None for row in self.rows[table])

    @property
    def has_interval(self) -> bool:
        """Whether any table has an interval over topics."""
        return any(
            row[column] is not None
            for rows in self.rows.values()
            for row in rows
            for column in row
            if column == "low" or column.endswith("_low")
        )

    def values(self, table: str, column: str, measured: str) -> list[str]:
        """Return the distinct values of a column, in order, of rows in which something was measured."""
        rows = self.rows.get(table, [])
        return list(dict.fromkeys(str(row[column]) for row in rows if row.get(measured) is not None))


#: A sentence of the methods text; empty if the run did not use the method.
Sentence = Callable[[RunFacts], str]


def enumerated(parts: Sequence[str]) -> str:
    """Join parts as in a sentence: a, b, and c."""
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"
