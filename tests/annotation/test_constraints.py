"""What must be true of campaigns, pairs, assignments and judgments, and what happens to whoever tries otherwise."""

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from annotation.enums import AssignmentState, CampaignKind, Inference, Judges
from annotation.models import Assignment, AssignmentDecision, AssignmentTransition, Item, Judgment
from crowdrag.studies.enums import Verdict
from tests.factories import (
    NOW,
    AssignmentFactory,
    CampaignDimensionFactory,
    CampaignFactory,
    DimensionFactory,
    ItemFactory,
    JudgmentFactory,
    PairFactory,
    QuestionnaireFactory,
    QuestionnaireItemFactory,
    ResponseFactory,
)

pytestmark = pytest.mark.django_db


def test_a_pair_is_of_two_responses_to_one_topic() -> None:
    response = ResponseFactory()
    with pytest.raises(IntegrityError, match="pair_of_two_responses"), transaction.atomic():
        PairFactory(a=response, b=response)
    with pytest.raises(IntegrityError, match="pair_of_one_topic"):
        PairFactory(a=response, b=ResponseFactory(topic__study=response.study))


def test_a_pair_stands_once_in_each_order() -> None:
    pair = PairFactory()
    PairFactory(a=pair.b, b=pair.a)
    with pytest.raises(IntegrityError, match="pair_once_per_order"):
        PairFactory(a=pair.a, b=pair.b)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("campaign_kind_known", {"kind": "ODD"}),
        ("campaign_judges_known", {"judges": "GHOST"}),
        ("campaign_state_known", {"state": "LIMBO"}),
        ("campaign_k_positive", {"k": 0}),
        ("campaign_inference_is_said_of_models_only", {"inference": Inference.COMBINED}),
        ("campaign_inference_is_said_of_models_only", {"judges": Judges.MODEL}),
    ],
)
def test_campaign_constraints_bite(name: str, fields: dict) -> None:
    with pytest.raises(IntegrityError, match=name):
        CampaignFactory(**fields)


def test_a_campaign_asks_each_dimension_once_in_its_place() -> None:
    asked = CampaignDimensionFactory(position=0)
    with pytest.raises(IntegrityError, match="campaign_asks_a_dimension_once"), transaction.atomic():
        CampaignDimensionFactory(campaign=asked.campaign, dimension=asked.dimension, position=1)
    with pytest.raises(IntegrityError, match="campaign_dimension_position_unique"), transaction.atomic():
        CampaignDimensionFactory(campaign=asked.campaign, position=0)
    with pytest.raises(IntegrityError, match="campaign_name_unique"):
        CampaignFactory(study=asked.campaign.study, name=asked.campaign.name)


def test_an_item_is_a_pair_or_a_response() -> None:
    pair = PairFactory()
    campaign = CampaignFactory(study=pair.study)
    with pytest.raises(IntegrityError, match="item_is_a_pair_or_a_response"), transaction.atomic():
        ItemFactory(campaign=campaign, pair=pair, response=pair.a)
    with pytest.raises(IntegrityError, match="item_is_a_pair_or_a_response"), transaction.atomic():
        Item.objects.create(campaign=campaign, topic=pair.a.topic)
    ItemFactory(campaign=campaign, pair=pair)
    with pytest.raises(IntegrityError, match="item_pair_once_per_campaign"):
        ItemFactory(campaign=campaign, pair=pair)


def test_an_item_stands_once_in_a_campaign_by_response_and_by_id() -> None:
    response = ResponseFactory()
    campaign = CampaignFactory(study=response.study, kind=CampaignKind.POINTWISE)
    Item.objects.create(campaign=campaign, response=response, topic=response.topic, external_id="1")
    with pytest.raises(IntegrityError, match="item_response_once_per_campaign"), transaction.atomic():
        Item.objects.create(campaign=campaign, response=response, topic=response.topic)
    with pytest.raises(IntegrityError, match="item_external_id_once_per_campaign"):
        Item.objects.create(campaign=campaign, topic=response.topic, external_id="1")


def test_questionnaire_constraints_bite() -> None:
    entry = QuestionnaireItemFactory(position=1)
    with pytest.raises(IntegrityError, match="questionnaire_holds_an_item_once"), transaction.atomic():
        QuestionnaireItemFactory(questionnaire=entry.questionnaire, item=entry.item, position=2)
    with pytest.raises(IntegrityError, match="questionnaire_position_unique"), transaction.atomic():
        QuestionnaireItemFactory(questionnaire=entry.questionnaire, position=1)
    with pytest.raises(IntegrityError, match="questionnaire_external_id_unique"):
        QuestionnaireFactory(campaign=entry.questionnaire.campaign, external_id=entry.questionnaire.external_id)


def test_assignment_constraints_bite() -> None:
    assignment = AssignmentFactory()
    with pytest.raises(IntegrityError, match="assignment_nobody_twice"), transaction.atomic():
        AssignmentFactory(questionnaire=assignment.questionnaire, participant=assignment.participant)
    with pytest.raises(IntegrityError, match="assignment_state_known"), transaction.atomic():
        AssignmentFactory(state="LOST")
    with pytest.raises(IntegrityError, match="assignment_seconds_not_negative"):
        AssignmentFactory(seconds=-1)


def test_transitions_and_decisions_stand() -> None:
    assignment = AssignmentFactory()
    transition = AssignmentTransition.objects.create(
        assignment=assignment, after=AssignmentState.ACCEPTED, cause="import", at=NOW
    )
    transition.cause = "another"
    with pytest.raises(ProgrammingError, match="Cannot update"), transaction.atomic():
        transition.save()
    with pytest.raises(IntegrityError, match="assignmentdecision_has_a_reason"):
        AssignmentDecision.objects.create(
            assignment=assignment, about=Verdict.PAY, holds=True, reason="", decided_at=NOW
        )


def test_a_judgment_is_given_once() -> None:
    judgment = JudgmentFactory()
    fields = {"assignment": judgment.assignment, "item": judgment.item, "dimension": judgment.dimension, "value": 0}
    Judgment.objects.create(**fields, repeat=1)
    with pytest.raises(IntegrityError, match="judgment_once_per_question"):
        Judgment.objects.create(**fields)


def test_a_judgment_takes_one_of_the_options() -> None:
    judgment = JudgmentFactory()
    with pytest.raises(IntegrityError, match="judgment_value_is_an_option"), transaction.atomic():
        Judgment.objects.filter(pk=judgment.pk).update(value=2)
    forced = DimensionFactory(
        study=judgment.dimension.study, options=[{"value": -1, "label": "A"}, {"value": 1, "label": "B"}]
    )
    with pytest.raises(IntegrityError, match="judgment_value_is_an_option"):
        Judgment.objects.create(assignment=judgment.assignment, item=judgment.item, dimension=forced, value=0)


def test_a_judgment_is_of_an_item_that_was_asked() -> None:
    judgment = JudgmentFactory()
    elsewhere = ItemFactory(campaign=judgment.item.campaign)
    with pytest.raises(IntegrityError, match="judgment_item_was_asked"):
        Judgment.objects.create(assignment=judgment.assignment, item=elsewhere, dimension=judgment.dimension, value=1)


def test_a_pool_is_one_kind_of_judges_that_count() -> None:
    crowd = JudgmentFactory()
    JudgmentFactory(assignment__state=AssignmentState.REJECTED)
    JudgmentFactory(assignment__is_included=False)
    expert = JudgmentFactory(entry__item__campaign__judges=Judges.EXPERT)
    Judgment.objects.create(assignment=crowd.assignment, item=crowd.item, dimension=crowd.dimension, value=0, repeat=1)
    assert list(Judgment.objects.pool()) == [crowd]
    assert list(Judgment.objects.pool(Judges.EXPERT)) == [expert]


def test_surplus_and_rejected_assignments_do_not_count() -> None:
    kept = AssignmentFactory()
    for state in set(AssignmentState) - {AssignmentState.ACCEPTED}:
        AssignmentFactory(state=state)
    assert list(Assignment.objects.counted()) == [kept]
