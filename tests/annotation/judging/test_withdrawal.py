"""What judges read before and after they leave is what happens."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.judging.lifecycle import ASSIGNMENTS
from annotation.models import Judgment
from annotation.quality.screening import queue
from crowdrag.studies import activities
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant
from tests import erasures
from tests.annotation.judge_actions import claim, hand_in
from tests.annotation.open_campaign import World, world
from tests.annotation.shared import client_of, made_once, signed_in
from tests.factories import WritingPlanFactory, WritingTaskFactory

pytestmark = pytest.mark.django_db


stored, here = made_once(world)


def withdraw_page(person: Participant, **data: str) -> Any:
    client = client_of(person)
    address = reverse("participant_withdraw", args=[person.study.slug])
    page = client.post(address, {"is_sure": "on", **data}) if data else client.get(address)
    erasures.carry_out()
    return page


def sentences(here: World, person: Participant) -> dict[str, list[str]]:
    """What each way of taking part says of an erasure."""
    return {way.name: way.erasure(person) for way in activities.of_study(here.study) if way.erasure(person)}


def test_a_judge_reads_that_bare_answers_stay_and_they_do(here: World) -> None:
    done = hand_in(claim(here, here.judge()))
    votes = Judgment.objects.filter(assignment=done).count()
    stay = sentences(here, done.participant)
    for data in ({}, {"choice": "erase"}):
        assert withdraw_page(done.participant, **data).context["erasure"] == stay[here.purpose]
    done.refresh_from_db()
    assert Judgment.objects.filter(assignment=done).count() == votes
    assert not done.is_included


def test_who_wrote_reads_of_texts_and_who_did_both_of_both(here: World) -> None:
    WritingPlanFactory(study=here.study, consent_text=here.campaign.consent_text)
    writer = here.stranger()
    WritingTaskFactory(claimed=True, topic__study=here.study, participant=writer)
    assert set(sentences(here, writer)) == {"writing"}
    here.admit(writer)
    assert set(sentences(here, writer)) == {"writing"}
    claim(here, writer)
    assert set(sentences(here, writer)) == {"writing", here.purpose}
    # The same stands where they decide to take part.
    offer = Client().get(reverse("join", args=[here.link.token])).context["offer"]
    assert offer.stays


def sum_owed(page: Any) -> bool:
    return "4.00" in page.content.decode()


@pytest.mark.parametrize("choice", ["stop", "erase"])
def test_what_waits_is_named_and_stays_payable(here: World, choice: str) -> None:
    done = hand_in(claim(here, here.judge()))
    campaign, reviewer = [here.study.slug, here.campaign.pk], signed_in(here.study, Role.REVIEWER)
    queue_page = reverse("screening", args=campaign)
    assert sum_owed(withdraw_page(done.participant))
    assert sum_owed(withdraw_page(done.participant, choice=choice))
    name, is_erased = done.external_id, choice == "erase"
    done.refresh_from_db()
    assert (done.external_id == name) == (not is_erased)
    address = reverse("screening_assignment", args=[*campaign, done.external_id])
    listed = reviewer.get(queue_page, {"list": "withdrawn" if is_erased else "waiting"})
    assert address in listed.content.decode()
    assert listed.context["unpaid"] == is_erased
    assert reviewer.get(address).context["left"] == 400
    given = {"amount": "4.00", "reason": "It was done."}
    assert reviewer.post(reverse("screening_pay", args=[*campaign, done.external_id]), given).status_code == 302
    assert ASSIGNMENTS.total_earned(done.participant) == 400
    assert reviewer.get(queue_page).context["unpaid"] == 0


def test_where_nothing_waits_no_sum_is_named(here: World) -> None:
    assert not sum_owed(withdraw_page(here.judge()))


def test_what_was_not_handed_in_is_not_listed_when_it_is_erased(here: World) -> None:
    person = here.judge()
    claim(here, person)
    withdraw_page(person, choice="erase")
    assert not queue.list_assignments(here.campaign, "withdrawn").exists()
    assert queue.unpaid(here.campaign) == 0
