"""doccano: gunicorn as `doccano webserver` starts it, a Celery process for exports, PostgreSQL."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections import Counter
from typing import Any

from bench.peers.browser import Browser
from bench.peers.label_studio import checked
from bench.peers.tool import (
    CHOICES,
    Annotator,
    Exported,
    Page,
    Process,
    Project,
    Site,
    Stores,
    Tool,
    free_port,
)

ADMIN, PASSWORD = "admin", "long-enough-password"


class Doccano(Tool):
    """One server for all projects."""

    title = "doccano"
    version = "1.8.4"
    # The last two: versions that this version needs, but does not ask for. psycopg2 is for PostgreSQL.
    packages = ("doccano==1.8.4", "psycopg2-binary==2.9.13", "marshmallow==3.26.2", "numpy==1.26.4")
    setup = "`doccano webserver` (gunicorn, five processes on two cores) and `doccano task`, PostgreSQL"
    assignment = "none: every member annotates every example"
    has_quota = False

    def __init__(self) -> None:
        self.server: Process | None = None
        self.worker: Process | None = None
        self.annotators: dict[int, dict[str, str]] = {}

    def open(self, project: Project, stores: Stores) -> Site:
        if self.server is None:
            self._create(stores)
        assert self.server is not None
        self.server.start()
        return DoccanoSite(project, self.server, self)

    def _create(self, stores: Stores) -> None:
        port, home, program = free_port(), stores.home / "doccano", str(self.program("doccano"))
        sockets = str(stores.database("doccano"))
        env = {
            "DOCCANO_HOME": str(home / "data"),
            "DATABASE_URL": f"postgres://postgres@/doccano?host={sockets}&sslmode=disable",
            "CELERY_BROKER_URL": f"sqla+postgresql://postgres@/doccano?host={sockets}",
            "SECRET_KEY": "a secret of this measurement",
            "DEBUG": "False",
        }
        self.server = Process([program, "webserver", "--port", str(port)], home=home, port=port, **env)
        self.server.run(program, "init")
        self.server.run(program, "createuser", "--username", ADMIN, "--password", PASSWORD)
        self.worker = Process([program, "task"], home=home / "worker", port=0, **env)
        self.worker.spawn()

    def close(self) -> None:
        for process in (self.server, self.worker):
            if process is not None:
                process.kill()
        self.server = self.worker = None
        self.annotators.clear()


class DoccanoSite(Site):
    def __init__(self, project: Project, server: Process, tool: Doccano) -> None:
        super().__init__(project, server)
        self.tool = tool
        self.admin = signed_in(self.port, ADMIN)
        terms = {
            "name": project.name, "description": project.name, "project_type": "DocumentClassification",
            "resourcetype": "TextClassificationProject", "guideline": "", "random_order": True,
            "collaborative_annotation": False, "single_class_classification": True, "tags": [],
        }  # fmt: skip
        self.path = f"/v1/projects/{checked(self.admin.post('/v1/projects', terms)).json()['id']}"
        self.labels = {}
        for key, choice in enumerate(CHOICES, 1):
            label = {"text": choice, "suffix_key": str(key), "background_color": "#209CEE", "text_color": "#ffffff"}
            self.labels[choice] = checked(self.admin.post(f"{self.path}/category-types", label)).json()["id"]
        self.examples: dict[int, int] = {}
        for number, (a, b) in enumerate(project.pairs):
            example = {"text": f"A\n{a}\n\nB\n{b}", "meta": {"number": number}}
            self.examples[checked(self.admin.post(f"{self.path}/examples", example)).json()["id"]] = number
        roles = {one["name"]: one["id"] for one in checked(self.admin.get("/v1/roles")).json()}
        for number in range(project.annotators):
            member = {"user": self._user(number), "role": roles["annotator"]}
            checked(self.admin.post(f"{self.path}/members", member))

    def _user(self, number: int) -> int:
        name = f"annotator-{number}"
        found = [one["id"] for one in checked(self.admin.get(f"/v1/users?q={name}")).json() if one["username"] == name]
        if found:
            return int(found[0])
        person = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
        return int(checked(self.admin.post("/v1/users/create", person)).json()["id"])

    def annotator(self, number: int) -> DoccanoAnnotator:
        return DoccanoAnnotator(number, Browser(self.port), self)

    def export(self) -> Exported:
        self.admin.cookies.update(signed_in(self.port, ADMIN).cookies)
        self.admin.headers["X-CSRFToken"] = self.admin.cookies["csrftoken"]
        order = {"format": "JSONL", "exportApproved": False}
        task = checked(self.admin.post(f"{self.path}/download", order)).json()["task_id"]
        while not checked(self.admin.get(f"/v1/tasks/status/{task}")).json()["ready"]:
            time.sleep(0.1)
        content = checked(self.admin.get(f"{self.path}/download?taskId={task}")).body
        answers: Counter[tuple[int, int]] = Counter()
        with zipfile.ZipFile(io.BytesIO(content)) as files:
            size = sum(one.file_size for one in files.infolist())
            for name in files.namelist():
                if not name.startswith("annotator-"):
                    continue
                person = int(name.removesuffix(".jsonl").removeprefix("annotator-"))
                for row in map(json.loads, files.read(name).decode().splitlines()):
                    answers[person, row["number"]] += len(row["label"])
        return Exported(size, +answers)

    def page(self, number: int) -> Page:
        someone = self.annotator(number)
        someone.sign_in()
        project = self.path.removeprefix("/v1")
        return Page(f"{project}/text-classification?page=1", someone.browser.cookies, ".v-chip")


class DoccanoAnnotator(Annotator):
    def __init__(self, number: int, browser: Browser, site: DoccanoSite) -> None:
        super().__init__(number, browser)
        self.site = site
        self.place = 0
        self.example: dict[str, Any] = {}

    def sign_in(self) -> None:
        known = self.site.tool.annotators
        if self.number not in known:
            known[self.number] = dict(signed_in(self.port, f"annotator-{self.number}").cookies)
        self.browser.cookies.update(known[self.number])
        self.browser.headers["X-CSRFToken"] = self.browser.cookies["csrftoken"]

    @property
    def port(self) -> int:
        return self.browser.port

    def next(self) -> int | None:
        asked = f"{self.site.path}/examples?limit=1&offset={self.place}&confirmed=&ordering=&q="
        found = checked(self.browser.get(asked)).json()
        if not found["results"]:
            return None
        self.example = found["results"][0]
        self.browser.get(f"{self.site.path}/examples/{self.example['id']}/categories")
        return self.site.examples[self.example["id"]]

    def submit(self, pair: int, choice: str) -> None:
        path = f"{self.site.path}/examples/{self.example['id']}"
        checked(self.browser.post(f"{path}/categories", {"id": 0, "label": self.site.labels[choice], "user": 0}))
        self.browser.get(f"{path}/categories")
        checked(self.browser.post(f"{path}/states", {}))
        self.browser.get(path)
        self.browser.get(f"{self.site.path}/metrics/progress")
        self.place += 1


def signed_in(port: int, name: str) -> Browser:
    """Return a browser signed in with the password of all."""
    browser = Browser(port)
    said = browser.post("/v1/auth/login/", {"username": name, "password": PASSWORD})
    assert said.status == 200, said.text[:1000]
    browser.headers["X-CSRFToken"] = browser.cookies["csrftoken"]
    return browser


DOCCANO = Doccano()
