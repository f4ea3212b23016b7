"""Differences between two finished analyses of a study, and tables of several runs of one kind side by side."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crowdrag.jobs.models import Run

from ..tables import run_tables
from ..tables.cells import Cell, cell
from ..tables.display_table import DisplayColumn, DisplayTable, Value
from ..tables.rows import Row
from ..tables.table import Column as DeclaredColumn
from ..tables.table import get
from ..tables.value_labels import ValueLabels
from . import report_kinds
from .builder import long_table

#: Relative tolerance for equal numbers, for rounding differences between machines.
TOLERANCE = 1e-9
#: Number of changes shown for each table, the largest first.
SHOWN = 20


@dataclass(frozen=True)
class Difference:
    """A difference in provenance: its name, old value and new value."""

    name: str
    old: str
    new: str


@dataclass(frozen=True)
class Change:
    """A value that changed.

    Attributes
    ----------
    about : tuple of str
        The row, in words.
    column : str
        The label of its column.
    old, new : Cell
        Values with intervals.
    delta : float or None
        New minus old; None if one of them is not a number.
    size : float
        Size relative to the values of its column; 1 for texts, and for values that were added or removed.
    """

    about: tuple[str, ...]
    column: str
    old: Cell
    new: Cell
    delta: float | None
    size: float

    @property
    def is_interval_alone(self) -> bool:
        """Whether only the interval of the number changed."""
        return self.delta is not None and abs(self.delta) <= TOLERANCE


@dataclass(frozen=True)
class TableChanges:
    """Changes in one table.

    Attributes
    ----------
    compared : int
        Number of rows in both runs.
    changed : int
        Number of these rows with a changed value.
    added, removed : int
        Number of rows only in the new run, or only in the old one.
    changes : tuple of Change
        The largest first, at most `SHOWN`.
    total : int
        Number of changed values.
    words : int
        How many of these are words: for gold labels, the number of changed labels.
    """

    name: str
    title: str
    compared: int
    changed: int
    added: int
    removed: int
    changes: tuple[Change, ...]
    total: int
    words: int = 0

    @property
    def is_equal(self) -> bool:
        """Whether nothing changed."""
        return not (self.changed or self.added or self.removed)


@dataclass(frozen=True)
class Comparison:
    """A comparison of two analyses."""

    made_by: tuple[Difference, ...]
    tables: tuple[TableChanges, ...]
    only_old: tuple[str, ...] = ()
    only_new: tuple[str, ...] = ()
    ranks: tuple[Change, ...] = field(default=())

    @property
    def changed(self) -> list[TableChanges]:
        """Tables with changes."""
        return [table for table in self.tables if not table.is_equal]

    @property
    def equal(self) -> list[TableChanges]:
        """Tables without changes."""
        return [table for table in self.tables if table.is_equal]

    @property
    def is_equal(self) -> bool:
        """Whether both have the same results."""
        return not (self.changed or self.only_old or self.only_new)

    @property
    def labels(self) -> TableChanges | None:
        """Changes of the gold labels, if any."""
        return next((table for table in self.changed if table.name == "gold"), None)


def compare(old: Run, new: Run) -> Comparison:
    """Compare two finished analyses of one study."""
    before, after = run_tables.names(old), run_tables.names(new)
    naming = ValueLabels.of(new.study)
    changes: list[TableChanges] = []
    ranks: tuple[Change, ...] = ()
    for name in (name for name in after if name in before):
        rows = (run_tables.read(old, name)[name], run_tables.read(new, name)[name])
        changes.append(changes_of(name, *rows, naming, new.parameters))
        if name == "leaderboard":
            ranks = tuple(moved(*rows, naming))
    return Comparison(
        made_by=tuple(_provenance(old, new)),
        tables=tuple(changes),
        only_old=tuple(str(get(name).title) for name in before if name not in after),
        only_new=tuple(str(get(name).title) for name in after if name not in before),
        ranks=ranks,
    )


def changes_of(
    name: str, old: list[Row], new: list[Row], naming: ValueLabels, parameters: Mapping[str, Any]
) -> TableChanges:
    """Compare the rows of a table, identified by their names (dimension, style, response and the like)."""
    shape = long_table(name, [], parameters, naming)
    keys = keys_of(shape)
    was, now = by_key(old, keys), by_key(new, keys)
    both = [key for key in now if key in was]
    scales = {column.key: _scale(column, old, new) for column in shape.columns}
    changes: list[Change] = []
    changed = 0
    for key in both:
        row_changes = list(_changes(shape, keys, was[key], now[key], scales, naming, name))
        changed += bool(row_changes)
        changes += row_changes
    changes.sort(key=lambda change: -change.size)  # stable: ties keep the order of the table
    return TableChanges(
        name=name,
        title=shape.title,
        compared=len(both),
        changed=changed,
        added=len(now) - len(both),
        removed=len(was) - len(both),
        changes=tuple(changes[:SHOWN]),
        total=len(changes),
        words=sum(change.delta is None for change in changes),
    )


def moved(old: list[Row], new: list[Row], naming: ValueLabels) -> Iterator[Change]:
    """Yield the changed ranks on the leaderboard, the largest changes first."""
    shape = long_table("leaderboard", [], {}, naming)
    keys = keys_of(shape)
    was, now = ({key: row for key, row in by_key(rows, keys).items() if row["rank"] is not None} for rows in (old, new))
    rank = next(column for column in shape.columns if column.key == "rank")
    rank_changes = []
    for key in (key for key in now if key in was and was[key]["rank"] != now[key]["rank"]):
        delta = float(now[key]["rank"] - was[key]["rank"])
        before, after = (cell(rank, displayed_value(rank, row, naming, "leaderboard")) for row in (was[key], now[key]))
        about = about_row(shape, keys, now[key], naming, "leaderboard")
        rank_changes.append(Change(about, rank.label, before, after, delta, abs(delta)))
    yield from sorted(rank_changes, key=lambda change: -change.size)[:SHOWN]


def about_row(shape: DisplayTable, keys: tuple[str, ...], row: Row, naming: ValueLabels, name: str) -> tuple[str, ...]:
    """Return the row's identifying values in words, without undefined ones."""
    cells = (cell(column, displayed_value(column, row, naming, name)) for column in shape.columns if column.key in keys)
    return tuple(shown_cell.text for shown_cell in cells if not shown_cell.is_undefined)


def _provenance(old: Run, new: Run) -> Iterator[Difference]:
    """Yield the differences in provenance: inputs, parameters, seed, code, environment."""
    pairs: list[tuple[str, Any, Any]] = [("inputs digest", old.inputs_digest, new.inputs_digest)]
    pairs += [
        (name, old.summary.get(name), new.summary.get(name))
        for name in ("topics", "pairs", "participants", "judgments", "queries")
    ]
    before, after = (report_kinds.of(run).parameters_in_words(run) for run in (old, new))
    pairs += [(name, before.get(name), after.get(name)) for name in dict.fromkeys([*before, *after])]
    pairs += [("seed", old.seed, new.seed), ("code version", old.code_version, new.code_version)]
    pairs += [(name, old.environment.get(name), new.environment.get(name)) for name in ("python", "platform")]
    packages = [run.environment.get("packages", {}) for run in (old, new)]
    pairs += [(name, *(installed.get(name) for installed in packages)) for name in sorted({*packages[0], *packages[1]})]
    for name, was, now in pairs:
        if (old_said := _plain(was)) != (new_said := _plain(now)):
            yield Difference(name, old_said, new_said)


def keys_of(shape: DisplayTable) -> tuple[str, ...]:
    """Return the columns that identify a row: those in words before the first other number."""
    keys: list[str] = []
    for column in shape.columns:
        if column.digits is not None and not column.is_key:
            break
        keys.append(column.key)
    return tuple(keys)


def by_key(rows: list[Row], keys: tuple[str, ...]) -> dict[tuple[Any, ...], Row]:
    """Return rows by their identifying columns; duplicates are numbered."""
    rows_by_key: dict[tuple[Any, ...], Row] = {}
    seen: dict[tuple[Any, ...], int] = {}
    for row in rows:
        key = tuple(row.get(name) for name in keys)
        rows_by_key[*key, seen.get(key, 0)] = row
        seen[key] = seen.get(key, 0) + 1
    return rows_by_key


def _changes(
    shape: DisplayTable,
    keys: tuple[str, ...],
    old: Row,
    new: Row,
    scales: Mapping[str, float],
    naming: ValueLabels,
    name: str,
) -> Iterator[Change]:
    for column in shape.columns:
        if column.key in keys or not any(_differs(old.get(key), new.get(key)) for key in _parts(column, name)):
            continue
        was, now = old.get(column.key), new.get(column.key)
        about = about_row(shape, keys, new, naming, name)
        delta = _delta(was, now)
        size = abs(delta) / scales[column.key] if delta is not None and scales[column.key] else float(delta is None)
        yield Change(
            about,
            column.label,
            cell(column, displayed_value(column, old, naming, name)),
            cell(column, displayed_value(column, new, naming, name)),
            delta,
            size,
        )


def _parts(column: DisplayColumn, name: str) -> list[str]:
    return [key for key in (column.key, column.low, column.high) if key in get(name).column_names]


def displayed_value(column: DisplayColumn, row: Row, naming: ValueLabels, name: str) -> dict[str, Value]:
    """Return the values of one column of a row, in words."""
    words = next((declared_column for declared_column in get(name).columns if declared_column.key == column.key), None)
    declared = words or DeclaredColumn(column.key, column.label, column.digits)
    return {
        key: naming.value_in_words(declared, row.get(key), row) for key in (column.key, column.low, column.high) if key
    }


def _differs(was: Any, now: Any) -> bool:
    if _is_number(was) and _is_number(now):
        return bool(abs(now - was) > TOLERANCE * max(1.0, abs(was), abs(now)))
    return bool(was != now)


def _delta(was: Any, now: Any) -> float | None:
    return float(now - was) if _is_number(was) and _is_number(now) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _scale(column: DisplayColumn, *runs: list[Row]) -> float:
    """Return the scale of a column's values, used to sort changes across columns."""
    values = [abs(row[column.key]) for rows in runs for row in rows if _is_number(row.get(column.key))]
    return float(max(values, default=0.0))


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    return "–" if value is None or value == "" else str(value)


#: Maximum number of runs to compare, and of rows of a table in the comparison.
MOST_RUNS = 6
MOST_ROWS = 60


@dataclass(frozen=True)
class Line:
    """One value of one row: the row, its column, and the value in each run; None if a run does not have the row."""

    about: tuple[str, ...]
    column: str
    values: tuple[Cell | None, ...]


@dataclass(frozen=True)
class SideBySide:
    """A table of several runs."""

    name: str
    title: str
    lines: tuple[Line, ...]


def side_by_side(runs: Sequence[Run]) -> list[SideBySide]:
    """Compare the small tables that at least two of the runs have, in the order of their reports.

    The intervals are those of each run. If runs share questions, the difference between two runs is more certain than
    their intervals suggest; a comparison of two runs shows it for each value.
    """
    naming = ValueLabels.of(runs[0].study)
    names = dict.fromkeys(name for run in runs for name in run_tables.names(run))
    comparisons = []
    for name in names:
        of_runs = [run_tables.read(run, name).get(name, []) for run in runs]
        if sum(map(bool, of_runs)) > 1 and max(map(len, of_runs)) <= MOST_ROWS:
            shape = long_table(name, [], runs[0].parameters, naming)
            comparisons.append(SideBySide(name, shape.title, tuple(_lines(name, runs, of_runs, naming))))
    return [comparison for comparison in comparisons if comparison.lines]


def _lines(name: str, runs: Sequence[Run], of_runs: Sequence[list[Row]], naming: ValueLabels) -> Iterator[Line]:
    shape = long_table(name, [], runs[0].parameters, naming)
    keys = keys_of(shape)
    rows = [by_key(run_rows, keys) for run_rows in of_runs]
    for key in dict.fromkeys(key for run_rows in rows for key in run_rows):
        rows_of_key = [run_rows.get(key) for run_rows in rows]
        first = next(row for row in rows_of_key if row is not None)
        about = about_row(shape, keys, first, naming, name)
        for column in shape.columns:
            if column.key in keys:
                continue
            values = [
                None if row is None else cell(column, displayed_value(column, row, naming, name)) for row in rows_of_key
            ]
            if any(value is not None and value.text and not value.is_undefined for value in values):
                yield Line(about, column.label, tuple(values))
