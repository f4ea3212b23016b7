"""A response that is erased while somebody judges it keeps nobody from handing in."""

import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain import assignments, invariants, reading
from annotation.enums import AssignmentState as S
from annotation.enums import CampaignKind
from annotation.models import Assignment, Judgment
from crowdrag.studies.domain.invariants import Tally
from tests.factories import NOW
from tests.participants import as_participant

from .asked_again import erase
from .campaigns import world
from .judging import add_check, answer_all, claim

pytestmark = pytest.mark.django_db
GONE = "There is nothing more to judge"


def page_of(assignment: Assignment) -> str:
    client, campaign = Client(), assignment.questionnaire.campaign
    as_participant(client, assignment.participant)
    address = reverse("judging_questionnaire", args=[campaign.study.slug, campaign.pk, assignment.external_id])
    return client.get(address).content.decode()


def begun(kind: str) -> Assignment:
    """Somebody who answered the first question of the first item, of which a response is then erased."""
    here = world(kind=kind)
    add_check(here.questionnaires[0])
    mine = claim(here, here.judge())
    item, dimension = next(here.questions(mine))
    assignments.answer(assignment=mine, item=item.pk, dimension=dimension.pk, value=1, revision=1, now=NOW)
    return mine


@pytest.mark.parametrize("kind", [CampaignKind.PAIRWISE, CampaignKind.POINTWISE])
@pytest.mark.parametrize("side", ["a", "b"])
def test_it_is_said_and_not_asked_and_the_rest_is_handed_in(kind: str, side: str) -> None:
    mine = begun(kind)
    first = mine.questionnaire.entries.order_by("position").first().item
    before = assignments.left(mine)
    assert GONE not in page_of(mine)
    erase(first.response or getattr(first.pair, side))
    missing = assignments.missing(mine)
    assert first.pk not in {one.item for one in missing if one.check is None}
    assert assignments.left(mine) == len(missing) < before
    assert len([one for one in missing if one.check]) == 1
    page = reading.page(mine)
    gone = [entry.shown.item for entry in page.entries if entry.shown.is_gone]
    assert first.pk in gone
    assert page.open == len(missing)
    # What was answered before stays on the page, and the check is asked.
    assert len(page.entries[0].questions) == 2
    assert page_of(mine).count(GONE) == len(gone)
    answer_all(mine)
    assert Judgment.objects.filter(assignment=mine, item=first).count() == 1
    assert assignments.submit(assignment=mine, now=NOW).state == S.SUBMITTED
    tally = Tally()
    invariants.complete(tally)
    assert not tally.broken, tally.examples
