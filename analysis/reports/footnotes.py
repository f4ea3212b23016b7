"""Notes below a table on missing numbers and intervals, each reason once."""

from collections.abc import Iterator, Mapping, Sequence

from ..methods import response_groups
from ..methods.agreement import compute as agreement_compute
from ..methods.leaderboard import compute as leaderboard_compute
from ..methods.undefined_values import enumerated, reason_of
from ..tables.display_table import Value
from ..tables.rows import Row
from ..tables.table import Column

SHOWN = 3
#: Reasons with this prefix, or in this set, concern only the interval of a number.
NO_INTERVAL = "no interval: "
OF_INTERVALS = {agreement_compute.ONE_TOPIC, response_groups.ONE_TOPIC, leaderboard_compute.ONE_TOPIC}


def notes(
    rows: Sequence[Row],
    labelled_rows: Sequence[Mapping[str, Value]],
    columns: Sequence[Column],
    unprinted: Sequence[str] = (),
) -> Iterator[str]:
    """For each reason, say whether numbers or only their intervals are missing, and where.

    Parameters
    ----------
    rows, labelled_rows : sequence of mapping
        The rows as stored, and in words.
    unprinted : sequence of str
        Hidden columns, which cannot identify a row.
    """
    keys = [column for column in _keys(columns) if column.key not in unprinted]
    places_by_reason: dict[tuple[str, str], list[str]] = {}
    for row, words in zip(rows, labelled_rows, strict=True):
        for reason in reason_of(row):
            what = _what(reason, row, columns)
            row_name = ", ".join(
                _plain(words[column.key]) for column in keys if words.get(column.key) not in {None, ""}
            )
            places_by_reason.setdefault((what, reason.removeprefix(NO_INTERVAL)), []).append(row_name)
    for (what, reason), places in places_by_reason.items():
        yield f"{what} ({reason}): {_places(places, len(rows))}"


def _keys(columns: Sequence[Column]) -> list[Column]:
    """Return the columns that identify a row: those before the first other number, without units."""
    first = next((at for at, column in enumerate(columns) if column.digits is not None and not column.is_key), None)
    return list(columns[:first])


def _what(reason: str, row: Row, columns: Sequence[Column]) -> str:
    """Return what is missing: a number, the interval of a number, or nothing."""
    if reason.startswith(NO_INTERVAL) or reason in OF_INTERVALS:
        return _no_interval(row, columns)
    if any(column.digits is not None and not column.is_key and row.get(column.key) is None for column in columns):
        return "Not defined"
    if any(column.low and row.get(column.low) is None for column in columns):
        return _no_interval(row, columns)
    return "Note"


def _no_interval(row: Row, columns: Sequence[Column]) -> str:
    """Say that there is no interval, and of which numbers, if others in the row have one."""
    estimates = [column for column in columns if column.low and row.get(column.key) is not None]
    without = [str(column.label) for column in estimates if row.get(column.low) is None]
    return f"No interval of {enumerated(without, SHOWN)}" if 0 < len(without) < len(estimates) else "No interval"


def _places(places: Sequence[str], rows: int) -> str:
    if len(places) == rows > 1:
        return "all rows"
    named = list(dict.fromkeys(row_name for row_name in places if row_name))
    if not named:
        return ("%(n)s row" if len(places) == 1 else "%(n)s rows") % {"n": f"{len(places):,}"}
    return enumerated(named, SHOWN, "; ")


def _plain(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
