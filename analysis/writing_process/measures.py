"""All process measures of one log by name, as in results: pace, origins of the text, and use of sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import Final

from analysis.writing_process.events import ELSEWHERE, Event, read
from analysis.writing_process.pace import Activity, activity
from analysis.writing_process.passage_matches import Sources
from analysis.writing_process.provenance import Origin, Provenance, provenance
from analysis.writing_process.thresholds import DEFAULTS, Thresholds

#: Increase this when the computation of a measure changes: values of other versions are then computed again.
VERSION: Final = 1

#: The measures, in the order of the table `writing_process`.
NAMES: Final = (
    "seconds",
    "active_seconds",
    "pauses",
    "bursts",
    "pastes",
    "pasted_share",
    "revisions",
    "paused_seconds",
    "burst_characters",
    "typing_rate",
    "produced",
    "deleted",
    "immediate_revisions",
    "at_once_share",
    "passage_share",
    "elsewhere_share",
    "passages_opened",
    "passage_seconds",
    "searches",
    "absences",
    "away_seconds",
)

Measures = dict[str, float | None]


def measure(
    events: Iterable[Event], passages: Sequence[str] | Sources | None, *, thresholds: Thresholds = DEFAULTS
) -> Measures:
    """Compute all measures of how a text was written.

    Parameters
    ----------
    events : iterable of event
        In the order in which they changed the text (docs/reference/log-format.md).
    passages : sequence of str, or Sources, optional
        The writer's passages, in rank order; without them the origin of text is unknown.
    thresholds : Thresholds

    Returns
    -------
    dict of str to float or None
        By the names in `NAMES`. None if the log does not contain the information. Snapshots do not record pastes, and
        only logs of this system's editor record opened passages, searches and absences.

    Raises
    ------
    BrokenLogError
        If a change is outside its text.
    """
    log_events = list(events)
    log = read(log_events)
    origins = provenance(log, passages, thresholds=thresholds)
    pace = activity(log, thresholds=thresholds)
    measures = _pace(pace) | _origins(origins, has_passages=passages is not None)
    if any(event[0] == "a" for event in log_events):
        absences = [absence for absence in log.absences if absence.end - absence.start >= thresholds.away]
        measures |= {
            "absences": len(absences),
            "away_seconds": sum(absence.end - absence.start for absence in absences) / 1000,
        }
        measures |= _looked_at(log_events)
    return {name: _known(measures.get(name)) for name in NAMES}


def unknown() -> Measures:
    """Return the measures of an unreadable log: all are None."""
    return dict.fromkeys(NAMES)


def _pace(pace: Activity) -> Measures:
    typed = sum(burst.characters for burst in pace.bursts)
    return {
        "seconds": pace.seconds,
        "active_seconds": pace.active_seconds,
        "pauses": len(pace.pauses),
        "bursts": len(pace.bursts),
        "revisions": len(pace.revisions),
        "paused_seconds": pace.paused_seconds,
        "burst_characters": typed / len(pace.bursts) if pace.bursts else None,
        "typing_rate": pace.typing_rate,
        "produced": pace.produced,
        "deleted": pace.deleted,
        "immediate_revisions": sum(revision.is_immediate for revision in pace.revisions),
    }


def _origins(origins: Provenance, *, has_passages: bool) -> Measures:
    measures: Measures = {"at_once_share": origins.at_once_share}
    if origins.is_sourced:
        measures |= {"pastes": len(origins.pastes), "pasted_share": origins.pasted_share}
    if has_passages and origins.text:
        source_of = {arrival.number: arrival.place for arrival in origins.arrivals}
        came = [
            (source_of[run.arrival], run.end - run.start)
            for run in origins.runs
            if run.arrival is not None and run.origin is not Origin.RESTORED
        ]
        measures["passage_share"] = _share((source is not None and source >= 0, n) for source, n in came) / len(
            origins.text
        )
        measures["elsewhere_share"] = _share((source == ELSEWHERE, n) for source, n in came) / len(origins.text)
    return measures


def _share(came: Iterable[tuple[bool, int]]) -> int:
    return sum(characters for is_it, characters in came if is_it)


def _looked_at(events: Iterable[Event]) -> Measures:
    opened, viewed, searches = set(), 0, 0
    for event in events:
        if event[0] == "o" and event[3]:
            opened.add(event[2])
        elif event[0] == "d":
            viewed += max(0, int(event[3]))
        elif event[0] == "q":
            searches += 1
    return {"passages_opened": len(opened), "passage_seconds": viewed / 1000, "searches": searches}


def _known(value: float | None) -> float | None:
    return None if value is None or isnan(value) else value
