"""A text with the origin of each of its characters, and what was cut, deleted or copied from it."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from analysis.process.events import Change, after

# What was deleted is remembered so far back, to know it again when it is undone or pasted.
REMEMBERED = 200
LONGEST = 10_000


@dataclass(frozen=True)
class Segment:
    """A text with the origin of each character (`roots`) and the copy that it belongs to (`copies`, 0 for none)."""

    text: str
    roots: array[int]
    copies: array[int]

    @classmethod
    def of(cls, text: str, root: int) -> Segment:
        """Return a text of one origin."""
        return cls(text, array("i", [root]) * len(text), array("i", [0]) * len(text))

    @classmethod
    def nothing(cls) -> Segment:
        """Return an empty text."""
        return cls.of("", 0)

    def as_copy(self, copy: int) -> Segment:
        """Return the same text with the same origins as a copy of its own."""
        return Segment(self.text, self.roots, array("i", [copy]) * len(self.text))

    def part(self, start: int, end: int) -> Segment:
        """Return a part of it."""
        return Segment(self.text[start:end], self.roots[start:end], self.copies[start:end])

    def __add__(self, other: Segment) -> Segment:
        return Segment(self.text + other.text, self.roots + other.roots, self.copies + other.copies)


class Written:
    """The text as it grows."""

    def __init__(self) -> None:
        self.text = ""
        self.roots = array("i")
        self.copies = array("i")

    def splice(self, change: Change, came: Segment) -> None:
        """Replace what a change deletes by what came."""
        self.text = after(change._replace(inserted=came.text), self.text)
        start, end = change.position, change.position + change.deleted
        self.roots[start:end] = came.roots
        self.copies[start:end] = came.copies

    def segment(self, start: int, end: int) -> Segment:
        """Return a span of it."""
        return Segment(self.text[start:end], self.roots[start:end], self.copies[start:end])

    def find(self, text: str) -> Segment | None:
        """Return where a text stands in it."""
        at = self.text.find(text)
        return self.segment(at, at + len(text)) if at >= 0 else None


class Shelf:
    """What is no longer in the text, or was copied from it: it may come back."""

    def __init__(self) -> None:
        self.deleted: list[Segment] = []
        self.positions: list[int] = []
        self.clipboard: Segment | None = None

    def copy(self, segment: Segment) -> None:
        """Keep what was copied: as the clipboard, only the latest."""
        self.clipboard = segment

    def put(self, segment: Segment, *, position: int, is_cut: bool) -> None:
        """Keep what was deleted; backspaces one after the other are one text."""
        if is_cut:
            self.clipboard = segment
        if self.deleted and len(self.deleted[-1].text) + len(segment.text) <= LONGEST:
            last = self.positions[-1]
            if position + len(segment.text) == last:
                self.deleted[-1], self.positions[-1] = segment + self.deleted[-1], position
                return
            if position == last:
                self.deleted[-1] += segment
                return
        self.deleted.append(segment)
        self.positions.append(position)
        del self.deleted[:-REMEMBERED], self.positions[:-REMEMBERED]

    def copied(self, text: str) -> Segment | None:
        """Return the clipboard if it holds this text."""
        return self.clipboard if self.clipboard is not None and self.clipboard.text == text else None

    def find(self, text: str) -> Segment | None:
        """Return what was deleted and read like this, the latest first."""
        for segment in reversed(self.deleted):
            at = segment.text.find(text)
            if at >= 0:
                return segment.part(at, at + len(text))
        return None
