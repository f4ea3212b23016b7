"""Several finished runs of one kind beside each other, a value a line: as papers set models and data sets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crowdrag.jobs.models import Run

from .. import tables
from ..results.schema import Row
from .building import long_table
from .cells import Cell, cell
from .comparing import about_row, by_key, keys_of, said_of
from .naming import Naming

#: Runs that stand beside each other at most, and the rows of a table that is shown so: more is no overview.
MOST_RUNS = 6
MOST_ROWS = 60


@dataclass(frozen=True)
class Line:
    """One value of one row: which row, its column, and what it is in each run; None where a run has no such row."""

    about: tuple[str, ...]
    column: str
    values: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Beside:
    """A table of several runs."""

    name: str
    title: str
    lines: tuple[Line, ...]


def beside(runs: Sequence[Run]) -> list[Beside]:
    """Set the small tables that at least two of some runs have beside each other, in the order of their reports.

    Intervals are each run's own. Where runs asked the same questions, the difference of two is more certain than their
    intervals look; the comparison of two runs says it value by value.
    """
    naming = Naming.of(runs[0].study)
    names = dict.fromkeys(name for run in runs for name in tables.names(run))
    found = []
    for name in names:
        of_runs = [tables.read(run, name).get(name, []) for run in runs]
        if sum(map(bool, of_runs)) > 1 and max(map(len, of_runs)) <= MOST_ROWS:
            shape = long_table(name, [], runs[0].parameters, naming)
            found.append(Beside(name, shape.title, tuple(_lines(name, runs, of_runs, naming))))
    return [each for each in found if each.lines]


def _lines(name: str, runs: Sequence[Run], of_runs: Sequence[list[Row]], naming: Naming) -> Iterator[Line]:
    shape = long_table(name, [], runs[0].parameters, naming)
    keys = keys_of(shape)
    rows = [by_key(each, keys) for each in of_runs]
    for key in dict.fromkeys(key for each in rows for key in each):
        there = [each.get(key) for each in rows]
        first = next(row for row in there if row is not None)
        about = about_row(shape, keys, first, naming, name)
        for column in shape.columns:
            if column.key in keys:
                continue
            values = [None if row is None else cell(column, said_of(column, row, naming, name)) for row in there]
            if any(value is not None and value.text and not value.is_undefined for value in values):
                yield Line(about, column.label, tuple(values))
