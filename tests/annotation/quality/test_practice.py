"""The practice pair: before the first questionnaire, unless the campaign teaches by its own items."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.campaign_types import default_dimensions
from annotation.judging import erasure, queries
from annotation.models import CampaignDimension, Judgment, PracticeAnswer, TrainingItem
from annotation.quality import practice, problems
from crowdrag.studies.participants import withdrawal
from tests.annotation.open_campaign import World, world
from tests.annotation.shared import client_of, made_once
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def with_practice() -> World:
    """An open campaign with the seven default questions."""
    here = world(dimensions=0, has_practice=True)
    here.dimensions = default_dimensions.ensure_pairwise(study=here.study, now=NOW)
    CampaignDimension.objects.bulk_create(
        CampaignDimension(campaign=here.campaign, dimension=each, position=n) for n, each in enumerate(here.dimensions)
    )
    return here


stored, here = made_once(with_practice)


def test_each_default_question_has_an_expected_answer_and_one_differs_from_the_rest() -> None:
    labels = practice.pair().labels
    assert set(labels) == set(default_dimensions.NAMES)
    assert sorted({value for value, _why in labels.values()}) == [-1, 1]
    assert all(why for _value, why in labels.values())


def test_what_was_expected_is_said_and_the_first_answer_stays(here: World) -> None:
    judge = here.judge()
    assert practice.applies(here.campaign)
    assert not queries.is_trained(here.campaign, judge)
    values = {each.pk: -1 for each in here.dimensions}
    given = practice.answer(campaign=here.campaign, participant=judge, values=values, now=NOW)
    assert [each.is_right for each in given].count(False) == 1
    assert all(each.explanation for each in given)
    again = practice.answer(
        campaign=here.campaign, participant=judge, values={each.pk: 1 for each in here.dimensions}, now=NOW
    )
    assert [each.answer for each in again] == [each.answer for each in given]
    assert queries.is_trained(here.campaign, judge)
    assert not queries.is_trained(here.campaign, here.judge())
    assert not Judgment.objects.exists()


def test_all_questions_are_answered(here: World) -> None:
    judge = here.judge()
    with pytest.raises(problems.Unanswered):
        practice.answer(campaign=here.campaign, participant=judge, values={}, now=NOW)
    values = {each.pk: 7 for each in here.dimensions}
    with pytest.raises(problems.BadLabel):
        practice.answer(campaign=here.campaign, participant=judge, values=values, now=NOW)
    assert not PracticeAnswer.objects.exists()


def test_the_page_asks_and_tells_and_an_erasure_removes_it(here: World) -> None:
    judge = here.judge()
    client, address = client_of(judge), reverse("judging_training", args=[here.study.slug, here.campaign.pk])
    start = reverse("judging_start", args=[here.study.slug, here.campaign.pk])
    assert client.post(start)["Location"] == address
    assert client.get(address).context["feedback"] == []
    answers = {f"q-{each.pk}": "-1" for each in here.dimensions}
    assert client.post(address, {**answers, f"q-{here.dimensions[0].pk}": ""}).status_code == 422
    told = client.post(address, answers, follow=True)
    assert (told.context["right"], told.context["known"]) == (6, 7)
    assert f'action="{start}"' in told.content.decode()
    withdrawal.withdraw(participant=judge, now=timezone.now())
    erasure.erase(judge, timezone.now())
    assert not PracticeAnswer.objects.exists()


def test_training_items_and_other_questions_have_no_practice(here: World) -> None:
    assert not practice.applies(world(has_practice=True).campaign)
    TrainingItem.objects.create(campaign=here.campaign, item=here.campaign.items.last(), position=0)
    assert not practice.applies(here.campaign)
    here.change(has_practice=False)
    TrainingItem.objects.all().delete()
    assert not practice.applies(here.campaign)
