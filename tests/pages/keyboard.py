"""Pages walked through without a pointer."""

import pytest
from playwright.sync_api import Locator, Page, expect

MOST_TABS = 120


def walk(page: Page, wanted: Locator) -> None:
    """Go there with the tabulator, as somebody without a pointer does."""
    expect(wanted).to_be_visible()
    for _ in range(MOST_TABS):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"The keyboard does not reach {wanted}")


def press(page: Page, wanted: Locator, key: str = "Enter") -> None:
    """Go there with the tabulator, and press a key."""
    walk(page, wanted)
    page.keyboard.press(key)
