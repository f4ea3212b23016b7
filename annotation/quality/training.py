"""Training before the first questionnaire: items with the expected answer and the reason.

The first answer stays: it says how well somebody judged before they were told. It is no judgment.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils.translation import gettext as _

from crowdrag.studies.models import Participant

from ..models import Campaign, Dimension, Item, TrainingAnswer, TrainingItem
from . import problems
from .problems import BadLabel, NotTaught, Unanswered


@dataclass(frozen=True)
class Feedback:
    """What somebody answered to a question of a training item, and what was expected."""

    dimension: Dimension
    answer: str
    expected: str
    explanation: str

    @property
    def is_known(self) -> bool:
        """Whether an answer was expected at all; where none was, every answer is fine."""
        return bool(self.expected)

    @property
    def is_right(self) -> bool:
        """Whether the expected answer was given."""
        return self.is_known and self.answer == self.expected


@dataclass(frozen=True)
class TrainingProgress:
    """How far somebody is: training items answered, of how many."""

    done: int
    of: int

    @property
    def is_done(self) -> bool:
        """Whether they may begin."""
        return self.done >= self.of


@transaction.atomic
def add_item(*, campaign: Campaign, item: Item) -> TrainingItem:
    """Let new judges learn from an item, after those that are there.

    Raises
    ------
    NotDraft, NotTaught
        if somebody was asked already; if no label of the item is known.
    """
    campaign = problems.lock_draft(campaign)
    if not item.known_labels.exists():
        raise NotTaught
    known = TrainingItem.objects.filter(campaign=campaign, item=item).first()
    if known is not None:
        return known
    last = TrainingItem.objects.filter(campaign=campaign).aggregate(last=Max("position"))["last"]
    problems.undraw(campaign)
    return TrainingItem.objects.create(campaign=campaign, item=item, position=0 if last is None else last + 1)


@transaction.atomic
def remove_item(*, item: Item) -> None:
    """Let an item be no training item any more; with its known labels it is a gold item then.

    Raises
    ------
    NotDraft
    """
    problems.undraw(problems.lock_draft(item.campaign))
    item.training.all().delete()


def dimensions(campaign: Campaign) -> list[Dimension]:
    """Return what a campaign asks, in the order of the page."""
    return [each.dimension for each in campaign.campaign_dimensions.select_related("dimension").order_by("position")]


def training_progress(*, campaign: Campaign, participant: Participant) -> TrainingProgress:
    """Say how far somebody is with a campaign's training."""
    total = TrainingItem.objects.filter(campaign=campaign).count()
    return TrainingProgress(total - _open(campaign, participant).count(), total)


def is_done(*, campaign: Campaign, participant: Participant) -> bool:
    """Whether somebody may be given their first questionnaire as far as training goes."""
    return not _open(campaign, participant).exists()


def next_item(*, campaign: Campaign, participant: Participant) -> TrainingItem | None:
    """Return the first training item that somebody has not answered; None when they are through."""
    items = _open(campaign, participant).select_related("item__topic", "item__pair__a", "item__pair__b")
    return items.order_by("position").first()


@transaction.atomic
def answer(
    *, training_item: TrainingItem, participant: Participant, values: Mapping[int, int], now: datetime
) -> list[Feedback]:
    """Keep somebody's answers to a training item, by dimension, and return what was expected. The first ones stay.

    Raises
    ------
    Unanswered, BadLabel
        if a question has no answer, or one that it does not offer.
    """
    dimensions_asked = dimensions(training_item.campaign)
    check_values(dimensions_asked, values)
    # All answers of an item come at once: whoever has the person's row first, has given the first ones.
    Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if not training_item.answers.filter(participant=participant).exists():
        TrainingAnswer.objects.bulk_create(
            TrainingAnswer(
                training_item=training_item,
                participant=participant,
                dimension=each,
                value=values[each.pk],
                answered_at=now,
            )
            for each in dimensions_asked
        )
    return feedback(training_item=training_item, participant=participant)


def check_values(asked: list[Dimension], values: Mapping[int, int]) -> None:
    """Raise `Unanswered` or `BadLabel` unless each question has one of its answers."""
    if missing := [each.pk for each in asked if each.pk not in values]:
        raise Unanswered(missing)
    if any(values[each.pk] not in each.values for each in asked):
        raise BadLabel(_("Choose one of the answers to the question."))


def feedback(*, training_item: TrainingItem, participant: Participant) -> list[Feedback]:
    """Return what somebody answered and what was expected; nothing before they have answered."""
    answers = dict(training_item.answers.filter(participant=participant).values_list("dimension", "value"))
    known = {each.dimension_id: each for each in training_item.item.known_labels.all()}
    return [
        Feedback(
            dimension=each,
            answer=label_of(each, answers[each.pk]),
            expected=label_of(each, known[each.pk].value) if each.pk in known else "",
            explanation=known[each.pk].explanation if each.pk in known else "",
        )
        for each in dimensions(training_item.campaign)
        if each.pk in answers
    ]


def _open(campaign: Campaign, participant: Participant) -> QuerySet[TrainingItem]:
    answered = TrainingAnswer.objects.filter(participant=participant, training_item__campaign=campaign)
    return TrainingItem.objects.filter(campaign=campaign).exclude(pk__in=answered.values("training_item"))


def label_of(dimension: Dimension, value: int) -> str:
    """Return what an answer to a question is called."""
    return next((str(option["label"]) for option in dimension.options if option["value"] == value), str(value))
