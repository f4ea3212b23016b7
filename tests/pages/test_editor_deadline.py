"""Until when a text is kept for its writer: always in sight, with a warning in time."""

import re
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from tests.pages.accessibility import settled_violations
from tests.pages.editor_study import Desk, desk, sit_down
from tests.pages.test_editor_screens import phone  # noqa: F401 -- a fixture
from writing.models import WritingPlan, WritingTask

MINUTE = 60_000

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_context")]


def kept_for_an_hour() -> Desk:
    """A task that a sign of life keeps for its writer for an hour."""
    at = desk()
    WritingPlan.objects.update(lease_hours=1)
    WritingTask.objects.update(lease_until=timezone.now() + timedelta(minutes=1))
    return at


def test_a_warning_gives_more_time_and_without_a_connection_the_time_runs_out(page: Page, live_server: Any) -> None:
    at = kept_for_an_hour()
    page.clock.install()
    sit_down(page, live_server.url, at)
    warning, due, title = page.locator("#due-soon"), page.locator("#due"), page.title()
    expect(warning).to_be_hidden()
    before = due.inner_text()
    page.clock.fast_forward(51 * MINUTE)
    page.clock.run_for(1_000)
    expect(warning).to_have_role("alert")
    expect(warning).to_be_visible()
    assert page.title() != title
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 780})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        expect(page.locator("#text")).to_be_in_viewport()
    # Only the page's clock was turned: more time than before is more than an hour from now.
    WritingPlan.objects.update(lease_hours=3)
    warning.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(due).not_to_have_text(before)
    page.clock.run_for(6_000)
    expect(warning).to_be_hidden()
    at.task.refresh_from_db()
    assert at.task.lease_until is not None
    assert at.task.lease_until > timezone.now() + timedelta(minutes=170)
    page.context.set_offline(True)
    page.clock.fast_forward(140 * MINUTE)
    page.clock.run_for(1_000)
    expect(page.locator("#late")).to_be_visible()
    page.context.set_offline(False)


@pytest.mark.extended
def test_every_page_shows_the_time_where_the_reader_is(browser: Browser, live_server: Any) -> None:
    at = kept_for_an_hour()
    context = browser.new_context(timezone_id="Asia/Kolkata")
    page = context.new_page()
    sit_down(page, live_server.url, at)
    expect(page.locator("#due")).to_have_attribute("title", re.compile(r"2\d{3}, \d{2}:\d{2} (GMT\+5:30|IST)$"))
    at.task.refresh_from_db()
    assert at.task.lease_until is not None
    there = at.task.lease_until.astimezone(ZoneInfo("Asia/Kolkata"))
    page.goto(f"{live_server.url}{reverse('participant_dashboard', args=[at.task.study.slug])}")
    expect(page.locator("time[data-local]")).to_contain_text(f"{there:%H:%M} ")
    context.close()


@pytest.mark.extended
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_on_a_phone_the_warning_leaves_room_for_the_text(phone: Page, live_server: Any, theme: Any) -> None:  # noqa: F811
    at = kept_for_an_hour()
    phone.clock.install()
    phone.emulate_media(color_scheme=theme, reduced_motion="reduce")
    sit_down(phone, live_server.url, at)
    phone.clock.run_for(51 * MINUTE)
    expect(phone.locator("#due-soon")).to_be_visible()
    box = phone.locator("#text").bounding_box()
    assert box is not None
    assert box["height"] >= 90
    assert settled_violations(phone) == []
