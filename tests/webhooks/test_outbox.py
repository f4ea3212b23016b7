"""What is told, and when: with the transaction of what happened, to those who asked for it, and nothing of people."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.campaigns import launch
from annotation.enums import CampaignState
from crowdrag.jobs import lifecycle, worker
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from crowdrag.webhooks.enums import Event
from crowdrag.webhooks.models import Message
from tests.factories import NOW, CampaignFactory, StudyFactory
from tests.jobs.kinds_app import kinds as test_kinds
from tests.studies.activity import offered_study
from tests.webhooks.conftest import deliver, subscribed
from tests.webhooks.receiver import Receiver
from writing.plans import services as plans

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _kinds() -> None:
    test_kinds.register_all()


def said() -> list[dict[str, Any]]:
    """All that was told, in order."""
    return [json.loads(body) for body in Message.objects.order_by("pk").values_list("body", flat=True)]


def finished(study: Study, kind: str, **parameters: object) -> Run:
    """A run that was worked on until nothing of it was left."""
    run = lifecycle.start(study=study, kind=f"test.{kind}", parameters={"seconds": 0} | parameters)
    while worker.work_next(run):
        run.units.filter(state=UnitState.PENDING).update(due_at=timezone.now() - timedelta(seconds=1))
    run.refresh_from_db()
    return run


@pytest.mark.parametrize(
    ("kind", "parameters", "state"),
    [
        ("tiny", {}, RunState.DONE),
        ("failing", {"failures": 9}, RunState.FAILED),
        ("rejecting", {}, RunState.FAILED),
        ("tiny", {"finish_fails": True}, RunState.FAILED),
    ],
)
def test_a_run_that_ends_is_told_once(
    there: Receiver, kind: str, parameters: dict[str, object], state: RunState
) -> None:
    made = subscribed(there)
    run = finished(made.webhook.study, kind, **parameters)
    assert run.state == state
    (message,) = said()
    assert message["type"] == "run.ended"
    assert message["data"] == {"study": "mine", "run": str(run.key), "kind": f"test.{kind}", "state": state}
    deliver(timezone.now())
    assert [json.loads(came.body) for came in there.came] == [message]


def test_a_run_that_is_cancelled_and_resumed_ends_twice(there: Receiver) -> None:
    made = subscribed(there)
    run = lifecycle.start(study=made.webhook.study, kind="test.tiny", parameters={"seconds": 0})
    lifecycle.cancel(run=run)
    lifecycle.resume(run=run)
    while worker.work_next(run):
        pass
    assert [message["data"]["state"] for message in said()] == [RunState.CANCELLED, RunState.DONE]


def test_an_end_that_is_rolled_back_is_not_told(there: Receiver) -> None:
    made = subscribed(there)
    run = lifecycle.start(study=made.webhook.study, kind="test.tiny", parameters={})

    with transaction.atomic():
        lifecycle.cancel(run=run)
        assert len(said()) == 1
        transaction.set_rollback(True)
    assert said() == []


def test_a_worker_is_called_when_it_is_committed(
    there: Receiver, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    called: list[None] = []
    monkeypatch.setattr("crowdrag.webhooks.tasks.wake_now", lambda: called.append(None))
    made = subscribed(there)
    run = lifecycle.start(study=made.webhook.study, kind="test.tiny", parameters={})
    with django_capture_on_commit_callbacks(execute=True):
        lifecycle.cancel(run=run)
        assert called == []
    assert called == [None]


def test_nothing_is_written_where_nobody_asked(there: Receiver) -> None:
    subscribed(there, events=[Event.CAMPAIGN_ENDED])
    study = Study.objects.get()
    finished(study, "tiny")
    finished(StudyFactory(slug="other"), "tiny")
    assert said() == []


def test_a_campaign_of_judgments_that_is_closed_is_told_once(there: Receiver) -> None:
    study = subscribed(there).webhook.study
    campaign = CampaignFactory(study=study, name="Tides")
    # As one that was opened and is paused: what opening asks for is another test's matter.
    type(campaign).objects.update(has_slots=True, state=CampaignState.PAUSED, opened_at=NOW)
    launch.close_campaign(campaign=campaign, now=NOW)
    launch.close_campaign(campaign=campaign, now=NOW + timedelta(hours=1))
    (message,) = said()
    assert message["type"] == "campaign.ended"
    assert message["timestamp"] == "2026-01-01T12:00:00Z"
    assert message["data"] == {"study": "mine", "campaign": campaign.pk, "kind": "judging", "name": "Tides"}


def test_writing_that_is_closed_is_told_once(there: Receiver) -> None:
    study = offered_study(slug="mine")
    subscribed(there, study=study)
    plan = study.writing_plan  # type: ignore[attr-defined]
    plans.close_plan(plan=plan, now=NOW)
    plans.close_plan(plan=plan, now=NOW)
    assert [message["data"]["kind"] for message in said()] == ["writing"]
