"""People who type at random over HTTP until told to stop, and write down what was acknowledged."""

import http.client
import random
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from tests.factories import WritingTaskFactory
from tests.participants import as_participant
from tests.writing.editor.served_editor import CSRF, Line, Place
from tests.writing.editor.typist import consented, digest
from writing.editor import codec, logs
from writing.models import LogBatch, WritingTask

ALPHABET = "abc é\n🧊👩\u200dשλ\u0301"
BROKEN = (OSError, http.client.HTTPException)


@dataclass
class Typist:
    """Types at random, sends every batch until it is acknowledged, and now and then opens the editor anew.

    What the server acknowledged is written down here, and what the text must be.
    """

    server: Place
    task: WritingTask
    session: str
    rng: random.Random
    pause: float = 0.02
    text: str = ""
    told: dict[str, Any] = field(default_factory=dict)
    acked: list[tuple[int, int, int, list[Any]]] = field(default_factory=list)
    resent: int = 0
    problems: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.line = Line(self.server)
        self.number = self.first = self.clock = 0

    def run(self) -> None:
        """Type until told to stop, then finish."""
        try:
            self.open(self.text)
            while not self.stop.is_set():
                time.sleep(self.rng.uniform(0, 2 * self.pause))
                self.send()
                if self.rng.random() < 0.01:
                    self.open(self.text)
            self.finish()
        except Exception as error:  # noqa: BLE001 -- a thread's failure is told by the test
            self.problems.append(repr(error))
        finally:
            self.line.close()

    def insist(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        """Send until there is an answer, as a browser does."""
        while True:
            try:
                status, answer = self.line.post(path, body, **headers)
            except BROKEN:
                self.resent += 1
                time.sleep(self.rng.uniform(0.01, 0.1))
                continue
            if status < 500:
                return status, answer
            self.problems.append(f"{status} {answer}")

    def page(self, name: str, body: Any) -> tuple[int, dict[str, Any]]:
        path = f"/work/{self.task.study.slug}/writing/{self.task.external_id}/{name}/"
        return self.insist(path, body, Cookie=self.server.cookies(self.session), **{"X-CSRFToken": CSRF})

    def open(self, *allowed: str) -> None:
        status, self.told = self.page("sessions", {"device": {}, "clock": 0})
        self.check(status == 201 and self.told["text"] in allowed, "opened", status)
        self.text, self.number, self.first = self.told["text"], 0, 0
        self.clock = max(self.clock, self.told["elapsed"])

    def send(self) -> None:
        """Send a batch until it is acknowledged; or, when the line breaks, perhaps open the editor anew."""
        events, after = self.batch()
        body = {"number": self.number, "first": self.first, "events": events, "wall": 0, "mono": 0, "visible": True}
        session, token = self.told["session"], self.told["token"]
        headers = {"X-Writing-Token": token}
        try:
            status, answer = self.line.post("/writing/log/", body, **headers)
        except BROKEN:
            self.resent += 1
            if self.rng.random() < 0.2:
                # Another tab: whether the batch arrived before decides what the text is; it is sent again in any case.
                self.open(self.text, after)
                status, answer = self.insist("/writing/log/", body, **headers)
                self.check(status == 200 and answer["fenced"], "sent late", status, answer)
                self.acked.append((session, body["number"], body["first"], events))
                return
            status, answer = self.insist("/writing/log/", body, **headers)
        expected = (200, body["number"], self.first + len(events))
        self.check((status, answer.get("acked"), answer.get("next_event")) == expected, "sent", status, answer)
        if status == 200:
            self.acked.append((session, self.number, self.first, events))
            self.text, self.number, self.first = after, self.number + 1, self.first + len(events)

    def batch(self) -> tuple[list[Any], str]:
        events: list[Any] = []
        replay = codec.Replay()
        replay.text = self.text
        for _ in range(self.rng.randint(1, 12)):
            self.clock += self.rng.randint(1, 300)
            start = self.rng.randint(0, len(replay.text))
            gone = min(self.rng.choice((0, 0, 0, 1, 5)), len(replay.text) - start)
            new = "".join(self.rng.choices(ALPHABET, k=self.rng.choice((0, 1, 1, 1, 30))))
            splice = ["s", self.clock, start, gone, new, "typed", "insertText"]
            replay.apply(splice)
            events += [splice, ["k", self.clock, "letter", 80], ["c", self.clock, start, start]]
        return events, replay.text

    def finish(self) -> None:
        said = {"session": self.told["session"], "events": self.first, "digest": digest(self.text)}
        status, answer = self.page("finish", said)
        self.check(status == 200 and "next" in answer, "finished", status, answer)

    def check(self, holds: bool, *what: object) -> None:
        if not holds:
            self.problems.append(" ".join(map(str, what)))


def typists(server: Place, count: int, seed: int, pause: float) -> list[Typist]:
    made = []
    for n in range(count):
        task = consented(WritingTaskFactory(claimed=True))
        client = Client()
        as_participant(client, task.participant)
        made.append(Typist(server, task, client.session.session_key, random.Random(f"{seed}/{n}"), pause))
    return made


def acknowledged(crowd: list[Typist]) -> int:
    return sum(len(each.acked) for each in crowd)


def stored(typist: Typist) -> dict[tuple[int, int], tuple[int, list[Any]]]:
    rows = LogBatch.objects.filter(log__task=typist.task).order_by("session", "number")
    return {(row.session, row.number): (row.first_event, codec.unpack(bytes(row.payload), row.codec)) for row in rows}


def assert_nothing_is_lost(each: Typist) -> None:
    assert each.problems == []
    found = stored(each)
    assert LogBatch.objects.filter(log__task=each.task).count() == len(found)
    lost = [ack[:3] for ack in each.acked if found.get((ack[0], ack[1])) != (ack[2], ack[3])]
    assert lost == []
    # Every batch was insisted on, so that there is none besides, and none is missing in between.
    assert len(found) == len(each.acked)
    expected: dict[int, tuple[int, int]] = {}
    for (session, number), (first, events) in found.items():
        assert (number, first) == expected.get(session, (0, 0))
        expected[session] = (number + 1, first + len(events))
    rows = each.task.log.sessions.values_list("number", "next_batch", "next_event")
    assert {number: (batches, events) for number, batches, events in rows} == {
        number: expected.get(number, (0, 0)) for number, _, _ in rows
    }
    assert logs.current_text(each.task) == each.text
    each.task.refresh_from_db()
    assert each.task.draft == each.text
    assert each.task.finished_at is not None
