"""All that the page on a study's writing shows, and the same as tables to download."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from analysis.stats.bootstrap import Interval
from crowdrag.studies import money
from crowdrag.studies.models import Study
from crowdrag.ui import csv_export

from ...enums import TaskState
from ...models import Topic, WritingPlan
from .. import plans
from . import counting, funnel, rows, wages
from .counting import Standing
from .rows import Group, Row
from .spending import Spending, spending


@dataclass(frozen=True)
class Time:
    """How long a response takes: the median of active seconds, of those that are known.

    Of a style, of all styles (no label), or of the trials, which are in neither.
    """

    label: str
    median: Interval


@dataclass(frozen=True)
class Overview:
    """How far the writing of a study is."""

    plan: WritingPlan | None
    rows: list[Row]
    groups: list[Group]
    styles: list[Standing]
    whole: Standing
    trials: Standing | None
    times: list[Time]
    wage: Interval | None
    too_short: int
    share_below: float | None
    writers: list[wages.Writer]
    responses: list[wages.Response]
    stages: list[funnel.Stage]
    erased_people: int
    spending: Spending

    @property
    def below(self) -> list[wages.Writer]:
        """Whoever earns less than the floor by the median of their responses."""
        return [writer for writer in self.writers if writer.is_below]

    @property
    def waiting(self) -> int:
        """How many responses wait for a reviewer, trials among them, as the reviewers' queue counts."""
        return _waiting(self.groups)

    @property
    def being_written(self) -> int:
        """How many are being written, trials among them."""
        return sum(group.n for group in self.groups if group.state == TaskState.CLAIMED)

    @property
    def erased(self) -> int:
        """How many responses were erased at their writers' wish, trials among them."""
        return sum(group.n for group in self.groups if group.is_erased)

    @property
    def is_imported(self) -> bool:
        """Whether all tasks were collected elsewhere, where neither plan nor pay is known."""
        return bool(self.groups) and all(group.is_imported for group in self.groups)


def overview(study: Study) -> Overview:
    """Return how far the writing is: a fixed number of queries, however much there is."""
    plan = plans.get(study)
    found = rows.load(study)
    groups = rows.grouped(found)
    styles = counting.by_style(groups, _asked(plan))
    whole = counting.total(styles)
    floor = plan.wage_floor if plan else None
    responses = wages.responses(found)
    return Overview(
        plan=plan,
        rows=found,
        groups=groups,
        styles=styles,
        whole=whole,
        trials=counting.trials(groups),
        times=_times(responses, styles),
        wage=wages.medians(each.wage for each in responses),
        too_short=sum(money.is_too_short(each.seconds) for each in responses),
        share_below=wages.share_below(responses, floor),
        writers=wages.writers(found, responses, floor),
        responses=responses,
        stages=funnel.funnel(study, plan),
        erased_people=funnel.erased(study),
        spending=spending(groups, plan, whole),
    )


def writers(study: Study) -> dict[int, wages.Writer]:
    """Return everybody who has taken a task, by key, with what they wrote and earned."""
    plan = plans.get(study)
    found = rows.load(study)
    everybody = wages.writers(found, wages.responses(found), plan.wage_floor if plan else None)
    return {writer.pk: writer for writer in everybody}


def glance(study: Study) -> dict[str, Any]:
    """Return the essentials for the study's home."""
    plan = plans.get(study)
    groups = rows.groups(study)
    whole = counting.total(counting.by_style(groups, _asked(plan)))
    return {"plan": plan, "whole": whole, "waiting": _waiting(groups), "spending": spending(groups, plan, whole)}


def _waiting(groups: Iterable[Group]) -> int:
    """Count what waits for a reviewer, as the queue does: what was erased stands in a list of its own."""
    waits = (group for group in groups if group.state == TaskState.SUBMITTED)
    return sum(group.n for group in waits if not group.is_imported and not group.is_erased)


def _asked(plan: WritingPlan | None) -> dict[str, tuple[str, int]]:
    """Return how many responses the plan asks for, by style."""
    if plan is None:
        return {}
    trial = plan.trial_topics.values_list("external_id", flat=True)
    topics = Topic.objects.filter(study=plan.study_id).current().exclude(external_id__in=trial).count()
    styles = plan.plan_styles.order_by("position", "id").values_list("style__name", "style__label")
    return {name: (label, topics * plan.slots) for name, label in styles}


def _times(responses: Sequence[wages.Response], styles: Sequence[Standing]) -> list[Time]:
    proper = [each for each in responses if not each.row.is_trial]
    of_style = [(style.label, [each for each in proper if each.row.style == style.name]) for style in styles]
    trials = [each for each in responses if each.row.is_trial]
    found = []
    for label, these in (*of_style, ("", proper), (_("trials"), trials)):
        if (interval := wages.medians(each.seconds for each in these)) is not None:
            found.append(Time(label, interval))
    return found


class UnknownTable(LookupError):  # noqa: N818 -- it says what the table is
    """There is no table of this name."""


Table = tuple[Sequence[str], list[Sequence[Any]]]


def _styles_table(found: Overview, _currency: str) -> Table:
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
    standings = [*found.styles, *([found.trials] if found.trials else [])]
    return columns, [
        (each.name, each.asked, *(each.counts[state] for state in states), each.erased) for each in standings
    ]


def _writers_table(found: Overview, currency: str) -> Table:
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
        for each in found.writers
    ]
    return columns, rows_


def _responses_table(found: Overview, currency: str) -> Table:
    columns = (
        "task", "topic", "style", "writer", "state", "is_trial", "is_erased", "submitted_at", "active_seconds",
        "paid", "wage_per_hour", "currency",
    )  # fmt: skip
    known = {each.row.pk: each for each in found.responses}
    rows_: list[Sequence[Any]] = []
    for row in found.rows:
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


def _funnel_table(found: Overview, _currency: str) -> Table:
    return ("stage", "people", "of_arrived"), [(each.name, each.people, each.of_arrived) for each in found.stages]


TABLES: Final[dict[str, Callable[[Overview, str], Table]]] = {
    "styles": _styles_table,
    "writers": _writers_table,
    "responses": _responses_table,
    "funnel": _funnel_table,
}


def as_table(study: Study, name: str) -> bytes:
    """Return one of `TABLES` as CSV. People go by their pseudonyms; money in major units.

    Raises
    ------
    UnknownTable
        if there is none of this name.
    """
    if name not in TABLES:
        raise UnknownTable(name)
    columns, found = TABLES[name](overview(study), study.currency)
    return csv_export.to_csv(columns, found)
