"""Long tables as what tells them apart: how many rows, the first ones, each column's figures, and a digest of all."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any

#: To so many significant digits numbers are digested: rounding errors must not show.
DIGITS = 6
_DECIMAL = re.compile(r"-?\d+\.\d+(?:e[+-]\d+)?")
SHOWN = 3
Row = dict[str, Any]


def outline(rows: Sequence[Row], *, shown: int = SHOWN) -> dict[str, Any]:
    """Return the outline of a table; with `shown` 0, nothing of it can be read from that."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    found: dict[str, Any] = {"rows": len(rows), "sha256_of_rows": digest(rows), "columns": {}}
    for name in columns:
        found["columns"][name] = _column([row.get(name) for row in rows])
    return found | ({"first": list(rows[:shown])} if shown else {})


def digest(value: Any) -> str:
    """Return the SHA-256 of a value with its numbers rounded."""
    written = json.dumps(_rounded(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()


def _column(values: Sequence[Any]) -> dict[str, Any]:
    """How many values there are, how many different ones; of numbers, their mean and range."""
    there = [value for value in values if value is not None]
    numbers = [float(value) for value in there if isinstance(value, int | float) and not isinstance(value, bool)]
    found: dict[str, Any] = {"values": len(there)}
    if numbers and len(numbers) == len(there):
        mean = sum(numbers) / len(numbers)
        return found | {"mean": mean, "min": min(numbers), "max": max(numbers)}
    return found | {"different": len({json.dumps(_rounded(value), sort_keys=True) for value in there})}


def _rounded(value: Any) -> Any:
    if isinstance(value, str) and _DECIMAL.fullmatch(value):  # a cell of a CSV file
        return f"{float(value):.{DIGITS}g}"
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0  # -0.0 is 0.0
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return [_rounded(each) for each in value] if isinstance(value, list | tuple) else value


def shortened(value: Any, longest: int) -> Any:
    """Return JSON in which every table of more than `longest` rows, and every such list of values, is an outline."""
    if isinstance(value, dict):
        return {key: shortened(each, longest) for key, each in value.items()}
    if not isinstance(value, list):
        return value
    rows = [shortened(each, longest) for each in value]
    if len(rows) <= longest:
        return rows
    return outline(rows if all(isinstance(each, dict) for each in rows) else [{"value": each} for each in rows])
