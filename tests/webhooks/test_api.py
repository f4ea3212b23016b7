"""Webhooks by scripts: the same as on pages, with a secret that is said once."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from crowdrag.api.enums import Scope
from crowdrag.api.models import KeptReply
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks.domain import signing
from crowdrag.webhooks.models import Delivery, Webhook
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, StudyFactory

from .conftest import deliver, sent_test, subscribed
from .receiver import Receiver

pytestmark = pytest.mark.django_db
HOOKS = "/api/v1/studies/mine/webhooks/"
NEW = {"address": "https://example.org/hook", "events": ["run.ended"]}


@pytest.fixture
def script() -> Callable[..., APIClient]:
    """Make a script of a member of the study."""

    def make(role: Role = Role.OWNER, *scopes: Scope) -> APIClient:
        study = Study.objects.filter(slug="mine").first() or StudyFactory(slug="mine")
        return by_token(MembershipFactory(study=study, role=role).user, *scopes)

    return make


def hook(webhook: Webhook, step: str = "") -> str:
    return f"{HOOKS}{webhook.key}/{step}"


def test_a_webhook_is_made_shown_changed_and_removed(script: Callable[..., APIClient]) -> None:
    client = script()
    made = client.post(HOOKS, NEW, format="json")
    assert made.status_code == 201
    webhook = Webhook.objects.get()
    assert made.data["secret"] == signing.opened(webhook.secret)
    assert made["Cache-Control"] == "no-store"
    assert made["Location"].endswith(hook(webhook))
    shown = client.get(hook(webhook))
    assert "secret" not in shown.data
    assert client.get(HOOKS).data["results"] == [shown.data]
    changed = client.patch(hook(webhook), {"label": "Lab"}, format="json", headers={"If-Match": shown["ETag"]})
    assert (changed.status_code, changed.data["label"], changed.data["address"]) == (200, "Lab", NEW["address"])
    again = client.patch(hook(webhook), {"label": "x"}, format="json", headers={"If-Match": shown["ETag"]})
    assert again.status_code == 412
    assert client.delete(hook(webhook)).status_code == 204
    assert client.get(hook(webhook)).status_code == 404


def test_an_answer_that_is_given_again_holds_no_secret_and_none_is_kept(script: Callable[..., APIClient]) -> None:
    client = script()
    first = client.post(HOOKS, NEW, format="json", headers={"Idempotency-Key": "one"})
    second = client.post(HOOKS, NEW, format="json", headers={"Idempotency-Key": "one"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert second["Idempotency-Replayed"] == "true"
    assert first.json()["secret"].startswith("whsec_")
    assert second.json() == first.json() | {"secret": None}
    assert first.json()["secret"] not in KeptReply.objects.get().body
    assert Webhook.objects.count() == 1


def test_a_new_secret_is_said_once(script: Callable[..., APIClient], there: Receiver) -> None:
    client = script()
    made = subscribed(there, study=Study.objects.get())
    answer = client.post(hook(made.webhook, "secret/"), headers={"Idempotency-Key": "two"})
    made.webhook.refresh_from_db()
    assert answer.data["secret"] == signing.opened(made.webhook.secret) != made.secret
    assert answer.data["secret"] not in KeptReply.objects.get().body


@pytest.mark.parametrize(
    ("given", "status", "pointer"),
    [
        ({"address": "http://example.org/"}, 422, "#/address"),
        ({"address": "https://192.168.1.1/"}, 422, "#/address"),
        ({"events": []}, 400, "#/events"),
        ({"events": ["webhook.test"]}, 400, "#/events/0"),
        ({"adress": "https://example.org/"}, 400, "#/adress"),
        ({"label": "x" * 101}, 400, "#/label"),
    ],
)
def test_what_is_wrong_is_said_by_field(
    script: Callable[..., APIClient], given: dict[str, Any], status: int, pointer: str
) -> None:
    answer = script().post(HOOKS, NEW | given, format="json")
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/problem+json")
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Webhook.objects.exists()


def test_an_address_that_is_told_already_is_a_conflict(script: Callable[..., APIClient]) -> None:
    client = script()
    client.post(HOOKS, NEW, format="json")
    answer = client.post(HOOKS, NEW, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_a_test_is_sent_and_sent_again(script: Callable[..., APIClient], there: Receiver) -> None:
    client = script()
    webhook = subscribed(there, study=Study.objects.get()).webhook
    there.will(500)
    sent = client.post(hook(webhook, "test/"))
    assert (sent.status_code, sent.data["state"], sent.data["event"]) == (202, "WAITING", "webhook.test")
    deliver(Delivery.objects.get().due_at)
    (row,) = client.get(hook(webhook, "deliveries/"), {"state": "WAITING"}).data["results"]
    assert (row["status"], row["problem"], row["tries"]) == (500, "It answered 500.", 1)
    again = client.post(hook(webhook, f"deliveries/{row['id']}/again/"))
    assert (again.status_code, again.data["message"]) == (202, sent.data["message"])
    deliver(Delivery.objects.get().due_at)
    assert client.get(hook(webhook, "deliveries/")).data["results"][0]["state"] == "DONE"


def test_a_webhook_is_switched_off_and_on(script: Callable[..., APIClient], there: Receiver) -> None:
    client = script()
    webhook = subscribed(there, study=Study.objects.get()).webhook
    assert client.post(hook(webhook, "switch/"), {"on": False}, format="json").data["state"] == "OFF"
    assert client.post(hook(webhook, "test/")).status_code == 409
    assert client.post(hook(webhook, "switch/"), {"on": True}, format="json").data["state"] == "ON"


def test_webhooks_are_for_owners_and_changing_them_for_tokens_that_manage(
    script: Callable[..., APIClient], there: Receiver
) -> None:
    script()
    webhook = subscribed(there, study=Study.objects.get()).webhook
    delivery = sent_test(webhook)
    steps = ["", "secret/", "switch/", "test/", f"deliveries/{delivery.pk}/again/"]
    reader = script(Role.OWNER, Scope.READ, Scope.WRITE, Scope.RUN)
    editor = script(Role.EDITOR)
    stranger = by_token(MembershipFactory(study=StudyFactory(slug="other"), role=Role.OWNER).user)
    assert [client.get(HOOKS).status_code for client in (reader, editor, stranger)] == [200, 403, 404]
    for client, status in ((reader, 403), (editor, 403), (stranger, 404)):
        assert client.post(HOOKS, NEW, format="json").status_code == status
        assert client.patch(hook(webhook), {"label": "x"}, format="json").status_code == status
        assert client.delete(hook(webhook)).status_code == status
        for step in steps[1:]:
            assert client.post(hook(webhook, step), {"on": False}, format="json").status_code == status
    elsewhere = hook(webhook).replace("mine", "other")
    assert stranger.get(elsewhere).status_code == 404
    assert Webhook.objects.get().is_on
