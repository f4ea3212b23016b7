"""Training: the first answer stays, what was expected is said, and the questionnaire comes after it."""

from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.urls import reverse

from annotation.enums import CampaignState
from annotation.models import Judgment, TrainingAnswer, TrainingItem
from annotation.quality import known_labels, problems, training
from annotation.quality.known_labels import LabelWithReason
from crowdrag.studies.models import Participant
from tests.annotation import open_campaign
from tests.annotation.shared import client_of, made_once
from tests.concurrency import together
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)


def open_with_examples() -> open_campaign.World:
    """An open campaign with two training items; of the first both labels are known, of the second one."""
    made = open_campaign.world(state=CampaignState.DRAFT)
    a, b, c = made.responses[:3]
    first, second = made.dimensions
    for (left, right), known in (
        ((b, a), {first.pk: LabelWithReason(1, "B answers it."), second.pk: LabelWithReason(-1)}),
        ((c, a), {second.pk: LabelWithReason(0, "Both do.")}),
    ):
        item = known_labels.add_pair(campaign=made.campaign, left=left, right=right)
        known_labels.set_labels(item=item, known=known)
        training.add_item(campaign=made.campaign, item=item)
    made.change(state=CampaignState.OPEN, opened_at=NOW)
    return made


stored, here = made_once(open_with_examples)


def answer(here: open_campaign.World, judge: Participant, *values: int) -> list[training.Feedback]:
    item = training.next_item(campaign=here.campaign, participant=judge)
    assert item is not None
    given = {dimension.pk: value for dimension, value in zip(here.dimensions, values, strict=False)}
    return training.answer(training_item=item, participant=judge, values=given, now=NOW)


def test_what_was_expected_is_said_with_why(here: open_campaign.World) -> None:
    judge = here.judge()
    assert not training.is_done(campaign=here.campaign, participant=judge)
    first, second = answer(here, judge, 1, 1)
    assert (first.answer, first.expected, first.is_right, first.explanation) == ("B", "B", True, "B answers it.")
    assert (second.answer, second.expected, second.is_right) == ("B", "A", False)
    free, known = answer(here, judge, -1, 0)
    assert (free.is_known, free.is_right) == (False, False)
    assert known.is_right
    assert training.is_done(campaign=here.campaign, participant=judge)
    assert training.training_progress(campaign=here.campaign, participant=judge) == training.TrainingProgress(2, 2)
    assert training.next_item(campaign=here.campaign, participant=judge) is None
    # Another judge begins anew, and nothing of it is a judgment.
    assert training.training_progress(campaign=here.campaign, participant=here.judge()) == training.TrainingProgress(
        0, 2
    )
    assert not Judgment.objects.exists()


def test_the_first_answer_stays(here: open_campaign.World) -> None:
    judge = here.judge()
    answer(here, judge, 1, 1)
    item = TrainingItem.objects.order_by("position").first()
    again = training.answer(
        training_item=item, participant=judge, values={each.pk: -1 for each in here.dimensions}, now=LATER
    )
    assert [each.answer for each in again] == ["B", "B"]
    assert set(TrainingAnswer.objects.values_list("value", "answered_at")) == {(1, NOW)}


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_at_once_one_is_first() -> None:
    here = open_with_examples()
    item = TrainingItem.objects.order_by("position").first()
    for _ in range(3):
        judge = here.judge()

        def send(value: int, judge: Participant = judge) -> list[str]:
            given = {each.pk: value for each in here.dimensions}
            feedback = training.answer(training_item=item, participant=judge, values=given, now=NOW)
            return [each.answer for each in feedback]

        one, other = together([partial(send, 1), partial(send, -1)])
        # Both are told of the same answers, and these are one tab's.
        assert one == other
        assert len(set(one)) == 1
        assert TrainingAnswer.objects.filter(participant=judge).count() == 2


def test_all_questions_are_answered_with_what_they_offer(here: open_campaign.World) -> None:
    judge = here.judge()
    with pytest.raises(problems.Unanswered) as caught:
        answer(here, judge, 1)
    assert caught.value.dimensions == [here.dimensions[1].pk]
    with pytest.raises(problems.BadLabel):
        answer(here, judge, 1, 5)
    assert not TrainingAnswer.objects.exists()


def test_training_items_are_no_gold_items() -> None:
    made = open_campaign.world(state=CampaignState.DRAFT)
    item = known_labels.add_pair(campaign=made.campaign, left=made.responses[1], right=made.responses[0])
    with pytest.raises(problems.NotTaught):  # nothing is known of it yet
        training.add_item(campaign=made.campaign, item=item)
    known_labels.set_labels(item=item, known={made.dimensions[0].pk: LabelWithReason(1)})
    assert list(known_labels.gold_items(made.campaign)) == [item]
    assert training.add_item(campaign=made.campaign, item=item) == training.add_item(campaign=made.campaign, item=item)
    assert list(known_labels.gold_items(made.campaign)) == []
    assert list(known_labels.chosen_items(made.campaign)) == [item]
    training.remove_item(item=item)
    assert list(known_labels.gold_items(made.campaign)) == [item]
    known_labels.remove(item=item)
    assert list(known_labels.chosen_items(made.campaign)) == []


def address(here: open_campaign.World) -> str:
    return reverse("judging_training", args=[here.study.slug, here.campaign.pk])


def test_the_page_asks_tells_and_goes_on(here: open_campaign.World) -> None:
    client, page = client_of(here.judge()), address(here)
    item, other = TrainingItem.objects.order_by("position")

    def send(item: TrainingItem, *values: str, **more: bool) -> Any:
        answers = {f"q-{each.pk}": value for each, value in zip(here.dimensions, values, strict=False)}
        return client.post(page, {"item": item.pk, **answers}, **more)

    source = client.get(page).content.decode()
    assert ('id="feedback"' in source, source.count('name="q-')) == (False, 6)
    assert send(item, "1").status_code == 422
    assert not TrainingAnswer.objects.exists()
    feedback = send(item, "1", "1", follow=True)
    assert (feedback.context["right"], feedback.context["known"]) == (1, 2)
    assert "B answers it." in feedback.content.decode()
    # Sent again with other answers, the first stay.
    send(item, "-1", "-1")
    assert set(TrainingAnswer.objects.values_list("value", flat=True)) == {1}
    start = reverse("judging_start", args=[here.study.slug, here.campaign.pk])
    assert f'action="{start}"' in send(other, "0", "0", follow=True).content.decode()
    assert client.get(page)["Location"] == start
    assert client_of(here.judge(consents=False)).get(page).status_code == 302


def test_items_that_are_none_change_nothing(here: open_campaign.World) -> None:
    client = client_of(here.judge())
    for sent in ("", "x", "9" * 30, "-1", "٣"):
        answered = client.post(address(here), {"item": sent, f"q-{here.dimensions[0].pk}": "9" * 30})
        assert answered.status_code in {302, 404}
        assert client.get(address(here), {"item": sent}).status_code in {200, 404}
    assert not TrainingAnswer.objects.exists()
