"""What is wrong with a page on a screen: by axe, and whether it is wider than the screen."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OPTIONS = {"resultTypes": ["violations"], "runOnly": {"type": "tag", "values": RULES}}
SCREENS = [(390, "light"), (1280, "light"), (390, "dark"), (1280, "dark")]
# The first page of a kind is looked at with each width and each theme once.
TWO = [SCREENS[0], SCREENS[3]]
# And then with the others.
OTHERS = [SCREENS[2], SCREENS[1]]
# What Swagger UI draws is not ours, and not free of faults (docs/guides/api.md names the other way to the same).
OURS = {"exclude": [["#explorer"]]}
LET_GO = """() => {
  window.stuck = [...document.querySelectorAll("*")].filter((each) => getComputedStyle(each).position === "sticky");
  for (const each of window.stuck) each.style.position = "static";
}"""
TAKE_BACK = "() => { for (const each of window.stuck) each.style.position = ''; }"


class Thoroughness:
    """Whether axe looks at the pages that a journey comes by: a second for each screen, in `make test-all` alone."""

    with_axe = True


def violations(page: Page) -> list[str]:
    """What axe finds, one line an element."""
    found = Axe().run(page, context=OURS, options=OPTIONS).response["violations"]
    return [f"{rule['id']}: {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def settle(page: Page) -> None:
    """Wait until the page has taken on what was changed: it hears of another theme a moment later."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    page.evaluate("Promise.allSettled(document.getAnimations().map(animation => animation.finished))")


def settled_violations(page: Page) -> list[str]:
    """What axe finds once nothing moves or fades any more; nothing where it is not asked."""
    if not Thoroughness.with_axe:
        return []
    settle(page)
    return violations(page)


def faults(page: Page, width: int, theme: str) -> list[str]:
    """What is wrong with the page on this screen."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    found = _examined(page) if Thoroughness.with_axe else []
    if (wide := page.evaluate("document.documentElement.scrollWidth")) > width:
        found.append(f"{wide} px wide")
    return [f"{urlsplit(page.url).path} at {width} {theme}: {fault}" for fault in found]


def _examined(page: Page) -> list[str]:
    page.keyboard.press("End")  # pictures further down are loaded when they come into sight
    settle(page)
    # What a bar that stays covers by half depends on how far one has scrolled: axe would take it for too small.
    page.evaluate(LET_GO)
    found = violations(page)
    page.evaluate(TAKE_BACK)
    return found


def look(page: Page, screens: list[tuple[int, str]] = TWO) -> list[str]:
    """What is wrong with the page on each of these screens; pictures are kept where somebody wants to see them."""
    found = []
    for width, theme in screens:
        found += faults(page, width, theme)
        if folder := os.environ.get("CROWDRAG_PICTURES"):
            name = urlsplit(page.url).path.strip("/").replace("/", "-")
            page.evaluate("scrollTo(0, 0)")
            number = len(list(Path(folder).iterdir()))
            page.screenshot(path=Path(folder) / f"{number:04}-{name}-{width}-{theme}.png", full_page=True)
    return found
