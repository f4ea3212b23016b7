"""Label Studio, community edition: uWSGI with its own settings, PostgreSQL."""

from __future__ import annotations

from collections import Counter
from typing import Any
from uuid import uuid4

from bench.peers.browser import Answer, Browser
from bench.peers.tool import (
    Annotator,
    Exported,
    Page,
    Process,
    Project,
    RefusedError,
    Site,
    Stores,
    Tool,
    free_port,
)

ADMIN, PASSWORD = "admin@example.org", "long-enough-password"
LABELS = """<View style="display: grid; grid-template-columns: 1fr 1fr; gap: 1em">
  <Text name="a" value="$a"/><Text name="b" value="$b"/>
  <Choices name="better" toName="a" choice="single" required="true">
    <Choice value="a"/><Choice value="b"/><Choice value="neither"/>
  </Choices>
</View>"""
#: From the uwsgi.ini of its image, and the thread that its client of feature flags needs.
UWSGI = (
    "--master", "--single-interpreter", "--cheaper=2", "--processes=4", "--vacuum", "--die-on-term",
    "--buffer-size=65535", "--http-timeout=300", "--need-app", "--ignore-sigpipe", "--ignore-write-errors",
    "--disable-write-exception", "--harakiri=120", "--post-buffering=4096", "--disable-logging", "--log-5xx",
    "--enable-threads", "--thunder-lock", "--lazy-apps", "--max-requests=5000", "--reload-on-rss=2048",
    "--http-keepalive",
)  # fmt: skip


class LabelStudio(Tool):
    """One server for all projects."""

    title = "Label Studio"
    version = "1.23.2"
    packages = ("label-studio==1.23.2", "pyuwsgi==2.0.30.post1")
    setup = "uWSGI with the options of its image, four processes, PostgreSQL"
    assignment = "`maximum_annotations` of the project, locks on tasks that somebody has open"

    def __init__(self) -> None:
        self.server: Process | None = None
        self.annotators: dict[int, dict[str, str]] = {}

    def open(self, project: Project, stores: Stores) -> Site:
        if self.server is None:
            self.server = self._server(stores)
        self.server.start()
        return LabelStudioSite(project, self.server, self)

    def _server(self, stores: Stores) -> Process:
        port, home = free_port(), stores.home / "label-studio"
        source = next(self.environment.glob("lib/python*/site-packages/label_studio"))
        options = ["--chdir", str(source), "--module", "core.wsgi:application", "--http", f"127.0.0.1:{port}"]
        server = Process(
            [str(self.program("uwsgi")), *options, "--virtualenv", str(self.environment), *UWSGI],
            home=home, port=port, ready="/health",
            DJANGO_DB="default", POSTGRE_NAME="label_studio", POSTGRE_USER="postgres", POSTGRE_PASSWORD="",
            POSTGRE_HOST=str(stores.database("label_studio")), LABEL_STUDIO_BASE_DATA_DIR=str(home / "data"),
            DJANGO_SETTINGS_MODULE="core.settings.label_studio", APP_WEBSERVER="uwsgi",
            # The PostgreSQL in wheels has no extensions. They serve a search in answers, and would slow storing down.
            SKIP_TRIGRAM_EXTENSION="full", SKIP_BTREE_GIN_EXTENSION="full",
            # Nothing is sent to anybody: this machine may have no network, and would wait for it.
            COLLECT_ANALYTICS="false", SENTRY_DSN="", FRONTEND_SENTRY_DSN="", LATEST_VERSION_CHECK="false",
        )  # fmt: skip
        arguments = ("init", "--quiet", "--username", ADMIN, "--password", PASSWORD)
        server.run(str(self.program("label-studio")), *arguments)
        return server

    def close(self) -> None:
        if self.server is not None:
            self.server.kill()
            self.server = None
            self.annotators.clear()


class LabelStudioSite(Site):
    def __init__(self, project: Project, server: Process, tool: LabelStudio) -> None:
        super().__init__(project, server)
        self.tool = tool
        self.admin = signed_in(self.port, ADMIN)
        terms = {
            "title": project.name,
            "label_config": LABELS,
            "maximum_annotations": project.k,
            "sampling": "Uniform sampling",
        }
        self.pk = checked(self.admin.post("/api/projects/", terms)).json()["id"]
        tasks = [{"data": {"number": n, "a": a, "b": b}} for n, (a, b) in enumerate(project.pairs)]
        checked(self.admin.post(f"/api/projects/{self.pk}/import", tasks))

    def annotator(self, number: int) -> LabelStudioAnnotator:
        return LabelStudioAnnotator(number, Browser(self.port), self)

    def export(self) -> Exported:
        answer = checked(self.admin.get(f"/api/projects/{self.pk}/export?exportType=JSON"))
        answers: Counter[tuple[int, int]] = Counter()
        people = {self.email(n): n for n in range(self.project.annotators)}
        by_id = {one["user"]["id"]: people.get(one["user"]["email"]) for one in self._members()}
        for task in answer.json():
            for annotation in task["annotations"]:
                answers[by_id[annotation["completed_by"]], task["data"]["number"]] += 1
        return Exported(len(answer.body), answers)

    def _members(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        path = "/api/organizations/1/memberships?page_size=100&page="
        while True:
            page = checked(self.admin.get(f"{path}{len(found) // 100 + 1}")).json()
            found += page["results"]
            if not page["next"]:
                return found

    @staticmethod
    def email(number: int) -> str:
        return f"annotator-{number}@example.org"

    def page(self, number: int) -> Page:
        someone = self.annotator(number)
        someone.sign_in()
        return Page(f"/projects/{self.pk}/data?labeling=1", someone.browser.cookies, "text=Submit")


class LabelStudioAnnotator(Annotator):
    def __init__(self, number: int, browser: Browser, site: LabelStudioSite) -> None:
        super().__init__(number, browser)
        self.site = site
        self.tab = 0
        #: The keys of the tasks, and of the annotations that were begun.
        self.tasks: dict[int, int] = {}
        self.begun: dict[int, str] = {}

    def sign_in(self) -> None:
        known = self.site.tool.annotators
        if self.number not in known:
            known[self.number] = signed_up(self.site.port, self.site.email(self.number)).cookies
        self.browser.cookies.update(known[self.number])
        view = {"data": {"title": "Default", "type": "list", "target": "tasks"}, "project": self.site.pk}
        path = f"/api/dm/views?tabID=0&project={self.site.pk}"
        self.tab = checked(self.browser.post(path, view)).json()["id"]

    def next(self) -> int | None:
        path = f"/api/dm/actions?id=next_task&tabID={self.tab}&project={self.site.pk}"
        # As "Label All Tasks" asks: with filters or a selection, it would give the same task to everybody.
        found = self.browser.post(path, {"project": str(self.site.pk)})
        if found.status == 404:
            return None
        task = checked(found).json()
        self.browser.get(f"/api/label_links?project={self.site.pk}&expand=label")
        number = int(task["data"]["number"])
        self.tasks[number] = task["id"]
        self.begun.setdefault(number, str(uuid4()))
        return number

    def submit(self, pair: int, choice: str) -> None:
        result = {
            "id": f"r{pair}", "type": "choices", "value": {"choices": [choice]},
            "origin": "manual", "to_name": "a", "from_name": "better",
        }  # fmt: skip
        sent = {
            "lead_time": 12.3, "result": [result], "draft_id": 0, "parent_prediction": None,
            "parent_annotation": None, "unique_id": self.begun[pair], "project": str(self.site.pk),
        }  # fmt: skip
        path = f"/api/tasks/{self.tasks[pair]}/annotations?project={self.site.pk}"
        checked(self.browser.post(path, sent))


def signed_up(port: int, email: str) -> Browser:
    """Return the browser of somebody new."""
    browser = Browser(port)
    browser.follow("/user/signup/")
    fields = {"email": email, "password": PASSWORD, "allow_newsletters": "false"}
    said = browser.submit("/user/signup/", csrfmiddlewaretoken=browser.cookies["csrftoken"], **fields)
    assert said.status == 302, said.text[-2000:]
    return browser


def signed_in(port: int, email: str) -> Browser:
    """Return a browser signed in with the password of all."""
    browser = Browser(port)
    browser.follow("/user/login/")
    token = browser.cookies["csrftoken"]
    said = browser.submit("/user/login/", csrfmiddlewaretoken=token, email=email, password=PASSWORD)
    assert said.status == 302, said.text[-2000:]
    return browser


def checked(answer: Answer) -> Answer:
    """Return an answer with a status below 300; else raise `RefusedError`."""
    if answer.status >= 300:
        raise RefusedError(f"{answer.status}: {answer.text[:300]}")
    return answer


LABEL_STUDIO = LabelStudio()
