"""Take the pictures of the README from a running demo: `make demo` in one terminal, `make pictures` in another.

They show what a crowd worker sees while judging and writing, and the leaderboard. Each time, somebody new takes part:
a questionnaire and a writing task stay in progress until their lease ends.
"""

import argparse
import io
import json
import os
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
LOGIN = "demo@localhost.localdomain"
SIZE = {"width": 1280, "height": 800}
MAX_BYTES = 150_000
SURVEY = {"query_answerable": "1", "query_controversial": "0", "worker_knowledge": "3", "worker_expertise": "2"}
ANSWERS = ("-1", "-1", "1", "0")  # A, A, B, neither: the first questions are answered, the others open
TEXT = (
    "Yes, with some limits. The passages agree on the main point [0], and two of them give figures for it [1, 3]. "
    "Whether it pays off depends on the place and the price."
)


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", help="the address that the demo printed (default: that of this folder's demo)")
    options = parser.parse_args()
    data = Path(os.environ.get("CROWDRAG_DATA_DIR") or ROOT / "var")
    if not (data / "demo-password").is_file():
        sys.exit("There is no demo. Start it in another terminal: make demo")
    address = (options.address or _address(data)).rstrip("/")
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM") or None, args=["--no-sandbox"])
        links = _researcher(browser, address, (data / "demo-password").read_text().strip())
        _judge(browser, address + links["judging"])
        _writer(browser, address + links["writing"])


def _address(data: Path) -> str:
    services = json.loads((data / "run" / "status.json").read_text())["services"]
    return str(services["web"]["detail"])


def _page(browser: Browser) -> Page:
    page = browser.new_context(viewport=SIZE, color_scheme="light", reduced_motion="reduce").new_page()
    page.set_default_timeout(120_000)
    return page


def _researcher(browser: Browser, address: str, password: str) -> dict[str, str]:
    page = _page(browser)
    page.goto(f"{address}/login/?next=/studies/demo/")
    page.fill("[name=username]", LOGIN)
    page.fill("[name=password]", password)
    page.press("[name=password]", "Enter")
    page.wait_for_url("**/studies/demo/")
    names = {"judging": "Judge responses yourself", "writing": "Write a response yourself"}
    links = {key: page.get_by_role("link", name=name).first.get_attribute("href") or "" for key, name in names.items()}
    page.goto(f"{address}/studies/demo/results/leaderboard/")
    _take(page, "leaderboard")
    return {key: link.removeprefix(address) for key, link in links.items()}


def _enter(page: Page, link: str) -> None:
    """Open a link as somebody new, and consent."""
    page.goto(link)
    page.get_by_role("button", name="Continue to consent").click()
    for box in page.locator("main form input[type=checkbox]").all():
        box.check()
    page.get_by_role("button", name="I agree", exact=True).click()
    page.get_by_role("link", name="continue").click()


def _judge(browser: Browser, link: str) -> None:
    page = _page(browser)
    _enter(page, link)
    page.get_by_role("link", name="Start practice").click()
    for question in page.locator("fieldset:has(input[type=radio])").all():
        question.locator("label:has(input[type=radio])").first.click()
    page.get_by_role("button", name="Show expected answers").click()
    page.get_by_role("button", name="Continue to the questionnaire").click()
    questions = page.locator("fieldset:visible:has(input[type=radio][name^=q-])")
    questions.first.wait_for()
    for question, answer in zip(questions.all(), ANSWERS, strict=False):
        question.locator(f"input[value='{answer}']").check(force=True)
    page.wait_for_timeout(2000)  # until it says that everything is saved
    _take(page, "judging")


def _writer(browser: Browser, link: str) -> None:
    page = _page(browser)
    _enter(page, link)
    page.get_by_role("button", name="Start writing").click()
    for name, value in SURVEY.items():
        page.locator(f"input[name={name}][value='{value}']").check(force=True)
    page.get_by_role("button", name="Continue to the editor").click()
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(3000)  # until the editor has begun its session
    page.locator("textarea#text").press_sequentially(TEXT, delay=10)
    page.wait_for_timeout(2000)  # until it says that everything is saved
    _take(page, "editor")


def _take(page: Page, name: str) -> None:
    """Store what the window shows as WebP, in the best quality that is small enough."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)
    page.evaluate("scrollTo(0, 0)")
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    for quality in (90, 80, 70, 60, 50):
        buffer = io.BytesIO()
        image.save(buffer, "WEBP", quality=quality, method=6)
        if buffer.tell() < MAX_BYTES:
            break
    (FOLDER / f"{name}.webp").write_bytes(buffer.getvalue())
    print(f"{FOLDER / name}.webp: {buffer.tell():,} bytes")


if __name__ == "__main__":
    main()
