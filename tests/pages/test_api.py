"""The API's pages in a real browser: they keep the content security policy, which the fixtures watch."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory

from .accessibility import SCREENS, faults

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def look(page: Page, name: str) -> None:
    """Look at the page on all screens; keep pictures where somebody wants to see them."""
    for width, theme in SCREENS:
        assert faults(page, width, theme) == []
        if folder := os.environ.get("CROWDRAG_PICTURES"):
            page.evaluate("scrollTo(0, 0)")
            page.screenshot(path=Path(folder) / f"{name}-{width}-{theme}.png")


@pytest.mark.extended
def test_endpoints_are_tried_as_who_is_signed_in(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    study = StudyFactory(slug="mine", title="Old")
    MembershipFactory(study=study, user=sign_in(), role=Role.OWNER)
    page.goto(f"{live_server.url}/api/")
    page.locator("#operations-studies-studies_partial_update").click(timeout=60_000)
    page.get_by_role("button", name="Try it out").click()
    page.get_by_placeholder("study").fill("mine")
    page.locator("textarea.body-param__text").fill('{"title": "New"}')
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table tbody .response-col_status").first).to_contain_text("200")
    assert Study.objects.get(pk=study.pk).title == "New"


@pytest.mark.extended
def test_the_page_of_the_api_is_accessible(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    sign_in()
    page.goto(f"{live_server.url}/api/")
    expect(page.locator("#operations-studies-studies_partial_update")).to_be_visible(timeout=60_000)
    look(page, "api")
    page.goto(f"{live_server.url}/api/problems/")
    look(page, "api-problems")


def test_a_token_is_made_shown_once_and_revoked(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    user = sign_in()
    MembershipFactory(study=StudyFactory(title="Leaves"), user=user, role=Role.OWNER)
    page.goto(f"{live_server.url}/account/tokens/")
    look(page, "tokens-empty")
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("Start, cancel and resume long work").check()
    page.get_by_label("Leaves").check()
    page.get_by_role("button", name="Make it").click()
    shown = page.locator("#made").inner_text()
    assert shown.startswith("crowdrag_")
    look(page, "tokens-made")
    page.goto(f"{live_server.url}/account/tokens/")
    expect(page.locator("body")).not_to_contain_text(shown)
    asked = {"Authorization": f"Bearer {shown}"}
    assert page.request.get(f"{live_server.url}/api/v1/studies/", headers=asked).status == 200
    page.get_by_role("button", name="Revoke nightly").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No tokens yet")).to_be_visible()
    assert page.request.get(f"{live_server.url}/api/v1/studies/", headers=asked).status == 401
