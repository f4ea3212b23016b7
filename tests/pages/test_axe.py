"""Every page that a link leads to: accessible by axe, narrow and wide, light and dark; none wider than the screen."""

from collections import deque
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, resolve, reverse
from playwright.sync_api import Page, Response

from tests.factories import UserFactory
from tests.pages.accessibility import SCREENS, TWO, look, violations
from tests.pages.full_study import furnished_study

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

LINKS = "links => links.filter(link => !link.hasAttribute('download')).map(link => link.href)"
# Pages that one comes to otherwise than by a link.
UNLINKED = {"home", "login", "healthz", "password_change_done", "components", "compare_runs", "experiments_compare"}
# Answers of forms.
UNLINKED |= {"operations_erase"}
# What researchers see of people who judge.
JUDGING = {
    "campaign",
    "campaign_checks",
    "campaign_consent",
    "campaign_edit",
    "campaign_extend",
    "campaign_launch",
    "campaign_participants",
    "campaign_preview",
    "campaign_quality",
    "campaign_questions",
    "campaign_setup",
    "campaign_try",
    "model_judges",
    "model_judges_new",
    "recruitment",
    "screening",
}
EACH = 2  # pages of one kind that are looked at
MORE = {"campaign": 5, "campaign_setup": 5}  # in each of its states it is another page


def look_at(page: Page, url: str, screens: list[tuple[int, str]]) -> list[str]:
    """Open what a link leads to, on each screen; a link that leads nowhere is a fault of its own."""
    response = page.goto(url)
    assert response is not None
    if response.status != 200:
        return [f"{urlsplit(url).path} answers {response.status}"]
    if "text/html" not in response.headers["content-type"]:
        return []
    return look(page, screens)


def failed(response: Response) -> list[str]:
    """What a page asked for and did not get."""
    if response.status < 400 or response.request.is_navigation_request():
        return []
    page, asked = urlsplit(response.frame.url).path, urlsplit(response.url).path
    return [f"{page} asks for {asked}, which answers {response.status}"]


def crawl(page: Page, start: str, first: list[tuple[int, str]] = TWO) -> tuple[set[str], list[str]]:
    """Follow every link, to at most so many pages of each kind; return the kinds that were seen, and what is wrong."""
    base = "{0.scheme}://{0.netloc}".format(urlsplit(start))
    waiting, seen, visits, found = deque([start]), {start}, {}, []
    # Pictures, styles and scripts that fail do not fail the page that holds them.
    page.on("response", lambda response: found.extend(failed(response)))
    while waiting:
        url = waiting.popleft()
        match = resolve(urlsplit(url).path)
        name = match.url_name or ""
        if match.app_names == ["admin"] or visits.get(name, 0) >= MORE.get(name, EACH):
            continue
        visits[name] = visits.get(name, 0) + 1
        found += look_at(page, url, first if visits[name] == 1 else TWO[1:])
        for link in page.locator("a[href]").evaluate_all(LINKS):
            address = link.split("#")[0]
            # The documentation is a site of its own, and tests do not build it.
            is_ours = address.startswith(base) and not address.startswith(f"{base}/docs/")
            if is_ours and address not in seen:
                seen.add(address)
                waiting.append(address)
    return set(visits), found


def patterns(resolver: URLResolver, wanted: frozenset[str] = frozenset()) -> list[tuple[str, frozenset[str]]]:
    """The name of every URL and what it needs; but the admin's, which are Django's own."""
    found: list[tuple[str, frozenset[str]]] = []
    for entry in resolver.url_patterns:
        needs = wanted | entry.pattern.converters.keys()
        if isinstance(entry, URLPattern):
            found.append((entry.name or "", needs))
        elif entry.app_name != "admin":
            found += patterns(entry, needs)
    return found


def whole_pages(user: Any, slug: str) -> set[str]:
    """The names of addresses that need no more than the study and answer with a whole page."""
    client = Client()
    client.force_login(user)
    names = set()
    for name, wanted in patterns(get_resolver()):
        if wanted <= {"slug"} and name:
            response = client.get(reverse(name, kwargs=dict.fromkeys(wanted, slug)))
            html = response.headers.get("Content-Type", "").startswith("text/html")
            if response.status_code == 200 and html and b"<html" in response.content:
                names.add(name)
    return names


# A page is looked at in seconds; there are about a hundred of them.
@pytest.mark.extended
@pytest.mark.timeout(900)
def test_every_page_that_a_link_leads_to(page: Page, live_server: Any, sign_in: Any) -> None:
    user = UserFactory(is_staff=True, is_superuser=True)
    study = furnished_study(user)
    sign_in(user)
    kinds, found = crawl(page, f"{live_server.url}/studies/")
    assert found == []
    assert {"studies", "study", "members", "password_change", "topics", "topic", "response"} <= kinds
    assert kinds >= JUDGING
    assert whole_pages(user, study.slug) - kinds == UNLINKED - {"home", "healthz", "login"}


@pytest.mark.extended
def test_an_empty_study(page: Page, live_server: Any, sign_in: Any) -> None:
    user = sign_in()
    page.goto(f"{live_server.url}/studies/new/")
    page.locator("[name=title]").fill("Empty")
    page.locator("[name=slug]").fill("empty")
    page.locator("[name=title]").press("Enter")
    page.wait_for_url("**/studies/empty/")
    kinds, found = crawl(page, f"{live_server.url}/studies/empty/", TWO[:1])
    assert found == []
    assert user.memberships.count() == 1
    assert {"study", "topics", "campaigns", "runs"} <= kinds


@pytest.mark.extended
@pytest.mark.parametrize(
    "path", ["/login/", "/login/?next=/studies/", "/components/", "/components/?errors=1", "/no/such/"]
)
def test_other_pages(page: Page, live_server: Any, path: str) -> None:
    page.goto(live_server.url + path)
    assert look(page, SCREENS) == []


@pytest.mark.extended
def test_open_menus_and_dialogs(page: Page, live_server: Any, sign_in: Any) -> None:
    sign_in()
    page.goto(f"{live_server.url}/components/")
    page.locator("details.menu > summary").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.locator("[data-opens='#sample-dialog']").click()
    assert violations(page) == []


@pytest.mark.extended
def test_axe_sees_what_is_wrong(page: Page, live_server: Any) -> None:
    page.goto(f"{live_server.url}/components/")
    assert violations(page) == []
    page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert violations(page) == ["label: <input>"]


@pytest.mark.extended
def test_what_a_page_asks_for_in_vain_is_told(page: Page, live_server: Any) -> None:
    told: list[str] = []
    page.on("response", lambda response: told.extend(failed(response)))
    page.route("**/icons.svg", lambda route: route.fulfill(status=500))
    page.goto(f"{live_server.url}/components/")
    page.wait_for_load_state("networkidle")
    assert set(told) == {"/components/ asks for /static/icons/icons.svg, which answers 500"}
