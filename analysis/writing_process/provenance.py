"""Provenance of characters: typed, pasted, cited or corrected, traced through all later changes."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from analysis.writing_process.events import ELSEWHERE, OWN_TEXT, Change, Event, Log, Pasting, after, groups, read
from analysis.writing_process.passage_matches import Match, Sources
from analysis.writing_process.thresholds import DEFAULTS, Thresholds

# Limits of the deleted text that is kept to recognise it when it is undone or pasted.
REMEMBERED = 200
LONGEST = 10_000


@dataclass(frozen=True)
class Segment:
    """A text with the origin of each character (`roots`) and the copy to which it belongs (`copies`, 0 for none)."""

    text: str
    roots: array[int]
    copies: array[int]

    @classmethod
    def of(cls, text: str, root: int) -> Segment:
        """Create a text with a single origin."""
        return cls(text, array("i", [root]) * len(text), array("i", [0]) * len(text))

    @classmethod
    def nothing(cls) -> Segment:
        """Return an empty text."""
        return cls.of("", 0)

    def as_copy(self, copy: int) -> Segment:
        """Return the same text and origins, marked as a copy."""
        return Segment(self.text, self.roots, array("i", [copy]) * len(self.text))

    def part(self, start: int, end: int) -> Segment:
        """Return the part between two positions."""
        return Segment(self.text[start:end], self.roots[start:end], self.copies[start:end])

    def __add__(self, other: Segment) -> Segment:
        return Segment(self.text + other.text, self.roots + other.roots, self.copies + other.copies)


class Written:
    """The current text with the origins of its characters."""

    def __init__(self) -> None:
        self.text = ""
        self.roots = array("i")
        self.copies = array("i")

    def splice(self, change: Change, came: Segment) -> None:
        """Replace the text that a change deletes by the inserted segment."""
        self.text = after(change._replace(inserted=came.text), self.text)
        start, end = change.position, change.position + change.deleted
        self.roots[start:end] = came.roots
        self.copies[start:end] = came.copies

    def segment(self, start: int, end: int) -> Segment:
        """Return a span of the text."""
        return Segment(self.text[start:end], self.roots[start:end], self.copies[start:end])

    def find(self, text: str) -> Segment | None:
        """Find a text in the current text; None if it is absent."""
        start = self.text.find(text)
        return self.segment(start, start + len(text)) if start >= 0 else None


class Shelf:
    """Deleted and copied text, which may be inserted again."""

    def __init__(self) -> None:
        self.deleted: list[Segment] = []
        self.positions: list[int] = []
        self.clipboard: Segment | None = None

    def copy(self, segment: Segment) -> None:
        """Store copied text; the clipboard holds only the latest."""
        self.clipboard = segment

    def put(self, segment: Segment, *, position: int, is_cut: bool) -> None:
        """Store deleted text; consecutive deletions are merged into one text."""
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
        """Find a text among the deleted ones, the latest first; None if it is absent."""
        for segment in reversed(self.deleted):
            start = segment.text.find(text)
            if start >= 0:
                return segment.part(start, start + len(text))
        return None


class Origin(StrEnum):
    """How a character first came into the text."""

    TYPED = "typed"
    PASTED = "pasted"
    DROPPED = "dropped"
    CITED = "cited"
    CORRECTED = "corrected"
    RESTORED = "restored"
    EXTERNAL = "external"
    AT_ONCE = "at once"  # a jump: longer than typing between two changes, and no paste was recorded
    UNKNOWN = "unknown"


ORIGINS = tuple(Origin)
_CODE = {origin: number for number, origin in enumerate(ORIGINS)}
_FIRST_ARRIVAL = len(ORIGINS)
_BY_SOURCE = {
    "typed": Origin.TYPED,
    "composed": Origin.TYPED,
    "pasted": Origin.PASTED,
    "dropped": Origin.DROPPED,
    "cut": Origin.TYPED,
    "deleted": Origin.TYPED,
    "replaced": Origin.CORRECTED,
    "cited": Origin.CITED,
    "restored": Origin.RESTORED,
    "external": Origin.EXTERNAL,
    # Snapshots do not record the source; text that is short enough to be typed between two of them counts as typed.
    "": Origin.TYPED,
}
_CARRIED = frozenset({Origin.PASTED, Origin.DROPPED})
_BROUGHT = _CARRIED | {Origin.RESTORED, Origin.EXTERNAL}
_BACK = frozenset({"undone", "redone", "restored"})
# Maximum time in milliseconds between the page's record of a paste and the change itself.
_NOTED_WITHIN = 1_000


@dataclass(frozen=True)
class Arrival:
    """A text that was inserted in one piece: pasted, dropped, inserted by a program, or a jump.

    Attributes
    ----------
    number : int
        Index among the arrivals.
    event, ms : int
        The event that inserted it, and its time as recorded.
    position, length : int
        Its position and number of characters at insertion.
    text : str
    origin : Origin
    place : int or None
        The passage's rank, `OWN_TEXT` or `ELSEWHERE`; None if no passages were given.
    share : float
        The share of its words found in that place; for `ELSEWHERE`, the share found in the best passage.
    noted : int or None
        The place that the page recorded for the paste; None if it recorded nothing.
    survived : int
        Number of its characters in the final text, including moved ones.
    """

    number: int
    event: int
    ms: int
    position: int
    length: int
    text: str
    origin: Origin
    place: int | None
    share: float
    noted: int | None
    survived: int = 0

    @property
    def survived_share(self) -> float:
        """The share of its characters that are in the final text."""
        return self.survived / self.length


@dataclass(frozen=True)
class Run:
    """A span of the final text with one origin; `arrival` is the number of its arrival."""

    start: int
    end: int
    origin: Origin
    arrival: int | None


@dataclass(frozen=True)
class Provenance:
    """The origins of all characters of a final text.

    Attributes
    ----------
    text : str
        The final text of the log.
    runs : tuple of Run
        The whole text, in order, without gaps.
    arrivals : tuple of Arrival
        Texts inserted in one piece, in time order.
    is_sourced : bool
        Whether the log records the source of changes. If not, text inserted at once may have been pasted.
    """

    text: str
    runs: tuple[Run, ...]
    arrivals: tuple[Arrival, ...]
    is_sourced: bool

    @property
    def characters(self) -> dict[Origin, int]:
        """Number of characters of the final text by origin, without origins that have none."""
        counts: Counter[Origin] = Counter()
        for run in self.runs:
            counts[run.origin] += run.end - run.start
        return dict(counts)

    def share(self, *origins: Origin) -> float:
        """Return the share of the final text that has one of these origins; NaN if the text is empty."""
        counts = self.characters
        return sum(counts.get(origin, 0) for origin in origins) / len(self.text) if self.text else float("nan")

    @property
    def pastes(self) -> tuple[Arrival, ...]:
        """Pasted or dropped arrivals; empty if the log does not record sources."""
        return tuple(arrival for arrival in self.arrivals if arrival.origin in _CARRIED)

    @property
    def pasted_share(self) -> float:
        """The share of the final text that was pasted or dropped; NaN if sources are not recorded, or without text."""
        return self.share(*_CARRIED) if self.is_sourced else float("nan")

    @property
    def at_once_share(self) -> float:
        """The share of the text that was inserted in one piece, in any way; snapshots can show no more."""
        return self.share(*_BROUGHT, Origin.AT_ONCE)

    def spans(self, arrival: Arrival) -> tuple[tuple[int, int], ...]:
        """Return the spans of the final text that contain an arrival's characters."""
        return tuple((run.start, run.end) for run in self.runs if run.arrival == arrival.number)


def provenance(
    events: Iterable[Event] | Log,
    passages: Sequence[str] | Sources | None = None,
    *,
    thresholds: Thresholds = DEFAULTS,
) -> Provenance:
    """Trace every character from its insertion to the final text.

    Parameters
    ----------
    events : iterable of event, or Log
        In the order in which they changed the text.
    passages : sequence of str, or Sources, optional
        The passages in rank order. Without them, the only place that can be recognised is the writer's own text.
    thresholds : Thresholds

    Returns
    -------
    Provenance
        Characters that are deleted and inserted again (undo, cut and paste) keep their first origin; so do copies of
        the writer's own text. Time is proportional to the number of changes times the length of the text. The inner
        step only copies memory: 20,000 events take a tenth of a second.

    Raises
    ------
    BrokenLogError
        If a change is outside its text.
    """
    log = events if isinstance(events, Log) else read(events)
    sources = passages
    if passages is not None and not isinstance(passages, Sources):
        sources = Sources(passages, match=thresholds.match, shingle=thresholds.shingle)
    assert sources is None or isinstance(sources, Sources)
    return _Tracer(log, sources, thresholds).trace()


class _Tracer:
    def __init__(self, log: Log, sources: Sources | None, thresholds: Thresholds) -> None:
        self.log, self.sources, self.thresholds = log, sources, thresholds
        self.written = Written()
        self.shelf = Shelf()
        self.arrivals: list[Arrival] = []
        # Arrivals that are copies of the writer's own text. Their characters keep their first origin, so what remains
        # of these arrivals is counted by copy.
        self.copies: list[int] = []
        self.noted_at = [note.at for note in log.pastings]
        self.notes: list[Pasting | None] = list(log.pastings)
        self.copyings = deque(log.copyings)

    def trace(self) -> Provenance:
        for begin, end in groups(self.log.changes, together=self.thresholds.together):
            self.take(begin, self.log.changes[begin:end])
        surviving = Counter(self.written.roots)
        for number in self.copies:
            surviving[number + _FIRST_ARRIVAL] = 0
        copied = Counter(self.written.copies)
        arrivals = (
            replace(arrival, survived=surviving[arrival.number + _FIRST_ARRIVAL] + copied[arrival.number + 1])
            for arrival in self.arrivals
        )
        return Provenance(self.written.text, tuple(self.runs()), tuple(arrivals), self.log.is_sourced)

    def take(self, begin: int, group: Sequence[Change]) -> None:
        """Apply changes that were made at once; only the first of them deletes."""
        first = group[0]
        while self.copyings and self.copyings[0].changes <= begin:
            copying = self.copyings.popleft()
            self.shelf.copy(self.written.segment(copying.start, copying.end))
        text = first.inserted if len(group) == 1 else "".join(change.inserted for change in group)
        deleted = self.written.segment(first.position, first.position + first.deleted) if first.deleted else None
        came = self.coming(first, text) if text else Segment.nothing()
        self.written.splice(first, came)
        if deleted is not None:
            self.shelf.put(deleted, position=first.position, is_cut=first.source == "cut")

    def coming(self, change: Change, text: str) -> Segment:
        """Return an inserted text with the origin of each character."""
        if change.source in _BACK and (earlier_segment := self.shelf.find(text)):
            return earlier_segment
        origin = _BY_SOURCE.get(change.source, Origin.UNKNOWN)
        if origin not in _BROUGHT:
            if len(text) < self.thresholds.jump:
                return Segment.of(text, _CODE[origin])
            if origin is Origin.TYPED:
                origin = Origin.AT_ONCE
        return self.arriving(change, text, origin)

    def arriving(self, change: Change, text: str, origin: Origin) -> Segment:
        number = len(self.arrivals)
        noted = self.noted(change, text) if origin in _CARRIED else None
        copied_segment, match = None, None
        if origin in _CARRIED:
            copied_segment = self.shelf.copied(text)
        if copied_segment is None:
            match = self.looked_up(text, noted)
            if match.passage is None and origin is not Origin.RESTORED:
                copied_segment = self.shelf.find(text) or self.written.find(text)
        source: int | None
        if copied_segment is not None:
            source, share = OWN_TEXT, 1.0
            self.copies.append(number)
        else:
            assert match is not None
            source, share = match.passage, match.share
            if source is None and self.sources is not None:
                source = ELSEWHERE
        arrival = Arrival(
            number, change.event, change.ms, change.position, len(text), text, origin, source, share, noted
        )
        self.arrivals.append(arrival)
        if copied_segment is not None:
            return copied_segment.as_copy(number + 1)
        return Segment.of(text, number + _FIRST_ARRIVAL)

    def looked_up(self, text: str, noted: int | None) -> Match:
        """Find the source passage; if several contain the text, prefer the one that the page recorded."""
        if self.sources is None:
            return Match(None, 0.0, is_exact=False)
        if noted is not None and noted >= 0:
            share = self.sources.share(text, noted)
            if share >= self.thresholds.match:
                return Match(noted, share, is_exact=share == 1.0)
        return self.sources.find(text)

    def noted(self, change: Change, text: str) -> int | None:
        """Return the place recorded for this paste: from the nearest record of equal length, else the nearest."""
        begin = bisect_left(self.noted_at, change.at - _NOTED_WITHIN)
        end = bisect_right(self.noted_at, change.at + _NOTED_WITHIN)
        candidates = [(note, number) for number in range(begin, end) if (note := self.notes[number]) is not None]
        if not candidates:
            return None
        best, number = min(candidates, key=lambda pair: (pair[0].length != len(text), abs(pair[0].at - change.at)))
        self.notes[number] = None  # a record belongs to one paste
        return best.place

    def runs(self) -> Iterable[Run]:
        roots: array[int] = self.written.roots
        start = 0
        for end in range(1, len(roots) + 1):
            if end == len(roots) or roots[end] != roots[start]:
                number = roots[start] - _FIRST_ARRIVAL
                if number >= 0:
                    yield Run(start, end, self.arrivals[number].origin, number)
                else:
                    yield Run(start, end, ORIGINS[roots[start]], None)
                start = end
