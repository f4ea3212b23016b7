"""Everything that a reviewer sees of a questionnaire: answers beside others', times, checks, history."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from crowdrag.assignments.lifecycle import total_paid
from crowdrag.studies.models import ParticipantMessage

from ...campaign_types.shown_items import ShownItem
from ...enums import AssignmentState
from ...judging import questionnaire_content
from ...models import (
    Assignment,
    AssignmentDecision,
    AssignmentPayment,
    AssignmentTransition,
    ItemTime,
    KnownLabel,
    QuestionnaireItem,
)
from . import evidence, measures, platform_decisions, proposals
from .measures import Work
from .proposals import Proposal

# The number of the judge's other questionnaires to list.
OTHERS = 12


@dataclass(frozen=True)
class Option:
    """An option of a question: whether selected here, by how many others, whether expected."""

    label: str
    chosen: bool
    others: int
    expected: bool


@dataclass(frozen=True)
class Question:
    """A question with the answers of this judge and of others."""

    label: str
    text: str
    options: tuple[Option, ...]
    justification: str
    is_check: bool

    @property
    def answer(self) -> str:
        """The label of the answer."""
        return next((option.label for option in self.options if option.chosen), "")

    @property
    def expected(self) -> str:
        """The label of the expected answer; empty if there is none."""
        return next((option.label for option in self.options if option.expected), "")

    @property
    def is_wrong(self) -> bool:
        """Whether a different answer was expected."""
        return bool(self.expected) and self.expected != self.answer

    @property
    def others(self) -> int:
        """Number of others who answered."""
        return sum(option.others for option in self.options)

    @property
    def is_alone(self) -> bool:
        """Whether at least two others answered and none of them gave this answer."""
        return self.others > 1 and any(option.chosen and not option.others for option in self.options)


@dataclass(frozen=True)
class Time:
    """Time at an item: total active seconds, also as a share of the longest, with details."""

    active: float
    away: float
    looks: int
    changes: int
    # From 0 to 100, the length of the bar.
    length: int
    is_fast: bool


@dataclass(frozen=True)
class Entry:
    """An item with its questions and viewing time."""

    number: int
    shown: ShownItem
    questions: tuple[Question, ...]
    has_known_label: bool
    time: Time | None


@dataclass(frozen=True)
class JudgeRecord:
    """A judge's record in the campaign: number of questionnaires by state, and the other questionnaires."""

    states: list[tuple[str, int]]
    others: list[Assignment]


@dataclass(frozen=True)
class Dossier:
    """What is known of a submitted questionnaire."""

    proposal: Proposal
    work: Work
    pace: measures.Pace | None
    entries: tuple[Entry, ...]
    history: list[AssignmentTransition]
    decisions: list[AssignmentDecision]
    payments: list[AssignmentPayment]
    paid: int
    record: JudgeRecord
    participant_messages: list[ParticipantMessage]
    from_platform: bool


def collect(assignment: Assignment) -> Dossier:
    """Collect the dossier. The assignment comes with its questionnaire, campaign, study and participant."""
    work = evidence.collect_work([assignment])[assignment.pk]
    payments = list(assignment.payments.select_related("by").order_by("at", "id"))
    participant_messages = ParticipantMessage.objects.filter(
        participant=assignment.participant, about=assignment.external_id
    )
    return Dossier(
        proposal=proposals.propose(proposals.flags_of([assignment])[assignment.pk]),
        work=work,
        pace=measures.pace(work),
        entries=_entries(assignment, work),
        history=list(assignment.transitions.select_related("by").order_by("at", "id")),
        decisions=list(assignment.decisions.select_related("decided_by").order_by("decided_at", "id")),
        payments=payments,
        paid=sum(payment.amount for payment in payments),
        record=_record(assignment),
        participant_messages=list(participant_messages.order_by("asked_at", "pk")) if assignment.external_id else [],
        from_platform=platform_decisions.is_from_platform(assignment),
    )


def _entries(assignment: Assignment, work: Work) -> tuple[Entry, ...]:
    page = questionnaire_content.load_page(assignment)
    shown = [entry.shown.item for entry in page.entries]
    others = evidence.count_others(shown, but=assignment)
    rows = QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id, has_known_label=True)
    gold = set(rows.values_list("item_id", flat=True))
    known = {
        (item, dimension): value
        for item, dimension, value in KnownLabel.objects.filter(item__in=gold).values_list("item", "dimension", "value")
    }
    checks = dict(assignment.questionnaire.checks.values_list("pk", "expected"))
    times = _times(assignment, work)
    return tuple(
        Entry(
            number=entry.number,
            shown=entry.shown,
            questions=tuple(_question(each, entry.shown.item, others, known, checks) for each in entry.questions),
            has_known_label=entry.shown.item in gold,
            time=times.get(entry.shown.item),
        )
        for entry in page.entries
    )


def _question(
    question: questionnaire_content.Question,
    item: int,
    others: Mapping[tuple[int, int], Counter[int]],
    known: Mapping[tuple[int, int], int],
    checks: Mapping[int, int],
) -> Question:
    theirs: Counter[int] = Counter() if question.is_check else others.get((item, question.pk), Counter())
    expected = checks.get(question.pk) if question.is_check else known.get((item, question.pk))
    value = question.answer.value if question.answer else None
    return Question(
        label=question.label,
        text=question.text,
        options=tuple(
            Option(each.label, each.value == value, theirs[each.value], each.value == expected)
            for each in question.options
        ),
        justification=question.answer.justification if question.answer else "",
        is_check=question.is_check,
    )


def _times(assignment: Assignment, work: Work) -> dict[int, Time]:
    sums: dict[int, dict[str, Any]] = {}
    for row in ItemTime.objects.filter(assignment=assignment):
        times_of_item = sums.setdefault(row.item_id, {"active": 0.0, "away": 0.0, "looks": 0, "changes": 0})
        times_of_item["active"] += row.active_seconds
        times_of_item["away"] += row.away_seconds
        times_of_item["looks"] += row.looks
        times_of_item["changes"] += row.changes
    longest = max((each["active"] for each in sums.values()), default=0.0)
    pace = measures.pace(work)
    per_text = pace.per_text if pace else 0.0
    return {
        item: Time(
            **each,
            length=round(100 * each["active"] / longest) if longest else 0,
            is_fast=each["active"] < per_text * work.texts.get(item, 0),
        )
        for item, each in sums.items()
    }


def _record(assignment: Assignment) -> JudgeRecord:
    campaign = assignment.questionnaire.campaign_id
    theirs = Assignment.objects.filter(participant=assignment.participant_id, questionnaire__campaign=campaign)
    labels = dict(Assignment._meta.get_field("state").flatchoices)
    counted = theirs.order_by("state").values_list("state").annotate(n=Count("pk"))
    others = theirs.exclude(pk=assignment.pk).exclude(external_id="").select_related("questionnaire__campaign")
    return JudgeRecord(
        states=[(str(labels[state]), n) for state, n in counted],
        others=list(others.order_by("-submitted_at", "-pk")[:OTHERS]),
    )


def owed_if_accepted(assignment: Assignment) -> int:
    """Return what acceptance would add to the amount owed, in minor units: the pay, minus what is paid already."""
    if assignment.state == AssignmentState.SUBMITTED:
        return assignment.pay or 0
    return left_of_pay(assignment)


def left_of_pay(assignment: Assignment) -> int:
    """Return the promised pay that is not owed yet, in minor units. A rejection can pay up to this amount."""
    return max((assignment.pay or 0) - total_paid(assignment), 0)
