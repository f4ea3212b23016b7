"""Support campaigns: each statement with each passage that it cites is judged once, on four options."""

import pytest
from django.db import IntegrityError, transaction

from analysis.inputs import queries
from annotation.campaign_types import support
from annotation.campaign_types.registry import TYPES, of_pairs
from annotation.campaigns import questionnaires, questions
from annotation.enums import CampaignKind
from annotation.judging import questionnaire_content
from annotation.llm_judges import prompts, stimuli
from annotation.llm_judges.stimuli import ItemSelection
from annotation.models import Campaign, Item
from tests.annotation.campaign_types import support_study
from writing.models import Response

pytestmark = pytest.mark.django_db


def contents(campaign: Campaign) -> list[tuple[str, str, str]]:
    page = questionnaire_content.preview(campaign.questionnaires.get())
    return sorted((*[side.text for side in entry.shown.sides], entry.shown.sides[1].title) for entry in page.entries)


def test_each_cited_passage_of_a_statement_is_an_item() -> None:
    """By hand: the first text cites three times in two statements, the second once; a statement without is left out."""
    campaign = questionnaires.build(campaign=support_study.draft(support_study.study()), now=support_study.NOW)
    assert contents(campaign) == [
        ("Cats sleep, and snow is white.", "Cats sleep a lot.", "Passage 1"),
        ("Cats sleep, and snow is white.", "Snow is white.", "Passage 2"),
        ("The sky is blue.", "The sky is blue because of scattering.", "Passage 0"),
        ("The sky is green.", "The sky is blue because of scattering.", "Passage 0"),
    ]
    before = set(Item.objects.filter(campaign=campaign).values_list("pk", flat=True))
    questionnaires.build(campaign=campaign, now=support_study.NOW)
    assert contents(campaign)
    assert questionnaires.measures(campaign).items == len(before) == 4
    # Seven words and four, and so on: what a judge reads of the two texts.
    assert campaign.questionnaires.get().words == sum(
        len(f"{statement} {passage}".split()) for statement, passage, _title in contents(campaign)
    )


def test_the_question_has_four_options_in_order() -> None:
    campaign = support_study.draft(support_study.study())
    [question] = questions.questions_of(campaign)
    assert (question.name, question.values) == (support.SUPPORT, [-1, 0, 1, 2])
    assert not TYPES[CampaignKind.SUPPORT].compares


def test_an_item_with_a_statement_needs_its_response_and_passage() -> None:
    campaign = questionnaires.build(campaign=support_study.draft(support_study.study()), now=support_study.NOW)
    item = Item.objects.filter(campaign=campaign).first()
    assert item is not None
    with pytest.raises(IntegrityError), transaction.atomic():
        Item.objects.filter(pk=item.pk).update(retrieved=None)
    with pytest.raises(IntegrityError), transaction.atomic():
        Item.objects.create(
            campaign=campaign, response=item.response, topic=item.topic, statement=item.statement,
            retrieved=item.retrieved,
        )  # fmt: skip


def test_a_model_gets_the_statement_and_the_passage() -> None:
    campaign = questionnaires.build(campaign=support_study.draft(support_study.study()), now=support_study.NOW)
    things = stimuli.select_stimuli(source=campaign, which=ItemSelection.ALL, n=None, both=False, seed=0)
    assert len(things) == 4
    shown = stimuli.show_stimuli(things)[things[0]]
    text = prompts.fill(
        prompts.DEFAULT,
        shown=shown,
        instructions="",
        questions=questionnaire_content.questions(campaign),
        justify=False,
    )
    assert all(side.text in text for side in shown.sides)
    assert '"Full support"' in text


def test_analyses_of_pairs_leave_it_out() -> None:
    study = support_study.study()
    campaign = support_study.opened(study)
    assert not Campaign.objects.filter(of_pairs(), study=study).exists()
    assert queries.default_pool(study) == "CROWD"
    assert Response.objects.filter(items__campaign=campaign).distinct().count() == 2
