"""The checklist on a study's overview: what is done and what is next. Each app adds its part."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db.models import TextChoices
from django.urls import reverse

from .entry.models import Arrival
from .enums import Role
from .models import Study
from .navigation import InboxEntry


class Step(TextChoices):
    """The steps of a study in their order."""

    DATA = "data", "Data"
    COLLECT = "collect", "Collect"
    REVIEW = "review", "Review"
    ANALYSE = "analyse", "Analyse"
    PUBLISH = "publish", "Publish"


class Progress(TextChoices):
    """How far a step is."""

    TO_DO = "to_do", "to do"
    STARTED = "started", "in progress"
    DONE = "done", "done"


@dataclass(frozen=True)
class Action:
    """What a member of at least this role can do next, and where."""

    label: str
    url: str
    role: Role = Role.EDITOR


@dataclass(frozen=True)
class StepPart:
    """An app's part of a step: one short line, its progress, the possible actions, and the page that shows it."""

    text: str
    progress: Progress
    action: Action | None = None
    url: str = ""


@dataclass(frozen=True)
class ChecklistRow:
    """A step as shown on the overview."""

    step: Step
    progress: Progress
    parts: list[StepPart]
    action: Action | None


@dataclass(frozen=True)
class Checklist:
    """All steps, and the next one (None if this member has nothing to do)."""

    rows: list[ChecklistRow]
    next: ChecklistRow | None

    @property
    def is_empty(self) -> bool:
        """Whether nothing has begun yet."""
        return all(row.progress is Progress.TO_DO for row in self.rows)


Source = Callable[[Study], StepPart | None]

_sources: list[tuple[Step, Source]] = []


def register_part(step: Step, source: Source) -> None:
    """Add an app's part of a step (None: nothing); called once from an app's `ready`."""
    _sources.append((step, source))


def checklist(study: Study, role: int, inbox: Iterable[InboxEntry]) -> Checklist:
    """Return the steps of a study and the next action of a member with this role; `inbox` is the study's pending work.

    Work that awaits a review comes first, since people wait for their pay; then steps not yet begun, in order; then
    collection in progress; publication last.
    """
    parts: dict[Step, list[StepPart]] = {step: [] for step in Step}
    parts[Step.REVIEW].append(review_part(study, inbox))
    for step, source in _sources:
        if (part := source(study)) is not None:
            parts[step].append(part)
    rows = [_row(step, parts[step], role) for step in Step]
    by_step = {row.step: row for row in rows}
    unfinished = [row for row in rows if row.action and row.progress is not Progress.DONE]
    order = [Step.REVIEW, Step.DATA, Step.ANALYSE, Step.COLLECT, Step.PUBLISH]
    if by_step[Step.COLLECT].progress is Progress.TO_DO:
        order = [Step.REVIEW, Step.DATA, Step.COLLECT, Step.ANALYSE, Step.PUBLISH]
    return Checklist(rows, min(unfinished, key=lambda row: order.index(row.step), default=None))


def _row(step: Step, parts: list[StepPart], role: int) -> ChecklistRow:
    states = {part.progress for part in parts}
    progress = states.pop() if len(states) == 1 else Progress.STARTED if states else Progress.TO_DO
    open_parts = [part for part in parts if part.progress is not Progress.DONE]
    actions = [part.action for part in open_parts if part.action and role >= part.action.role]
    return ChecklistRow(step, progress, parts, next(iter(actions), None))


def review_part(study: Study, inbox: Iterable[InboxEntry]) -> StepPart:
    """Return how much awaits a review, a screening or an answer. The action leads to the list if there is only one."""
    entries = [entry for entry in inbox if entry.count]
    if waiting := sum(entry.count for entry in entries):
        text = ("%(n)d entry in the inbox" if waiting == 1 else "%(n)d entries in the inbox") % {"n": waiting}
        url = entries[0].url if len(entries) == 1 else reverse("inbox", args=[study.slug])
        action = Action("Review now", url, Role.REVIEWER)
        return StepPart(text, Progress.STARTED, action)
    if Arrival.objects.filter(link__study=study).exists():
        return StepPart("Nothing is waiting", Progress.DONE)
    return StepPart("Nothing submitted yet", Progress.TO_DO)
