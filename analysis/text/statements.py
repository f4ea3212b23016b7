"""Statements and citations of a response (design 7.1; crowdrag25, section 4).

A *marker* is a bracketed list of 0-based passage indices, ``[0]`` or ``[3, 7]``; adjacent brackets are one
marker. A *statement* is the span before a marker together with the passages that the marker cites. What
follows the last marker is a statement without citation.

Offsets are code points of the text as given (Python's ``str`` indices), never bytes or UTF-16 units.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# One bracketed list: numbers or ranges between commas, semicolons or spaces; people leave a last comma behind
# ("[0,1,]") and forget one ("[1, 4 16]"). A point is no separator: "[0.1, 0.5]" is an interval, not a citation.
_ENTRY = r"[0-9]+(?:\s*[-\u2013]\s*[0-9]+)?"
_BRACKET = rf"\[\s*{_ENTRY}(?:[\s,;]+{_ENTRY})*[\s,;]*\]"
_MARKER = re.compile(rf"{_BRACKET}(?:[ \t]*(?:[,;][ \t]*)?{_BRACKET})*")
_ENTRY_PARTS = re.compile(r"([0-9]+)(?:\s*[-\u2013]\s*([0-9]+))?")

# What closes the sentence that a marker belongs to: "... leukocytes [5]." ends in the full stop, '... "Stigma" [5]?'
# in the question mark, '... the bin [8]".' in both.
_CLOSING = re.compile(r"[.,;:!?\u2026\"'\u201d\u2019\u00bb)]+")
_SENTENCE_END = ".,;:!?\u2026"
_WORD_CHARACTER = re.compile(r"[^\W_]")

# Longer runs of digits name no passage; int() of thousands of digits would raise instead.
_MAX_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Statement:
    """A span of a response with the passages it cites.

    Attributes
    ----------
    start, end : int
        The span, ``response[start:end]``, stripped of white space, without marker and closing punctuation.
    closing : str
        The punctuation that directly follows the marker and closes the statement; empty for most others.
    body : str
        ``response[start:end]``.
    citations : tuple of int
        The passages cited, 0-based, each once, in the order of their first mention. Empty for text after the
        last marker, and for a marker none of whose indices names a passage.
    marker_start, marker_end : int
        The span of the marker; both equal `end` where there is none.
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
        """The statement as a reader reads it: the span and what closes it (never the same mark twice)."""
        if self.closing and self.body.endswith(self.closing[0]):
            return self.body + self.closing[1:]
        return self.body + self.closing


@dataclass(frozen=True, slots=True)
class ParsedResponse:
    """A response's text taken apart.

    Attributes
    ----------
    text : str
        The text that the offsets of the statements refer to.
    statements : tuple of Statement
        In order of the text.
    dropped : int
        Citations of indices outside the list of passages; they are in no statement.
    repeated : int
        Citations of a passage that the same statement had cited before.
    """

    text: str
    statements: tuple[Statement, ...]
    dropped: int
    repeated: int

    @property
    def words(self) -> int:
        """Space-separated words of the text, markers not counted as words."""
        return count_words(without_markers(self.text))

    @property
    def cited_passages(self) -> tuple[int, ...]:
        """The distinct passages cited, in the order of first citation."""
        return tuple(dict.fromkeys(index for s in self.statements for index in s.citations))

    @property
    def citations(self) -> int:
        """Citations in all, a passage counted once for each statement that cites it."""
        return sum(len(statement.citations) for statement in self.statements)


def parse(text: str, *, passages: int) -> ParsedResponse:
    """Take a response apart into statements with citations.

    Parameters
    ----------
    text : str
        A response with bracketed 0-based citations.
    passages : int
        How many passages there are to cite; indices from 0 to ``passages - 1`` are valid.

    Returns
    -------
    ParsedResponse
        An empty text, or one of punctuation only, has no statements. A marker with nothing before it keeps its
        citations in a statement with an empty body: no citation is lost.

    Raises
    ------
    ValueError
        If `passages` is negative.

    Notes
    -----
    Brackets that hold anything else, ``[...]`` or ``[Winter, 1997]``, are text. Ranges (``[3-5]``) name every
    passage between their ends. Punctuation right after a marker closes the statement before it, as in the
    published corpus.

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
    """Write statements with citation lists as one text: the inverse of `parse`.

    Responses of RAG systems come as sentences, each with the passages it cites; people read and judge them as
    text with markers. Statements are joined by a space, or by a line break where one begins with a list dash.

    Parameters
    ----------
    parts : iterable of (str, sequence of int)
        Each statement's text and the 0-based passages it cites.
    passages : int
        How many passages there are to cite.

    Returns
    -------
    ParsedResponse
        The text and its statements. A statement without citation stays a statement of its own here, though a
        reader (and `parse`) sees where it ends only by the next one's marker. Apart from such statements, parsing
        the text gives the same citations for the same statements.

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
    """The text without its citation markers and the blanks before them; brackets of other kinds stay."""
    pieces = []
    position = 0
    for marker in _MARKER.finditer(text):
        pieces.append(text[position : marker.start()].rstrip(" \t"))
        position = marker.end()
    return "".join([*pieces, text[position:]])


def count_words(text: str) -> int:
    """Space-separated words (design 7.1), any white space counted as a space."""
    return len(text.split())


def _read_marker(marker: str, passages: int) -> tuple[list[int], int]:
    """The valid indices of a marker in order, repetitions kept, and how many others it names."""
    valid: list[int] = []
    outside = 0
    for first, last in _ENTRY_PARTS.findall(marker):
        low = _index(first)
        high = _index(last) if last else low
        if high < low:  # "[5-3]" is no range: both of its ends are meant
            ends = [low, high]
            valid += [index for index in ends if index < passages]
            outside += sum(index >= passages for index in ends)
            continue
        # Counted, never listed: "[0-999999999]" must not fill the memory.
        valid += range(low, min(high + 1, passages))
        outside += high + 1 - max(low, min(high + 1, passages))
    return valid, outside


def _index(digits: str) -> int:
    """An index as a number; one of absurd length is outside of any list of passages."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= _MAX_DIGITS else 10**_MAX_DIGITS


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the white space at its ends; an empty span stands where it began."""
    piece = text[start:end]
    indent = len(piece) - len(piece.lstrip())
    if indent == len(piece):
        return start, start
    return start + indent, start + len(piece.rstrip())
