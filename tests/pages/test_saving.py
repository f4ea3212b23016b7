"""Nothing that is typed is lost, and "saved" is never said too early, whatever network, server and browser do."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.pages.typists import Typist, together

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
AT_ONCE, ACTS = 4, 5


@pytest.fixture
def typist(browser: Browser, live_server: Any) -> Iterator[Callable[[str], Typist]]:
    contexts: list[BrowserContext] = []

    def make(seed: str) -> Typist:
        contexts.append(browser.new_context())
        return Typist(contexts[-1], live_server.url, seed)

    yield make
    for context in contexts:
        context.close()


def test_typists_lose_nothing(typist: Callable[[str], Typist]) -> None:
    together([typist(f"1/{number}") for number in range(AT_ONCE)], ACTS)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_hundred_typists_lose_nothing(typist: Callable[[str], Typist]) -> None:
    first, last = map(int, os.environ.get("WRITERS", "0-50").split("-"))
    for group in range(first, last):
        made = [typist(f"2/{group}/{number}") for number in range(AT_ONCE)]
        together(made, ACTS)
        for each in made:
            each.context.close()
