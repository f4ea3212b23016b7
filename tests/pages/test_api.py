"""The API's pages in a real browser: they keep the content security policy, which the fixtures watch."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory
from tests.pages.accessibility import look

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


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
def test_a_token_is_made_shown_once_and_revoked(page: Page, live_server: Any, sign_in: Callable[..., Any]) -> None:
    user = sign_in()
    MembershipFactory(study=StudyFactory(title="Leaves"), user=user, role=Role.OWNER)
    page.goto(f"{live_server.url}/account/tokens/")
    assert look(page) == []
    page.locator("[name=name]").fill("nightly")
    page.locator("[name=scopes][value=RUN]").check()
    page.locator("[name=studies]").check()
    page.locator("[name=name]").press("Enter")
    shown = page.locator("#made").inner_text()
    assert shown.startswith("crowdrag_")
    assert look(page) == []
    page.goto(f"{live_server.url}/account/tokens/")
    expect(page.locator("body")).not_to_contain_text(shown)
    asked = {"Authorization": f"Bearer {shown}"}
    assert page.request.get(f"{live_server.url}/api/v1/studies/", headers=asked).status == 200
    page.locator("[data-opens^='#revoke-']").click()
    with page.expect_navigation():
        page.locator("dialog[open] [type=submit]").click()
    assert page.request.get(f"{live_server.url}/api/v1/studies/", headers=asked).status == 401
