"""Accessibility of every page by axe, narrow and wide, light and dark; and nothing wider than the screen."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory, StudyFactory, UserFactory

from .conftest import PASSWORD

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": RULES}}
SCREENS = [(390, "light"), (1280, "light"), (390, "dark"), (1280, "dark")]
STUDY = "/studies/tides/"
PAGES = [
    "/studies/",
    "/studies/new/",
    "/password/",
    "/components/",
    "/components/?errors=1",
    "/no/such/page/",
    STUDY,
    f"{STUDY}members/",
]


def violations(page: Page) -> list[str]:
    """What axe finds, one line an element."""
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def check(page: Page, url: str, width: int, theme: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.goto(url)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_every_page_of_a_member(page: Page, live_server: Any, sign_in: Any, width: int, theme: str) -> None:
    user = UserFactory(password=PASSWORD)
    study = StudyFactory(
        slug="tides", title="Tides and harbours of the northern seas, a study of five topics", is_simulated=True
    )
    MembershipFactory(study=study, user=user, role=Role.OWNER)
    MembershipFactory(study=study, role=Role.VIEWER)
    sign_in(user)
    for path in PAGES:
        check(page, live_server.url + path, width, theme)


@pytest.mark.parametrize(("width", "theme"), SCREENS)
def test_pages_before_signing_in(page: Page, live_server: Any, width: int, theme: str) -> None:
    for path in ("/login/", "/login/?next=/studies/"):
        check(page, live_server.url + path, width, theme)


def test_open_menus_and_dialogs(page: Page, live_server: Any, sign_in: Any) -> None:
    sign_in()
    page.goto(f"{live_server.url}/components/")
    page.locator("details.menu > summary").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Open a dialog").click()
    assert violations(page) == []


def test_axe_sees_what_is_wrong(page: Page, live_server: Any) -> None:
    page.goto(f"{live_server.url}/components/")
    page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert violations(page) == ["label: <input>"]
