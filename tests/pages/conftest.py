"""A real browser on pages served by the tests' own server.

Tests share a context of the browser, so that scripts and styles are fetched once: what a test leaves in it is cleared.
A test that turns the clock of its pages, or puts a script into all of them, asks for `own_context`.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.conf import settings
from django.db import DatabaseError
from django.test import TransactionTestCase
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page

from crowdrag.studies.models import User
from tests.factories import PASSWORD, UserFactory
from tests.pages.accessibility import Thoroughness
from tests.pages.editor_study import Desk, admit, desk, leave, sit_down

# Playwright keeps an event loop running in the tests' thread for as long as the session lasts, whereby Django takes
# every query of a later test for one from inside a coroutine.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
# What the browser and HTMX write of answers that failed: the business of the tests that make them fail.
EXPECTED = ("Failed to load resource", "Response Status Error Code", "htmx:")
# As root in a container there is no sandbox; the other switches keep the browser from calling its maker.
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_configure(config: pytest.Config) -> None:
    Thoroughness.with_axe = "not extended" not in config.option.markexpr


@pytest.fixture(scope="session", autouse=True)
def _emptied_in_the_end() -> Iterator[None]:
    """Empty the tables again where a request that was still on its way locked some of them in another order."""
    empty = TransactionTestCase._fixture_teardown

    def patiently(case: TransactionTestCase) -> None:
        for _again in range(2):
            with suppress(DatabaseError):
                empty(case)
                return
            time.sleep(2)
        empty(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", patiently)
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_root() -> None:
    """Make the folder of collected files, which stays empty: the live server reads static files where they are kept."""
    settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="session")
def base_url() -> None:
    """Stand in for pytest-base-url's fixture, which is declared in a way that pytest calls deprecated."""


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Use an installed Chromium or Chrome; without one, that which Playwright has installed."""
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    found = {"executable_path": path} if path else {}
    return {**browser_type_launch_args, **found, "args": SWITCHES}


@pytest.fixture(scope="session")
def shared_context(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[BrowserContext]:
    """A context that is cleared after each test, but keeps what it fetched of scripts and styles."""
    context = browser.new_context(**browser_context_args)
    yield context
    context.close()


@pytest.fixture
def own_context() -> None:
    """Give the test a context that no other test uses."""


@pytest.fixture
def context(request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
    base = request.getfixturevalue("live_server").url if "live_server" in request.fixturenames else None
    if "own_context" in request.fixturenames:
        own: BrowserContext = request.getfixturevalue("new_context")()
        yield own
        if base is not None:
            with suppress(Error):  # the test may have closed it
                leave(own)
        return
    shared: BrowserContext = request.getfixturevalue("shared_context")
    yield shared
    _clear(shared, base)


def _clear(context: BrowserContext, base: str | None) -> None:
    """Close the pages of a context, and forget what they kept; what the editor still sends would lock the tables."""
    context.unroute_all(behavior="ignoreErrors")
    if base is not None:
        leave(context)
        kept = {"origin": base, "storageTypes": "local_storage,indexeddb"}
        for page in context.pages[:1]:
            context.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)
    for page in context.pages:
        page.close()
    context.clear_cookies()
    context.clear_permissions()


@pytest.fixture(autouse=True)
def _complaints(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test in whose pages a script broke or the content security policy refused something."""
    if "context" not in request.fixturenames:
        yield
        return
    context: BrowserContext = request.getfixturevalue("context")
    heard: list[str] = []

    def listen(page: Page) -> None:
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("console", hear)

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(EXPECTED):
            heard.append(message.text)

    context.on("page", listen)
    for page in context.pages:
        listen(page)
    yield
    context.remove_listener("page", listen)
    assert heard == []


@pytest.fixture
def sign_in(context: BrowserContext, live_server: Any) -> Callable[..., User]:
    """Sign a user in by a session. The sign-in form is tried in tests/pages/test_page_scripts.py."""

    def enter(user: User | None = None) -> User:
        user = user or UserFactory()
        admit(context, live_server.url, user)
        return user

    return enter


@pytest.fixture
def sign_in_by_form(page: Page, live_server: Any) -> User:
    """Sign a user in through the page, as a person does."""
    user = UserFactory()
    page.goto(f"{live_server.url}/login/")
    page.get_by_label("Email address").fill(user.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/studies/")
    return user


@pytest.fixture
def at(page: Page, live_server: Any) -> Desk:
    """A writer at the editor, on a screen with room for text and passages."""
    made = desk()
    page.set_viewport_size({"width": 1280, "height": 800})
    sit_down(page, live_server.url, made)
    return made
