"""Nothing that is typed is lost, and "saved" is never said too early, whatever network, server and browser do."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Route

from tests.pages.bare_recorder import STATIC
from tests.pages.editor_study import left_alone
from tests.pages.scripted_typists import Typist, together

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AT_ONCE, ACTS = 4, 5


@pytest.fixture(autouse=True)
def _quiet(live_server: Any, transactional_db: None) -> Iterator[None]:
    yield
    left_alone()


@pytest.fixture
def typist(browser: Browser, live_server: Any) -> Iterator[Callable[[str], Typist]]:
    contexts: list[BrowserContext] = []

    def make(seed: str) -> Typist:
        contexts.append(browser.new_context())
        return Typist(contexts[-1], live_server.url, seed)

    yield make
    for context in contexts:
        context.close()


@pytest.mark.extended
def test_typists_lose_nothing(typist: Callable[[str], Typist]) -> None:
    together([typist(f"1/{number}") for number in range(AT_ONCE)], ACTS - 2)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_hundred_typists_lose_nothing(typist: Callable[[str], Typist]) -> None:
    first, last = map(int, os.environ.get("WRITERS", "0-50").split("-"))
    for group in range(first, last):
        made = [typist(f"2/{group}/{number}") for number in range(AT_ONCE)]
        together(made, ACTS)
        for each in made:
            each.context.close()


@pytest.mark.extended
def test_the_watcher_hears_a_lie(browser: Browser, live_server: Any) -> None:
    """A page that says "saved" of what is only recorded is caught."""
    context = browser.new_context()

    def lie(route: Route) -> None:
        script = (STATIC / "js/editor/log/session.js").read_text()
        truth = "const unacked = open.reduce((sum, outbox) => sum + outbox.unacked, 0);"
        assert truth in script
        route.fulfill(body=script.replace(truth, "const unacked = 0;"), content_type="text/javascript")

    context.route("**/log/session*.js", lie)
    typist = Typist(context, live_server.url, "lie")
    typist.words(3)
    with pytest.raises(AssertionError):
        typist.check()
    context.close()
