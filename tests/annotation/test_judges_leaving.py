"""What judges read before and after they leave is what happens."""

from copy import deepcopy
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.domain import assignments
from annotation.domain.campaigns import texts
from annotation.domain.screening import queue
from annotation.models import Judgment
from crowdrag.studies.models import Participant
from tests import erasures
from tests.annotation.campaigns import World, world
from tests.annotation.judging import claim, hand_in
from tests.factories import WritingTaskFactory
from tests.participants import as_participant

pytestmark = pytest.mark.django_db
STAYS = "your bare answers stay"
TEXTS = "Your texts, the record of how you wrote them"


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    return world()


@pytest.fixture
def here(built: World, db: None) -> World:
    return deepcopy(built)


def withdraw_page(person: Participant, **data: str) -> str:
    client = Client()
    as_participant(client, person)
    address = reverse("work_withdraw", args=[person.study.slug])
    page = text(client.post(address, {"is_sure": "on", **data}) if data else client.get(address))
    erasures.carry_out()
    return page


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split()).replace("\u00a0", " ")


def test_a_judge_reads_that_bare_answers_stay_and_they_do(here: World) -> None:
    done = hand_in(claim(here, here.judge()))
    votes = Judgment.objects.filter(assignment=done).count()
    before = withdraw_page(done.participant)
    after = withdraw_page(done.participant, choice="erase")
    for page in (before, after):
        assert STAYS in page
        assert TEXTS not in page
    done.refresh_from_db()
    assert Judgment.objects.filter(assignment=done).count() == votes
    assert not done.is_included


def test_who_wrote_reads_of_texts_and_who_did_both_of_both(here: World) -> None:
    writer = here.stranger()
    WritingTaskFactory(claimed=True, topic__study=here.study, participant=writer)
    assert (TEXTS in withdraw_page(writer), STAYS in withdraw_page(writer)) == (True, False)
    here.admit(writer)
    assert STAYS not in withdraw_page(writer)
    claim(here, writer)
    assert (TEXTS in withdraw_page(writer), STAYS in withdraw_page(writer)) == (True, True)


def test_it_is_said_where_they_decide_to_take_part(here: World) -> None:
    page = text(Client().get(reverse("join", args=[here.link.token])))
    assert STAYS in page
    assert "have everything erased" not in page
    asked = texts.consent(here.study)["text"]
    assert "**Your bare answers stay**" in asked
    assert "everything that you gave" not in asked


@pytest.mark.parametrize("choice", ["stop", "erase"])
def test_what_waits_is_named_and_stays_payable(here: World, choice: str) -> None:
    done = hand_in(claim(here, here.judge()))
    reviewer, screened = Client(), [here.study.slug, here.campaign.pk]
    reviewer.force_login(here.member())
    before = withdraw_page(done.participant)
    assert "USD 4.00 wait for a decision." in before
    assert "To be sure, wait for the decision first" in before
    assert "no disadvantage" not in before
    after = withdraw_page(done.participant, choice=choice)
    assert "USD 4.00 more wait for a decision" in after
    assert ("can still be paid" in after) == (choice == "erase")
    name = done.external_id
    done.refresh_from_db()
    assert (done.external_id == name) == (choice == "stop")
    address = reverse("screening_assignment", args=[*screened, done.external_id])
    which = "withdrawn" if choice == "erase" else "waiting"
    assert address in text(reviewer.get(reverse("screening", args=screened), {"list": which}))
    assert ("not paid so far" in text(reviewer.get(reverse("screening", args=screened)))) == (choice == "erase")
    page = text(reviewer.get(address))
    assert ("USD 4.00 of what was promised is not paid" in page) == (choice == "erase")
    given = {"amount": "4.00", "reason": "It was done."}
    assert reviewer.post(reverse("screening_pay", args=[*screened, done.external_id]), given).status_code == 302
    assert assignments.earned(done.participant) == 400
    assert "not paid so far" not in text(reviewer.get(reverse("screening", args=screened)))


def test_where_nothing_waits_no_sum_is_named(here: World) -> None:
    assert "wait for a decision" not in withdraw_page(here.judge())


def test_what_was_not_handed_in_is_not_listed_when_it_is_erased(here: World) -> None:
    person = here.judge()
    claim(here, person)
    withdraw_page(person, choice="erase")
    assert not queue.listed(here.campaign, "withdrawn").exists()
    assert queue.unpaid(here.campaign) == 0
