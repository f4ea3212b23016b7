"""Review signals: evidence for reviewers, with wording and innocent causes. No signal is proof of misconduct."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from analysis.writing_process import pace as process_pace
from analysis.writing_process.events import ELSEWHERE, Away, Event, Log, read
from analysis.writing_process.pace import Activity, activity
from analysis.writing_process.passage_matches import Sources
from analysis.writing_process.provenance import Arrival, Origin, Provenance, provenance
from analysis.writing_process.thresholds import DEFAULTS, Thresholds


@dataclass(frozen=True, kw_only=True)
class Wording:
    """The English words of a signal; pages translate them."""

    title: str
    explanation: str
    innocent: str


WORDINGS = {
    "paste_from_elsewhere": Wording(
        title="Paste from outside",
        explanation=(
            "Share of the final text that was pasted or dropped and is neither from a passage nor from the "
            "writer's own text."
        ),
        innocent=(
            "Notes or a draft from another program, a translation or a dictionary, text from a screen reader "
            "or a dictation program, or a passage copied with many changes."
        ),
    ),
    "sudden_jumps": Wording(
        title="Sudden jumps",
        explanation=(
            "Text inserted in one step without a paste: more than a person can type between two changes. The value "
            "is the share of the final text that was inserted this way and is not from a passage."
        ),
        innocent=(
            "Dictation, completion of whole phrases, a text expander, an input method or spelling software. "
            "In imported snapshots: an ordinary paste from a passage or a gap in the recording."
        ),
    ),
    "uniform_rhythm": Wording(
        title="Uniform rhythm",
        explanation=(
            "Variation of the intervals between keys: their standard deviation divided by their mean, "
            "without pauses. People type irregularly, but a program may not."
        ),
        innocent=(
            "A switch or another assistive device that sends keys at fixed intervals, a very practised "
            "typist, or a browser that rounds times."
        ),
    ),
    "no_corrections": Wording(
        title="No corrections",
        explanation=(
            "Deleted characters per typed character. People who compose a text sometimes delete. People who "
            "copy a text delete little."
        ),
        innocent=("A careful typist, a plan made on paper, or corrections by a spelling checker."),
    ),
    "transcription": Wording(
        title="Transcription rhythm",
        explanation=(
            "Share of sentences that began after a pause, if nearly everything was typed in order, "
            "without going back. People who compose pause before sentences. People who copy do not."
        ),
        innocent=(
            "A draft on paper, long reading before writing, dictation through an input method, or an outline "
            "written in one go."
        ),
    ),
    "away_before_paste": Wording(
        title="Left the page before a paste",
        explanation=(
            "Pastes from outside shortly after another tab or window was in front. The value is their "
            "share of the final text."
        ),
        innocent=(
            "A look at a dictionary, notes in another window, an incoming message, a password manager or a "
            "clipboard program."
        ),
    ),
}


NAN = float("nan")


class Level(StrEnum):
    """How strong a signal is; "cannot say" if the log lacks the data or has too little of it."""

    CANNOT_SAY = "cannot say"
    NONE = "none"
    NOTE = "note"
    STRONG = "strong"


@dataclass(frozen=True)
class Span:
    """A span of the final text, and the time (milliseconds as recorded) when its characters were inserted."""

    start: int
    end: int
    ms: int


@dataclass(frozen=True)
class Signal:
    """A finding in a log for a reviewer to look at.

    Attributes
    ----------
    name : str
        `paste_from_elsewhere`, `sudden_jumps`, `uniform_rhythm`, `no_corrections`, `transcription` or
        `away_before_paste`.
    title, explanation, innocent : str
        The name of the signal, its meaning and measurement, and its possible innocent causes.
    level : Level
    value : float
        The measured value; NaN if there is none.
    n : int
        The number of observations: characters, pastes, intervals or sentences.
    evidence : dict
        The values and times behind the signal, as plain data; `why` if nothing can be said.
    spans : tuple of Span
        The spans of the final text to look at.
    """

    name: str
    title: str
    explanation: str
    innocent: str
    level: Level
    value: float
    n: int
    evidence: dict[str, Any]
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class _Candidate:
    level: Level
    value: float
    n: int
    evidence: dict[str, Any]
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class _Facts:
    log: Log
    origins: Provenance
    pace: Activity
    has_passages: bool
    thresholds: Thresholds


def signals(
    events: Iterable[Event] | Log,
    passages: Sequence[str] | Sources | None = None,
    final_text: str | None = None,
    *,
    thresholds: Thresholds = DEFAULTS,
) -> list[Signal]:
    """Compute all review signals of a log.

    Parameters
    ----------
    events : iterable of event, or Log
        In the order in which they changed the text.
    passages : sequence of str, or Sources, optional
        The passages in rank order. Without them the source of pasted text is unknown.
    final_text : str, optional
        The text to which `spans` should refer; if the log ends in another text, there are no spans.
    thresholds : Thresholds

    Returns
    -------
    list of Signal
        One of each name, at any level, always in the same order.
    """
    log = events if isinstance(events, Log) else read(events)
    origins = provenance(log, passages, thresholds=thresholds)
    facts = _Facts(log, origins, activity(log, thresholds=thresholds), passages is not None, thresholds)
    fits = final_text is None or final_text == origins.text
    results = []
    for name, look in _LOOKS.items():
        finding, words = look(facts), WORDINGS[name]
        spans = finding.spans if fits else ()
        results.append(
            Signal(
                name,
                words.title,
                words.explanation,
                words.innocent,
                finding.level,
                finding.value,
                finding.n,
                finding.evidence,
                spans,
            )
        )
    return results


def _cannot_say(why: str, n: int = 0) -> _Candidate:
    return _Candidate(Level.CANNOT_SAY, NAN, n, {"why": why})


_UNSOURCED = "This log has only snapshots of the text, so it does not record how changes were made."
_NO_PASSAGES = "The passages are missing, so the sources of the text are unknown."
_NO_TEXT = "The log ends with an empty text."


def _paste_from_elsewhere(facts: _Facts) -> _Candidate:
    if not facts.origins.is_sourced:
        return _cannot_say(_UNSOURCED)
    if not facts.has_passages:
        return _cannot_say(_NO_PASSAGES)
    if not facts.origins.text:
        return _cannot_say(_NO_TEXT)
    pastes = [paste for paste in facts.origins.pastes if _is_foreign(paste, facts)]
    return _of_arrivals(facts, pastes, facts.thresholds.elsewhere_note, facts.thresholds.elsewhere_strong)


def _sudden_jumps(facts: _Facts) -> _Candidate:
    if not facts.log.changes:
        return _cannot_say(_NO_TEXT)
    jumps = [arrival for arrival in facts.origins.arrivals if arrival.origin in {Origin.AT_ONCE, Origin.EXTERNAL}]
    foreign = [arrival for arrival in jumps if _is_foreign(arrival, facts) or arrival.place is None]
    finding = _of_arrivals(facts, foreign, facts.thresholds.jumps_note, facts.thresholds.jumps_strong)
    level = finding.level
    if jumps and level is Level.NONE:
        level = Level.NOTE
    if not facts.origins.is_sourced and level is Level.STRONG:
        level = Level.NOTE  # snapshots cannot distinguish a jump from a paste, which may be innocent
    evidence = {"jumps": [_about(arrival) for arrival in jumps], "survived": finding.evidence["survived"]}
    return _Candidate(level, finding.value, len(jumps), evidence, _spans(facts, jumps))


def _uniform_rhythm(facts: _Facts) -> _Candidate:
    if not facts.origins.is_sourced:
        return _cannot_say(_UNSOURCED)
    steps = process_pace.intervals(facts.log, thresholds=facts.thresholds)
    if len(steps) < facts.thresholds.intervals:
        return _cannot_say("Too few keys were typed in a row.", len(steps))
    mean, deviation = float(steps.mean()), float(steps.std(ddof=1))
    variation = deviation / mean
    level = _below(variation, facts.thresholds.uniform_note, facts.thresholds.uniform_strong)
    evidence = {
        "mean_ms": mean,
        "median_ms": float(np.median(steps)),
        "standard_deviation_ms": deviation,
        "from_keys": bool(facts.log.keys),
    }
    return _Candidate(level, variation, len(steps), evidence)


def _no_corrections(facts: _Facts) -> _Candidate:
    if not facts.origins.is_sourced:
        return _cannot_say(_UNSOURCED)
    typed, deleted = facts.pace.typed, facts.pace.deleted
    if typed < facts.thresholds.typed:
        return _cannot_say("Too little was typed.", typed)
    corrected = deleted / typed
    level = _below(corrected, facts.thresholds.corrected_note, facts.thresholds.corrected_strong)
    evidence = {"typed": typed, "deleted": deleted, "revisions": len(facts.pace.revisions)}
    return _Candidate(level, corrected, typed, evidence)


def _transcription(facts: _Facts) -> _Candidate:
    if not facts.origins.is_sourced:
        return _cannot_say(_UNSOURCED)
    typed = process_pace.typing(facts.log, thresholds=facts.thresholds)
    if typed.sentences < facts.thresholds.sentences:
        return _cannot_say("Too few sentences began with typing.", typed.sentences)
    thoughtful, linear = typed.after_pause / typed.sentences, typed.at_end / typed.characters
    level = Level.NONE
    if linear >= facts.thresholds.linear:
        level = _below(thoughtful, facts.thresholds.thought_note, facts.thresholds.thought_strong)
    evidence = {"begun_after_pause": typed.after_pause, "linear_share": linear, "begun_without_pause_ms": typed.begun}
    return _Candidate(level, thoughtful, typed.sentences, evidence)


def _away_before_paste(facts: _Facts) -> _Candidate:
    if not facts.origins.is_sourced:
        return _cannot_say(_UNSOURCED)
    if not facts.has_passages:
        return _cannot_say(_NO_PASSAGES)
    if not facts.origins.text:
        return _cannot_say(_NO_TEXT)
    pastes = [paste for paste in facts.origins.pastes if _is_foreign(paste, facts)]
    before = {paste.number: absence for paste in pastes if (absence := _away_before(paste, facts)) is not None}
    matching = [paste for paste in pastes if paste.number in before]
    finding = _of_arrivals(facts, matching, facts.thresholds.elsewhere_note, facts.thresholds.elsewhere_strong)
    level = Level.NOTE if matching and finding.level is Level.NONE else finding.level
    evidence = finding.evidence | {
        "pastes": [
            _about(paste) | {"away_seconds": (before[paste.number].end - before[paste.number].start) / 1000}
            for paste in matching
        ],
        "absences": len(facts.log.absences),
    }
    return _Candidate(level, finding.value, len(matching), evidence, finding.spans)


def _is_foreign(arrival: Arrival, facts: _Facts) -> bool:
    return arrival.place == ELSEWHERE and arrival.length >= facts.thresholds.paste


def _away_before(arrival: Arrival, facts: _Facts) -> Away | None:
    time = facts.log.times[arrival.event]
    for absence in reversed(facts.log.absences):
        if absence.end <= time:
            is_near = time - absence.end <= facts.thresholds.back
            return absence if is_near and absence.end - absence.start >= facts.thresholds.away else None
    return None


def _of_arrivals(facts: _Facts, arrivals: Sequence[Arrival], note: float, strong: float) -> _Candidate:
    """Rate arrivals by their share of the final text."""
    total = len(facts.origins.text)
    share = sum(arrival.survived for arrival in arrivals) / total if total else 0.0
    level = Level.STRONG if share >= strong else Level.NOTE if share >= note else Level.NONE
    evidence = {
        "pastes": [_about(arrival) for arrival in arrivals],
        "survived": sum(arrival.survived for arrival in arrivals),
    }
    return _Candidate(level, share, len(arrivals), evidence, _spans(facts, arrivals))


def _about(arrival: Arrival) -> dict[str, Any]:
    return {
        "ms": arrival.ms,
        "length": arrival.length,
        "survived": arrival.survived,
        "place": arrival.place,
        "share": arrival.share,
        "way": str(arrival.origin),
    }


def _spans(facts: _Facts, arrivals: Sequence[Arrival]) -> tuple[Span, ...]:
    came = {arrival.number: arrival.ms for arrival in arrivals}
    return tuple(Span(run.start, run.end, came[run.arrival]) for run in facts.origins.runs if run.arrival in came)


def _below(value: float, note: float, strong: float) -> Level:
    """Rate a value for which small values are uncommon."""
    if value <= strong:
        return Level.STRONG
    return Level.NOTE if value <= note else Level.NONE


_LOOKS: dict[str, Callable[[_Facts], _Candidate]] = {
    "paste_from_elsewhere": _paste_from_elsewhere,
    "sudden_jumps": _sudden_jumps,
    "uniform_rhythm": _uniform_rhythm,
    "no_corrections": _no_corrections,
    "transcription": _transcription,
    "away_before_paste": _away_before_paste,
}
