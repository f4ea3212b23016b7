"""CrowdRAG itself: gunicorn as `crowdrag up` starts it, PostgreSQL."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from bench.peers.browser import Browser
from bench.peers.label_studio import checked
from bench.peers.tool import CHOICES, Annotator, Exported, Page, Project, Site, Stores, Tool, await_answer
from crowdrag.runtime.data_folder import REPOSITORY

if TYPE_CHECKING:
    from crowdrag.studies.models import Participant
    from tests.annotation.open_campaign import World
    from tests.writing.editor.served_editor import Server

#: Pairs in a questionnaire, unless the project says how many an annotator gets.
PAIRS = 5
VALUES = dict(zip(CHOICES, (-1, 1, 0), strict=True))
ITEM = re.compile(r'data-item="(\d+)".*?data-dimension="(\d+)" data-revision="(\d+)"', re.DOTALL)


class CrowdRAG(Tool):
    """One server for all projects; the project's own tests make campaigns and judges."""

    title = "CrowdRAG"
    version = "0.2.0"
    setup = "gunicorn with two processes of eight threads as `crowdrag up` starts it, PostgreSQL"
    assignment = "k places for each questionnaire, claimed in the database"

    def __init__(self) -> None:
        self.server: Server | None = None

    def open(self, project: Project, stores: Stores) -> Site:
        from tests.writing.editor.served_editor import Server

        if self.server is None:
            self.server = Server(stores.folder.root, "crowdrag")
            collect = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity=0"]
            subprocess.run(collect, check=True, env=self.server.env, cwd=REPOSITORY)
        site = CrowdRAGSite(project, self.server)
        site.start()
        return site

    def close(self) -> None:
        if self.server is not None:
            self.server.close()
            self.server = None


class CrowdRAGSite(Site):
    server: Server

    def __init__(self, project: Project, server: Server) -> None:
        from django.db import connection

        super().__init__(project, server)
        self.world = self._world()
        self.people = self.world.judges(project.annotators)
        items = self.world.campaign.items.order_by("pk").values_list("pk", flat=True)
        self.pairs = {pk: number for number, pk in enumerate(items)}
        connection.close()

    def _world(self) -> World:
        from tests.annotation.open_campaign import world

        project = self.project
        return world(
            topics=len(project.texts), responses=len(project.texts[0]), per_questionnaire=project.each or PAIRS,
            dimensions=1, k=project.k, questionnaires_per_person=None, texts=chain.from_iterable(project.texts),
        )  # fmt: skip

    def start(self) -> None:
        if self.server.process is None:
            self.server.start()
        await_answer(self.port, "/healthz", lambda: self.server.log.read_text()[-3000:])

    def annotator(self, number: int) -> CrowdRAGAnnotator:
        return CrowdRAGAnnotator(number, Browser(self.port), self)

    def cookies(self, person: Participant) -> dict[str, str]:
        """Return the cookies of a participant's browser."""
        from django.db import connection
        from django.test import Client

        from tests.participants import as_participant

        client = Client()
        as_participant(client, person)
        session = client.cookies[self.server.env["SESSION_COOKIE_NAME"]].value
        connection.close()
        return dict(pair.split("=", 1) for pair in self.server.cookies(session).split("; "))

    def export(self) -> Exported:
        """Read the list of judgments of the API, page after page, as scripts do."""
        from django.db import connection

        from crowdrag.studies.enums import Role
        from tests.api.conftest import by_token

        script = Browser(self.port)
        token = by_token(self.world.member(Role.VIEWER))._credentials["HTTP_AUTHORIZATION"]
        connection.close()
        numbers = {person.external_id: number for number, person in enumerate(self.people)}
        answers: Counter[tuple[int, int]] = Counter()
        size, path = 0, f"/api/v1/studies/{self.world.study.slug}/judgments/?limit=1000"
        while path:
            page = checked(script.get(path, Authorization=token))
            size += len(page.body)
            found = page.json()
            for row in found["results"]:
                answers[numbers[row["participant"]], self.pairs[row["item"]]] += 1
            path = re.sub(r"^https?://[^/]+", "", found["next"] or "")
        return Exported(size, answers)

    def page(self, number: int) -> Page:
        someone = self.annotator(number)
        someone.sign_in()
        someone.next()
        return Page(someone.address(), someone.browser.cookies, ".question-option >> visible=true")


class CrowdRAGAnnotator(Annotator):
    def __init__(self, number: int, browser: Browser, site: CrowdRAGSite) -> None:
        super().__init__(number, browser)
        self.site = site
        self.assignment = ""
        #: What is open in the questionnaire: item, dimension, revision.
        self.open: dict[int, tuple[int, int, int]] = {}
        self.items: list[int] = []

    def sign_in(self) -> None:
        from tests.writing.editor.served_editor import CSRF

        self.browser.cookies.update(self.site.cookies(self.site.people[self.number]))
        self.browser.headers["X-CSRFToken"] = CSRF

    def address(self, name: str = "") -> str:
        """Return the address of the questionnaire, or of a request of its page."""
        world = self.site.world
        start = f"/work/{world.study.slug}/judging/{world.campaign.pk}/"
        return start if name == "start" else f"{start}{self.assignment}/{name}"

    def next(self) -> int | None:
        if not self.open:
            self.finish()
            if not self._claim():
                return None
        return next(iter(self.open))

    def _claim(self) -> bool:
        self.browser.get(self.address("start"))
        place = self.browser.submit(self.address("start")).headers["Location"] or ""
        self.assignment = place.removeprefix(self.address("start")).strip("/")
        shown = checked(self.browser.get(place)).text
        if not self.assignment:
            return False
        found = [(int(item), int(dimension), int(revision)) for item, dimension, revision in ITEM.findall(shown)]
        self.open = {self.site.pairs[row[0]]: row for row in found}
        self.items = [item for item, _dimension, _revision in self.open.values()]
        return True

    def submit(self, pair: int, choice: str) -> None:
        item, dimension, revision = self.open[pair]
        said = {"item": item, "dimension": dimension, "value": VALUES[choice], "revision": revision + 1}
        checked(self.browser.post(self.address("answer/"), said))
        del self.open[pair]

    def finish(self) -> None:
        """Report the times, hand in, and see the page that says so."""
        if not self.assignment:
            return
        times = [
            {"item": item, "active": 12.3, "away": 0, "looks": 1, "leaves": 0, "changes": 1} for item in self.items
        ]
        checked(self.browser.post(self.address("time/"), {"visit": f"visit-{self.number}", "times": times}))
        checked(self.browser.post(self.address("submit/"), {"comment": ""}))
        self.browser.get(self.address("done/"))
        self.assignment = ""


CROWDRAG = CrowdRAG()
