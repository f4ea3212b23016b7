"""Statements and citations of a response (design 7.1; crowdrag25, section 4).

A *marker* is a bracketed list of 0-based passage indices, ``[0]`` or ``[3, 7]``; adjacent brackets are one marker. A
*statement* is the span before a marker together with the passages that the marker cites. Text after the last marker is
a statement without citations.

Offsets are code points of the input text (Python's ``str`` indices), never bytes or UTF-16 units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# One bracketed list of numbers or ranges, separated by commas, semicolons or spaces. People leave a trailing comma
# ("[0,1,]") or omit one ("[1, 4 16]"). A period is not a separator: "[0.1, 0.5]" is an interval, not a citation.
_ENTRY = r"[0-9]+(?:\s*[-\u2013]\s*[0-9]+)?"
_BRACKET = rf"\[\s*{_ENTRY}(?:[\s,;]+{_ENTRY})*[\s,;]*\]"
_MARKER = re.compile(rf"{_BRACKET}(?:[ \t]*(?:[,;][ \t]*)?{_BRACKET})*")
_NUMBER = re.compile(r"[0-9]+")
_ENTRY_PARTS = re.compile(r"([0-9]+)(?:\s*[-\u2013]\s*([0-9]+))?")

# The punctuation that closes the sentence of a marker: the full stop in "... leukocytes [5].", the question mark in
# '... "Stigma" [5]?', and both marks in '... the bin [8]".'.
_CLOSING = re.compile(r"[.,;:!?\u2026\"'\u201d\u2019\u00bb)]+")
_SENTENCE_END = ".,;:!?\u2026"
_WORD_CHARACTER = re.compile(r"[^\W_]")

# Longer runs of digits are not passage indices; int() of thousands of digits would raise an error.
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Statement:
    """A span of a response with the passages it cites.

    Attributes
    ----------
    start, end : int
        The span ``response[start:end]``, stripped of white space, without marker and closing punctuation.
    closing : str
        The punctuation that directly follows the marker and closes the statement; usually empty.
    body : str
        ``response[start:end]``.
    citations : tuple of int
        The cited passages, 0-based and distinct, in the order of first mention. Empty for text after the last marker,
        and for a marker without a valid index.
    marker_start, marker_end : int
        The span of the marker; both equal `end` if there is no marker.
    """

    start: int
    end: int
    body: str
    closing: str
    citations: tuple[int, ...]
    marker_start: int
    marker_end: int

    @property
    def text(self) -> str:
        """The readable statement: its span and closing punctuation (never the same mark twice)."""
        return readable(self.body, self.closing)


def readable(body: str, closing: str) -> str:
    """Join a statement's span and its closing punctuation, without the same mark twice."""
    return body + (closing[1:] if closing and body.endswith(closing[0]) else closing)


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """A response parsed into statements.

    Attributes
    ----------
    text : str
        The text that the offsets of the statements refer to.
    statements : tuple of Statement
        In order of the text.
    dropped : int
        Number of citations with indices outside the list of passages; they are in no statement.
    repeated : int
        Number of citations of a passage that the same statement had already cited.
    """

    text: str
    statements: tuple[Statement, ...]
    dropped: int
    repeated: int

    @property
    def words(self) -> int:
        """Number of space-separated words of the text, without markers."""
        return count_words(without_markers(self.text))

    @property
    def cited_passages(self) -> tuple[int, ...]:
        """The distinct cited passages, in the order of first citation."""
        return tuple(dict.fromkeys(index for s in self.statements for index in s.citations))

    @property
    def citations(self) -> int:
        """Total number of citations; a passage counts once for each statement that cites it."""
        return sum(len(statement.citations) for statement in self.statements)


def parse(text: str, *, passages: int) -> ParsedResponse:
    """Parse a response into statements with citations.

    Parameters
    ----------
    text : str
        A response with bracketed 0-based citations.
    passages : int
        Number of passages; indices from 0 to ``passages - 1`` are valid.

    Returns
    -------
    ParsedResponse
        A text that is empty or contains only punctuation has no statements. A marker without text before it keeps its
        citations in a statement with an empty body, so that no citation is lost.

    Raises
    ------
    ValueError
        If `passages` is negative.

    Notes
    -----
    Other brackets, ``[...]`` or ``[Winter, 1997]``, are text. A range (``[3-5]``) cites every passage from its start to
    its end. Punctuation directly after a marker closes the statement before it, as in the published corpus.

    Examples
    --------
    >>> [(s.text, s.citations) for s in parse("Leaves fall [0, 2]. Snow [1][7] melts.", passages=5).statements]
    [('Leaves fall.', (0, 2)), ('Snow', (1,)), ('melts.', ())]
    """
    if passages < 0:
        msg = f"passages must not be negative, it is {passages}"
        raise ValueError(msg)
    statements = []
    dropped = repeated = position = 0
    for marker in _MARKER.finditer(text):
        cited, outside = _read_marker(marker.group(), passages)
        unique = tuple(dict.fromkeys(cited))
        dropped += outside
        repeated += len(cited) - len(unique)
        closing = _CLOSING.match(text, marker.end())
        start, end = _stripped(text, position, marker.start())
        statements.append(
            Statement(
                start=start,
                end=end,
                body=text[start:end],
                closing=closing.group() if closing else "",
                citations=unique,
                marker_start=marker.start(),
                marker_end=marker.end(),
            )
        )
        position = closing.end() if closing else marker.end()
    start, end = _stripped(text, position, len(text))
    if _WORD_CHARACTER.search(text, start, end):
        statements.append(Statement(start, end, text[start:end], "", (), end, end))
    return ParsedResponse(text, tuple(statements), dropped, repeated)


def compose(parts: Iterable[tuple[str, Sequence[int]]], *, passages: int) -> ParsedResponse:
    """Compose a text from statements with citation lists: the inverse of `parse`.

    RAG systems return sentences with the passages that each cites, but people read and judge a text with markers.
    Statements are joined by a space, or by a line break before a statement that begins with a list dash.

    Parameters
    ----------
    parts : iterable of (str, sequence of int)
        The text of each statement and the 0-based passages that it cites.
    passages : int
        Number of passages.

    Returns
    -------
    ParsedResponse
        The text and its statements. A statement without citations remains separate here, but in the text (and for
        `parse`) it ends only at the next marker. Apart from such statements, parsing the text returns the same
        statements and citations.

    Raises
    ------
    ValueError
        If `passages` is negative.

    Examples
    --------
    >>> compose([("Leaves fall.", [2, 0]), ("Snow melts.", [])], passages=5).text
    'Leaves fall [2, 0]. Snow melts.'
    """
    if passages < 0:
        msg = f"passages must not be negative, it is {passages}"
        raise ValueError(msg)
    text = ""
    statements = []
    dropped = repeated = 0
    for raw, indices in parts:
        words = raw.strip()
        valid = [int(index) for index in indices if 0 <= index < passages]
        unique = tuple(dict.fromkeys(valid))
        dropped += len(indices) - len(valid)
        repeated += len(valid) - len(unique)
        if not words and not unique:
            continue
        if text:
            text += "\n" if words.startswith("- ") else " "
        body = words.rstrip(_SENTENCE_END) if unique else words
        closing = words[len(body) :]
        body = body.rstrip()
        start = len(text)
        text += body
        end = marker_start = marker_end = len(text)
        if unique:
            text += " " if body else ""
            marker_start = len(text)
            text += f"[{', '.join(map(str, unique))}]"
            marker_end = len(text)
        text += closing
        statements.append(Statement(start, end, body, closing, unique, marker_start, marker_end))
    return ParsedResponse(text, tuple(statements), dropped, repeated)


def without_markers(text: str) -> str:
    """Remove citation markers and the blanks before them; other brackets are kept."""
    pieces = []
    position = 0
    for marker in _MARKER.finditer(text):
        pieces.append(text[position : marker.start()].rstrip(" \t"))
        position = marker.end()
    return "".join([*pieces, text[position:]])


def count_markers_from_zero(text: str) -> str:
    """Rewrite citation markers that count passages from 1, so that they count from 0.

    Raises
    ------
    ValueError
        If a marker cites passage 0.

    Examples
    --------
    >>> count_markers_from_zero("Leaves fall [1, 3]. See [Winter, 1997].")
    'Leaves fall [0, 2]. See [Winter, 1997].'
    """
    return _MARKER.sub(lambda marker: _NUMBER.sub(_one_less, marker.group()), text)


def shift_markers(text: str, shift: int) -> str:
    """Add `shift` to all numbers of citation markers; a marker of which a number would be negative stays unchanged.

    Examples
    --------
    >>> shift_markers("Leaves fall [0, 2]. Snow [1][3] melts.", 1)
    'Leaves fall [1, 3]. Snow [2][4] melts.'
    """

    def shifted(marker: re.Match[str]) -> str:
        numbers = [_index(digits) + shift for digits in _NUMBER.findall(marker.group())]
        if min(numbers) < 0:
            return marker.group()
        rest = iter(numbers)
        return _NUMBER.sub(lambda _: str(next(rest)), marker.group())

    return _MARKER.sub(shifted, text)


def _one_less(digits: re.Match[str]) -> str:
    number = _index(digits.group())
    if number == 0:
        msg = "the marker cites passage 0, although markers count from 1"
        raise ValueError(msg)
    return str(number - 1)


def count_words(text: str) -> int:
    """Count space-separated words (design 7.1); any white space separates words."""
    return len(text.split())


def _read_marker(marker: str, passages: int) -> tuple[list[int], int]:
    """Return the valid indices of a marker in order, with repetitions, and the number of invalid ones."""
    valid: list[int] = []
    outside = 0
    for first, last in _ENTRY_PARTS.findall(marker):
        low = _index(first)
        high = _index(last) if last else low
        if high < low:  # "[5-3]" is not a range: cite both ends
            ends = [low, high]
            valid += [index for index in ends if index < passages]
            outside += sum(index >= passages for index in ends)
            continue
        # Counted, not listed: "[0-999999999]" must not exhaust memory.
        valid += range(low, min(high + 1, passages))
        outside += high + 1 - max(low, min(high + 1, passages))
    return valid, outside


def _index(digits: str) -> int:
    """Convert an index to a number; excessively long ones are outside every list of passages."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= _MAX_DIGITS else 10**_MAX_DIGITS


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span without surrounding white space; an empty span keeps its start."""
    piece = text[start:end]
    indent = len(piece) - len(piece.lstrip())
    if indent == len(piece):
        return start, start
    return start + indent, start + len(piece.rstrip())
