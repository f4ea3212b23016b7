"""Events by columns, which compress to less than half: each kind's fields lie together, times and positions as steps.

Events are grouped by kind and length. The form is a JSON object:

- `groups`: a list of [kind, fields, columns]; a column is [is_steps, values]
- `order`: for each event the number of its group
- `times`: a column for the second elements of all events that have one
"""

from collections.abc import Iterator, Sequence
from itertools import accumulate, repeat
from operator import sub
from typing import Any

Event = list[Any]


def pack(events: Sequence[Event]) -> dict[str, Any]:
    """Return events by columns. Every event is a list whose first element is its kind."""
    numbers: dict[tuple[str, int], int] = {}
    order = [numbers.setdefault((event[0], len(event)), len(numbers)) for event in events]
    members: list[list[Event]] = [[] for _ in numbers]
    for number, event in zip(order, events, strict=True):
        members[number].append(event)
    groups = [
        [kind, length, [_column(list(values)) for values in list(zip(*found, strict=True))[2:]]]
        for ((kind, length), found) in zip(numbers, members, strict=True)
    ]
    return {"groups": groups, "order": order, "times": _column([event[1] for event in events if len(event) > 1])}


def unpack(form: Any) -> list[Event]:
    """Return the events of what `pack` made.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        if it is something else.
    """
    times = iter(_values(form["times"]))
    groups = [(kind, length > 1, _fields(length, columns)) for kind, length, columns in form["groups"]]
    order = form["order"]
    if order and min(order) < 0:
        raise IndexError("an event's group is counted from 0")
    events: list[Event] = []
    try:
        for number in order:
            kind, has_time, fields = groups[number]
            events.append([kind, next(times), *next(fields)] if has_time else [kind])
    except StopIteration:
        raise ValueError("a column is shorter than there are events") from None
    if any(_is_left(rest) for rest in (times, *(fields for _, _, fields in groups if fields is not _NOTHING))):
        raise ValueError("columns are longer than there are events")
    return events


# The fields of events that have none.
_NOTHING: Iterator[tuple[Any, ...]] = repeat(())


def _fields(length: int, columns: list[Any]) -> Iterator[tuple[Any, ...]]:
    if length < 1 or len(columns) != max(length - 2, 0):
        raise ValueError("the fields of an event are too many or too few")
    return zip(*map(_values, columns), strict=True) if columns else _NOTHING


def _column(values: list[Any]) -> list[Any]:
    """Return a column: whole numbers as steps from one to the next, where those are smaller."""
    if set(map(type, values)) == {int}:
        steps = list(map(sub, values, [0, *values]))
        if sum(map(abs, steps)) < sum(map(abs, values)):
            return [1, steps]
    return [0, values]


def _values(column: Any) -> list[Any]:
    is_steps, values = column
    if not isinstance(values, list):
        raise TypeError("a column's values are a list")
    if not is_steps:
        return values
    if not all(type(value) is int for value in values):
        raise TypeError("steps are whole numbers")
    return list(accumulate(values))


def _is_left(values: Any) -> bool:
    return next(iter(values), None) is not None
