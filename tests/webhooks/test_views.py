"""The pages of webhooks: what owners see and do; what others do not."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks import signatures
from crowdrag.webhooks.enums import DeliveryState, WebhookState
from crowdrag.webhooks.models import Delivery, Webhook
from tests.factories import MembershipFactory, StudyFactory
from tests.webhooks.conftest import deliver, sent_test, subscribed
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db


def owner(study: Study) -> Client:
    browser = Client()
    browser.force_login(MembershipFactory(study=study, role=Role.OWNER).user)
    return browser


def page(webhook: Webhook, name: str = "webhook", *more: Any) -> str:
    return reverse(name, args=[webhook.study.slug, webhook.key, *more])


def test_a_secret_is_shown_when_it_is_made_and_never_again() -> None:
    study = StudyFactory(slug="mine")
    browser, listing = owner(study), reverse("webhooks", args=["mine"])
    assert browser.get(listing).status_code == 200
    answer = browser.post(listing, {"address": "https://example.org/hook", "events": ["run.ended"], "label": "Lab"})
    webhook = Webhook.objects.get()
    secret = signatures.decrypt(webhook.secret)
    assert secret in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    for address in (listing, page(webhook)):
        assert secret not in browser.get(address).content.decode()
    renewed = browser.post(page(webhook, "webhook_secret")).content.decode()
    webhook.refresh_from_db()
    assert signatures.decrypt(webhook.secret) in renewed
    assert secret not in renewed


def test_what_cannot_be_is_said_beside_the_field(there: Receiver) -> None:
    browser = owner(subscribed(there).webhook.study)
    for given, field in (
        ({"address": "http://example.org/"}, "address"),
        ({"address": there.url}, "__all__"),  # told already
        ({"events": []}, "events"),
        ({"events": ["webhook.test"]}, "events"),
    ):
        filled = {"address": "https://example.org/", "events": ["run.ended"]} | given
        answer = browser.post(reverse("webhooks", args=["mine"]), filled)
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field]), given
    assert Webhook.objects.count() == 1


def test_a_test_is_sent_and_its_answer_is_shown(there: Receiver) -> None:
    there.will(500)
    webhook = subscribed(there).webhook
    browser = owner(webhook.study)
    browser.post(page(webhook, "webhook_test"))
    delivery = Delivery.objects.get()
    deliver(delivery.due_at)
    delivery.refresh_from_db()
    shown = browser.get(page(webhook)).content.decode()
    assert [each in shown for each in (delivery.problem, delivery.message.name)] == [True, True]
    browser.post(page(webhook, "webhook_redeliver", delivery.pk))
    deliver(Delivery.objects.get().due_at)
    assert Delivery.objects.get().state == DeliveryState.DONE
    for state, rows in (("DONE", [delivery]), ("FAILED", [])):
        assert list(browser.get(page(webhook), {"state": state}).context["page"]) == rows


def test_a_webhook_is_changed_switched_off_and_on_and_removed(there: Receiver) -> None:
    webhook = subscribed(there).webhook
    browser = owner(webhook.study)
    browser.post(page(webhook), {"address": "https://example.org/new", "events": ["release.published"], "label": "x"})
    webhook.refresh_from_db()
    assert (webhook.address, webhook.events) == ("https://example.org/new", ["release.published"])
    assert browser.post(page(webhook), {"address": "https://10.0.0.1/", "events": ["run.ended"]}).status_code == 422
    browser.post(page(webhook, "webhook_switch"))
    assert Webhook.objects.get().state == WebhookState.OFF
    browser.post(page(webhook, "webhook_test"))
    assert not Delivery.objects.exists()
    browser.post(page(webhook, "webhook_switch"), {"on": "1"})
    assert Webhook.objects.get().state == WebhookState.ON
    browser.post(page(webhook, "webhook_remove"))
    assert not Webhook.objects.exists()


def test_webhooks_stay_in_their_study(there: Receiver) -> None:
    webhook = subscribed(there).webhook
    stranger = owner(StudyFactory(slug="other"))
    for name in ("webhook", "webhook_secret", "webhook_test", "webhook_switch", "webhook_remove"):
        assert stranger.post(reverse(name, args=["other", webhook.key])).status_code == 404
    delivery = sent_test(webhook)
    assert stranger.post(reverse("webhook_redeliver", args=["other", webhook.key, delivery.pk])).status_code == 404
    assert Webhook.objects.get().state == WebhookState.ON


def test_a_page_of_many_deliveries_asks_no_more_than_one_of_few(
    there: Receiver, django_assert_max_num_queries: Any
) -> None:
    webhook = subscribed(there).webhook
    browser = owner(webhook.study)
    sent_test(webhook)
    with django_assert_max_num_queries(100) as few:
        browser.get(page(webhook))
    for _ in range(60):
        sent_test(webhook)
    with django_assert_max_num_queries(len(few.captured_queries)):
        assert len(browser.get(page(webhook)).context["page"]) == 50


def test_the_operators_pages_show_no_secret(there: Receiver, admin_client: Client) -> None:
    made = subscribed(there)
    sent_test(made.webhook)
    for model, pk in (("webhook", made.webhook.pk), ("message", None), ("delivery", None)):
        assert admin_client.get(reverse(f"admin:webhooks_{model}_changelist")).status_code == 200
        if pk:
            shown = admin_client.get(reverse(f"admin:webhooks_{model}_change", args=[pk])).content.decode()
            assert made.webhook.address.partition("?")[0] in shown
            assert "id_secret" not in shown
            assert bytes(made.webhook.secret).decode() not in shown
