"""The campaign that other tests build on is what it says."""

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.enums import AssignmentState, CampaignKind
from annotation.models import Assignment, Place
from crowdrag.studies.models import Consent
from tests.annotation import campaigns
from tests.factories import NOW, AssignmentFactory
from writing.enums import Origin

pytestmark = pytest.mark.django_db


def test_an_open_campaign_has_free_places_for_k_people() -> None:
    made = campaigns.world(k=3)
    assert (made.free(), made.held()) == (6, 0)
    assert [sheet.entries.count() for sheet in made.questionnaires] == [3, 3]
    assert {each.origin for each in made.responses} == {Origin.HUMAN, Origin.MODEL, Origin.SYSTEM}
    judge = made.judge()
    assert judge.arrivals.get().link.purpose == f"judging-{made.campaign.pk}"
    assert Consent.objects.get(participant=judge).text == made.campaign.consent_text
    assert len(made.judges(5)) == 5
    assert made.link.arrivals.count() == 6
    assert not made.stranger().arrivals.exists()


def test_who_wrote_one_of_the_responses_gets_no_place() -> None:
    made = campaigns.world()
    place = made.questionnaires[0].places.first()
    with transaction.atomic():
        place.holder = AssignmentFactory(
            questionnaire=place.questionnaire, participant=made.writer(), state=AssignmentState.ASSIGNED
        )
        with pytest.raises(IntegrityError, match="nobody_judges_an_own_response"), transaction.atomic():
            place.save()
        place.holder.delete()


@pytest.mark.parametrize("kind", CampaignKind.values)
def test_every_kind_can_be_built(kind: str) -> None:
    made = campaigns.world(kind=kind, per_questionnaire=2, has_places=True)
    sheet = made.questionnaires[0]
    given = Assignment.objects.create(
        questionnaire=sheet, participant=made.judge(), state=AssignmentState.ASSIGNED, assigned_at=NOW
    )
    Place.objects.filter(pk=sheet.places.first().pk).update(holder=given)
    assert len(list(made.questions(given))) == 4
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    assert made.held() == 1
