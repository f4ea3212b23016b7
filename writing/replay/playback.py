"""The JSON document with which the player shows any moment of a log (docs/guides/reviewing.md).

Times are milliseconds on the continuous clock (`merged_log`). Positions and lengths in `changes` and `carets` are
UTF-16 units, as in browsers. Key presses are only counted by second.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from analysis.writing_process import Arrival, Origin, provenance

from ..editor import codec
from ..editor.events import ELSEWHERE, SOURCES
from ..enums import LogSource
from ..models import WritingLog
from .merged_log import MergedLog, merge

VERSION = 1
# The source of changes in imported snapshots, whose real source is unknown; its number follows those of the others.
SNAPSHOT = "snapshot"
UNTOLD = len(SOURCES)


def document(log: WritingLog, passages: Sequence[str]) -> dict[str, Any]:
    """Return the player's document for a log; `passages` are the texts of its topic's passages by rank.

    Raises
    ------
    codec.BrokenLog
        If the log cannot be read.
    """
    line = merge(log)
    return {
        "version": VERSION,
        "source": log.source,
        "has_keys": log.source == LogSource.EDITOR,
        "started": log.started_at.isoformat() if log.started_at else None,
        "end": line.end,
        "span": line.span,
        "sources": [*SOURCES, SNAPSHOT],
        **_text(line, passages),
        "revises": log.task.revises_id is not None,
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
        "sessions": [
            [each.at, each.number, each.opened_at.isoformat() if each.opened_at else None] for each in line.sessions
        ],
        "gaps": [[gap.at, gap.shown, gap.milliseconds, gap.session] for gap in line.gaps],
        "branches": [{"session": each.number, "events": each.events, "text": each.text} for each in line.branches],
    }


def _text(line: MergedLog, passages: Sequence[str]) -> dict[str, Any]:
    """Return the changes and carets in UTF-16 units, and the arrivals (texts that were inserted at once)."""
    state = _State()
    changes: list[list[Any]] = []
    carets: list[list[int]] = []
    numbers: list[int] = []
    for event in line.events:
        numbers.append(len(changes))
        if event[0] == codec.SPLICE:
            position, deleted = state.apply(event)
            source = SOURCES.index(event[5]) if len(event) > 5 and event[5] in SOURCES else UNTOLD
            changes.append([event[1], position, deleted, event[4], source])
        elif event[0] == "c":
            carets.append([event[1], len(changes), state.units(event[2]), state.units(event[3])])
    came = provenance(line.events, passages).arrivals
    begun = bool(came) and _is_start(line, came[0])
    return {
        "changes": changes,
        "carets": carets,
        "start": {"length": came[0].length, "survived": came[0].survived} if begun else None,
        "arrivals": _arrivals(line, came[1:] if begun else came, numbers),
        "length": len(state.text),
    }


def _is_start(line: MergedLog, arrival: Arrival) -> bool:
    """Return whether an arrival is the task's initial text, which the server recorded before the editor was opened."""
    return arrival.event == 0 and arrival.origin is Origin.RESTORED and line.events[0][2:4] == [0, 0]


class _State:
    """The growing text, with a count of the characters that take two UTF-16 units."""

    def __init__(self) -> None:
        self.text = ""
        self.wide = 0

    def units(self, position: int) -> int:
        """Return a position in UTF-16 units."""
        position = max(0, min(position, len(self.text)))
        return position + (_wide(self.text[:position]) if self.wide else 0)

    def apply(self, event: codec.Event) -> tuple[int, int]:
        """Apply a change; return the position and length of the deleted text in UTF-16 units."""
        _, _, position, deleted, inserted = event[:5]
        gone = self.text[position : position + deleted]
        units = self.units(position)
        self.text = codec.apply_splice(self.text, event)
        lost = _wide(gone) if self.wide else 0
        self.wide += _wide(inserted) - lost
        return units, deleted + lost


def _arrivals(line: MergedLog, came: Sequence[Arrival], numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Return the arrivals with their time, changes, source, origin, and the amount that is in the final text.

    `numbers` is the number of changes before each event.
    """
    return [
        {
            "t": arrival.ms,
            "change": numbers[arrival.event],
            "changes": _parts(line.events[arrival.event :], arrival.length),
            "how": "came at once" if arrival.origin is Origin.AT_ONCE else arrival.origin.value,
            "length": arrival.length,
            "place": ELSEWHERE if arrival.place is None else arrival.place,
            "share": round(arrival.share, 3),
            "survived": arrival.survived,
        }
        for arrival in came
    ]


def _parts(events: Sequence[codec.Event], length: int) -> int:
    """Return the number of changes of an arrival, because a large paste is recorded as several changes."""
    came = 0
    for count, event in enumerate((event for event in events if event[0] == codec.SPLICE), start=1):
        came += len(event[4])
        if came >= length:
            return count
    return 1


def _wide(text: str) -> int:
    return 0 if text.isascii() else sum(character > "\uffff" for character in text)


def _keys(events: Iterable[codec.Event]) -> list[list[int]]:
    """Count the key presses of each second: [second, count]."""
    seconds = Counter(event[1] // 1000 for event in events if event[0] == "k")
    return [[second, count] for second, count in sorted(seconds.items())]


def _spans(line: MergedLog, kind: str) -> list[list[int]]:
    """Return [rank, from, to] of each opened passage; passages that were never closed stay open until the end."""
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
    """Return [rank, from, to] of passages in view; an event is recorded when a passage leaves, with its duration."""
    spans = [[event[2], max(0, event[1] - event[3]), event[1]] for event in events if event[0] == "d"]
    return sorted(spans, key=lambda span: span[1:])


def _away(line: MergedLog, kind: str) -> list[list[int]]:
    """Return [from, to] of the times when the page was hidden or had no focus."""
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
