"""Markdown and YAML for cards and citations; users' texts are escaped."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ... import typesetter

_MARKUP = re.compile(r"([\\`*_\[\]<>#|~&!$])")
_BEGINS = re.compile(r"^([-+=]|\d+[.)])")


def line(text: str) -> str:
    """Return a text as one line of Markdown that renders verbatim."""
    plain = " ".join(typesetter.visible(text).split())
    return _BEGINS.sub(lambda match: f"{match[0][:-1]}\\{match[0][-1]}", _MARKUP.sub(r"\\\1", plain))


def paragraphs(text: str) -> str:
    """Return a text as Markdown paragraphs, split at blank lines."""
    return "\n\n".join(line(paragraph) for paragraph in re.split(r"\r?\n\s*\r?\n", text.strip()) if paragraph.strip())


def code(text: str) -> str:
    """Return an internal name or number as Markdown code; other texts are escaped."""
    return f"`{text}`" if re.fullmatch(r"[\w./:@+ -]+", text, re.ASCII) else line(text)


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table; cells are already Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def dump_yaml(value: Mapping[str, Any]) -> str:
    """Return a mapping of plain values, lists and mappings as a YAML block."""
    return "".join(f"{line}\n" for line in _mapping(value, ""))


def quoted(value: str) -> str:
    """Return a text as a quoted scalar."""
    return f'"{"".join(_character(character) for character in value)}"'


def _character(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    # Characters that are not printable in YAML, line breaks, and the byte order mark.
    if character.isprintable() or character == "\u3000":
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def _mapping(value: Mapping[str, Any], indent: str) -> Iterator[str]:
    for name, item in value.items():
        if isinstance(item, Mapping | list | tuple) and item:
            yield f"{indent}{name}:"
            yield from _block(item, indent)
        else:
            yield f"{indent}{name}: {_scalar(item)}"


def _block(value: Mapping[str, Any] | Sequence[Any], indent: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _mapping(value, f"{indent}  ")
        return
    for item in value:
        if isinstance(item, Mapping):
            first, *rest = _mapping(item, f"{indent}  ")
            yield f"{indent}- {first.lstrip()}"
            yield from rest
        else:
            yield f"{indent}- {_scalar(item)}"


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else "[]"


def count_rows(number: int) -> str:
    """Return a number of rows in words."""
    return f"{number:,} {'row' if number == 1 else 'rows'}"
