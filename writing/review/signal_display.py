"""Review signals of a log, with the moments to look at. A signal is not a verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

from django.core.cache import cache
from django.db.models import prefetch_related_objects

from analysis.writing_process import Level, Signal, signals
from analysis.writing_process.events import BrokenLogError

from ..editor import codec
from ..models import Response, RetrievedPassage, WritingLog, WritingTask
from ..replay import merged_log

# Part of the cache key of levels: increase it when the computation of signals changes.
VERSION: Final = 1
KEPT: Final = 7 * 24 * 3600
LOOK: Final = frozenset({Level.NOTE, Level.STRONG})
# The maximum number of listed moments; reviewers would not look at more.
LISTED: Final = 8


@dataclass(frozen=True)
class Moment:
    """A moment in the replay, with a description."""

    ms: int
    label: str


@dataclass(frozen=True)
class ShownSignal:
    """A signal for display."""

    name: str
    title: str
    level: str
    tone: str
    says: str
    figure: str
    explanation: str
    innocent: str
    moments: tuple[Moment, ...]
    more: int

    @property
    def stands_out(self) -> bool:
        """Whether reviewers should look at the signal."""
        return self.tone == "warn"

    @property
    def is_informative(self) -> bool:
        """Whether the log has enough data for the signal."""
        return self.level != Level.CANNOT_SAY


def signals_of_log(log: WritingLog, passages: Sequence[str], text: str) -> list[ShownSignal]:
    """Return a log's signals, the strongest first.

    Raises
    ------
    codec.BrokenLog
        If the log cannot be read.
    """
    computed = _signals(log, passages, text)
    order = {Level.STRONG: 0, Level.NOTE: 1, Level.NONE: 2, Level.CANNOT_SAY: 3}
    return [_display(signal) for signal in sorted(computed, key=lambda signal: order[signal.level])]


def signals_of_response(log: WritingLog | None, response: Response) -> list[ShownSignal] | None:
    """Return the signals of a response's log; None without a readable log."""
    if log is None:
        return None
    try:
        return signals_of_log(log, passage_texts([response.topic_id])[response.topic_id], response.text)
    except codec.BrokenLog:
        return None


def flag_titles(tasks: Sequence[WritingTask]) -> dict[int, list[str]]:
    """Return the titles of the signals to look at, for each task that has some.

    Results are cached for some days because a submitted log no longer changes.
    """
    with_log = [task for task in tasks if getattr(task, "log", None) is not None]
    keys = {task.pk: f"signals-{VERSION}-{task.log.pk}" for task in with_log}
    kept = cache.get_many(keys.values())
    fresh = {keys[task.pk]: titles for task, titles in _compute([t for t in with_log if keys[t.pk] not in kept])}
    if fresh:
        cache.set_many(fresh, KEPT)
    known = kept | fresh
    return {task.pk: titles for task in with_log if (titles := known.get(keys[task.pk]))}


def passage_texts(topics: Iterable[int]) -> dict[int, list[str]]:
    """Return the texts of each topic's passages, in a list indexed by rank."""
    texts: dict[int, list[str]] = {topic: [] for topic in topics}
    rows = RetrievedPassage.objects.filter(topic__in=texts).order_by("topic", "rank")
    for topic, rank, text in rows.values_list("topic_id", "rank", "passage__text"):
        texts[topic] += [""] * (rank - len(texts[topic])) + [text]
    return texts


def _compute(tasks: Sequence[WritingTask]) -> Iterable[tuple[WritingTask, list[str]]]:
    if not tasks:
        return
    prefetch_related_objects(tasks, "log__batches", "log__sessions")
    passages = passage_texts({task.topic_id for task in tasks})
    texts = dict(Response.objects.filter(task__in=tasks).values_list("task_id", "text"))
    for task in tasks:
        try:
            computed = _signals(task.log, passages[task.topic_id], texts[task.pk])
        except codec.BrokenLog:
            yield task, ["Log not readable"]
        else:
            yield task, [signal.title for signal in computed if signal.level in LOOK]


def _signals(log: WritingLog, passages: Sequence[str], text: str) -> list[Signal]:
    try:
        return signals(merged_log.merge(log).events, passages, text)
    except BrokenLogError as error:
        raise codec.BrokenLog(str(error)) from error


def _display(signal: Signal) -> ShownSignal:
    tones = {
        Level.STRONG: ("warn", "stands out"),
        Level.NOTE: ("warn", "worth checking"),
        Level.NONE: ("good", "nothing unusual"),
        Level.CANNOT_SAY: ("", "unknown"),
    }
    tone, says = tones[signal.level]
    moments = _moments(signal) if signal.level is not Level.CANNOT_SAY else []
    return ShownSignal(
        name=signal.name,
        title=signal.title,
        level=signal.level.value,
        tone=tone,
        says=says,
        figure=_figure(signal),
        explanation=signal.explanation,
        innocent=signal.innocent,
        moments=tuple(moments[:LISTED]),
        more=max(0, len(moments) - LISTED),
    )


def _figure(signal: Signal) -> str:
    """Describe the measured value and the amount of data."""
    if signal.level is Level.CANNOT_SAY or not isfinite(signal.value):
        return str(signal.evidence.get("why", ""))
    value, n, evidence = signal.value, signal.n, signal.evidence
    if signal.name == "uniform_rhythm":
        return f"Coefficient of variation of {n} intervals: {value:.2f}. Mean: {int(evidence['mean_ms'])} ms."
    if signal.name == "no_corrections":
        return f"{value * 100:.1f} characters deleted per 100 typed ({n} typed)."
    if signal.name == "transcription":
        return (
            f"{value * 100:.0f} % of {n} sentences began after a pause. "
            f"{evidence['linear_share'] * 100:.0f} % was added at the current end of the text, without going back."
        )
    pieces = "in 1 piece" if n == 1 else f"in {n} pieces"
    return f"{value * 100:.0f} % of the final text, {pieces}."


def _moments(signal: Signal) -> list[Moment]:
    pieces: list[dict[str, Any]] = signal.evidence.get("pastes") or signal.evidence.get("jumps") or []
    moments = [Moment(each["ms"], _piece(each)) for each in sorted(pieces, key=lambda each: -each["survived"])]
    begun = signal.evidence.get("begun_without_pause_ms", []) if signal.level in LOOK else []
    return moments + [Moment(int(ms), "a sentence started without a pause") for ms in begun]


def _piece(each: dict[str, Any]) -> str:
    position = each["place"]
    if position is None or position == -2:
        where = "not found in any passage"
    elif position == -1:
        where = "from the writer's own text"
    else:
        where = f"from passage {position}"
    away = f", after {round(each['away_seconds'])} s away" if "away_seconds" in each else ""
    return f"{each['length']} characters ({where}), {each['survived']} of them in the final text{away}"
