"""Webhooks in a real browser: from an address to messages that another system took, and each state of the pages."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks.enums import DeliveryState, WebhookState
from crowdrag.webhooks.models import Delivery, Webhook
from tests.factories import MembershipFactory, StudyFactory
from tests.webhooks.conftest import deliver, subscribed, there
from tests.webhooks.receiver import Receiver

from .accessibility import faults

__all__ = ["there"]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCREENS = [(390, "light"), (1280, "dark")]
OTHERS = [(390, "dark"), (1280, "light")]


@pytest.fixture
def study(sign_in: Callable[..., Any]) -> Study:
    """A study of whoever is signed in."""
    made = StudyFactory(slug="tides", title="Tides and harbours")
    MembershipFactory(study=made, user=sign_in(), role=Role.OWNER)
    return made


def look(page: Page, name: str, screens: list[tuple[int, str]] = SCREENS) -> None:
    """Look at the page on screens; keep pictures where somebody wants to see them."""
    for width, theme in screens:
        assert faults(page, width, theme) == []
        if folder := os.environ.get("CROWDRAG_PICTURES"):
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=Path(folder) / f"{name}-{width}-{theme}.png", full_page=True)


def send_a_test(page: Page) -> None:
    """Press the button, have what is due sent, and look again."""
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_text("A test is on the way")).to_be_visible()
    deliver(Delivery.objects.latest("pk").due_at)
    page.reload()


@pytest.mark.extended
def test_an_address_is_told_and_its_pages_are_accessible_on_the_way(
    page: Page, live_server: Any, study: Study, there: Receiver
) -> None:
    page.goto(live_server.url + reverse("webhooks", args=[study.slug]))
    expect(page.get_by_text("No webhooks yet")).to_be_visible()
    look(page, "webhooks-empty")
    page.get_by_label("Address").fill("https://127.0.0.1/")
    page.get_by_role("button", name="Make the webhook").click()
    expect(page.locator("#id_address_error")).to_contain_text("private network")
    look(page, "webhooks-errors", OTHERS)
    page.get_by_label("Address").fill(there.url)
    page.get_by_label("For your own use").fill("The lab's archive")
    page.get_by_role("button", name="Make the webhook").click()
    secret = page.locator("#secret").text_content()
    assert secret
    look(page, "webhooks-secret")
    page.get_by_role("link", name="To the webhook").click()
    expect(page.get_by_text("Nothing yet.")).to_be_visible()
    expect(page.get_by_text(secret)).to_have_count(0)
    there.will(500)
    send_a_test(page)
    expect(page.get_by_text("It answered 500.")).to_be_visible()
    # As after ten tries in three days, which tests/webhooks sees through.
    Delivery.objects.update(state=DeliveryState.FAILED)
    send_a_test(page)
    expect(page.get_by_role("row").filter(has_text="delivered")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="given up")).to_be_visible()
    assert [came.path for came in there.came] == ["/hook?tenant=7"] * 2
    page.locator("tbody details > summary").first.click()
    look(page, "webhook-deliveries", SCREENS + OTHERS)
    page.get_by_role("row").filter(has_text="given up").get_by_role("button", name="Send again").click()
    expect(page.get_by_text("It is on the way again")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="given up")).to_have_count(0)
    page.goto(live_server.url + reverse("webhooks", args=[study.slug]))
    look(page, "webhooks-list", OTHERS)


@pytest.mark.extended
@pytest.mark.parametrize("state", [WebhookState.OFF, WebhookState.FAILING, WebhookState.GONE])
def test_one_that_is_switched_off_says_why_and_is_switched_on(
    page: Page, live_server: Any, study: Study, there: Receiver, state: str
) -> None:
    webhook = subscribed(there, study=study).webhook
    Webhook.objects.update(state=state)
    page.goto(live_server.url + reverse("webhook", args=[study.slug, webhook.key]))
    expect(page.get_by_role("button", name="Send a test")).to_have_count(0)
    look(page, f"webhook-{state.lower()}", OTHERS if state == WebhookState.OFF else SCREENS[:1])
    page.get_by_role("button", name="Switch on").click()
    expect(page.get_by_role("button", name="Send a test")).to_be_visible()


def test_by_keyboard_a_new_secret_is_made_and_the_webhook_removed(
    page: Page, live_server: Any, study: Study, there: Receiver
) -> None:
    webhook = subscribed(there, study=study).webhook
    page.goto(live_server.url + reverse("webhook", args=[study.slug, webhook.key]))
    page.get_by_role("button", name="New secret").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Make a new secret")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#secret")).to_be_visible()
    look(page, "webhook-secret", OTHERS)
    page.get_by_role("button", name="Remove").focus()
    page.keyboard.press("Enter")
    look(page, "webhook-remove", SCREENS)
    page.get_by_role("dialog").get_by_role("button", name="Remove").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The webhook is removed")).to_be_visible()
    assert not Webhook.objects.exists()
