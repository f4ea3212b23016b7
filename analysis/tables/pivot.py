"""Pivoting of long tables into the layout of papers: values of one column become columns.

No information is lost. If n is the same along a row, it has a column of its own; if it is the same down a column, it is
in the column's head; if it is the same everywhere, it is in the caption; otherwise it is shown with each number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .display_table import DisplayColumn, DisplayTable, Value

#: Separates the key of a column from the values that it is spread over; never part of a key.
_OVER = "\x1f"
Key = tuple[Value, ...]
Rows = Sequence[Mapping[str, Value]]


def wider(table: DisplayTable, across: Sequence[str]) -> DisplayTable:
    """Return a table with one column for each combination of values of the columns `across`.

    Tables that do not fit this layout (two rows for one cell, or other numbers that differ between cells) are returned
    unchanged.
    """
    values = [column for column in table.columns if column.low]
    names = [column for column in table.columns if column.digits is None]
    kept = [column for column in names if column.key not in across]
    if (
        not across
        or len(values) != 1
        or not table.rows
        or not kept
        or not {*across} <= {column.key for column in names}
    ):
        return table
    value, n = values[0], values[0].n
    others = [column for column in table.columns if column.digits is not None and column is not value]
    row_of, over_of = tuple(column.key for column in kept), tuple(across)
    cells = {(_key(row, row_of), _key(row, over_of)): row for row in table.rows}
    in_rows = [column for column in others if _is_settled_by(table.rows, row_of, column.key)]
    rest = [column for column in others if column not in in_rows]
    if len(cells) < len(table.rows) or any(column.key != n for column in rest):
        return table
    heads = _ordered(dict.fromkeys(over for __, over in cells), dict.fromkeys(row for row, __ in cells))
    at_head = bool(rest) and _is_settled_by(table.rows, over_of, n)
    counted = {over: row.get(n) for (__, over), row in cells.items()}
    columns = [
        *kept,
        *(
            _column(value, over, counted[over] if at_head else None, in_cells=bool(rest) and not at_head)
            for over in heads
        ),
        *(column for column in in_rows if not _is_everywhere(table.rows, column.key)),
    ]
    rows = []
    for key in dict.fromkeys(row for row, __ in cells):
        row_cells = {over: cells[key, over] for over in heads if (key, over) in cells}
        first = next(iter(row_cells.values()))
        wide_row: dict[str, Value] = {column.key: first.get(column.key) for column in (*kept, *in_rows)}
        for over, row in row_cells.items():
            wide_row |= {_name(part, over): row.get(part) for part in (value.key, value.low, value.high, n) if part}
        rows.append(wide_row)
    in_cells = [column for column in rest if not at_head]
    return replace(table, columns=tuple(columns), rows=tuple(rows), caption=_caption(table, in_rows, in_cells))


def _ordered(heads: Iterable[Key], rows: Iterable[Key]) -> list[Key]:
    """Return the heads in order of appearance; in a matrix, in the order of the rows."""
    head_keys, of_rows = list(heads), list(rows)
    in_rows = [row for row in of_rows if row in head_keys]
    rest = [head for head in head_keys if head not in of_rows]
    return [*in_rows, *rest] if len(in_rows) > len(head_keys) / 2 else head_keys


def _caption(table: DisplayTable, in_rows: Sequence[DisplayColumn], in_cells: Sequence[DisplayColumn]) -> str:
    """Return the caption with the numbers that are the same everywhere, and an explanation of the brackets."""
    notes = [f"{column.label}: {table.rows[0][column.key]:,}." for column in in_rows
            if _is_everywhere(table.rows, column.key) and isinstance(table.rows[0].get(column.key), int)]  # fmt: skip
    notes += [f"In round brackets: {column.label}." for column in in_cells]
    return " ".join([table.caption, *notes])


def _column(value: DisplayColumn, over: Key, n: Value, *, in_cells: bool) -> DisplayColumn:
    label = ", ".join(str(part) for part in over if part is not None) or value.label
    return DisplayColumn(
        key=_name(value.key, over),
        label=label if n is None else f"{label} (n {n:,})" if isinstance(n, int) else f"{label} (n {n})",
        digits=value.digits,
        low=_name(value.low, over),
        high=_name(value.high, over),
        n=_name(value.n, over) if in_cells else "",
        is_share=value.is_share,
        has_n=in_cells,
    )


def _name(part: str, over: Key) -> str:
    return _OVER.join([part, *(str(part) for part in over)])


def _key(row: Mapping[str, Value], keys: Sequence[str]) -> Key:
    return tuple(row.get(key) for key in keys)


def _is_settled_by(rows: Rows, keys: Sequence[str], column: str) -> bool:
    """Return whether rows with equal keys have equal values in the column."""
    seen: dict[Key, Any] = {}
    return all(seen.setdefault(_key(row, keys), row.get(column)) == row.get(column) for row in rows)


def _is_everywhere(rows: Rows, column: str) -> bool:
    return _is_settled_by(rows, (), column)
