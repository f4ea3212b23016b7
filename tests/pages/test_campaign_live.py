"""The page of a running campaign in a browser: every state accessible, by keyboard, and it moves by itself."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.enums import CampaignState
from annotation.judging import decisions
from annotation.models import Assignment, Campaign
from annotation.progress import services
from crowdrag.studies.enums import Role
from tests.annotation import judge_actions, open_campaign
from tests.annotation.progress import judged_campaign
from tests.annotation.quality import screened
from tests.factories import MembershipFactory
from tests.pages.accessibility import look
from tests.pages.keyboard import press

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
# A minute passes at once: what asks every fifteen seconds asks when the page comes to the front again.
COMES_BACK = "document.dispatchEvent(new Event('visibilitychange'))"


def look_at(page: Page) -> None:
    """Look at the page narrow and wide, light and dark."""
    page.wait_for_load_state("networkidle")
    assert page.locator(".toast").count() == 0
    assert look(page) == []


def open_page(
    page: Page, live_server: Any, sign_in: Callable[..., Any], here: open_campaign.World, rest: str = ""
) -> None:
    MembershipFactory(study=here.study, user=sign_in(), role=Role.EDITOR)
    page.goto(f"{live_server.url}/studies/{here.study.slug}/campaigns/{here.campaign.pk}/{rest}")


def under_way() -> open_campaign.World:
    """Some thirty questionnaires that were handed in, some decided, one in work."""
    here = judged_campaign.crowded(topics=6, k=4, dimensions=3)
    by, now = here.member(), timezone.now()
    done = [each for sheet in here.questionnaires for each in sheet.assignments.order_by("pk")]
    for assignment in done[:12]:
        decisions.accept(assignment=assignment, by=by, now=now)
    decisions.reject(assignment=done[12], reason="All the same.", by=by, now=now, pay_part=100)
    services.refresh(campaign=here.campaign, now=now, rng=np.random.default_rng(0))
    judge_actions.claim(here, here.judge(), now)
    here.change(wage_floor=1500)
    return here


@pytest.mark.extended
def test_each_state_is_accessible(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    here = under_way()
    open_page(page, live_server, sign_in, here)
    page.locator("#paid-too-little summary").click()
    look_at(page)
    page.locator("[data-opens='#close-campaign']").click()
    look_at(page)
    page.locator("#close-campaign [data-closes]").click()
    for tab in ("quality", "participants", "setup"):
        page.locator(f".tabs a[href$='/{tab}/']").click()
        page.wait_for_url(f"**/{tab}/")
        look_at(page)
    page.goto(f"{live_server.url}/studies/{here.study.slug}/campaigns/{here.campaign.pk}/extend/?k=6")
    look_at(page)
    open_campaign.world(study=here.study, name="Pairs, PAUSED", state=CampaignState.PAUSED)
    open_campaign.world(study=here.study, name="Pairs, nobody yet")
    # The crawl of test_axe.py comes by the others.
    for name in ("Pairs, PAUSED", "Pairs, nobody yet"):
        page.goto(f"{live_server.url}/studies/{here.study.slug}/campaigns/")
        page.get_by_role("link", name=name).click()
        look_at(page)


@pytest.mark.extended
def test_by_keyboard_alone(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    open_page(page, live_server, sign_in, open_campaign.world())
    for name, state in (("pause", "PAUSED"), ("reopen", "OPEN"), ("close", "CLOSED")):
        opener, dialog = page.locator(f"[data-opens='#{name}-campaign']"), page.locator(f"#{name}-campaign")
        opener.press("Enter")
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(opener).to_be_focused()
        page.keyboard.press("Enter")
        with page.expect_navigation():
            press(page, dialog.locator("[type=submit]"))
        assert Campaign.objects.get().state == state


def test_it_moves_by_itself_and_disturbs_nobody(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    here = open_campaign.world()
    judge_actions.claim(here, here.judge(), timezone.now())
    open_page(page, live_server, sign_in, here)
    collected = page.locator(".figure-number").first.locator("dd").first
    expect(collected).to_have_text("0")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/live/" in request.url else None)
    # Nothing new: it is asked, and nothing is put in.
    page.evaluate("document.querySelector('#moving').dataset.mark = 'same'")
    with page.expect_response("**/live/**") as answer:
        page.evaluate(COMES_BACK)
    assert answer.value.status == 204
    expect(page.locator("#moving[data-mark=same]")).to_be_visible()
    # Something new, but somebody reads in it: it waits.
    screened.handed_in(here, start=timezone.now(), after=timedelta(minutes=1))
    page.locator("#by-questionnaire summary").focus()
    before = len(asked)
    page.evaluate(COMES_BACK)
    page.wait_for_timeout(300)
    assert len(asked) == before
    expect(collected).to_have_text("0")
    # From a page in the background nothing is asked.
    page.evaluate("document.activeElement.blur()")
    page.evaluate("Object.defineProperty(document, 'hidden', {value: true, configurable: true})")
    page.evaluate("htmx.trigger('#moving', 'again')")
    page.wait_for_timeout(300)
    assert len(asked) == before
    page.evaluate("delete document.hidden")
    page.evaluate(COMES_BACK)
    expect(collected).to_have_text("1")
    assert page.locator("#moving").count() == 1
    # What somebody has opened stays open.
    Assignment.objects.update(active_seconds=60)
    here.change(wage_floor=10_000_000)
    page.evaluate(COMES_BACK)
    page.locator("#paid-too-little summary").click()
    page.evaluate("document.activeElement.blur()")
    screened.handed_in(here, start=timezone.now(), after=timedelta(minutes=1))
    page.evaluate(COMES_BACK)
    expect(collected).to_have_text("2")
    expect(page.locator("#paid-too-little")).to_have_attribute("open", "")


@pytest.mark.extended
def test_a_server_that_is_away_is_said_once(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    open_page(page, live_server, sign_in, open_campaign.world())
    page.route("**/live/**", lambda route: route.abort())
    for _ in range(3):
        with page.expect_event("requestfailed"):
            page.evaluate(COMES_BACK)
    expect(page.locator(".toast")).to_have_count(1)
