"""Webhooks in a real browser: from an address to messages that another system took, and each state of the pages."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks.enums import DeliveryState, WebhookState
from crowdrag.webhooks.models import Delivery, Webhook
from tests.factories import MembershipFactory, StudyFactory
from tests.pages.accessibility import OTHERS, SCREENS, TWO, look
from tests.pages.keyboard import press
from tests.webhooks.conftest import deliver, subscribed, there
from tests.webhooks.receiver import Receiver

__all__ = ["there"]
TEST = "form[action$='/test/'] button"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study(sign_in: Callable[..., Any]) -> Study:
    """A study of whoever is signed in."""
    made = StudyFactory(slug="tides", title="Tides and harbours")
    MembershipFactory(study=made, user=sign_in(), role=Role.OWNER)
    return made


def send_a_test(page: Page) -> None:
    """Press the button, have what is due sent, and look again."""
    with page.expect_navigation():
        page.locator(TEST).click()
    deliver(Delivery.objects.latest("pk").due_at)
    page.reload()


@pytest.mark.extended
def test_an_address_is_told_and_its_pages_are_accessible_on_the_way(
    page: Page, live_server: Any, study: Study, there: Receiver
) -> None:
    page.goto(live_server.url + reverse("webhooks", args=[study.slug]))
    assert look(page) == []
    page.locator("[name=address]").fill("https://127.0.0.1/")
    page.locator("[name=address]").press("Enter")
    expect(page.locator("#id_address_error")).to_be_visible()
    assert look(page, OTHERS) == []
    page.locator("[name=address]").fill(there.url)
    page.locator("[name=label]").fill("The lab's archive")
    page.locator("[name=label]").press("Enter")
    secret = page.locator("#secret").text_content()
    assert secret
    assert look(page) == []
    page.goto(live_server.url + reverse("webhook", args=[study.slug, Webhook.objects.get().key]))
    expect(page.get_by_text(secret)).to_have_count(0)
    there.will(500)
    send_a_test(page)
    expect(page.locator("tbody tr").first).to_contain_text("500")
    # As after ten tries in three days, which tests/webhooks sees through.
    Delivery.objects.update(state=DeliveryState.FAILED)
    send_a_test(page)
    failed = page.locator("tbody tr", has=page.locator(".badge--bad"))
    expect(page.locator("tbody .badge--good")).to_be_visible()
    expect(failed).to_be_visible()
    assert [came.path for came in there.came] == ["/hook?tenant=7"] * 2
    page.locator("tbody details > summary").first.click()
    assert look(page, SCREENS) == []
    failed.get_by_role("button").click()
    expect(failed).to_have_count(0)
    page.goto(live_server.url + reverse("webhooks", args=[study.slug]))
    assert look(page, OTHERS) == []


@pytest.mark.extended
@pytest.mark.parametrize("state", [WebhookState.OFF, WebhookState.FAILING, WebhookState.GONE])
def test_one_that_is_switched_off_says_why_and_is_switched_on(
    page: Page, live_server: Any, study: Study, there: Receiver, state: str
) -> None:
    webhook = subscribed(there, study=study).webhook
    Webhook.objects.update(state=state)
    page.goto(live_server.url + reverse("webhook", args=[study.slug, webhook.key]))
    expect(page.locator(TEST)).to_have_count(0)
    assert look(page, OTHERS if state == WebhookState.OFF else TWO[:1]) == []
    page.locator("form[action$='/switch/'] button").click()
    expect(page.locator(TEST)).to_be_visible()


@pytest.mark.extended
def test_by_keyboard_a_new_secret_is_made_and_the_webhook_removed(
    page: Page, live_server: Any, study: Study, there: Receiver
) -> None:
    webhook = subscribed(there, study=study).webhook
    page.goto(live_server.url + reverse("webhook", args=[study.slug, webhook.key]))
    page.locator("[data-opens='#renew']").press("Enter")
    press(page, page.locator("#renew [type=submit]"))
    expect(page.locator("#secret")).to_be_visible()
    assert look(page, OTHERS) == []
    page.locator("[data-opens='#remove']").press("Enter")
    assert look(page) == []
    page.locator("#remove [type=submit]").press("Enter")
    page.wait_for_url("**/webhooks/")
    assert not Webhook.objects.exists()
