"""One JSON document of a writing log, from which the player shows any moment of it (docs/guides/reviewing.md).

Times are continuous milliseconds (`linear`). Positions and lengths in `changes` and `carets` are UTF-16 units, as
browsers count. Of keys only how many went down in each second is told.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from ..enums import LogSource
from ..models import WritingLog
from . import codec
from .events import ELSEWHERE, SOURCES
from .linear import Linear, of
from .whence import Places

VERSION = 1
# So many characters at once are told as an arrival of their own, whatever brought them.
AT_ONCE = 40
# A clipboard event belongs to the changes that come within so many milliseconds of it.
BELONGS = 1_000
# From these sources every change is an arrival.
FROM_CLIPBOARD = ("pasted", "dropped")
# These put back what was there before, or what the writer asked for: no arrivals, however long.
KNOWN = ("undone", "redone", "cited", "cut", "deleted")
# In imported snapshots nothing says how a change came about.
SNAPSHOT = "snapshot"
UNTOLD = len(SOURCES)


def document(log: WritingLog, passages: Sequence[tuple[int, str]]) -> dict[str, Any]:
    """Return what the player needs of a log; `passages` are (rank, text) of its topic.

    Raises
    ------
    codec.BrokenLog
        if the log cannot be read.
    """
    line = of(log)
    return {
        "version": VERSION,
        "source": log.source,
        "has_keys": log.source == LogSource.EDITOR,
        "started": log.started_at.isoformat() if log.started_at else None,
        "end": line.end,
        "sources": [*SOURCES, SNAPSHOT],
        **_text(line, Places(passages)),
        "keys": _keys(line.events),
        "open": _spans(line, "o"),
        "view": _seen(line.events),
        "hidden": _away(line, "v"),
        "unfocused": _away(line, "f"),
        "searches": [event[1:4] for event in line.events if event[0] == "q"],
        "citations": [[event[1], event[2], event[4]] for event in line.events if event[0] == "b"],
        "copies": [[event[1], event[2], event[5]] for event in line.events if event[0] == "y"],
        "clock": [event[1:3] for event in line.events if event[0] == "j"],
        "set_back": line.set_back,
        "sittings": [
            [each.at, each.number, each.opened_at.isoformat() if each.opened_at else None] for each in line.sittings
        ],
        "gaps": [[gap.at, gap.shown, gap.milliseconds, gap.sitting] for gap in line.gaps],
        "branches": [{"sitting": each.number, "events": each.events, "text": each.text} for each in line.branches],
    }


def _text(line: Linear, places: Places) -> dict[str, Any]:
    """Return the changes and carets in UTF-16 units, and what arrived at once."""
    state = _State()
    changes: list[list[Any]] = []
    carets: list[list[int]] = []
    arrivals = _Arrivals(places, [event for event in line.events if event[0] == "p"])
    for event in line.events:
        if event[0] == codec.SPLICE:
            before = state.text
            position, deleted = state.apply(event)
            source = SOURCES.index(event[5]) if len(event) > 5 and event[5] in SOURCES else UNTOLD
            arrivals.see(len(changes), event, before)
            changes.append([event[1], position, deleted, event[4], source])
        elif event[0] == "c":
            carets.append([event[1], len(changes), state.units(event[2]), state.units(event[3])])
    return {"changes": changes, "carets": carets, "arrivals": arrivals.found, "length": len(state.text)}


class _State:
    """The text while it grows; counts its characters outside the basic plane, which take two UTF-16 units."""

    def __init__(self) -> None:
        self.text = ""
        self.wide = 0

    def units(self, position: int) -> int:
        """Return a position in UTF-16 units."""
        position = max(0, min(position, len(self.text)))
        return position + (_wide(self.text[:position]) if self.wide else 0)

    def apply(self, event: codec.Event) -> tuple[int, int]:
        """Change the text; return where and how much went, in UTF-16 units."""
        _, _, position, deleted, inserted = event[:5]
        gone = self.text[position : position + deleted]
        units = self.units(position)
        self.text = codec.applied(self.text, event)
        lost = _wide(gone) if self.wide else 0
        self.wide += _wide(inserted) - lost
        return units, deleted + lost


class _Arrivals:
    """Collects what came at once: pastes with where they are from, and jumps."""

    def __init__(self, places: Places, clipboard: list[codec.Event]) -> None:
        self.places = places
        self.clipboard = clipboard
        self.found: list[dict[str, Any]] = []
        self.last: codec.Event | None = None
        self.texts: list[str] = []

    def see(self, number: int, event: codec.Event, before: str) -> None:
        """Look at a change; `number` is its place among the changes."""
        how = event[5] if len(event) > 5 else SNAPSHOT
        at_once = how in FROM_CLIPBOARD or (len(event[4]) >= AT_ONCE and how not in KNOWN)
        if not at_once or not event[4]:
            self.last = None
            return
        told = self._told(event[1]) if how in FROM_CLIPBOARD else None
        if self._goes_on(event, number):
            self._add(event, before)
        else:
            self.texts = [event[4]]
            self.found.append({"t": event[1], "change": number, "changes": 1, "how": how, "length": len(event[4])})
            self._say_whence(told, before)
        self.last = event

    def _goes_on(self, event: codec.Event, number: int) -> bool:
        """Say whether the change continues the arrival before it: a large paste is split into several."""
        if self.last is None or not self.found or self.found[-1]["change"] + self.found[-1]["changes"] != number:
            return False
        after = self.last[2] + len(self.last[4])
        return (
            len(event) > 5
            and event[5] == self.found[-1]["how"]
            and event[2] == after
            and event[3] == 0
            and event[1] - self.last[1] <= 50
        )

    def _add(self, event: codec.Event, before: str) -> None:
        arrival = self.found[-1]
        arrival["changes"] += 1
        arrival["length"] += len(event[4])
        self.texts.append(event[4])
        if not arrival["told"]:
            self._say_whence(None, before[: event[2] - arrival["length"] + len(event[4])])

    def _say_whence(self, told: codec.Event | None, before: str) -> None:
        whence = self.places.of("".join(self.texts), before)
        place, share = (told[2], told[4]) if told is not None else (whence.place, whence.share)
        if place == ELSEWHERE and whence.place != ELSEWHERE:  # by its words it stands in a passage all the same
            place, share = whence.place, whence.share
        self.found[-1] |= {"place": place, "share": share, "told": told is not None}

    def _told(self, at: int) -> codec.Event | None:
        """Return what the editor said of the paste at this moment."""
        near = [event for event in self.clipboard if abs(event[1] - at) <= BELONGS]
        return min(near, key=lambda event: abs(event[1] - at), default=None)


def _wide(text: str) -> int:
    return 0 if text.isascii() else sum(character > "\uffff" for character in text)


def _keys(events: Iterable[codec.Event]) -> list[list[int]]:
    """Fold key timing: [second, how many keys went down in it]."""
    seconds = Counter(event[1] // 1000 for event in events if event[0] == "k")
    return [[second, count] for second, count in sorted(seconds.items())]


def _spans(line: Linear, kind: str) -> list[list[int]]:
    """Return [rank, from, to] of what was opened and closed; what was never closed lasts until the end."""
    since: dict[int, int] = {}
    spans: list[list[int]] = []
    for _, at, rank, on in (event[:4] for event in line.events if event[0] == kind):
        if on:
            since.setdefault(rank, at)
        elif rank in since:
            spans.append([rank, since.pop(rank), at])
    spans += [[rank, at, line.end] for rank, at in since.items()]
    return sorted(spans, key=lambda span: span[1:])


def _seen(events: Iterable[codec.Event]) -> list[list[int]]:
    """Return [rank, from, to] of passages in view: each is told when it leaves, with how long it was there."""
    spans = [[event[2], max(0, event[1] - event[3]), event[1]] for event in events if event[0] == "d"]
    return sorted(spans, key=lambda span: span[1:])


def _away(line: Linear, kind: str) -> list[list[int]]:
    """Return [from, to] of the times when the page was not seen, or had no keyboard."""
    spans: list[list[int]] = []
    since: int | None = None
    for event in line.events:
        if event[0] != kind:
            continue
        if not event[2] and since is None:
            since = event[1]
        elif event[2] and since is not None:
            spans.append([since, event[1]])
            since = None
    return [*spans, [since, line.end]] if since is not None else spans
