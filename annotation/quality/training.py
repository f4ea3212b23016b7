"""Training before the first questionnaire: items with the expected answer and its reason.

The first answers are kept: they show how well a judge performs before feedback. They are not judgments.
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
    """A participant's answer to a question of a training item, with the expected answer."""

    dimension: Dimension
    answer: str
    expected: str
    explanation: str

    @property
    def is_known(self) -> bool:
        """Whether an answer was expected. If not, every answer is right."""
        return bool(self.expected)

    @property
    def is_right(self) -> bool:
        """Whether the expected answer was given."""
        return self.is_known and self.answer == self.expected


@dataclass(frozen=True)
class TrainingProgress:
    """Number of training items answered, and in total."""

    done: int
    of: int

    @property
    def is_done(self) -> bool:
        """Whether training is complete."""
        return self.done >= self.of


@transaction.atomic
def add_item(*, campaign: Campaign, item: Item) -> TrainingItem:
    """Make an item the last training item of its campaign.

    Raises
    ------
    NotDraft, NotTaught
        if the campaign was opened; if no label of the item is known.
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
    """Make a training item a gold item again, with its known labels.

    Raises
    ------
    NotDraft
    """
    problems.undraw(problems.lock_draft(item.campaign))
    item.training.all().delete()


def dimensions(campaign: Campaign) -> list[Dimension]:
    """Return a campaign's questions, in the order of the page."""
    return [each.dimension for each in campaign.campaign_dimensions.select_related("dimension").order_by("position")]


def training_progress(*, campaign: Campaign, participant: Participant) -> TrainingProgress:
    """Return a participant's progress in a campaign's training."""
    total = TrainingItem.objects.filter(campaign=campaign).count()
    return TrainingProgress(total - _open(campaign, participant).count(), total)


def is_done(*, campaign: Campaign, participant: Participant) -> bool:
    """Return whether a participant has completed training."""
    return not _open(campaign, participant).exists()


def next_item(*, campaign: Campaign, participant: Participant) -> TrainingItem | None:
    """Return the first training item that a participant has not answered; None if all are answered."""
    items = _open(campaign, participant).select_related("item__topic", "item__pair__a", "item__pair__b")
    return items.order_by("position").first()


@transaction.atomic
def answer(
    *, training_item: TrainingItem, participant: Participant, values: Mapping[int, int], now: datetime
) -> list[Feedback]:
    """Store the first answers to a training item, by dimension, and return the feedback.

    Raises
    ------
    Unanswered, BadLabel
        if a question has no answer, or an answer that it does not offer.
    """
    dimensions_asked = dimensions(training_item.campaign)
    check_values(dimensions_asked, values)
    # Lock the participant. All answers come in one request, so the first request to get the lock stores the first
    # answers.
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
    """Raise `Unanswered` or `BadLabel` unless each question has one of its options as answer."""
    if missing := [each.pk for each in asked if each.pk not in values]:
        raise Unanswered(missing)
    if any(values[each.pk] not in each.values for each in asked):
        raise BadLabel(_("Choose one of the answers to the question."))


def feedback(*, training_item: TrainingItem, participant: Participant) -> list[Feedback]:
    """Return the answers with the expected ones; empty before the participant has answered."""
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
    """Return the label of an answer."""
    return next((str(option["label"]) for option in dimension.options if option["value"] == value), str(value))
