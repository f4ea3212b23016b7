"""Single faults of network, server, browser and device: what is kept, what is said, what comes back."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from playwright.sync_api import BrowserContext, Page, Playwright, Route, expect

from tests.pages import editor_study
from tests.pages.editor_study import left_alone
from tests.pages.scripted_typists import LOG, OPEN, PATIENCE, Typist
from tests.writing.editor.served_editor import Server
from writing.editor import codec, logs
from writing.enums import TaskState

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_context")]


@pytest.fixture(autouse=True)
def _quiet(live_server: Any, transactional_db: None) -> Iterator[None]:
    yield
    left_alone()


@pytest.fixture
def typist(context: BrowserContext, live_server: Any) -> Typist:
    return Typist(context, live_server.url, "keeping")


def _refuse(route: Route) -> None:
    """Answer as to a token of a session that is not known any more."""
    route.fulfill(status=403, body=json.dumps({"problem": "token"}), content_type="application/json")


def _state(page: Page, state: str) -> None:
    expect(page.locator("#save-state")).to_have_attribute("data-state", state, timeout=30_000)


@pytest.mark.parametrize("seconds", [pytest.param(30, marks=pytest.mark.soak), 300])
def test_offline_for_long(context: BrowserContext, live_server: Any, seconds: int) -> None:
    context.clock.install()
    typist = Typist(context, live_server.url, "offline")
    context.set_offline(True)
    typist.words(3)
    typist.page.wait_for_timeout(300)
    context.clock.fast_forward(seconds * 1000)
    typist.words(3)
    _state(typist.page, "offline")
    context.set_offline(False)
    typist.await_saved()
    assert typist.stored() == typist.typed == typist.shown()


@pytest.mark.extended
def test_a_server_that_is_killed_and_started_again(
    context: BrowserContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEB_WORKERS", "1")
    server = Server(tmp_path / "web", str(connection.settings_dict["NAME"]), DEBUG="True")
    server.start()
    server.await_answer()
    try:
        typist = Typist(context, server.web.url.rstrip("/"), "killed")
        typist.words(2)
        typist.page.wait_for_timeout(700)
        server.kill()
        typist.words(3)
        typist.page.wait_for_timeout(300)
        server.start()
        server.await_answer()
        typist.page.evaluate("window.dispatchEvent(new Event('online'))")
        typist.check()
    finally:
        context.close()
        server.close()


@pytest.mark.extended
def test_a_proxy_with_a_smaller_limit(typist: Typist) -> None:
    refused: list[int] = []

    def proxy(route: Route) -> None:
        size = len(route.request.post_data_buffer or b"")
        if size > 8192:
            refused.append(size)
            route.fulfill(status=413, body="<html>too large</html>")
        else:
            route.continue_()

    typist.context.route(LOG, proxy)
    typist.page.keyboard.insert_text("a long paste, in words " * 2500)
    typist.typed += "a long paste, in words " * 2500
    typist.check()
    assert refused


@pytest.mark.extended
def test_a_server_that_asks_for_a_pause_gets_it(typist: Typist) -> None:
    asked: list[float] = []

    def busy(route: Route) -> None:
        asked.append(time.monotonic())
        if len(asked) == 1:
            route.fulfill(status=429, headers={"Retry-After": "3"}, body="")
        else:
            route.continue_()

    typist.context.route(LOG, busy)
    typist.words(1)
    typist.page.wait_for_timeout(1500)
    # Neither the network's return nor the page's makes it hurry.
    typist.page.evaluate("window.dispatchEvent(new Event('online'))")
    typist.check()
    assert asked[1] - asked[0] >= 2.9


@pytest.mark.extended
def test_a_session_that_is_over_is_told_and_comes_back(typist: Typist) -> None:
    typist.context.route(LOG, _refuse)
    typist.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    typist.words(2)
    _state(typist.page, "problem")
    # One can go on: everything is kept meanwhile.
    typist.words(1)
    typist.context.unroute(LOG, _refuse)
    editor_study.enter(typist.context, typist.base, typist.desk.writer)
    typist.page.evaluate("window.dispatchEvent(new Event('focus'))")
    typist.check()


@pytest.mark.extended
def test_a_token_against_forged_requests_that_is_out_of_date_is_fetched_anew(typist: Typist) -> None:
    """The token of the session is too old, so the page asks for another one, by a page that is too old too."""
    outdated: set[str] = set()

    def refuse_the_first(route: Route) -> None:
        # However often it is sent: nothing but another token, which a page with a fresh one alone gets, goes through.
        token = route.request.headers["x-writing-token"]
        if token in (outdated or {token}):
            outdated.add(token)
            _refuse(route)
        else:
            route.continue_()

    typist.page.evaluate("""document.body.setAttribute("hx-headers", '{"X-CSRFToken": "' + "y".repeat(32) + '"}')""")
    typist.context.route(LOG, refuse_the_first)
    typist.words(2)
    typist.check()
    assert outdated
    assert "y" * 32 not in str(typist.page.locator("body").get_attribute("hx-headers"))


FULL = "IDBObjectStore.prototype.put = function () { throw new DOMException('full', 'QuotaExceededError'); };"
NONE = "IDBFactory.prototype.open = function () { throw new DOMException('no', 'SecurityError'); };"


@pytest.mark.extended
@pytest.mark.parametrize("script", [FULL, NONE], ids=["full", "none"])
def test_storage_that_takes_nothing_is_told_and_nothing_is_lost(
    context: BrowserContext, live_server: Any, script: str
) -> None:
    context.add_init_script(script)
    typist = Typist(context, live_server.url, "storage")
    typist.words(3)
    _state(typist.page, "problem")
    typist.page.wait_for_timeout(1500)
    assert typist.stored() == typist.typed


@pytest.mark.extended
@pytest.mark.parametrize("lines", [20_000, pytest.param(5 * 2**16, marks=[pytest.mark.soak, pytest.mark.timeout(900)])])
def test_megabytes_are_pasted(typist: Typist, lines: int) -> None:
    text = "0123456789abcde\n" * lines
    typist.page.evaluate("text => { document.querySelector('#text').value = text; }", text)
    typist.page.wait_for_selector("#save-state:not([data-state=saved])", timeout=PATIENCE)
    typist.page.wait_for_selector("#save-state[data-state=saved]", timeout=20 * PATIENCE)
    assert typist.stored() == text


@pytest.mark.extended
@pytest.mark.parametrize("hours", [24, pytest.param(-24, marks=pytest.mark.soak)])
def test_a_clock_that_is_set_is_told_and_the_order_stays(context: BrowserContext, live_server: Any, hours: int) -> None:
    context.add_init_script("const now = Date.now; window.shift = 0; Date.now = () => now() + window.shift;")
    typist = Typist(context, live_server.url, "clock")
    typist.words(1)
    typist.page.evaluate("hours => { window.shift = hours * 3600000; }", hours)
    typist.page.wait_for_timeout(1200)
    typist.words(1)
    typist.await_saved()
    events = list(logs.events(typist.task.log))
    assert [round(event[2] / 3_600_000) for event in events if event[0] == "j"] == [hours]
    assert [event[1] for event in events] == sorted(event[1] for event in events)
    assert codec.final_text(events) == typist.typed


@pytest.mark.extended
def test_a_task_that_is_over_is_told(typist: Typist) -> None:
    typist.words(1)
    typist.await_saved()
    type(typist.task).objects.update(state=TaskState.SUBMITTED)
    typist.words(1)
    _state(typist.page, "problem")
    assert not typist.page.locator("#text").is_editable()


class Killed:
    """A browser with a profile on the disk, to be killed by the operating system."""

    def __init__(self, playwright: Playwright, options: dict[str, Any], profile: Path) -> None:
        self.playwright, self.options, self.profile = playwright, options, profile

    def start(self) -> BrowserContext:
        return self.playwright.chromium.launch_persistent_context(
            self.profile, **self.options, ignore_default_args=["--disable-back-forward-cache"]
        )

    def kill(self) -> None:
        for entry in Path("/proc").iterdir():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if entry.name.isdigit() and str(self.profile).encode() in command:
                os.kill(int(entry.name), signal.SIGKILL)


@pytest.fixture
def killed(playwright: Playwright, browser_type_launch_args: dict[str, Any], tmp_path: Path) -> Iterator[Killed]:
    made = Killed(playwright, browser_type_launch_args, tmp_path / "profile")
    yield made
    made.kill()


@pytest.mark.extended
def test_a_browser_that_is_killed_loses_half_a_second_at_most(killed: Killed, live_server: Any) -> None:
    context = killed.start()
    typist = Typist(context, live_server.url, "browser killed")
    typist.words(2)
    typist.await_saved()
    # From here on nothing reaches the server: what comes back comes from the disk.
    context.route(LOG, lambda route: route.abort())
    at: list[tuple[float, int]] = []
    for _ in range(12):
        typist.words(1)
        at.append((time.monotonic(), len(typist.typed)))
        typist.page.wait_for_timeout(60)
    killed.kill()
    ended = time.monotonic()
    kept = max(length for when, length in at if ended - when > 0.5)
    context = killed.start()
    editor_study.enter(context, live_server.url, typist.desk.writer)
    page = context.new_page()
    page.goto(live_server.url + typist.desk.path)
    page.wait_for_selector(OPEN, timeout=30_000)
    found = page.input_value("#text")
    assert typist.typed.startswith(found)
    assert len(found) >= kept
    assert logs.current_text(typist.task) == found
    context.close()


@pytest.mark.extended
def test_a_page_that_the_browser_kept_goes_on(killed: Killed, live_server: Any) -> None:
    context = killed.start()
    typist = Typist(context, live_server.url, "kept page")
    typist.words(2)
    typist.page.evaluate("window.addEventListener('pageshow', event => { window.persisted = event.persisted; })")
    typist.page.evaluate("location.href = 'about:blank'")
    typist.page.wait_for_timeout(500)
    typist.page.evaluate("history.back()")
    typist.page.wait_for_url("**/write/", wait_until="commit")
    typist.page.wait_for_selector(OPEN)
    if typist.page.evaluate("window.persisted") is not True:
        pytest.skip("this browser keeps no pages, as the headless shell does not")
    typist.page.focus("#text")
    typist.page.keyboard.press("Control+End")
    typist.words(2)
    typist.check()
    context.close()
