"""The practice pair with feedback before the first questionnaire, for campaigns without training items.

It takes about a minute and is the same in all studies. It shows that each question is judged separately: the better
response covers fewer aspects. The answers are not judgments.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from crowdrag.studies.models import Participant

from ..campaign_types.registry import item_type
from ..models import Campaign, Dimension, PracticeAnswer, TrainingItem
from . import training
from .training import Feedback

A, B = -1, 1


@dataclass(frozen=True)
class PracticePair:
    """A query with two responses; `labels` are the expected answers and their reasons, by the dimension's name."""

    query: str
    a: str
    b: str
    labels: dict[str, tuple[int, str]]


def pair() -> PracticePair:
    """Return the practice pair in the language of the page."""
    return PracticePair(
        query=gettext("Why is the sky blue?"),
        a=gettext(
            "Sunlight looks white, but it is made of many colours [0]. The air spreads blue light much more than red "
            "light. So blue light reaches our eyes from all sides, and the sky looks blue [0, 2]. In the evening, the "
            "light travels farther through the air. Most of the blue is gone by then, and the sky looks red [3]."
        ),
        b=gettext(
            "Many people like the colour blue!! The sky is blue because of the light [1]. Clouds are white or grey. "
            "At night the sky is black. In the evening it is red. The sky takes its blue colour from the sea [4]. The "
            "sea is blue because it takes its colour from the sky [5]."
        ),
        labels={
            "correctness_topical": (
                A,
                gettext("Response A says why the sky is blue. Response B says little about the reason."),
            ),
            "coherence_logical": (
                A,
                gettext("In response A, each sentence builds on the one before. Response B jumps between things."),
            ),
            "coherence_stylistic": (
                A,
                gettext("Response A keeps one style. Response B starts with an excited remark and then lists facts."),
            ),
            "coverage_broad": (
                B,
                gettext(
                    "Response B looks at more aspects: clouds, night, evening and the sea. It only names them, but "
                    "here the number of aspects counts."
                ),
            ),
            "coverage_deep": (
                A,
                gettext("Response A explains what happens to the light. Response B gives no details."),
            ),
            "consistency_internal": (
                A,
                gettext(
                    "Response B contradicts itself: the sky takes its colour from the sea, and the sea from the sky."
                ),
            ),
            "quality_overall": (
                A,
                gettext(
                    "Response A answers the question well. It is better overall, although it covers fewer aspects."
                ),
            ),
        },
    )


def applies(campaign: Campaign) -> bool:
    """Return whether new judges of a campaign get the practice pair: it is on, pairwise, and asks known questions."""
    if not campaign.has_practice or not item_type(campaign).compares:
        return False
    if TrainingItem.objects.filter(campaign=campaign).exists():
        return False
    known = campaign.dimensions.filter(name__in=pair().labels)
    return any({A, B} <= set(each.values) for each in known)


def is_done(*, campaign: Campaign, participant: Participant) -> bool:
    """Return whether a participant has completed everything before the first questionnaire."""
    if not training.is_done(campaign=campaign, participant=participant):
        return False
    return not applies(campaign) or is_answered(campaign=campaign, participant=participant)


def is_answered(*, campaign: Campaign, participant: Participant) -> bool:
    """Return whether a participant has answered the practice pair."""
    return PracticeAnswer.objects.filter(campaign=campaign, participant=participant).exists()


@transaction.atomic
def answer(*, campaign: Campaign, participant: Participant, values: Mapping[int, int], now: datetime) -> list[Feedback]:
    """Store the first answers to the practice pair, by dimension, and return the feedback.

    Raises
    ------
    Unanswered, BadLabel
        if a question has no answer, or an answer that it does not offer.
    """
    asked = training.dimensions(campaign)
    training.check_values(asked, values)
    # Lock the participant. All answers come in one request, so the first request to get the lock stores the first
    # answers.
    Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if not is_answered(campaign=campaign, participant=participant):
        PracticeAnswer.objects.bulk_create(
            PracticeAnswer(
                campaign=campaign, participant=participant, dimension=each, value=values[each.pk], answered_at=now
            )
            for each in asked
        )
    return feedback(campaign=campaign, participant=participant)


def feedback(*, campaign: Campaign, participant: Participant) -> list[Feedback]:
    """Return the answers with the expected ones; empty before the participant has answered."""
    rows = PracticeAnswer.objects.filter(campaign=campaign, participant=participant)
    answers = dict(rows.values_list("dimension", "value"))
    labels = pair().labels
    return [
        _feedback(each, answers[each.pk], *labels.get(each.name, (None, "")))
        for each in training.dimensions(campaign)
        if each.pk in answers
    ]


def _feedback(dimension: Dimension, value: int, expected: int | None, explanation: str) -> Feedback:
    is_known = expected in dimension.values
    return Feedback(
        dimension=dimension,
        answer=training.label_of(dimension, value),
        expected=training.label_of(dimension, expected) if is_known and expected is not None else "",
        explanation=explanation if is_known else "",
    )
