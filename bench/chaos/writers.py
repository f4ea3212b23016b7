"""Writers: each claims a task, types at random in the editor's protocol, finishes, submits, and takes the next one."""

from __future__ import annotations

import http.client
import random
import threading
import time
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import django

django.setup()

from bench.chaos import client  # noqa: E402 - the editor's codec is loaded with Django
from bench.chaos.client import Client, Journal  # noqa: E402
from tests.writing.editor.crowd import Typist  # noqa: E402
from tests.writing.editor.served_editor import Line  # noqa: E402

PAUSE, SECONDS = 0.25, (10.0, 30.0)


class Acknowledged(list):  # type: ignore[type-arg]
    """The batches that a typist knows to be stored; each is journalled."""

    def __init__(self, journal: Journal, task: str) -> None:
        super().__init__()
        self._journal, self._task = journal, task

    def append(self, batch: tuple[int, int, int, list[Any]]) -> None:
        super().append(batch)
        session, number, first, events = batch
        facts = {"first": first, "events": len(events), "digest": client.digest(events)}
        self._journal.note("stored", task=self._task, session=session, number=number, **facts)


class PatientLine(Line):
    """A connection on which "not now" is no answer, and on which some answers are lost."""

    def __init__(self, place: Any, order: dict[str, Any], journal: Journal, rng: random.Random) -> None:
        super().__init__(place, timeout=client.PATIENCE)
        self._order, self._journal, self._rng = order, journal, rng

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        status, answer = super().post(path, body, **headers)
        if status >= 500 or status in client.LATER:
            self._stop_if_over(path)
            time.sleep(self._rng.uniform(0.3, 1.0))
            raise http.client.HTTPException(f"not now: {status}")
        if self._rng.random() < client.LOST_ANSWERS:
            self._journal.note("lost answer", path=path)
            self.close()
            raise http.client.HTTPException("lost")
        return status, answer

    def _stop_if_over(self, path: str) -> None:
        if client.is_over(self._order):
            raise client.GaveUp(path)


class Writer(Typist):
    """A typist whose task may have been returned meanwhile, because its lease ended: they resume it."""

    def page(self, name: str, body: Any) -> tuple[int, dict[str, Any]]:
        status, answer = super().page(name, body)
        if status == 409 and answer.get("problem") == "closed":
            self.resume()
            status, answer = super().page(name, body)
        return status, answer

    def resume(self) -> None:
        """Press the button of a returned task."""


def place(order: dict[str, Any]) -> Any:
    """Return where the typists send what they type."""
    names = order["cookies"]
    cookies = lambda session: f"{names[0]}={session}; {names[1]}={client.CSRF}"  # noqa: E731
    return SimpleNamespace(host="127.0.0.1", port=order["port"], cookies=cookies)


def work(order: dict[str, Any], number: int, journal: Journal) -> None:
    """One person: tasks until none is left."""
    rng = random.Random(f"{order['seed']}/writer/{number}")
    session = order["writers"][number]
    pages = Client(order, journal, rng, client.browser(order, session))
    start = f"/work/{order['study']}/writing/"
    resent = 0
    while True:
        reply = pages.ask("POST", start, "", form=True)
        task = urlsplit(reply.headers.get("location", "")).path.removeprefix(start).strip("/")
        if not task:
            if client.is_finishing(order):
                break
            time.sleep(rng.uniform(1, 3))
            continue
        journal.note("took", task=task)
        resent += _write(order, session, task, pages, journal, rng)
        if client.is_finishing(order):
            break
    journal.note("counted", who="writer", sent=pages.sent, resent=pages.resent + resent)


def _write(order: dict[str, Any], session: str, task: str, pages: Client, journal: Journal, rng: random.Random) -> int:
    """Write a task's text and submit it; return how often something was sent again."""
    where = f"/work/{order['study']}/writing/{task}/"
    there = place(order)
    # Only these fields of a task are read.
    shown = SimpleNamespace(study=SimpleNamespace(slug=order["study"]), external_id=task)
    writer = Writer(there, shown, session, rng, PAUSE)
    writer.resume = lambda: pages.ask("POST", where, "do=resume", form=True)  # type: ignore[method-assign,assignment]
    writer.line = PatientLine(there, order, journal, rng)
    writer.acked = Acknowledged(journal, task)
    seconds = 0.0 if client.is_finishing(order) else rng.uniform(*SECONDS)
    timer = threading.Timer(seconds, writer.stop.set)
    timer.start()
    writer.run()
    timer.cancel()
    for problem in writer.problems:
        journal.note("refused", who="writer", about=f"{task}: {problem}"[:500])
    if not writer.problems:
        journal.note("finished", task=task, text=writer.text)
        reply = pages.ask("POST", f"{where}exit/", "", form=True)
        if reply.status == 302:
            journal.note("handed in", task=task, text=writer.text)
        else:
            journal.note("refused", who="writer", about=f"{task}: exit {reply.status}")
    return writer.resent


if __name__ == "__main__":
    client.main("writers", work, lambda order: len(order["writers"]))
