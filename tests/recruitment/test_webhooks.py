"""The door at which the platform tells what happens: only the platform comes in, and the same thing counts once."""

import base64
import json
import random
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client as Browser
from django.utils import timezone

from crowdrag.recruitment import listeners, platform_sync, polling, submission_sync, webhooks
from crowdrag.recruitment.models import PlatformEvent, Submission
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.submission_sync import SubmissionUpdate
from tests.recruitment import webhook_requests
from tests.recruitment.conftest import SECRET, TERMS, advertised, listening_with
from tests.recruitment.prolific_server import Prolific
from tests.recruitment.test_submission_sync import came

pytestmark = pytest.mark.django_db
URL = "/hooks/prolific/"
PERSON = "5f00000000000000000000aa"


def sent(
    body: bytes, *, age: float = 0, secret: str = SECRET, event_id: str = "e1", happened: float | None = None
) -> dict[str, Any]:
    """The headers with which the platform sends a body."""
    at = timezone.now().timestamp() - age
    return dict(
        webhook_requests.headers(event_id, body, secret=secret, sent=at, happened=at if happened is None else happened)
    )


def event(session: str, status: str, person: str = PERSON) -> bytes:
    """A body as the platform writes it."""
    told = {"event_type": "submission.status.change", "resource_id": session, "participant_id": person}
    return json.dumps(told | {"status": status}).encode()


def post(body: bytes, headers: dict[str, Any]) -> int:
    answer = Browser(enforce_csrf_checks=True).post(URL, body, content_type="application/json", headers=headers)
    return answer.status_code


def test_an_event_is_stored_once_and_handled_after(there: Prolific, heard: list[listeners.StatusChanged]) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    came(made, PERSON, session)
    there.move(session, "ACTIVE")
    body = event(session, "ACTIVE")
    headers = sent(body)
    assert [post(body, headers) for _again in range(3)] == [200, 200, 200]
    stored = PlatformEvent.objects.get()
    assert stored.handled_at is None
    assert PERSON not in json.dumps([str(value) for value in vars(stored).values()])
    assert platform_sync.is_due(timezone.now())
    platform_sync.synchronise(now=timezone.now())
    stored.refresh_from_db()
    assert stored.handled_at
    assert stored.identity_hash is None
    assert [one.status for one in heard] == ["ACTIVE"]


def test_what_is_not_signed_by_the_platform_is_not_taken(there: Prolific, monkeypatch: pytest.MonkeyPatch) -> None:
    body = event("s1", "ACTIVE")
    signature, timestamp = "x-prolific-request-signature", "x-prolific-request-timestamp"
    changes = [
        {signature: ""}, {signature: "no base 64 \u00e9"}, {signature: base64.b64encode(b"x" * 32).decode()},
        {timestamp: "soon"}, {timestamp: "1" * 40}, sent(event("s1", "APPROVED")), sent(body, secret="another"),
        sent(body, age=400), sent(body, age=-400),
    ]  # fmt: skip
    assert [post(body, sent(body) | change) for change in changes] == [403] * len(changes)
    assert Browser().get(URL).status_code == 405
    monkeypatch.delenv("CROWDRAG_PROLIFIC_HOOK_SECRET")
    assert post(body, sent(body, secret="")) == 503
    assert not PlatformEvent.objects.exists()


BAD_BODIES = (
    b"", b"[]", b"null", b"{", b'{"event_type": "x"}', b'{"event_type": "x", "resource_id": "../../etc"}', b"[" * 9000,
    b'{"event_type": "x", "resource_id": "a\\u0000b"}', b'{"event_type": "\\ud800", "resource_id": ""}',
)  # fmt: skip


def test_a_signed_body_that_says_nothing_is_refused(there: Prolific) -> None:
    assert [post(body, sent(body)) for body in BAD_BODIES] == [400] * len(BAD_BODIES)
    huge = b'{"event_type": "' + b"x" * (webhooks.LARGEST_BODY + 10) + b'"}'
    assert post(huge, sent(huge)) == 413
    assert not PlatformEvent.objects.exists()
    odd = b'{"event_type": "submission.status.change", "resource_id": "a", "status": "\\ud800", "participant_id": '
    odd += b'"\\u0000"}'
    assert post(odd, sent(odd)) == 200


def test_events_in_the_wrong_order_leave_the_newest(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    came(made, PERSON, session)
    now = timezone.now()
    told = [("AWAITING REVIEW", 20), ("RETURNED", 5), ("ACTIVE", 0), ("AWAITING REVIEW", 20)]
    for number, (status, second) in enumerate(told):
        body = event(session, status)
        happened = now.timestamp() - 60 + second
        assert post(body, sent(body, event_id=f"e{number}", happened=happened)) == 200
        webhooks.handle_due(client_there, now=timezone.now())
    assert Submission.objects.get().status == "AWAITING REVIEW"


def test_a_visit_that_is_not_ours_is_forgotten(there: Prolific, client_there: Client) -> None:
    advertised()
    there.studies["other"] = {**next(iter(there.studies.values())), "id": "other"}
    session = there.take_place("other", PERSON)
    body = event(session, "RESERVED")
    post(body, sent(body))
    webhooks.handle_due(client_there, now=timezone.now())
    stored = PlatformEvent.objects.get()
    assert stored.handled_at
    assert stored.identity_hash is None
    assert not Submission.objects.exists()


def test_somebody_who_has_not_come_here_yet_is_asked_about(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    body = event(session, "RESERVED")
    post(body, sent(body))
    there.before = lambda _method, _path: "drop"
    now = timezone.now()
    webhooks.handle_due(client_there, now=now)
    assert PlatformEvent.objects.get().handled_at is None  # without an answer it waits
    assert not webhooks.QUEUE.due(now).exists()
    there.before = lambda _method, _path: None
    webhooks.handle_due(client_there, now=now + timedelta(minutes=2))
    assert Submission.objects.get().status == "RESERVED"


def test_a_listener_that_fails_loses_nothing(there: Prolific, client_there: Client) -> None:
    made = advertised()
    session = there.take_place(made.external_id, PERSON)
    came(made, PERSON, session)
    calls: list[str] = []

    def fails_once(said: listeners.StatusChanged) -> None:
        calls.append(said.status)
        if len(calls) == 1:
            raise RuntimeError

    with listening_with(fails_once):
        body = event(session, "RETURNED")
        post(body, sent(body))
        now = timezone.now()
        webhooks.handle_due(client_there, now=now)
        webhooks.handle_due(client_there, now=now + timedelta(minutes=2))
    assert calls == ["RETURNED", "RETURNED"]
    assert Submission.objects.get().status == "RETURNED"


def test_hear_twice_tells_once(there: Prolific, heard: list[listeners.StatusChanged]) -> None:
    made = advertised()
    now = timezone.now()
    for _again in range(3):
        submission_sync.record(made, SubmissionUpdate("s1", "RETURNED", now), now=now)
    assert len(heard) == 1


LIVES = (
    ["ACTIVE", "AWAITING REVIEW"],
    ["ACTIVE", "RETURNED"],
    ["ACTIVE", "TIMED-OUT", "AWAITING REVIEW"],  # who times out may still finish
    ["ACTIVE", "AWAITING REVIEW", "RETURNED"],  # returned after completion
    ["TIMED-OUT"],
    ["ACTIVE"],
)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.extended) for seed in (1, 2, 3))])
def test_whatever_arrives_in_the_end_all_is_known(there: Prolific, client_there: Client, seed: int) -> None:
    chance = random.Random(seed)
    made = advertised(terms=replace(TERMS, places=12))
    lives = {}
    for number in range(6):
        person = f"5f{number:022x}"
        session = there.take_place(made.external_id, person)
        came(made, person, session)
        lives[session] = list(chance.choice(LIVES))
    while any(lives.values()):
        session = chance.choice([one for one, life in lives.items() if life])
        there.move(session, lives[session].pop(0), made.codes["COMPLETED"])
    start = timezone.now().timestamp() - 200
    told = webhook_requests.events(there.events, start=start)
    for one in webhook_requests.delivered(told, chance):
        assert post(one.body, sent(one.body, event_id=one.event_id, happened=one.happened)) == 200
        if chance.random() < 0.3:
            webhooks.handle_due(client_there, now=timezone.now())
    webhooks.handle_due(client_there, now=timezone.now())
    last = {one["resource_id"]: one["status"] for one in there.events}
    polling.poll(client_there, made, now=timezone.now(), everything=True)
    assert dict(Submission.objects.values_list("external_id", "status")) == last
    assert not PlatformEvent.objects.filter(handled_at=None).exists()


def test_the_platform_is_asked_to_tell_once(there: Prolific) -> None:
    base = "https://crowd.example.org"
    assert webhooks.subscribe(base=base) == ["submission.status.change", "study.status.change"]
    assert webhooks.subscribe(base=base) == []
    assert {row["target_url"] for row in there.subscriptions.values()} == {f"{base}{URL}"}
    assert all(row["is_enabled"] for row in there.subscriptions.values())  # confirmed with the header's secret


def test_the_command_says_how_things_stand(there: Prolific, monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    call_command("prolific", "--subscribe", "https://crowd.example.org", stdout=out)
    assert [each in out.getvalue() for each in ("1000000 EUR", "submission.status.change")] == [True, True]
    monkeypatch.delenv("CROWDRAG_PROLIFIC_TOKEN")
    with pytest.raises(CommandError, match="CROWDRAG_PROLIFIC_TOKEN"):
        call_command("prolific", stdout=out)
