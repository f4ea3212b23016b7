"""Writers: each claims a task, types at random in the editor's protocol, finishes, submits, and takes the next one."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections.abc import Callable
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
        try:
            status, answer = super().post(path, body, **headers)
        except client.NO_ANSWER:
            self._stop_if_over(path)
            raise
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


class PatientTypist(Typist):
    """A typist whose task may have been returned meanwhile, because its lease ended: they resume it."""

    resume: Callable[[], object]

    def page(self, name: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Send something to a page of the task."""
        status, answer = super().page(name, body)
        if status == 409 and answer.get("problem") == "closed":
            self.resume()
            status, answer = super().page(name, body)
        return status, answer


class Writer:
    """One person with their browser."""

    def __init__(self, order: dict[str, Any], number: int, journal: Journal) -> None:
        self.order, self.journal = order, journal
        self.rng = random.Random(f"{order['seed']}/writer/{number}")
        self.session = order["writers"][number]
        self.pages = Client(order, journal, self.rng, client.browser(order, self.session))
        self.start = f"/work/{order['study']}/writing/"
        self.resent = 0

    def claim(self) -> str:
        """Claim a task; return its name, or nothing if none is left."""
        reply = self.pages.ask("POST", self.start, "", form=True)
        task = urlsplit(reply.headers.get("location", "")).path.removeprefix(self.start).strip("/")
        if task:
            self.journal.note("took", task=task)
        return task

    def write(self, task: str, seconds: float) -> None:
        """Write a task's text for some seconds, and submit it."""
        typist = self._typist(task)
        timer = threading.Timer(seconds, typist.stop.set)
        timer.start()
        typist.run()
        timer.cancel()
        self.resent += typist.resent
        for problem in typist.problems:
            self._refused(task, problem)
        if typist.problems:
            # Somebody else may write it.
            self._press(task, "return/", "reason=")
        elif self._press(task, "exit/", "") == 302:
            self.journal.note("handed in", task=task, text=typist.text)
        else:
            self._refused(task, "exit")

    def _typist(self, task: str) -> PatientTypist:
        names = self.order["cookies"]
        cookies = f"{names[0]}={{}}; {names[1]}={client.CSRF}".format
        there = SimpleNamespace(host="127.0.0.1", port=self.order["port"], cookies=cookies)
        # Only these fields of a task are read.
        shown = SimpleNamespace(study=SimpleNamespace(slug=self.order["study"]), external_id=task)
        typist = PatientTypist(there, shown, self.session, self.rng, PAUSE)
        typist.resume = lambda: self._press(task, "", "do=resume")
        typist.line = PatientLine(there, self.order, self.journal, self.rng)
        typist.acked = Acknowledged(self.journal, task)
        return typist

    def _press(self, task: str, page: str, form: str) -> int:
        return self.pages.ask("POST", f"{self.start}{task}/{page}", form, form=True).status

    def _refused(self, task: str, about: str) -> None:
        self.journal.note("refused", who="writer", about=f"{task}: {about}"[:500])


def work(order: dict[str, Any], number: int, journal: Journal) -> None:
    """One person: tasks until none is left."""
    writer = Writer(order, number, journal)
    while not client.is_finishing(order):
        if task := writer.claim():
            writer.write(task, writer.rng.uniform(*SECONDS))
        else:
            time.sleep(writer.rng.uniform(1, 3))
    journal.note("counted", who="writer", sent=writer.pages.sent, resent=writer.pages.resent + writer.resent)


if __name__ == "__main__":
    client.main("writers", work, lambda order: len(order["writers"]))
