"""The word-level difference of two texts, in time linear in their length.

Words that occur once in both texts are matched first, in their longest common order (Bram Cohen's patience diff);
between them, difflib compares word by word. A long stretch without such words counts as replaced.
"""

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")
# Stretches with at most this product of lengths are compared word by word.
_COMPARABLE: Final = 160_000
# The recursion depth of the search for unique words between matched words.
_DEPTH: Final = 8


@dataclass(frozen=True)
class Part:
    """A part of the difference between two versions, of kind `same`, `gone` or `new`."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch of both texts, by token positions."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def difference(before: str, after: str) -> list[Part]:
    """Return the word-level difference of two texts."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    parts: list[Part] = []
    old_at = new_at = 0
    for old_start, new_start, size in [*_joined(_blocks(old, new)), (len(old), len(new), 0)]:
        pieces = (
            ("gone", old[old_at:old_start]),
            ("new", new[new_at:new_start]),
            ("same", old[old_start : old_start + size]),
        )
        parts += [Part(kind, "".join(tokens)) for kind, tokens in pieces if tokens]
        old_at, new_at = old_start + size, new_start + size
    return parts


def _joined(blocks: Iterator[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return equal blocks in order, and merge those that are adjacent in both texts."""
    joined: list[tuple[int, int, int]] = []
    for old_start, new_start, size in sorted(blocks):
        if joined and size:
            old_before, new_before, before = joined[-1]
            if (old_before + before, new_before + before) == (old_start, new_start):
                joined[-1] = (old_before, new_before, before + size)
                continue
        if size:
            joined.append((old_start, new_start, size))
    return joined


def _blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield equal blocks (start in the old text, start in the new one, size), in any order."""
    waiting = [(_Stretch(0, len(old), 0, len(new)), 0)]
    while waiting:
        whole, depth = waiting.pop()
        yield from _ends(old, new, whole)
        stretch = _without_equal_ends(old, new, whole)
        lengths = stretch.old_end - stretch.old_start, stretch.new_end - stretch.new_start
        if not all(lengths):
            continue
        if lengths[0] * lengths[1] <= _COMPARABLE:
            matcher = difflib.SequenceMatcher(
                None, old[stretch.old_start : stretch.old_end], new[stretch.new_start : stretch.new_end], autojunk=False
            )
            for a, b, size in matcher.get_matching_blocks():
                yield stretch.old_start + a, stretch.new_start + b, size
        elif depth < _DEPTH and (anchors := _anchors(old, new, stretch)):
            yield from ((a, b, 1) for a, b in anchors)
            starts = [(stretch.old_start, stretch.new_start), *((a + 1, b + 1) for a, b in anchors)]
            ends = [*anchors, (stretch.old_end, stretch.new_end)]
            waiting += [
                (_Stretch(a, c, b, d), depth + 1) for (a, b), (c, d) in zip(starts, ends, strict=True) if a < c or b < d
            ]


def _without_equal_ends(old: Sequence[str], new: Sequence[str], stretch: _Stretch) -> _Stretch:
    """Return the stretch without its common prefix and suffix."""
    a, b, c, d = stretch.old_start, stretch.old_end, stretch.new_start, stretch.new_end
    while a < b and c < d and old[a] == new[c]:
        a, c = a + 1, c + 1
    while a < b and c < d and old[b - 1] == new[d - 1]:
        b, d = b - 1, d - 1
    return _Stretch(a, b, c, d)


def _ends(old: Sequence[str], new: Sequence[str], stretch: _Stretch) -> Iterator[tuple[int, int, int]]:
    inner = _without_equal_ends(old, new, stretch)
    yield stretch.old_start, stretch.new_start, inner.old_start - stretch.old_start
    yield inner.old_end, inner.new_end, stretch.old_end - inner.old_end


def _anchors(old: Sequence[str], new: Sequence[str], stretch: _Stretch) -> list[tuple[int, int]]:
    """Return the positions of tokens that occur once in both texts, in their longest common order."""
    old_places, new_places = range(stretch.old_start, stretch.old_end), range(stretch.new_start, stretch.new_end)
    in_old, in_new = Counter(old[i] for i in old_places), Counter(new[i] for i in new_places)
    index_of_word = {new[i]: i for i in new_places if in_new[new[i]] == 1}
    pairs = [(i, index_of_word[old[i]]) for i in old_places if in_old[old[i]] == 1 and old[i] in index_of_word]
    return _longest_increasing(pairs)


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs that increases in both elements, by patience sorting."""
    tops: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, value) in enumerate(pairs):
        pile = bisect_left(tops, value)
        before.append(last[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(value)
            last.append(index)
        else:
            tops[pile], last[pile] = value, index
    chain = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]
