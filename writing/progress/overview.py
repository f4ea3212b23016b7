"""Figures of the progress page (also as tables to download) and of the study's overview.

Amounts are in minor units of the study's currency.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Avg, Count
from django.urls import reverse

from analysis.stats.bootstrap import Interval
from crowdrag.studies import money
from crowdrag.studies.checklist import Action, Progress, StepPart
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import EntryLink, Study
from crowdrag.studies.shared_results import shared
from crowdrag.studies.study.costs import SpendingLine
from crowdrag.ui import csv_export

from ..enums import TaskState
from ..models import Passage, Response, Topic, WritingPlan
from ..plans import services
from . import funnel, queries, wages
from .queries import StateCounts, TaskFacts, TaskGroup


@dataclass(frozen=True)
class Spending:
    """Payments, fees and taxes at the plan's current rates, pending pay, and the cost of missing responses."""

    paid: int
    charges: int
    waiting: int
    to_come: int | None

    @property
    def so_far(self) -> int:
        """The amount spent so far."""
        return self.paid + self.charges

    @property
    def total(self) -> int | None:
        """The total if all pending responses are accepted and all planned ones are written; None if unknown."""
        return None if self.to_come is None else self.so_far + self.waiting + self.to_come


def spending(groups: Iterable[TaskGroup], plan: WritingPlan | None, whole: StateCounts) -> Spending:
    """Return past and future spending; the latter is unknown without a plan."""
    charge = plan.fee + plan.tax if plan else 0
    paid = charges = waiting = 0
    for group in groups:
        paid += group.paid
        charges += charge * group.n_paid
        if group.state == TaskState.SUBMITTED:
            waiting += group.pay + charge * group.n_with_pay
    missing = whole.missing
    to_come = None if plan is None or missing is None else missing * (plan.pay + charge)
    return Spending(paid, charges, waiting, to_come)


@dataclass(frozen=True)
class WritingTime:
    """The median active time of responses with a known time, in seconds.

    It is for a style, for all styles (no label), or for trials, which are counted in neither.
    """

    label: str
    median: Interval


@dataclass(frozen=True)
class Overview:
    """The progress of writing in a study."""

    plan: WritingPlan | None
    rows: list[TaskFacts]
    groups: list[TaskGroup]
    styles: list[StateCounts]
    whole: StateCounts
    trials: StateCounts | None
    times: list[WritingTime]
    wage: Interval | None
    too_short: int
    share_below: float | None
    writers: list[wages.WriterPay]
    responses: list[wages.ResponsePay]
    stages: list[funnel.Stage]
    erased_people: int
    spending: Spending

    @property
    def below(self) -> list[wages.WriterPay]:
        """The writers whose median wage is below the floor."""
        return [writer for writer in self.writers if writer.is_below]

    @property
    def waiting(self) -> int:
        """The number of responses that await review, including trials, as in the review queue."""
        return _waiting(self.groups)

    @property
    def being_written(self) -> int:
        """The number of responses that are being written, including trials."""
        return sum(group.n for group in self.groups if group.state == TaskState.CLAIMED)

    @property
    def erased(self) -> int:
        """The number of responses that were erased at their writers' request, including trials."""
        return sum(group.n for group in self.groups if group.is_erased)

    @property
    def is_imported(self) -> bool:
        """Whether all tasks were imported, so that plan and pay are unknown."""
        return bool(self.groups) and all(group.is_imported for group in self.groups)


def overview(study: Study) -> Overview:
    """Return the progress of writing, with a constant number of queries."""
    plan = services.get_plan(study)
    tasks = queries.load_tasks(study)
    groups = queries.group_tasks(tasks)
    styles = queries.counts_by_style(groups, _slots_by_style(plan))
    whole = queries.total(styles)
    floor = plan.wage_floor if plan else None
    responses = wages.pay_of_responses(tasks)
    return Overview(
        plan=plan,
        rows=tasks,
        groups=groups,
        styles=styles,
        whole=whole,
        trials=queries.trial_counts(groups),
        times=_times(responses, styles),
        wage=wages.medians(each.wage for each in responses),
        too_short=sum(money.is_too_short(each.seconds) for each in responses),
        share_below=wages.share_below(responses, floor),
        writers=wages.pay_of_writers(tasks, responses, floor),
        responses=responses,
        stages=funnel.funnel(study, plan),
        erased_people=funnel.count_erased(study),
        spending=spending(groups, plan, whole),
    )


def writers(study: Study, people: Collection[int]) -> dict[int, wages.WriterPay]:
    """Return the responses and earnings of those of these people who have claimed a task, by participant key."""
    plan = services.get_plan(study)
    tasks = queries.load_tasks(study, participants=people)
    everybody = wages.pay_of_writers(tasks, wages.pay_of_responses(tasks), plan.wage_floor if plan else None)
    return {writer.pk: writer for writer in everybody}


@shared
def study_card(study: Study) -> dict[str, Any]:
    """Return the key figures for the study's overview."""
    plan = services.get_plan(study)
    groups = queries.count_groups(study)
    whole = queries.total(queries.counts_by_style(groups, _slots_by_style(plan)))
    return {
        "plan": plan,
        "whole": whole,
        "trials": queries.trial_counts(groups),
        "waiting": _waiting(groups),
        "spending": spending(groups, plan, whole),
    }


def _waiting(groups: Iterable[TaskGroup]) -> int:
    """Count the responses that await review, as in the queue, which lists erased ones separately."""
    waits = (group for group in groups if group.state == TaskState.SUBMITTED)
    return sum(group.n for group in waits if not group.is_imported and not group.is_erased)


def _slots_by_style(plan: WritingPlan | None) -> dict[str, tuple[str, int]]:
    """Return label and number of planned responses by style name."""
    if plan is None:
        return {}
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=trial).count()
    styles = plan.plan_styles.order_by("position", "id").values_list("style__name", "style__label")
    return {name: (label, topics * plan.slots) for name, label in styles}


def _times(responses: Sequence[wages.ResponsePay], styles: Sequence[StateCounts]) -> list[WritingTime]:
    proper = [each for each in responses if not each.row.is_trial]
    of_style = [(style.label, [each for each in proper if each.row.style == style.name]) for style in styles]
    trials = [each for each in responses if each.row.is_trial]
    times = []
    for label, these in (*of_style, ("", proper), ("trials", trials)):
        if (interval := wages.medians(each.seconds for each in these)) is not None:
            times.append(WritingTime(label, interval))
    return times


class UnknownTable(LookupError):  # noqa: N818 -- describes the table
    """There is no table with this name."""


Table = tuple[Sequence[str], list[Sequence[Any]]]


def _styles_table(figures: Overview, _currency: str) -> Table:
    columns = (
        "style",
        "asked",
        "open",
        "being_written",
        "submitted",
        "accepted",
        "rejected",
        "sent_back",
        "returned",
        "erased",
    )
    states = ("OPEN", "CLAIMED", "SUBMITTED", "ACCEPTED", "REJECTED", "REVISION", "RETURNED")
    standings = [*figures.styles, *([figures.trials] if figures.trials else [])]
    return columns, [
        (each.name, each.planned, *(each.counts[state] for state in states), each.erased) for each in standings
    ]


def _writers_table(figures: Overview, currency: str) -> Table:
    columns = (
        "writer", "handed_in", "accepted", "rejected", "median_active_seconds",
        "median_wage_per_hour", "earned", "currency",
    )  # fmt: skip
    rows_: list[Sequence[Any]] = [
        (
            each.pseudonym,
            each.handed_in,
            each.counts[TaskState.ACCEPTED],
            each.counts[TaskState.REJECTED],
            each.seconds,
            None if each.wage is None else money.to_major(round(each.wage), currency),
            money.to_major(each.earned, currency),
            currency,
        )
        for each in figures.writers
    ]
    return columns, rows_


def _responses_table(figures: Overview, currency: str) -> Table:
    columns = (
        "task", "topic", "style", "writer", "state", "is_trial", "is_erased", "submitted_at", "active_seconds",
        "paid", "wage_per_hour", "currency",
    )  # fmt: skip
    known = {each.row.pk: each for each in figures.responses}
    rows_: list[Sequence[Any]] = []
    for row in figures.rows:
        if row.is_handed_in:
            wage = known[row.pk].wage if row.pk in known else None
            rows_.append(
                (
                    row.external_id,
                    row.topic,
                    row.style,
                    row.participant,
                    row.state,
                    row.is_trial,
                    row.is_erased,
                    row.submitted_at.isoformat() if row.submitted_at else None,
                    row.active_seconds,
                    None if row.is_imported else money.to_major(row.paid, currency),
                    None if wage is None else money.to_major(round(wage), currency),
                    currency,
                )
            )
    return columns, rows_


def _funnel_table(figures: Overview, _currency: str) -> Table:
    return ("stage", "people", "of_arrived"), [(each.name, each.people, each.of_arrived) for each in figures.stages]


TABLES: Final[dict[str, Callable[[Overview, str], Table]]] = {
    "styles": _styles_table,
    "writers": _writers_table,
    "responses": _responses_table,
    "funnel": _funnel_table,
}


def as_table(study: Study, name: str) -> bytes:
    """Return one of `TABLES` as CSV, with pseudonyms of participants and money in major units.

    Raises
    ------
    UnknownTable
        If there is no table with this name.
    """
    if name not in TABLES:
        raise UnknownTable(name)
    columns, rows = TABLES[name](overview(study), study.currency)
    return csv_export.to_csv(columns, rows)


def corpus_card(study: Study) -> dict[str, Any] | None:
    """Return the counts of topics, passages, and responses by style and origin; None without topics."""
    groups = Response.objects.filter(study=study, erased_at__isnull=True).values("style__label", "origin")
    rows = groups.annotate(n=Count("pk"), words=Avg("words")).order_by("style__label", "origin")
    topics = Topic.objects.filter(study=study).current().count()
    if not topics:
        return None
    return {
        "topics": topics,
        "passages": Passage.objects.filter(study=study).count(),
        "responses": [row | {"origin_label": _origin(row["origin"])} for row in rows],
    }


def progress_card(study: Study) -> dict[str, Any] | None:
    """Return the progress of people's writing and the link to try it out; None if there is no writing."""
    card = study_card(study)
    if card["plan"] is None and not card["whole"].done:
        return None
    open_links = EntryLink.objects.filter(study=study, purpose="writing", kind=EntryKind.OPEN, closed_at__isnull=True)
    link = open_links.filter(expires_at__isnull=True).order_by("-pk").first()
    return {**card, "link": link}


def spending_line(study: Study) -> SpendingLine | None:
    """Return the cost of writing for the study's overview; None if there is none."""
    card = study_card(study)
    so_far, waiting = card["spending"].so_far, card["spending"].waiting
    if not so_far and not waiting:
        return None
    paid = wages.pay_of_responses(queries.load_tasks(study))
    hourly = tuple(each.wage for each in paid if each.wage is not None)
    return SpendingLine("Writing", "writing_progress", so_far, waiting, wages=hourly)


def topics_part(study: Study) -> StepPart:
    """Return the checklist's entry on the number of topics."""
    topics = Topic.objects.filter(study=study).current().count()
    if not topics:
        return StepPart("No topics yet", Progress.TO_DO, Action("Import data", reverse("import", args=[study.slug])))
    text = f"{topics:,} topic{'s' if topics > 1 else ''}"
    return StepPart(text, Progress.DONE, url=reverse("topics", args=[study.slug]))


def responses_part(study: Study) -> StepPart | None:
    """Return the checklist's entry on the number of responses; None if there are none."""
    responses = Response.objects.filter(study=study, erased_at__isnull=True).count()
    if not responses:
        return None
    text = f"{responses:,} response{'s' if responses > 1 else ''}"
    return StepPart(text, Progress.DONE, url=reverse("responses", args=[study.slug]))


def writing_part(study: Study) -> StepPart | None:
    """Return the checklist's entry on the writing plan; without a plan, on missing responses, if they are missing."""
    card = study_card(study)
    plan, whole = card["plan"], card["whole"]
    if plan is None:
        return _missing_responses(study)
    planned = whole.planned or 0
    text = f"{whole.done} of {planned} requested responses"
    if card["trials"]:
        text += " (without trials)"
    if planned and whole.done >= planned:
        return StepPart(text, Progress.DONE, url=reverse("writing_progress", args=[study.slug]))
    action = Action("Open the writing plan", reverse("writing_plan", args=[study.slug]))
    url = reverse("writing_progress", args=[study.slug])
    return StepPart(text, Progress.STARTED if plan.is_open or whole.done else Progress.TO_DO, action, url)


def _missing_responses(study: Study) -> StepPart | None:
    topics = Topic.objects.filter(study=study).current()
    if not topics.exists() or Response.objects.filter(study=study).exists():
        return None
    action = Action("Plan the writing", reverse("writing_plan", args=[study.slug]))
    return StepPart(
        "No responses yet. You can also import them.", Progress.TO_DO, action, reverse("import", args=[study.slug])
    )


def _origin(value: str) -> str:
    return str(dict(Response._meta.get_field("origin").flatchoices)[value])
