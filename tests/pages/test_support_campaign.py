"""A support campaign in the browser: judged by keyboard with one key an item, and on a phone."""

from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.judging import claims
from annotation.models import Judgment
from tests.annotation.campaign_types import support_study
from tests.annotation.open_campaign import World
from tests.pages.accessibility import TWO, faults
from tests.pages.questionnaires import Sheet, open_sheet, saved

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def sheet() -> Sheet:
    campaign = support_study.opened(support_study.study())
    at = Sheet(World(campaign, [], [], []), World(campaign, [], [], []).judge())
    at.mine = claims.claim(campaign=campaign, participant=at.judge, now=timezone.now())
    return at


def test_one_key_answers_a_statement(page: Page, live_server: Any) -> None:
    at = sheet()
    open_sheet(page, live_server.url, at)
    for number in range(1, 5):
        item = page.locator(f"#item-{number}")
        expect(item.get_by_role("region")).to_have_count(2)
        page.keyboard.press(str(number))
        expect(page.locator(f"a[data-dot='{number}']")).to_have_attribute("data-progress", "complete")
        page.keyboard.press("j")
    saved(page)
    assert sorted(Judgment.objects.filter(assignment=at.mine).values_list("value", flat=True)) == [-1, 0, 1, 2]
    page.goto(live_server.url + at.path + "#item-1")
    assert [fault for screen in TWO for fault in faults(page, *screen)] == []


def test_a_phone_shows_the_statement_the_passage_and_the_questions(page: Page, live_server: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    open_sheet(page, live_server.url, sheet())
    item = page.locator("#item-1")
    expect(item.locator("[data-part=b]")).to_be_hidden()
    page.locator("[data-goes=b]").click()
    expect(item.locator("[data-part=b]")).to_be_visible()
    expect(item.locator("[data-part=a]")).to_be_hidden()
    page.locator("[data-goes=a]").click()
    item.locator("summary").click()
    expect(item.locator("details .judging-text")).to_be_visible()
