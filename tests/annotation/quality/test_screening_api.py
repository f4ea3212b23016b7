"""What reviewers see and decide of questionnaires, by scripts: as on the pages of screening."""

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.enums import AssignmentState as S
from annotation.models import Assignment
from crowdrag.assignments.lifecycle import total_paid
from crowdrag.audit.models import AccessLogEntry
from crowdrag.recruitment.enums import ActionKind, RejectionCategory
from crowdrag.recruitment.models import PlatformAction
from crowdrag.studies.enums import AuditedContent, Role
from tests.annotation import judge_actions, open_campaign
from tests.annotation.campaigns.test_api import script
from tests.annotation.quality.screened import REASON, handed_in, sent, state
from tests.annotation.shared import made_once
from tests.factories import NOW, CampaignFactory

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


stored, here = made_once(lambda: open_campaign.world(k=3))


@pytest.fixture
def client(here: open_campaign.World) -> APIClient:
    return script(here.study, Role.REVIEWER)


def of(here: open_campaign.World, step: str = "assignments/") -> str:
    return f"/api/v1/studies/{here.study.slug}/campaigns/{here.campaign.pk}/{step}"


def at(here: open_campaign.World, one: Assignment, step: str = "") -> str:
    return f"{of(here)}{one.external_id}/{step}"


def post(client: APIClient, address: str, data: dict[str, Any] | None = None, **headers: str) -> Any:
    return client.post(address, data or {}, format="json", headers=headers)


def test_questionnaires_are_listed_and_filtered(here: open_campaign.World, client: APIClient) -> None:
    done, other = handed_in(here), handed_in(here, after=MINUTE)
    (first, _second) = client.get(of(here)).json()["results"]
    assert (first["participant"], first["state"]) == (done.participant.external_id, "SUBMITTED")
    assert (first["pay"], first["paid"], first["seconds"]) == (400, 0, 1800)
    pseudonym = other.participant.external_id
    for filters, expected in (
        ({}, [done, other]),
        ({"participant": pseudonym}, [other]),
        ({"state": "SUBMITTED"}, [done, other]),
        ({"state": "ACCEPTED"}, []),
        ({"is_included": "false"}, []),
        ({"questionnaire": done.questionnaire.external_id, "participant": pseudonym}, [other]),
    ):
        rows = client.get(of(here), filters).json()["results"]
        assert [row["external_id"] for row in rows] == [each.external_id for each in expected], filters
    assert client.get(of(here), {"state": "LOST"}).status_code == 400
    strange = CampaignFactory().pk
    assert client.get(f"/api/v1/studies/{here.study.slug}/campaigns/{strange}/assignments/").status_code == 404
    type(here.campaign).objects.filter(pk=here.campaign.pk).update(has_slots=False)
    assert post(client, of(here, "assignments/next/")).status_code == 404


def test_one_is_shown_with_what_speaks_against_it_and_who_looked_is_noted(
    here: open_campaign.World, client: APIClient
) -> None:
    fast = handed_in(here, after=MINUTE)
    shown = client.get(at(here, fast)).json()
    assert (shown["proposal"], [each["name"] for each in shown["signals"]]) == ("reject", ["too_fast"])
    assert shown["signals"][0]["evidence"]["limit"] == 600
    assert (shown["owed_if_accepted"], shown["left_of_pay"], shown["from_platform"]) == (400, 400, False)
    assert shown["history"][-1]["after"] == "SUBMITTED"
    look = AccessLogEntry.objects.get(content=AuditedContent.REVIEW)
    assert (look.participant_id, look.work_key) == (fast.participant_id, fast.pk)
    assert client.get(f"{of(here)}nobody/").status_code == 404


def test_what_is_accepted_is_paid_once_however_often_it_is_sent(here: open_campaign.World, client: APIClient) -> None:
    done = handed_in(here)
    for key in ("a", "a", "b"):
        answer = post(client, at(here, done, "accept/"), {"note": "Well done."}, **{"Idempotency-Key": key})
        assert (answer.status_code, answer.json()["state"], answer.json()["paid"]) == (200, "ACCEPTED", 400)
    assert answer.json()["payments"][0]["amount"] == 400
    assert {each["about"] for each in answer.json()["decisions"]} == {"PAY", "INCLUDE"}
    assert total_paid(done) == 400


@pytest.mark.extended
def test_what_is_rejected_can_be_accepted_after_all(here: open_campaign.World, client: APIClient) -> None:
    done = handed_in(here)
    for given, status, pointer in (
        ({}, 400, "#/reason"),
        ({"reason": "Same answer.", "pay_part": 500}, 422, "#/pay_part"),
    ):
        refused = post(client, at(here, done, "reject/"), given)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (status, pointer)
    assert state(done) == S.SUBMITTED
    answer = post(client, at(here, done, "reject/"), {"reason": "Same answer.", "pay_part": 100}).json()
    assert (answer["state"], answer["paid"]) == ("REJECTED", 100)
    silent = post(client, at(here, done, "accept/"))
    assert (silent.status_code, silent.json()["errors"][0]["pointer"]) == (422, "#/note")
    after_all = post(client, at(here, done, "accept/"), {"note": "You were right."}).json()
    assert (after_all["state"], after_all["paid"]) == ("ACCEPTED", 400)


@pytest.mark.extended
def test_a_platform_is_told_as_it_asks(here: open_campaign.World, client: APIClient) -> None:
    done, other = sent(here, after=MINUTE), RejectionCategory.LOW_EFFORT
    for given, pointer in (
        ({"reason": REASON}, "#/category"),
        ({"reason": "Too fast.", "category": other}, "#/reason"),
        ({"reason": REASON, "category": RejectionCategory.FAILED_CHECK}, "#/category"),
    ):
        answer = post(client, at(here, done, "reject/"), given)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert not PlatformAction.objects.exists()
    assert post(client, at(here, done, "reject/"), {"reason": REASON, "category": other}).status_code == 200
    assert PlatformAction.objects.get().kind == ActionKind.REJECT
    much = post(client, at(here, done, "pay/"), {"amount": 20_000_000, "reason": "Far too much."})
    assert (much.status_code, total_paid(done)) == (422, 0)


@pytest.mark.extended
def test_counting_and_paying_are_decisions_of_their_own(here: open_campaign.World, client: APIClient) -> None:
    done = handed_in(here)
    left = post(client, at(here, done, "inclusion/"), {"included": False, "reason": "Guessed."})
    assert (left.json()["is_included"], left.json()["state"]) == (False, "SUBMITTED")
    paid = post(client, at(here, done, "pay/"), {"amount": 50, "reason": "An item was broken."})
    assert (paid.status_code, paid.json()["paid"]) == (200, 50)
    other = post(client, at(here, done, "pay/"), {"amount": 60, "reason": "An item was broken."})
    assert (other.status_code, other.json()["errors"][0]["pointer"]) == (422, "#/reason")
    accepted = post(client, at(here, done, "accept/"))
    assert (accepted.json()["state"], accepted.json()["is_included"]) == ("ACCEPTED", False)
    again = post(client, at(here, done, "inclusion/"), {"included": True, "reason": "Looked again."})
    assert again.json()["is_included"] is True


@pytest.mark.extended
def test_one_is_held_taken_over_and_put_back(here: open_campaign.World, client: APIClient) -> None:
    done, colleague = handed_in(here), script(here.study, Role.REVIEWER)
    hold = at(here, done, "hold/")
    holder = post(client, hold).json()["held_by"]
    assert holder
    assert post(client, hold).json()["held_by"] == holder
    theirs = post(colleague, hold)
    assert (theirs.status_code, theirs.json()["code"]) == (409, "conflict")
    assert post(colleague, at(here, done, "accept/")).status_code == 409
    assert colleague.get(of(here, "accept-clean/")).json()["assignments"] == []
    # What another has open stays theirs.
    assert colleague.delete(hold).status_code == 204
    assert client.get(at(here, done)).json()["held_by"] == holder
    assert post(colleague, hold, {"over": True}).json()["held_by"] not in (None, holder)
    assert post(client, hold).status_code == 409
    assert colleague.delete(hold).status_code == 204
    assert client.get(at(here, done)).json()["held_by"] is None
    assert post(client, hold, {"mine": True}).status_code == 400
    assert post(client, at(here, done, "accept/")).json()["held_by"] is None
    assert post(client, hold, {"over": True}).status_code == 409
    looks = AccessLogEntry.objects.filter(content=AuditedContent.REVIEW, page="api_assignment_hold")
    assert set(looks.values_list("participant", "work_key")) == {(done.participant_id, done.pk)}


@pytest.mark.extended
def test_the_next_one_is_given_out_within_what_is_proposed(here: open_campaign.World, client: APIClient) -> None:
    fast, clean = handed_in(here, after=MINUTE), handed_in(here, start=NOW + timedelta(hours=1))
    colleague, third = script(here.study, Role.REVIEWER), script(here.study, Role.REVIEWER)
    following = of(here, "assignments/next/")
    first = post(client, following, {"proposal": "accept"}).json()
    assert (first["external_id"], first["proposal"], bool(first["held_by"])) == (clean.external_id, "accept", True)
    # It is theirs already, whatever else they ask for.
    again = post(client, following).json()
    assert (again["external_id"], again["held_by"]) == (clean.external_id, first["held_by"])
    assert post(colleague, following).json()["external_id"] == fast.external_id
    none = post(third, following)
    assert (none.status_code, none.json()["code"]) == (409, "conflict")
    assert client.delete(at(here, clean, "hold/")).status_code == 204
    late = handed_in(here, start=NOW + timedelta(hours=2))
    assert post(client, following, {"after": clean.external_id}).json()["external_id"] == late.external_id
    for given, status in (({"after": "nobody"}, 404), ({"proposal": "maybe"}, 400), ({"propose": "look"}, 400)):
        assert post(client, following, given).status_code == status, given
    assert AccessLogEntry.objects.filter(
        content=AuditedContent.REVIEW, page="api_assignment_next", work_key=late.pk
    ).exists()


@pytest.mark.extended
def test_a_surplus_one_is_taken_up_once_there_is_a_place() -> None:
    here = open_campaign.world(k=1)
    client = script(here.study, Role.REVIEWER)
    done = handed_in(here)
    post(client, at(here, done, "reject/"), {"reason": "Misread."})
    other = handed_in(here)
    while here.free():
        judge_actions.claim(here, here.judge(), NOW)
    reversed_ = post(client, at(here, done, "accept/"), {"note": "You were right."})
    assert reversed_.json()["state"] == "SURPLUS"
    full = post(client, at(here, done, "take-up/"))
    assert (full.status_code, full.json()["code"]) == (409, "conflict")
    post(client, at(here, other, "reject/"), {"reason": "Misread."})
    assert post(client, at(here, done, "take-up/")).json()["state"] == "SUBMITTED"


def test_all_that_nothing_speaks_against_is_accepted(here: open_campaign.World, client: APIClient) -> None:
    clean, fast = handed_in(here), handed_in(here, after=MINUTE)
    said = client.get(of(here, "accept-clean/")).json()
    assert (said["assignments"], said["owed"]) == ([clean.external_id], 400)
    late = handed_in(here, start=NOW + timedelta(days=36500))
    for key, accepted in (("a", 1), ("a", 1), ("b", 0)):
        answer = post(client, of(here, "accept-clean/"), {"until": said["until"]}, **{"Idempotency-Key": key})
        assert answer.json() == {"accepted": accepted, "passed_over": 0}
    assert [state(each) for each in (clean, fast, late)] == [S.ACCEPTED, S.SUBMITTED, S.SUBMITTED]
    assert post(client, of(here, "accept-clean/")).status_code == 400
