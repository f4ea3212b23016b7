"""Webhooks by scripts: the same as on pages, with a secret that is said once."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from crowdrag.api.models import IdempotentReply
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks import signatures
from crowdrag.webhooks.models import Delivery, Webhook
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, StudyFactory
from tests.webhooks.conftest import deliver, subscribed
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db
HOOKS = "/api/v1/studies/mine/webhooks/"
NEW = {"address": "https://example.org/hook", "events": ["run.ended"]}


@pytest.fixture
def client() -> APIClient:
    """A script of the study's owner."""

    return by_token(MembershipFactory(study=StudyFactory(slug="mine"), role=Role.OWNER).user)


def hook(webhook: Webhook, step: str = "") -> str:
    return f"{HOOKS}{webhook.key}/{step}"


def test_a_webhook_is_made_shown_changed_and_removed(client: APIClient) -> None:
    made = client.post(HOOKS, NEW, format="json")
    assert made.status_code == 201
    webhook = Webhook.objects.get()
    assert made.data["secret"] == signatures.decrypt(webhook.secret)
    assert made["Cache-Control"] == "no-store"
    assert made["Location"].endswith(hook(webhook))
    shown = client.get(hook(webhook))
    assert "secret" not in shown.data
    assert client.get(HOOKS).data["results"] == [shown.data]
    twice = client.post(HOOKS, NEW, format="json")
    assert (twice.status_code, twice.json()["code"]) == (409, "conflict")
    changed = client.patch(hook(webhook), {"label": "Lab"}, format="json", headers={"If-Match": shown["ETag"]})
    assert (changed.status_code, changed.data["label"], changed.data["address"]) == (200, "Lab", NEW["address"])
    again = client.patch(hook(webhook), {"label": "x"}, format="json", headers={"If-Match": shown["ETag"]})
    assert again.status_code == 412
    assert client.delete(hook(webhook)).status_code == 204
    assert client.get(hook(webhook)).status_code == 404


def test_an_answer_that_is_given_again_holds_no_secret_and_none_is_kept(client: APIClient) -> None:
    first = client.post(HOOKS, NEW, format="json", headers={"Idempotency-Key": "one"})
    second = client.post(HOOKS, NEW, format="json", headers={"Idempotency-Key": "one"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert second["Idempotency-Replayed"] == "true"
    assert first.json()["secret"].startswith("whsec_")
    assert second.json() == first.json() | {"secret": None}
    assert first.json()["secret"] not in IdempotentReply.objects.get().body
    assert Webhook.objects.count() == 1


def test_a_new_secret_is_said_once(client: APIClient, there: Receiver) -> None:
    made = subscribed(there, study=Study.objects.get())
    answer = client.post(hook(made.webhook, "secret/"), headers={"Idempotency-Key": "two"})
    made.webhook.refresh_from_db()
    assert answer.data["secret"] == signatures.decrypt(made.webhook.secret) != made.secret
    assert answer.data["secret"] not in IdempotentReply.objects.get().body


@pytest.mark.parametrize(
    ("given", "status", "pointer"),
    [
        ({"address": "http://example.org/"}, 422, "#/address"),
        ({"events": []}, 400, "#/events"),
        ({"events": ["webhook.test"]}, 400, "#/events/0"),
        ({"adress": "https://example.org/"}, 400, "#/adress"),
    ],
)
def test_what_is_wrong_is_said_by_field(client: APIClient, given: dict[str, Any], status: int, pointer: str) -> None:
    answer = client.post(HOOKS, NEW | given, format="json")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Webhook.objects.exists()


def test_a_test_is_sent_and_sent_again(client: APIClient, there: Receiver) -> None:
    webhook = subscribed(there, study=Study.objects.get()).webhook
    there.will(500)
    sent = client.post(hook(webhook, "test/"))
    assert (sent.status_code, sent.data["state"], sent.data["event"]) == (202, "WAITING", "webhook.test")
    deliver(Delivery.objects.get().due_at)
    (row,) = client.get(hook(webhook, "deliveries/"), {"state": "WAITING"}).data["results"]
    assert (row["status"], "500" in row["problem"], row["tries"]) == (500, True, 1)
    again = client.post(hook(webhook, f"deliveries/{row['id']}/again/"))
    assert (again.status_code, again.data["message"]) == (202, sent.data["message"])
    deliver(Delivery.objects.get().due_at)
    assert client.get(hook(webhook, "deliveries/")).data["results"][0]["state"] == "DONE"


def test_a_webhook_is_switched_off_and_on(client: APIClient, there: Receiver) -> None:
    webhook = subscribed(there, study=Study.objects.get()).webhook
    assert client.post(hook(webhook, "switch/"), {"on": False}, format="json").data["state"] == "OFF"
    assert client.post(hook(webhook, "test/")).status_code == 409
    assert client.post(hook(webhook, "switch/"), {"on": True}, format="json").data["state"] == "ON"
