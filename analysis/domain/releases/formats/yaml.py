"""The little of YAML that cards and citations need: every text in quotation marks, so that none is anything else."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def dump(value: Mapping[str, Any]) -> str:
    """Return a mapping of plain values, lists and mappings as a YAML block."""
    return "".join(f"{line}\n" for line in _mapping(value, ""))


def text(value: str) -> str:
    """Return a text as a scalar in quotation marks."""
    return f'"{"".join(_character(each) for each in value)}"'


def _character(each: str) -> str:
    if each in _ESCAPES:
        return _ESCAPES[each]
    # What YAML does not call printable, what it takes for a line's end, and a byte order mark.
    if each.isprintable() or each == "\u3000":
        return each
    number = ord(each)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def _mapping(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, each in value.items():
        if isinstance(each, Mapping | list | tuple) and each:
            yield f"{indent}{name}:"
            yield from _block(each, indent)
        else:
            yield f"{indent}{name}: {_scalar(each)}"


def _block(value: Mapping[str, Any] | Sequence[Any], indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _mapping(value, f"{indent}  ")
        return
    for each in value:
        if isinstance(each, Mapping):
            first, *rest = _mapping(each, f"{indent}  ")
            yield f"{indent}- {first.lstrip()}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(each)}"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return text(value)
    return "null" if value is None else "[]"
