"""Several at the same moment: workers, deliveries, clicks."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.enums import AssignmentState
from annotation.judging import claims, leases
from crowdrag.recruitment import (
    platform_actions,
    platform_outbox,
    platform_studies,
    platform_sync,
    polling,
    submission_sync,
    webhooks,
)
from crowdrag.recruitment.enums import ActionState
from crowdrag.recruitment.models import PlatformAction, PlatformEvent, PlatformStudy, Submission
from crowdrag.recruitment.prolific.account import get_account
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.submission_sync import SubmissionUpdate
from crowdrag.studies.participants import withdrawal
from tests.concurrency import together
from tests.factories import NOW
from tests.recruitment.conftest import TERMS, WAY, advertised
from tests.recruitment.prolific_server import Prolific
from tests.recruitment.test_listeners import judge, judging
from tests.recruitment.test_platform_actions import finished
from tests.recruitment.test_webhooks import event, sent
from tests.studies.activity import offered_study

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 8


def test_one_draft_however_many_click(there: Prolific) -> None:
    made = platform_studies.prepare_draft(study=offered_study(), purpose=WAY, terms=TERMS, by=None, now=NOW)
    base = "https://crowd.example.org"
    results = together([lambda: platform_studies.send_draft(platform_study=made, base=base, now=NOW)] * MANY)
    assert len(there.studies) == 1
    assert {row.external_id for row in results} == set(there.studies)


def test_one_publication_however_many_click(there: Prolific) -> None:
    made = advertised(publish=False)
    together([lambda: platform_studies.take_step(platform_study=made, step=platform_studies.PUBLISH, now=NOW)] * MANY)
    assert sum(path.endswith("/transition/") for _method, path in there.requests) == 1


def test_the_same_order_given_at_once_is_one(there: Prolific) -> None:
    made = advertised()
    session = finished(there, made)
    about: dict[str, Any] = {"study": made.study, "purpose": WAY, "session": session, "now": NOW}
    found = together([lambda: platform_actions.grant_bonus(amount=425, reason="x", key="k", **about)] * MANY)
    assert {action.pk for action in found} == set(PlatformAction.objects.values_list("pk", flat=True))
    assert len({action.pk for action in found}) == 1


@pytest.mark.extended
def test_workers_that_send_at_once_pay_each_bonus_once(there: Prolific) -> None:
    made = advertised(terms=replace(TERMS, places=9))
    sessions = [finished(there, made, f"5f{n:022x}") for n in range(3)]
    for session in sessions:
        about: dict[str, Any] = {"study": made.study, "purpose": WAY, "session": session, "now": NOW}
        for number in range(3):
            platform_actions.grant_bonus(amount=100 + number, reason="x", key=f"{session}-{number}", **about)

    def work() -> None:
        with Client(get_account(), sleep=lambda _seconds: None) as client:
            for minute in range(0, 12, 3):
                platform_outbox.send_due(client, now=NOW + timedelta(minutes=minute))

    together([work] * 4)
    with Client(get_account(), sleep=lambda _seconds: None) as client:
        platform_outbox.send_due(client, now=NOW + timedelta(hours=1))
    assert sorted(there.paid) == sorted((session, 100 + number) for session in sessions for number in range(3))
    assert set(PlatformAction.objects.values_list("state", flat=True)) == {ActionState.DONE}


def test_one_of_several_workers_talks(there: Prolific) -> None:
    advertised()
    talked = together([lambda: platform_sync.synchronise(now=NOW + timedelta(hours=1))] * MANY)
    assert any(talked)


def test_an_event_that_is_delivered_at_once_is_stored_once(there: Prolific) -> None:
    body = event("s1", "ACTIVE")
    given = {name.title(): value for name, value in sent(body).items()}
    headers = webhooks.WebhookHeaders.of(given)
    new = together([lambda: webhooks.receive(body=body, headers=headers, now=timezone.now())] * MANY)
    assert sorted(new) == [False] * (MANY - 1) + [True]
    assert PlatformEvent.objects.count() == 1


def test_all_that_can_be_heard_at_once_comes_to_one_thing_and_hinders_nobody(there: Prolific) -> None:
    here, made = judging(there)
    person, session = judge(there, here, made)
    mine = claims.claim(campaign=here.campaign, participant=person, session=session, now=NOW)
    told = ["RESERVED", "ACTIVE", "TIMED-OUT", "ACTIVE", "AWAITING REVIEW", "RETURNED"]
    works: list[Any] = [
        lambda n=n, status=status: submission_sync.record(
            made, SubmissionUpdate(session, status, NOW + timedelta(minutes=n)), now=NOW + timedelta(hours=1)
        )
        for n, status in enumerate(told)
    ]
    works.append(lambda: withdrawal.withdraw(participant=person, now=NOW + timedelta(hours=1)))
    works.append(lambda: leases.give_back(assignment=mine, now=NOW + timedelta(hours=1)))
    together(works)
    assert Submission.objects.get().status == "RETURNED"
    mine.refresh_from_db()
    assert mine.state in {AssignmentState.RETURNED, AssignmentState.TIMED_OUT, AssignmentState.WITHDRAWN}
    assert here.free() == 2


@pytest.mark.extended
def test_erasing_and_hearing_at_once_wait_for_each_other(there: Prolific) -> None:
    here, made = judging(there)
    person, session = judge(there, here, made)
    works: list[Any] = [lambda: withdrawal.erase(participant=person, now=NOW + timedelta(hours=1))]
    works += [
        lambda n=n: submission_sync.record(
            made, SubmissionUpdate(session, "ACTIVE", NOW + timedelta(minutes=n)), now=NOW
        )
        for n in range(5)
    ]
    together(works)
    with Client(get_account()) as client:
        polling.poll(client, PlatformStudy.objects.get(), now=NOW + timedelta(hours=2), everything=True)
    row = Submission.objects.get()
    assert (row.identity_hash, row.participant) == (None, person)
