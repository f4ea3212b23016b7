"""People who judge: 200 and 1,000 at once, each an answer every 3 s, the page every minute.

Every 15 s, an answer takes the times of items along, as the page does.

Separate database and broker, gunicorn as in `crowdrag up`, and the load share this machine's cores.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bench import _load
from bench._system import system, web

if TYPE_CHECKING:
    from annotation.models import Assignment
    from tests.annotation.open_campaign import World
    from tests.writing.editor.served_editor import Server

PEOPLE, EVERY, REPORTS_EVERY, OPENS_EVERY, LASTING, LIMIT = (200, 1000), 3.0, 15.0, 60.0, 60.0, 0.200
# As in the paper: 15 pairs with seven questions each, five judges per pair.
RESPONSES, PAIRS, QUESTIONS, K = 6, 15, 7, 5
WORDS = 270


def run() -> list[dict]:
    """Measure once in a separate folder."""
    with system() as folder:
        here = _world()
        with web(folder) as server:
            people = _people(here, server)
            # Warm up, so that each process has compiled everything before the measurement.
            _load.opened(server.port, people[: PEOPLE[0]], PEOPLE[0] / EVERY, 3.0)
            return [row for count in PEOPLE for row in _measured(server, people[:count])]


def _measured(server: Server, people: list[Iterator[bytes]]) -> list[dict]:
    from django.db import connection

    from annotation.models import ItemTime, Judgment

    before = Judgment.objects.count(), ItemTime.objects.count()
    connection.close()
    rate = len(people) * (1 / EVERY + 1 / OPENS_EVERY)
    seen = _load.opened(server.port, people, rate, LASTING)
    stored = Judgment.objects.count() - before[0], ItemTime.objects.count() - before[1]
    connection.close()
    p95 = statistics.quantiles(seen.seconds, n=20)[-1]
    return [
        {
            "name": f"{len(people)} people, an answer each every {EVERY:.0f} s: {LIMIT * 1000:.0f} ms over p95",
            "ratio": LIMIT / p95,
            "target": 1,
            "detail": f"p50 {statistics.median(seen.seconds) * 1000:.1f} ms, p95 {p95 * 1000:.1f} ms, "
            f"longest {max(seen.seconds) * 1000:.0f} ms of {len(seen.seconds)} at {rate:.0f} a second, "
            f"{stored[0]} first answers and {stored[1]} times stored, load average {os.getloadavg()[0]:.1f}",
        },
        {
            "name": f"answers without an error, {len(people)} people",
            "ratio": 1 - len(seen.errors) / max(len(seen.seconds), 1),
            "target": 1,
            "detail": f"{len(seen.errors)} errors {seen.errors[:3]}",
        },
    ]


def _world() -> World:
    from tests.annotation.open_campaign import world

    return world(
        topics=-(-max(PEOPLE) // K), responses=RESPONSES, per_questionnaire=PAIRS, dimensions=QUESTIONS, k=K, minutes=25
    )


def _people(here: World, server: Server) -> list[Iterator[bytes]]:
    from django.test import Client
    from django.utils import timezone

    from annotation.judging import claims
    from tests.participants import as_participant

    found = []
    for number, person in enumerate(here.judges(max(PEOPLE))):
        mine = claims.claim(campaign=here.campaign, participant=person, now=timezone.now())
        client = Client()
        as_participant(client, person)
        cookies = server.cookies(client.cookies[server.env["SESSION_COOKIE_NAME"]].value)
        found.append(_requests(here, mine, cookies, number))
    return found


def _requests(here: World, mine: Assignment, cookies: str, number: int) -> Iterator[bytes]:
    """Yield one judge's requests: each answer, then changes of answers; some with times; between them, page loads."""
    from django.urls import reverse

    from tests.writing.editor.served_editor import CSRF

    where = [here.study.slug, here.campaign.pk, mine.external_id]
    page, answer = (reverse(f"judging_{name}", args=where) for name in ("questionnaire", "answer"))
    headers = f"Cookie: {cookies}\r\nX-CSRFToken: {CSRF}\r\n"
    asked = [(item.pk, dimension.pk) for item, dimension in here.questions(mine)]
    each, opens = round(REPORTS_EVERY / EVERY), round(OPENS_EVERY / EVERY)

    def sent() -> Iterator[bytes]:
        n = 0
        while True:
            item, dimension = asked[n % len(asked)]
            revision = n // len(asked) + 1
            said = {"item": item, "dimension": dimension, "value": (-1) ** revision, "revision": revision}
            n += 1
            if n % each == 0:
                times = [{"item": item, "active": 0.1 * n, "away": 0, "looks": 1, "leaves": 0, "changes": 1}]
                said |= {"visit": "bench", "times": times}
            yield _load.request(answer, json.dumps(said).encode(), headers)
            # Spread over time, not all at the same moment.
            if (n + number) % opens == 0:
                yield _load.request(page, b"", f"{headers}Accept-Encoding: gzip\r\n", "GET")

    return sent()
