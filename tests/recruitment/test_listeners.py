"""What judging and writing make of what the platform says, and what the platform is told of their decisions."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from annotation.campaigns import services as campaigns_services
from annotation.enums import AssignmentState
from annotation.judging import claims, platform_status
from crowdrag.recruitment import overview, platform_outbox, platform_studies, polling, submission_sync
from crowdrag.recruitment.enums import ActionKind, LocalStatus
from crowdrag.recruitment.models import PlatformAction, PlatformStudy
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.submission_sync import SubmissionUpdate
from crowdrag.studies.entry import enrolment
from crowdrag.studies.entry.links import PlatformVisit
from crowdrag.studies.models import Consent, ConsentText, Participant
from tests.annotation.judge_actions import World as Judging
from tests.annotation.judge_actions import hand_in as hand_in_judgments
from tests.annotation.judge_actions import sheets
from tests.factories import NOW
from tests.recruitment.conftest import TERMS, WAY, advertised
from tests.recruitment.prolific_server import Prolific
from tests.studies.activity import member
from tests.writing import open_plan
from writing.assignments.lifecycle import TASKS
from writing.enums import TaskState
from writing.review import services as review_services

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=15)  # a decision can be undone until then
PERSON = "5f00000000000000000000aa"


def judging(there: Prolific) -> tuple[Judging, PlatformStudy]:
    here = sheets(2, k=1)
    made = advertised(study=here.study, purpose=here.purpose)
    return here, made


def come(there: Prolific, made: PlatformStudy, text: ConsentText, person: str = PERSON) -> tuple[Participant, str]:
    """Somebody takes a place there, comes here, and agrees."""
    session = there.take_place(made.external_id, person)
    came = enrolment.enrol(link=made.link, named=PlatformVisit(person, made.external_id, session), now=NOW)
    Consent.objects.create(participant=came, text=text, given_at=NOW)
    return came, session


def judge(there: Prolific, here: Judging, made: PlatformStudy, person: str = PERSON) -> tuple[Participant, str]:
    return come(there, made, here.campaign.consent_text, person)


def writer(there: Prolific, world: open_plan.World, made: PlatformStudy) -> tuple[Participant, str]:
    return come(there, made, world.plan.consent_text)


def test_a_campaign_proposes_its_own_terms(there: Prolific) -> None:
    here = sheets(2, k=3)
    usual = dict(campaigns_services.SUGGESTED) | {"approval_rate": 95, "completed": 50}
    here.change(eligibility=usual, questionnaires_per_person=None)
    terms = platform_studies.proposed_terms(here.study, here.purpose)
    assert terms is not None
    assert (terms.reward, terms.places, terms.minutes) == (400, 6, here.campaign.minutes)
    here.change(questionnaires_per_person=1)
    assert (
        platform_studies.proposed_terms(here.study, here.purpose).description == terms.description
    )  # a visit stands for one
    made = advertised(study=here.study, purpose=here.purpose, terms=terms)
    assert len(there.studies[made.external_id]["filters"]) == 4


@pytest.mark.parametrize(("status", "after"), [("RETURNED", "RETURNED"), ("TIMED-OUT", "TIMED_OUT")])
def test_a_place_is_free_again_when_somebody_gives_up_there(there: Prolific, status: str, after: str) -> None:
    here, made = judging(there)
    people = [judge(there, here, made, f"5f{number:022x}") for number in range(2)]
    gone, done = (claims.claim(campaign=here.campaign, participant=person, session=session, now=NOW)
                  for person, session in people)  # fmt: skip
    hand_in_judgments(done, NOW)
    for _again in range(2):
        for _person, session in people:
            submission_sync.record(made, SubmissionUpdate(session, status, LATER), now=LATER)
    gone.refresh_from_db()
    done.refresh_from_db()
    # What was handed in stays, whatever is said there.
    assert (gone.state, done.state) == (after, AssignmentState.SUBMITTED)
    assert (here.held(), here.free()) == (1, 1)
    assert sum(bool(row.disagrees) for row in overview.rows(made)) >= (status == "RETURNED")


def test_how_judging_stands_is_said_of_each_visit(there: Prolific) -> None:
    here, made = judging(there)
    one, first = judge(there, here, made)
    two, second = judge(there, here, made, "5f00000000000000000000bb")
    hand_in_judgments(claims.claim(campaign=here.campaign, participant=one, session=first, now=NOW), NOW)
    stands = platform_status.local_status(here.study, here.purpose, [(first, one.pk), (second, two.pk), ("x", two.pk)])
    assert stands == {first: LocalStatus.HANDED_IN, second: LocalStatus.NOTHING, "x": LocalStatus.NOTHING}
    needs = platform_status.visits_needed(here.study, here.purpose)
    assert needs is not None
    assert needs.places == 1
    assert platform_status.visits_needed(here.study, "judging-") is None


def advertised_writing(**plan: Any) -> tuple[open_plan.World, PlatformStudy]:
    world = open_plan.world(**plan)
    terms = replace(TERMS, reward=world.plan.pay, screen_out_reward=None)
    return world, advertised(study=world.study, terms=terms)


@pytest.mark.parametrize("is_finished", [False, True])
def test_a_slot_is_free_again_when_a_writer_gives_up_there(there: Prolific, is_finished: bool) -> None:
    world, made = advertised_writing(topics=1, slots=1)
    person, session = writer(there, world, made)
    task = world.claim(person)
    (open_plan.finish if is_finished else open_plan.write)(task)
    submission_sync.record(
        made, SubmissionUpdate(session, "TIMED-OUT", NOW - timedelta(seconds=1)), now=LATER
    )  # before it was begun
    task.refresh_from_db()
    assert task.state == TaskState.CLAIMED
    submission_sync.record(made, SubmissionUpdate(session, "RETURNED", LATER), now=LATER)
    task.refresh_from_db()
    # A finished text is not taken from its writer.
    assert task.state == (TaskState.CLAIMED if is_finished else TaskState.RETURNED)
    assert is_finished or task.draft == open_plan.TEXT
    assert (LocalStatus.GONE in {row.here for row in overview.rows(made)}) != is_finished


def test_a_writer_is_paid_there_once_for_each_response(there: Prolific, client_there: Client) -> None:
    world, made = advertised_writing(topics=3, slots=1)
    person, session = writer(there, world, made)
    reviewer = world.reviewer()
    for _number in range(2):
        task = world.claim(person)
        open_plan.hand_in(task)
        task.refresh_from_db()
        review_services.accept(task=task, by=reviewer, now=NOW)
        review_services.accept(task=task, by=reviewer, now=NOW)
    TASKS.pay(task, amount=50, reason="It took longer than we said.", by=reviewer, now=NOW)
    otherwise = world.claim(world.writer())  # who came otherwise is none of its business
    open_plan.hand_in(otherwise)
    otherwise.refresh_from_db()
    review_services.accept(task=otherwise, by=reviewer, now=NOW)
    kinds = list(PlatformAction.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == [ActionKind.APPROVE, ActionKind.BONUS, ActionKind.BONUS]
    there.move(session, "AWAITING REVIEW", made.codes["COMPLETED"])
    platform_outbox.send_due(client_there, now=LATER)
    assert there.submissions[session]["status"] == "APPROVED"
    assert there.paid == [(session, world.plan.pay), (session, 50)]


def test_a_visit_is_decided_by_hand(there: Prolific, client_there: Client) -> None:
    world, made = advertised_writing(topics=1, slots=1)
    _person, session = writer(there, world, made)
    there.move(session, "AWAITING REVIEW")
    polling.poll(client_there, made, now=NOW)
    browser = member(world.study)
    url = f"/studies/{world.study.slug}/recruitment/{WAY}/submissions/{session}/"
    assert "NOCODE" in browser.get(url).content.decode()
    assert browser.post(url, {"kind": "REJECT", "category": "NO_CODE", "message": "short"}).status_code == 422
    assert browser.post(url, {"kind": "DANCE"}).status_code == 422
    once = "11111111-1111-4111-8111-111111111111"
    for _again in range(2):
        given = {"kind": "BONUS", "amount": "0.50", "reason": "x", "once": once, "confirmed": "on"}
        answer = browser.post(url, given)
        assert answer.status_code == 302
    assert (
        browser.post(url, {"kind": "SCREEN_OUT", "confirmed": "on"}, follow=True).status_code == 200
    )  # no code for it: said
    message = (
        "You finished without the code and without having written anything; we looked for your work and found none."
    )
    assert browser.post(url, {"kind": "REJECT", "category": "NO_CODE", "message": message}).status_code == 302
    platform_outbox.send_due(client_there, now=NOW + timedelta(days=900))
    assert there.paid == [(session, 50)]
    assert there.submissions[session]["status"] == "REJECTED"
    assert browser.get(url.replace(session, "another")).status_code == 404
