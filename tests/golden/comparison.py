"""Comparing two nested values, such as parsed JSON, value by value: the differences, each as a line that people read.

Numbers may differ by what another processor makes of the same arithmetic. Texts are compared line by line; within a
line, numbers may differ likewise: those that show few digits by one unit of the last of several decimals, since a
value between two may be rounded to either. All else must be equal. What a text rounds is compared in full in its table.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

#: By how much two numbers may differ: relative to the larger one, or in all.
RELATIVE = 1e-6
ABSOLUTE = 1e-9
#: A number in a text is compared like any number if it shows at least so many significant digits, else as rounded.
DIGITS = 6
#: How many differences a failed test shows.
SHOWN = 30
#: A longer value is cut when it is shown.
WIDEST = 160

MISSING = "nothing"
#: A decimal number in a text, if it is no part of a word, a version or a longer number.
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+\.\d+(?:[eE][-+]?\d+)?(?![\w]|\.\d)")


def differences(expected: Any, actual: Any, path: str = "") -> list[str]:
    """Return how two values differ, as lines `path: expected X, actual Y`; an empty list if they do not."""
    return list(_compared(expected, actual, path))


def message(found: Sequence[str], how_to_accept: str) -> str:
    """Say in words what differs: the first differences, their number, and how to accept them."""
    lines = [f"{len(found):,} difference{'s' * (len(found) != 1)} from the golden files:", *found[:SHOWN]]
    if len(found) > SHOWN:
        lines.append(f"... and {len(found) - SHOWN:,} more.")
    return "\n".join([*lines, how_to_accept])


def close(expected: float, actual: float) -> bool:
    """Say whether two numbers are equal but for rounding errors."""
    return math.isclose(expected, actual, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _compared(expected: Any, actual: Any, path: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        yield from _dicts(expected, actual, path)
    elif isinstance(expected, list) and isinstance(actual, list):
        yield from _lists(expected, actual, path, "", _compared)
    elif isinstance(expected, str) and isinstance(actual, str):
        yield from _texts(expected, actual, path)
    elif not _same(expected, actual):
        yield _line(path, expected, actual)


def _same(expected: Any, actual: Any) -> bool:
    """Whether two values that are no containers and no texts are the same; true is not 1."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, int) and isinstance(actual, int):
        return expected == actual
    if isinstance(expected, int | float) and isinstance(actual, int | float):
        return close(expected, actual)
    return type(expected) is type(actual) and bool(expected == actual)


def _dicts(expected: dict[str, Any], actual: dict[str, Any], path: str) -> Iterator[str]:
    for key in [*expected, *(key for key in actual if key not in expected)]:
        inner = f"{path}.{key}" if path else str(key)
        if key not in actual:
            yield _line(inner, expected[key], MISSING)
        elif key not in expected:
            yield _line(inner, MISSING, actual[key])
        else:
            yield from _compared(expected[key], actual[key], inner)


def _lists(
    expected: Sequence[Any],
    actual: Sequence[Any],
    path: str,
    name: str,
    compare: Callable[[Any, Any, str], Iterator[str]],
) -> Iterator[str]:
    """Compare items by their places; if there are more or fewer, find out first which were added or removed."""
    for at_expected, at_actual in _places(expected, actual):
        inner = f"{path}[{name}{at_expected if at_expected is not None else f'new {at_actual}'}]"
        if at_actual is None:
            yield _line(inner, expected[at_expected], MISSING)  # type: ignore[index]
        elif at_expected is None:
            yield _line(inner, MISSING, actual[at_actual])
        else:
            yield from compare(expected[at_expected], actual[at_actual], inner)


def _places(expected: Sequence[Any], actual: Sequence[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Yield which item of one list belongs to which of the other; None where it has none."""
    if len(expected) == len(actual):
        yield from ((place, place) for place in range(len(expected)))
        return
    matcher = SequenceMatcher(None, [_rounded(each) for each in expected], [_rounded(each) for each in actual], False)
    for _tag, start, end, other_start, other_end in matcher.get_opcodes():
        for offset in range(max(end - start, other_end - other_start)):
            one, other = start + offset, other_start + offset
            yield (one if one < end else None), (other if other < other_end else None)


def _rounded(value: Any) -> str:
    """Write a value so that values that are equal but for rounding errors look the same, almost always."""
    if isinstance(value, str):
        return _NUMBER.sub(lambda found: f"{_number(found[0]):.7g}", value)
    return json.dumps(_round(value), sort_keys=True, default=str)


def _round(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.7g}"
    if isinstance(value, dict):
        return {key: _round(each) for key, each in value.items()}
    return [_round(each) for each in value] if isinstance(value, list) else value


def _texts(expected: str, actual: str, path: str) -> Iterator[str]:
    if expected == actual:
        return
    lines, others = expected.split("\n"), actual.split("\n")
    if len(lines) == len(others) == 1:
        yield from _text_lines(expected, actual, path)
    else:
        yield from _lists(lines, others, path, "line ", _text_lines)


def _text_lines(expected: str, actual: str, path: str) -> Iterator[str]:
    if expected != actual and not _same_line(expected, actual):
        yield _line(path, expected, actual)


def _same_line(expected: str, actual: str) -> bool:
    if _NUMBER.split(expected) != _NUMBER.split(actual):
        return False
    pairs = zip(_NUMBER.findall(expected), _NUMBER.findall(actual), strict=True)
    return all(one == other or _same_number(one, other) for one, other in pairs)


def _same_number(expected: str, actual: str) -> bool:
    if min(_digits(expected), _digits(actual)) >= DIGITS:
        return close(_number(expected), _number(actual))
    decimals = _decimals(expected)
    unit = 10.0**-decimals
    is_rounded = decimals >= 2 and decimals == _decimals(actual) and "e" not in (expected + actual).lower()
    return is_rounded and abs(_number(expected) - _number(actual)) < 1.5 * unit


def _number(token: str) -> float:
    return float(token.replace("−", "-"))


def _decimals(token: str) -> int:
    return len(token.partition(".")[2])


def _digits(token: str) -> int:
    """Count the significant digits that a number in a text shows."""
    mantissa = re.split("[eE]", token)[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))


def _line(path: str, expected: Any, actual: Any) -> str:
    one, other = (each if each is MISSING else json.dumps(each, ensure_ascii=False, default=str)
                  for each in (expected, actual))  # fmt: skip
    same = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return f"{path or 'value'}: expected {_cut(one, same)}, actual {_cut(other, same)}"


def _cut(text: str, place: int) -> str:
    """Cut what is too long to a part around the place where it differs."""
    start = max(0, place - WIDEST // 4) if len(text) > WIDEST else 0
    end = start + WIDEST
    return f"{'...' if start else ''}{text[start:end]}{'...' if end < len(text) else ''}"
