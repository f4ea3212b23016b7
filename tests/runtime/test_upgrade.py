"""A release takes another's place, and is taken back, while drafts are written: nobody notices."""

import os
import re
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from crowdrag.runtime.data_folder import REPOSITORY
from crowdrag.studies import invariants
from tests.runtime.conftest import eventually
from tests.runtime.two_releases import COLUMN, MIGRATION, MODULE, Proxy, Release, WebProcess, later_release
from tests.writing.editor.crowd import Typist, acknowledged, assert_nothing_is_lost, typists
from writing.models import LogBatch

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900), pytest.mark.extended]


class Reader(threading.Thread):
    """Opens the page on which somebody writes, with all that it names, again and again; notes what was not there."""

    def __init__(self, proxy: Proxy, typist: Typist) -> None:
        super().__init__(daemon=True)
        self.proxy, self.typist = proxy, typist
        self.pages = 0
        self.modules: set[str] = set()
        self.problems: list[str] = []
        self.stop = threading.Event()

    def run(self) -> None:
        page = f"/work/{self.typist.task.study.slug}/writing/{self.typist.task.external_id}/"
        while not self.stop.wait(0.3):
            text = self.fetch(page)
            named = set(re.findall(r'"(/static/[^"]+)"', text))
            self.modules |= {path for path in named if path.startswith(f"/static/{MODULE[:-2]}")}
            for path in named:
                self.fetch(path)
            self.pages += bool(named)

    def fetch(self, path: str) -> str:
        cookies = self.proxy.cookies(self.typist.session)
        request = urllib.request.Request(
            f"http://{self.proxy.host}:{self.proxy.port}{path}", headers={"Cookie": cookies}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return str(answer.read().decode(errors="replace"))
        except (OSError, urllib.error.URLError) as error:
            self.problems.append(f"{path}: {error}")
            return ""


@pytest.fixture
def webs() -> Iterator[list[WebProcess]]:
    """Web servers, to be ended whatever happens."""
    started: list[WebProcess] = []
    yield started
    for web in started:
        web.close()


@pytest.fixture
def _table_as_it_was() -> Iterator[None]:
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {LogBatch._meta.db_table} DROP COLUMN IF EXISTS {COLUMN}")
        cursor.execute("DELETE FROM django_migrations WHERE name = %s", [MIGRATION])


def go_on(crowd: list[Typist], more: int) -> None:
    """Wait until some more of what they type is stored: in the middle of things, however slow the machine."""
    enough = acknowledged(crowd) + more
    eventually(lambda: acknowledged(crowd) >= enough or [each.problems for each in crowd if each.problems], within=120)


def stop_gracefully(web: WebProcess, crowd: list[Typist]) -> float:
    """Ask a web server to stop, while people go on; return how long it took."""
    began = time.monotonic()
    web.ask_to_stop()
    web.await_answer(503)
    assert web.ask("/healthz")[0] == 200, "a process on its way out still serves"
    go_on(crowd, 5)
    assert web.process.wait(60) == 0
    return time.monotonic() - began


@pytest.mark.usefixtures("_table_as_it_was")
def test_a_release_takes_anothers_place_and_is_taken_back(tmp_path: Path, webs: list[WebProcess]) -> None:
    database = str(connection.settings_dict["NAME"])
    earlier = Release("earlier", REPOSITORY, tmp_path, database)
    later = Release("later", later_release(tmp_path / "tree"), tmp_path, database)
    earlier.build()
    later.build()
    earlier.crowdrag("prepare")
    proxy = Proxy(os.environ["SESSION_COOKIE_NAME"], os.environ["CSRF_COOKIE_NAME"], tmp_path / "shared")

    def started(release: Release, name: str, status: int = 200) -> WebProcess:
        web = release.start(name)
        webs.append(web)
        web.await_answer(status)
        proxy.add(web)
        return web

    one, two = started(earlier, "earlier 1"), started(earlier, "earlier 2")
    eventually(lambda: len(proxy.ready) == 2)
    crowd = typists(proxy, 5, 7, 0.2)
    reader = Reader(proxy, crowd[0])
    threads = [threading.Thread(target=each.run, daemon=True) for each in crowd] + [reader]
    for thread in threads:
        thread.start()
    go_on(crowd, 20)

    # The later release is there before its column: it says so, and nobody comes to it.
    three = started(later, "later 1", status=503)
    assert '"migrations": "missing"' in three.ask()[1]
    go_on(crowd, 10)
    assert not [name for name, _status in proxy.answers if name == "later 1"]

    # Expand, while the earlier release serves; it goes on with a column that it knows nothing of.
    later.crowdrag("prepare")
    three.await_answer(200)
    eventually(lambda: len(proxy.ready) == 3)
    go_on(crowd, 20)

    took = [stop_gracefully(one, crowd)]
    four = started(later, "later 2")
    took.append(stop_gracefully(two, crowd))
    go_on(crowd, 20)

    # And back, on the tables of the later one: no backup has to be given back for it.
    started(earlier, "earlier again")
    took += [stop_gracefully(three, crowd), stop_gracefully(four, crowd)]
    go_on(crowd, 20)

    reader.stop.set()
    for each in crowd:
        each.stop.set()
    for thread in threads:
        thread.join(120)
    assert "\n".join(proxy.failures) == ""
    assert reader.problems == []
    assert sum(each.resent for each in crowd) == 0, "connections broke"
    for each in crowd:
        assert_nothing_is_lost(each)
    assert [(invariant.name, tally.examples) for invariant, tally in invariants.check() if tally.broken] == []
    assert {name for name, _status in proxy.answers} == {*proxy.backends.values()}, "each of them served"
    assert len(reader.modules) == 2, "pages of both releases were read, each with its own modules"
    with psycopg.connect(later.env["DATABASE_URL"]) as db:
        wrote = dict(db.execute(f"SELECT {COLUMN}, count(*) FROM {LogBatch._meta.db_table} GROUP BY 1").fetchall())  # type: ignore[call-overload]
    assert wrote.keys() == {"earlier", "later"}
    print(f"{acknowledged(crowd)} batches {wrote}, {reader.pages} pages, stopped in {[f'{s:.1f} s' for s in took]}")
    proxy.close()
