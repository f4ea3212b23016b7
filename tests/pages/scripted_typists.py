"""Scripted typists at the real editor, and a watcher that compares what the page says is saved with what is stored."""

import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.conf import settings
from playwright.sync_api import BrowserContext, Error, Page, Route

from tests.pages import editor_study
from writing.editor import codec, logs
from writing.models import LogBatch, WritingTask

OPEN = "#text:not([disabled]):not([readonly])"
LOG = "**/writing/log/"
# Long: on a busy machine several tries of half a minute may follow each other. What is tested is that nothing is lost.
PATIENCE = 120_000
# Every moment at which the page says "saved", with the text that was in the field then.
WATCH = """() => {
  const say = () => {
    const state = document.querySelector("#save-state")?.dataset.state;
    const text = document.querySelector("#text")?.value;
    if (state !== "saved" || text === window.saidOf) return;
    window.saidOf = text;
    window.said(Date.now(), text);
  };
  new MutationObserver(() => { window.saidOf = null; say(); }).observe(document, {
    subtree: true, attributes: true, attributeFilter: ["data-state"],
  });
  setInterval(say, 10);
}"""


class Typist:
    """One writer with a task of their own, in a browser context of their own, and what they have typed so far."""

    def __init__(self, context: BrowserContext, base: str, seed: str) -> None:
        self.context, self.base = context, base
        self.rng = random.Random(seed)
        self.desk = editor_study.desk([editor_study.passage_text(0)])
        self.typed = ""
        self.said: list[tuple[float, str]] = []
        self.done: list[str] = []
        context.expose_function("said", lambda at, text: self.said.append((at, text)))
        context.add_init_script(f"({WATCH})()")
        editor_study.enter(context, base, self.desk.writer)
        self.page = self.open()

    @property
    def task(self) -> WritingTask:
        return self.desk.task

    def open(self) -> Page:
        """Open the editor in a new tab."""
        page = self.context.new_page()
        page.goto(self.base + self.desk.path)
        page.wait_for_selector(OPEN, timeout=PATIENCE)
        page.focus("#text")
        page.keyboard.press("Control+End")
        return page

    def type(self, text: str) -> None:
        self.page.keyboard.type(text)
        self.typed += text

    def words(self, count: int) -> None:
        """Type words that nobody typed before."""
        for _ in range(count):
            self.type(f"{self.rng.choice(['tide', 'moon', 'žluť', '😀'])}{len(self.typed)} ")

    def correct(self) -> None:
        """Take back some characters and type others."""
        for _ in range(self.rng.randint(1, 4)):
            if self.typed:
                self.page.keyboard.press("Backspace")
                self.typed = self.typed[:-1]

    def await_saved(self) -> None:
        try:
            self.page.wait_for_selector("#save-state[data-state=saved]", timeout=PATIENCE)
        except Error as error:
            state = self.page.eval_on_selector("#save-state", "state => [state.dataset.state, state.innerText]")
            raise AssertionError([state, self.done]) from error

    def shown(self) -> str:
        return self.page.input_value("#text")

    def stored(self) -> str:
        return logs.current_text(self.task)

    def check(self) -> None:
        """Fail if a character is lost or doubled, or if the page ever said "saved" of a text that was not stored."""
        assert self.shown() == self.typed, self.done
        self.await_saved()
        assert self.stored() == self.typed, self.done
        assert next(iter(logs.rebuild_texts([self.task.log])))[1] == self.typed
        history = _History(self.task)
        early = [(at, text) for at, text in self.said if not history.held(at / 1000, text)]
        assert early == [], self.done
        assert self.said

    # What happens to a typist. Each yields how long it lasts.

    def script(self, count: int) -> Iterator[float]:
        """Carry out so many random acts."""
        acts: list[Callable[[], Iterator[float]]] = [
            *[self.write] * 3, self.offline, self.failing, self.failing, self.lost, self.reopen, self.reload,
            self.other_tab, self.rotate, self.away, self.token, self.there_and_back,
        ]  # fmt: skip
        for _ in range(count):
            act = self.rng.choice(acts)
            self.done.append(act.__name__)
            yield from act()

    def write(self) -> Iterator[float]:
        self.words(self.rng.randint(1, 4))
        self.correct()
        yield self.rng.choice([0, 0.1, 0.5, 1.3])

    def offline(self) -> Iterator[float]:
        self.context.set_offline(True)
        self.words(2)
        yield self.rng.uniform(0.2, 2)
        self.words(1)
        self.context.set_offline(False)
        yield 0.1

    def failing(self) -> Iterator[float]:
        """The server, or a proxy before it, answers with an error for a while."""
        status = self.rng.choice([413, 429, 500, 502, 503, 200])
        self.done[-1] += f" {status}"
        headers = {"Retry-After": "1"} if status in (429, 503) else {}
        handler = lambda route: route.fulfill(status=status, body="<html>Sorry</html>", headers=headers)  # noqa: E731
        yield from self._through(handler)

    def lost(self) -> Iterator[float]:
        """What is sent arrives, but the answer does not."""

        def handler(route: Route) -> None:
            try:
                route.fetch()
                route.abort()
            except Error:
                pass  # the page is gone

        yield from self._through(handler)

    def token(self) -> Iterator[float]:
        body = json.dumps({"problem": "token"})
        yield from self._through(lambda route: route.fulfill(status=403, body=body, content_type="application/json"))

    def _through(self, handler: Callable[[Route], None]) -> Iterator[float]:
        self.context.route(LOG, handler)
        self.words(2)
        yield self.rng.uniform(0.5, 2.5)
        if self.rng.random() < 0.3:
            self.done.append("reopened meanwhile")
            # A tab that opens while the last one's words cannot be sent waits for them.
            self.page.close(run_before_unload=False)
            self.context.unroute(LOG, handler)
            self.page = self.open()
        else:
            self.context.unroute(LOG, handler)
        self.words(1)
        yield 0.1

    def reopen(self) -> Iterator[float]:
        """Close the tab in the middle of a word, and come back."""
        self.words(2)
        yield self.rng.choice([0, 0.05, 0.3])
        self.page.close(run_before_unload=False)
        yield self.rng.choice([0, 0.5])
        self.page = self.open()

    def reload(self) -> Iterator[float]:
        self.words(1)
        self.page.close(run_before_unload=False) if self.rng.random() < 0.3 else self.page.goto("about:blank")
        self.page = self.open()
        yield 0

    def there_and_back(self) -> Iterator[float]:
        self.words(1)
        self.page.goto("about:blank")
        yield 0.1
        self.page.go_back()
        self.page.wait_for_selector(OPEN, timeout=PATIENCE)
        self.page.focus("#text")
        self.page.keyboard.press("Control+End")

    def other_tab(self) -> Iterator[float]:
        """Go on in a second tab, the first one being left open or closed later."""
        self.words(2)
        first = self.page
        self.page = self.open()
        first.wait_for_selector("#save-state[data-state=fenced]", timeout=PATIENCE)
        yield 0.1
        self.words(1)
        if self.rng.random() < 0.6:
            first.close(run_before_unload=False)
        yield 0

    def rotate(self) -> Iterator[float]:
        """The secret against forged requests changes, as when somebody signs in; then everything is opened anew."""
        self.words(1)
        self.context.clear_cookies(name=settings.CSRF_COOKIE_NAME)
        yield 0.2

    def away(self) -> Iterator[float]:
        """The session ends and comes back: events need none, and nothing else is asked for meanwhile."""
        self.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
        self.words(2)
        yield 0.5
        editor_study.enter(self.context, self.base, self.desk.writer)


def together(typists: list[Typist], acts: int) -> None:
    """Let typists write at the same time until each script is done; then check each of them."""
    # While one waits here, the browsers' requests are answered too.
    idle = typists[0].context.new_page()
    running = {typist: (0.0, typist.script(acts)) for typist in typists}
    while running:
        for typist, (until, script) in list(running.items()):
            if time.monotonic() < until:
                continue
            try:
                running[typist] = (time.monotonic() + next(script), script)
            except StopIteration:
                del running[typist]
        idle.wait_for_timeout(20)
    for typist in typists:
        typist.check()


class _History:
    """What was stored when, by session."""

    def __init__(self, task: WritingTask) -> None:
        self.states: list[tuple[float, int, str]] = []
        log = task.log
        # What a session began with, and what it added.
        begun: dict[int, list[Any]] = {}
        added: dict[int, list[Any]] = {}
        for session in log.sessions.order_by("number"):
            number, base = session.number, session.base
            begun[number] = [*begun[base.number], *added[base.number][: session.base_events]] if base else []
            added[number] = []
            self.states.append((0.0, number, codec.final_text(begun[number])))
            for batch in LogBatch.objects.filter(log=log, session=number).order_by("number"):
                added[number] += codec.unpack(bytes(batch.payload), batch.codec)
                text = codec.final_text([*begun[number], *added[number]])
                self.states.append((batch.received_at.timestamp(), number, text))

    def held(self, at: float, text: str) -> bool:
        """Say whether a text was the last one stored of some session at a moment."""
        latest = {session: state for stored, session, state in self.states if stored <= at + 0.05}
        return text in latest.values()
