"""The layout of a response as judges see it: paragraphs, lists, citations.

Responses come from many writers and are not trusted. Common plain-text markup is recognized (lists, headings, bold,
citation markers), and everything else stays plain text. No HTML is created here; templates escape every piece. All
responses get the same layout rules, regardless of the writer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from analysis.text import statements

_BULLET = re.compile(r"\s*[-*\u2022\u2013\u25cf\u25aa\u25e6\u00b7]\s+(?=\S)")
_NUMBER = re.compile(r"\s*(?=\d{1,3}[.)]\s+\S)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(?=\S)")
_OPENING = re.compile(r"(?:\*\*|__)(?=\S)")
_CLOSING = re.compile(r"(?<=\S)(?=\*\*|__)")


class TextBlockKind(StrEnum):
    """Type of a block."""

    PARAGRAPH = "paragraph"
    BULLETS = "bullets"
    NUMBERS = "numbers"
    HEADING = "heading"


class PieceMark(StrEnum):
    """Type of a piece."""

    PLAIN = "plain"
    STRONG = "strong"
    CITE = "cite"


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line."""

    text: str
    mark: PieceMark = PieceMark.PLAIN


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Consecutive lines of the same type; each line of a list is an entry."""

    kind: TextBlockKind
    lines: tuple[tuple[Piece, ...], ...]


def blocks(text: str) -> tuple[TextBlock, ...]:
    """Return a response's text as blocks, in order and without losing a word.

    Examples
    --------
    >>> [(block.kind.value, len(block.lines)) for block in blocks("Two points:\\n- one [0]\\n- two")]
    [('paragraph', 1), ('bullets', 2)]
    """
    parts: list[tuple[TextBlockKind, list[tuple[Piece, ...]]]] = []
    parted = False
    for line in text.splitlines():
        kind, words = _read(line)
        if kind is None:
            parted = True
            continue
        # An empty line separates paragraphs, but not the entries of a list.
        goes_on = kind is not TextBlockKind.HEADING and not (parted and kind is TextBlockKind.PARAGRAPH)
        if goes_on and parts and parts[-1][0] is kind:
            parts[-1][1].append(_pieces(words))
        else:
            parts.append((kind, [_pieces(words)]))
        parted = False
    return tuple(TextBlock(kind, tuple(lines)) for kind, lines in parts)


def _read(line: str) -> tuple[TextBlockKind | None, str]:
    """Return the type of block that a line belongs to, and its text; None for an empty line, which separates blocks."""
    if not line.strip():
        return None, ""
    for kind, pattern in (
        (TextBlockKind.BULLETS, _BULLET),
        (TextBlockKind.NUMBERS, _NUMBER),
        (TextBlockKind.HEADING, _HEADING),
    ):
        start = pattern.match(line)
        if start:
            return kind, line[start.end() :].strip()
    return TextBlockKind.PARAGRAPH, line.strip()


def _pieces(line: str) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    position = 0
    # `passages=0`, because only the positions of the markers matter, not what they cite.
    for statement in statements.parse(line, passages=0).statements:
        if statement.marker_start == statement.marker_end:
            continue
        pieces += _strong(line[position : statement.marker_start])
        pieces.append(Piece(line[statement.marker_start : statement.marker_end], PieceMark.CITE))
        position = statement.marker_end
    return (*pieces, *_strong(line[position:]))


def _strong(text: str) -> Iterator[Piece]:
    position = 0
    closings = iter([match.start() for match in _CLOSING.finditer(text)])
    closing = next(closings, -1)
    while opening := _OPENING.search(text, position):
        start = opening.end()
        # At least one character must be between the markers.
        while 0 <= closing <= start:
            closing = next(closings, -1)
        if closing < 0:
            break
        if opening.start() > position:
            yield Piece(text[position : opening.start()])
        yield Piece(text[start:closing], PieceMark.STRONG)
        position = closing + 2
    if position < len(text):
        yield Piece(text[position:])
