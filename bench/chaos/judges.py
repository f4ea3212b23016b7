"""Judges: each claims a questionnaire, answers, changes an answer now and then, submits, and takes the next one.

Some leave in the middle, so that their lease ends, and come back late; some return what they have.
"""

from __future__ import annotations

import random
import re
import time
from typing import Any
from urllib.parse import urlsplit

from bench.chaos import client
from bench.chaos.client import Client, Journal

PEOPLE, PAUSE = 10, 0.35
LEAVES, RETURNS, CHANGES = 0.06, 0.03, 0.1
ITEM = re.compile(rb'<section class="judging-item"[^>]*data-item="(\d+)"')


class Judge:
    """One person, with what they answered so far."""

    def __init__(self, order: dict[str, Any], session: str, journal: Journal, rng: random.Random) -> None:
        self.order, self.journal, self.rng = order, journal, rng
        self.client = Client(order, journal, rng, client.browser(order, session))
        self.start = f"/work/{order['study']}/judging/{order['campaign']}/"
        self.answered: dict[tuple[str, int, int], int] = {}
        #: What they left behind in the middle.
        self.left = ""

    def claim(self) -> str:
        """Claim a questionnaire; return its name, or nothing if none is left."""
        reply = self.client.ask("POST", self.start, "", form=True)
        where = urlsplit(reply.headers.get("location", "")).path
        if reply.status != 302 or not where.startswith(self.start):
            self._odd("claim", reply.status, where)
            return ""
        name = where.removeprefix(self.start).strip("/")
        if name:
            self.journal.note("claimed", assignment=name)
        return name

    def work(self, name: str, *, pause: float, may_leave: bool) -> bool:
        """Answer a questionnaire and submit it; return False if they left in the middle."""
        page = self.client.ask("GET", f"{self.start}{name}/?late=1")
        if page.status == 302:  # it was submitted, and the answer was lost
            return True
        items = [int(item) for item in ITEM.findall(page.content)]
        leaves = may_leave and self.rng.random() < LEAVES
        questions = [(item, dimension) for item in items for dimension in self.order["dimensions"]]
        for item, dimension in questions[: len(questions) // 2] if leaves else questions:
            self._answer(name, item, dimension, pause)
        if leaves:
            self.left = name
            return False
        if may_leave and self.rng.random() < RETURNS:
            self.client.ask("POST", f"{self.start}{name}/return/", "reason=", form=True)
            return True
        self.submit(name)
        return True

    def submit(self, name: str) -> None:
        """Submit."""
        reply = self.client.ask("POST", f"{self.start}{name}/submit/", {"comment": ""})
        if reply.status == 200:
            self.journal.note("submitted", assignment=name)
        else:
            self._odd("submit", reply.status, reply.content[:200].decode(errors="replace"))

    def _answer(self, name: str, item: int, dimension: int, pause: float) -> None:
        key = (name, item, dimension)
        if key in self.answered:
            return
        for revision in (1, 2) if self.rng.random() < CHANGES else (1,):
            time.sleep(self.rng.uniform(0, 2 * pause))
            value = self.rng.choice((-1, 0, 1))
            body = {"item": item, "dimension": dimension, "value": value, "revision": revision}
            reply = self.client.ask("POST", f"{self.start}{name}/answer/", body)
            if reply.status != 200:
                self._odd("answer", reply.status, reply.content[:200].decode(errors="replace"))
                return
            self.answered[key] = revision
            self.journal.note(
                "answered", assignment=name, item=item, dimension=dimension, value=value, revision=revision
            )

    def _odd(self, *about: object) -> None:
        self.journal.note("refused", who="judge", about=" ".join(map(str, about)))


def work(order: dict[str, Any], number: int, journal: Journal) -> None:
    """One seat: a person judges until nothing is left or they leave; then the next one sits down.

    Begun while the others finish, others sit down: they judge what reviewers rejected since.
    """
    rng = random.Random(f"{order['seed']}/judge/{number}")
    sessions = iter(order["judges"][number::PEOPLE][:: -1 if client.is_finishing(order) else 1])
    judges = [Judge(order, next(sessions), journal, rng)]
    while not client.is_finishing(order):
        now = judges[-1]
        if name := now.claim():
            if not now.work(name, pause=PAUSE, may_leave=True):
                judges.append(Judge(order, next(sessions), journal, rng))
        else:
            time.sleep(rng.uniform(1, 3))
    # Whoever left comes back: some only submit what they had, late; then everybody judges what is left.
    for judge in judges:
        if judge.left:
            judge.work(judge.left, pause=0, may_leave=False)
    while name := judges[-1].claim():
        judges[-1].work(name, pause=0, may_leave=False)
    journal.note(
        "counted", who="judge", sent=sum(j.client.sent for j in judges), resent=sum(j.client.resent for j in judges)
    )


if __name__ == "__main__":
    client.main("judges", work, lambda _order: PEOPLE)
