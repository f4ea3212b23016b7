"""Taking in the editor's events: rate against a bare view that does one INSERT, and latency at 200 batches a second.

Separate database and broker, gunicorn as in `crowdrag up`, and the load share this machine's cores.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator

from bench import _load
from bench._system import system, web
from crowdrag.runtime.data_folder import DataFolder

ROUNDS, SECONDS, SENDERS = 15, 1.5, 16
RATE, WRITERS, LASTING, LIMIT = 200, 200, 30.0, 0.150
# About two seconds of typing, with a time for every key.
TYPED = [
    event
    for n in range(8)
    for event in (
        ["s", 1000 + 210 * n, 0, 0, "etaoin s"[n], "typed", "insertText"],
        ["k", 995 + 210 * n, "letter", 80 + n],
        ["c", 1100 + 210 * n, n + 1, n + 1],
    )
]


def run() -> list[dict]:
    """Measure once in a separate folder."""
    with system("bench._serving") as folder:
        return _measured(folder)


def _measured(folder: DataFolder) -> list[dict]:
    from django.db import connection

    from bench._bare import TABLE

    with connection.cursor() as cursor:
        cursor.execute(TABLE)
    writers = [_writer() for _ in range(WRITERS)]
    with web(folder) as server:
        rates = _rates(server.port, writers[:SENDERS])
        seen = _load.opened(server.port, writers, RATE, LASTING)
    p95 = statistics.quantiles(seen.seconds, n=20)[-1]
    load = os.getloadavg()[0]
    ratio = statistics.median(ours / bare for ours, bare in rates)
    return [
        {
            "name": "batches taken in, over requests of a bare view that does one INSERT",
            "ratio": ratio,
            "target": 0.5,
            "detail": ", ".join(f"{ours:.0f}/{bare:.0f}" for ours, bare in rates)
            + f" a second in turn, {len(TYPED)} events a batch, {SENDERS} senders, load average {load:.1f}",
        },
        {
            "name": f"latency at {RATE} batches a second: {LIMIT * 1000:.0f} ms over the 95th percentile",
            "ratio": LIMIT / p95,
            "target": 1,
            "detail": f"p50 {statistics.median(seen.seconds) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms, "
            f"longest {max(seen.seconds) * 1000:.0f} ms of {len(seen.seconds)} from {WRITERS} writers",
        },
        {
            "name": "answers without an error",
            "ratio": 1 - len(seen.errors) / (RATE * LASTING),
            "target": 1,
            "detail": f"{len(seen.errors)} errors {seen.errors[:3]}",
        },
    ]


def _rates(port: int, writers: list[Iterator[bytes]]) -> list[tuple[float, float]]:
    bare = [_same(_load.request("/bare/", _body(0, 0))) for _ in writers]
    for senders in (writers, bare):
        _load.closed([port], senders, 2.0)
    rates = []
    for _ in range(ROUNDS):
        found = []
        for senders in (writers, bare):
            seen = _load.closed([port], senders, SECONDS)
            assert not seen.errors, seen.errors[:3]
            found.append(len(seen.seconds) / SECONDS)
        rates.append((found[0], found[1]))
    return rates


def _writer() -> Iterator[bytes]:
    """Yield the requests of one writer with an open session."""
    from django.utils import timezone

    from tests.factories import WritingTaskFactory
    from writing.editor import sessions

    token = sessions.open_session(task=WritingTaskFactory(claimed=True), device={}, now=timezone.now()).token
    return _batches(f"X-Writing-Token: {token}\r\n")


def _batches(headers: str) -> Iterator[bytes]:
    number = 0
    while True:
        yield _load.request("/writing/log/", _body(number, number * len(TYPED)), headers)
        number += 1


def _same(sent: bytes) -> Iterator[bytes]:
    while True:
        yield sent


def _body(number: int, first: int) -> bytes:
    said = {"number": number, "first": first, "events": TYPED, "wall": 1_767_268_800_000, "mono": 1.5, "visible": True}
    return json.dumps(said).encode()
