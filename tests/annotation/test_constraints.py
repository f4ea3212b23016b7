"""What must be true of campaigns, pairs, assignments and judgments, and what happens to whoever tries otherwise."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from annotation.enums import AssignmentState, CampaignKind, Inference, Judges
from annotation.models import Assignment, AssignmentDecision, AssignmentTransition, Item, Judgment
from crowdrag.studies.enums import DecisionKind
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


def refused(*cases: tuple[str, Callable[[], object]]) -> None:
    """Each breaks the constraint of this name, and leaves nothing behind."""
    for name, make in cases:
        with pytest.raises(IntegrityError, match=name), transaction.atomic():
            make()


def test_pairs_and_items() -> None:
    pair = PairFactory()
    PairFactory(a=pair.b, b=pair.a)
    campaign = CampaignFactory(study=pair.study)
    single = CampaignFactory(study=pair.study, kind=CampaignKind.POINTWISE)
    ItemFactory(campaign=campaign, pair=pair)
    of_one = {"campaign": single, "topic": pair.a.topic}
    Item.objects.create(**of_one, response=pair.a, external_id="1")
    elsewhere = ResponseFactory(topic__study=pair.study)
    refused(
        ("pair_of_two_responses", lambda: PairFactory(a=pair.a, b=pair.a)),
        ("pair_of_one_topic", lambda: PairFactory(a=pair.a, b=elsewhere)),
        ("pair_once_per_order", lambda: PairFactory(a=pair.a, b=pair.b)),
        ("item_is_a_pair_or_a_response", lambda: ItemFactory(campaign=campaign, pair=pair, response=pair.a)),
        ("item_is_a_pair_or_a_response", lambda: Item.objects.create(campaign=campaign, topic=pair.a.topic)),
        ("item_pair_once_per_campaign", lambda: ItemFactory(campaign=campaign, pair=pair)),
        ("item_response_once_per_campaign", lambda: Item.objects.create(**of_one, response=pair.a)),
        ("item_external_id_once_per_campaign", lambda: Item.objects.create(**of_one, external_id="1")),
    )


def test_campaigns_questionnaires_and_assignments() -> None:
    asked = CampaignDimensionFactory(position=0)
    entry = QuestionnaireItemFactory(position=1)
    sheet, given = entry.questionnaire, AssignmentFactory()
    again = {"campaign": asked.campaign, "dimension": asked.dimension, "position": 1}
    refused(
        ("campaign_asks_a_dimension_once", lambda: [CampaignDimensionFactory(**again) for _ in range(2)]),
        ("campaign_dimension_position_unique", lambda: CampaignDimensionFactory(campaign=asked.campaign, position=0)),
        ("campaign_name_unique", lambda: CampaignFactory(study=asked.campaign.study, name=asked.campaign.name)),
        (
            "questionnaire_holds_an_item_once",
            lambda: QuestionnaireItemFactory(questionnaire=sheet, item=entry.item, position=2),
        ),
        ("questionnaire_position_unique", lambda: QuestionnaireItemFactory(questionnaire=sheet, position=1)),
        (
            "questionnaire_external_id_unique",
            lambda: QuestionnaireFactory(campaign=sheet.campaign, external_id=sheet.external_id),
        ),
        (
            "assignment_nobody_twice",
            lambda: AssignmentFactory(questionnaire=given.questionnaire, participant=given.participant),
        ),
        ("assignment_state_known", lambda: AssignmentFactory(state="LOST")),
        ("assignment_seconds_not_negative", lambda: AssignmentFactory(seconds=-1)),
    )


def test_judgments() -> None:
    judgment = JudgmentFactory()
    fields = {"assignment": judgment.assignment, "item": judgment.item, "dimension": judgment.dimension, "value": 0}
    Judgment.objects.create(**fields, repeat=1)
    options = [{"value": -1, "label": "A"}, {"value": 1, "label": "B"}]
    forced = DimensionFactory(study=judgment.dimension.study, options=options)
    elsewhere = ItemFactory(campaign=judgment.item.campaign)
    refused(
        ("judgment_once_per_question", lambda: Judgment.objects.create(**fields)),
        ("judgment_value_is_an_option", lambda: Judgment.objects.filter(pk=judgment.pk).update(value=2)),
        ("judgment_value_is_an_option", lambda: Judgment.objects.create(**fields | {"dimension": forced})),
        ("judgment_item_was_asked", lambda: Judgment.objects.create(**fields | {"item": elsewhere})),
    )


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
            assignment=assignment, about=DecisionKind.PAY, holds=True, reason="", decided_at=NOW
        )


def test_a_pool_is_one_kind_of_judges_that_count() -> None:
    crowd = JudgmentFactory()
    left_out = JudgmentFactory(assignment__is_included=False)
    for state in set(AssignmentState) - {AssignmentState.ACCEPTED}:
        JudgmentFactory(assignment__state=state)
    expert = JudgmentFactory(entry__item__campaign__judges=Judges.EXPERT)
    Judgment.objects.create(assignment=crowd.assignment, item=crowd.item, dimension=crowd.dimension, value=0, repeat=1)
    assert list(Judgment.objects.pool()) == [crowd]
    assert list(Judgment.objects.pool(Judges.EXPERT)) == [expert]
    assert left_out.assignment not in Assignment.objects.counted()
    assert Assignment.objects.counted().count() == 2
