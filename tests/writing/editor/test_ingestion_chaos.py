"""The web server is killed at random moments while many type: what was acknowledged is there, once and in order."""

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection

from crowdrag.studies import invariants
from tests.writing.editor.crowd import acknowledged, assert_nothing_is_lost, typists
from tests.writing.editor.served_editor import Server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.extended]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("WEB_WORKERS", "1")  # it is back sooner
    made = Server(tmp_path / "web", str(connection.settings_dict["NAME"]))
    made.start()
    made.await_answer()
    yield made
    made.close()


LONG = pytest.param(50, 100, 0.2, marks=pytest.mark.soak)


@pytest.mark.timeout(2400)
@pytest.mark.parametrize(("people", "kills", "pause"), [(8, 4, 0.02), LONG], ids=["short", "long"])
def test_killed_again_and_again_nothing_acknowledged_is_lost(
    server: Server, people: int, kills: int, pause: float
) -> None:
    rng = random.Random(people)
    crowd = typists(server, people, people, pause)
    threads = [threading.Thread(target=each.run, daemon=True) for each in crowd]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        # In the middle of things, however slow the machine: when some of what they sent since the last time is stored.
        enough = acknowledged(crowd) + rng.randint(1, people)
        ends_at = time.monotonic() + 60
        while acknowledged(crowd) < enough and time.monotonic() < ends_at:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.3))
        server.kill()
        server.start()
        server.await_answer()
    for each in crowd:
        each.stop.set()
    for thread in threads:
        thread.join(120)
    for each in crowd:
        assert_nothing_is_lost(each)
    assert [(invariant.name, tally.examples) for invariant, tally in invariants.check() if tally.broken] == []
    batches, events = acknowledged(crowd), sum(len(ack[3]) for each in crowd for ack in each.acked)
    opened, resent = sum(each.told["session"] + 1 for each in crowd), sum(each.resent for each in crowd)
    print(
        f"{kills} kills, {people} typists: {batches} batches, {events} events, {opened} openings, {resent} sent again"
    )
    assert server.kills == kills
    assert resent >= kills, "the kills must have hit something"
