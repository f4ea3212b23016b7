"""What all clients share: the order of the run, a journal of what was acknowledged, and requests sent until answered.

A client is a process: `python -m bench.chaos.judges ORDER.json`. It works until there is a file `finish` in the folder
of the run, then ends what it began, and exits.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.writing.editor.served_editor import CSRF

NO_ANSWER = (OSError, http.client.HTTPException)
#: The share of answers that are thrown away unread, as if the connection had broken after the server's commit.
LOST_ANSWERS = 0.02
#: Statuses after which the same request is sent again: the server, or a limit, says "not now".
LATER = (425, 429)
PATIENCE = 20.0


class Journal:
    """A file with a line for everything that the server acknowledged, and when (monotonic, in seconds)."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, what: str, **facts: Any) -> None:
        """Add a line."""
        os.write(self._file, (json.dumps({"what": what, "at": time.monotonic(), **facts}) + "\n").encode())


def digest(events: list[Any]) -> str:
    """Return a short name for some events, which would fill the memory in an hour."""
    return hashlib.sha256(json.dumps(events).encode()).hexdigest()[:32]


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of all journals of a folder, in order of time."""
    lines = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    return sorted(lines, key=lambda line: line["at"])


@dataclass
class Reply:
    """An answer."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def json(self) -> Any:
        """Its content."""
        return json.loads(self.content)


class GaveUp(Exception):  # noqa: N818 - it is no error of the client
    """The run ended while a request was not answered."""


@dataclass
class Client:
    """One browser or script: it sends each request again until there is an answer."""

    order: dict[str, Any]
    journal: Journal
    rng: random.Random
    headers: dict[str, str] = field(default_factory=dict)
    sent: int = 0
    resent: int = 0

    def __post_init__(self) -> None:
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: Any = None, *, form: bool = False, **headers: str) -> Reply:
        """Send until there is an answer other than "not now". Now and then an answer is lost on the way."""
        content = b"" if body is None else (body.encode() if form else json.dumps(body).encode())
        kind = "application/x-www-form-urlencoded" if form else "application/json"
        self.sent += 1
        while True:
            reply = self._once(method, path, content, {"Content-Type": kind, **headers})
            if reply is not None and reply.status < 500 and reply.status not in LATER:
                return reply
            if is_over(self.order):
                raise GaveUp(f"{method} {path}: {reply.status if reply else 'no answer'}")
            self.resent += 1
            time.sleep(self.rng.uniform(0.1, 0.6) if reply is None else self.rng.uniform(0.5, 1.5))

    def _once(self, method: str, path: str, content: bytes, headers: dict[str, str]) -> Reply | None:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.order["port"], timeout=PATIENCE)
        try:
            self._connection.request(method, path, content, {"Host": "localhost", **self.headers, **headers})
            answer = self._connection.getresponse()
            content = answer.read()
        except NO_ANSWER:
            self.close()
            return None
        if answer.will_close:
            self.close()
        if method == "POST" and self.rng.random() < LOST_ANSWERS:
            self.journal.note("lost answer", path=path)
            self.close()
            return None
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def browser(order: dict[str, Any], session: str) -> dict[str, str]:
    """Return the headers of a participant's browser."""
    names = order["cookies"]
    return {"Cookie": f"{names[0]}={session}; {names[1]}={CSRF}", "X-CSRFToken": CSRF}


def is_finishing(order: dict[str, Any]) -> bool:
    """Return whether to begin nothing more, and to end what was begun."""
    return Path(order["folder"], "finish").exists()


def is_over(order: dict[str, Any]) -> bool:
    """Return whether the run's time is up, so that nobody waits for an answer any more."""
    return Path(order["folder"], "over").exists()


def main(
    name: str, work: Callable[[dict[str, Any], int, Journal], None], count: Callable[[dict[str, Any]], int]
) -> None:
    """Run this process: so many threads, each with a number; their failures are journalled."""
    order = json.loads(Path(sys.argv[1]).read_text())
    journal = Journal(Path(order["folder"], "journals", f"{name}.jsonl"))

    def one(number: int) -> None:
        try:
            work(order, number, journal)
        except GaveUp as error:
            journal.note("gave up", who=f"{name} {number}", about=str(error))
        except Exception as error:  # noqa: BLE001 - a failed client is a finding
            journal.note("problem", who=f"{name} {number}", about=f"{type(error).__name__}: {error}"[:500])

    threads = [threading.Thread(target=one, args=(number,)) for number in range(count(order))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
