"""Potato: one gunicorn worker with eight threads, as its image starts it; its documentation allows no second worker."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from bench.peers.browser import Browser
from bench.peers.tool import (
    CHOICES,
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

ADMIN_KEY = "key-of-the-administrator"
#: Choices, as its pairwise scheme names them.
SELECTIONS = dict(zip(CHOICES, ("A", "B", "tie"), strict=True))
#: What its page reads after it was loaded, on every item.
READS = (
    "/api/colors", "/api/spans/{}", "/pocket/api/routing", "/api/keyword_highlights/{}", "/api/schemas",
    "/api/colors", "/api/spans/{}", "/api/keyword_highlights/{}", "/api/keyword_highlights/{}",
)  # fmt: skip
INSTANCE = re.compile(r'id="instance_id"[^>]*value="(\d+)"|value="(\d+)"[^>]*id="instance_id"')


class Potato(Tool):
    """A server for each project."""

    title = "Potato"
    version = "2.12.1"
    packages = ("potato-annotation==2.12.1", "gunicorn==23.0.0")
    setup = "gunicorn with one worker and eight threads as in its image, files"
    assignment = "cohorts of `batch_assignment`, each of the items of one group, filled as annotators arrive"

    def open(self, project: Project, stores: Stores) -> Site:
        site = PotatoSite(project, self, stores.home / f"potato-{project.name}")
        site.start()
        return site


class PotatoSite(Site):
    def __init__(self, project: Project, tool: Potato, home: Path) -> None:
        self.home = home
        port = free_port()
        options = ["--bind", f"127.0.0.1:{port}", "--workers", "1", "--threads", "8", "--timeout", "120"]
        server = Process(
            [str(tool.program("gunicorn")), *options, "potato.flask_server:create_app('config.yaml')"],
            home=home, port=port, ready="/health",
            # Otherwise a restart would sign everybody out.
            POTATO_SECRET_KEY="a secret of this measurement", POTATO_ADMIN_API_KEY=ADMIN_KEY,
            POTATO_GENERATED_TEMPLATES_DIR=str(home / "templates"),
        )  # fmt: skip
        super().__init__(project, server)
        items = [{"id": str(n), "text": [a, b]} for n, (a, b) in enumerate(project.pairs)]
        (home / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
        # JSON is YAML.
        (home / "config.yaml").write_text(json.dumps(self._terms(project), indent=1))

    @staticmethod
    def _terms(project: Project) -> dict[str, object]:
        scheme = {
            "annotation_type": "pairwise", "name": "better", "description": "Which response is better?",
            "mode": "binary", "items_key": "text", "labels": ["A", "B"], "allow_tie": True,
            "label_requirement": {"required": True},
        }  # fmt: skip
        terms: dict[str, object] = {
            "annotation_task_name": project.name, "task_dir": ".", "output_annotation_dir": "output",
            "output_annotation_format": "jsonl", "data_files": ["items.jsonl"],
            "item_properties": {"id_key": "id", "text_key": "text"}, "list_as_text": {"text_list_prefix_type": "none"},
            "login": {"type": "url_direct", "url_argument": "PROLIFIC_PID"}, "completion_code": "DONE",
            "max_annotations_per_item": project.k, "annotation_schemes": [scheme], "site_dir": "default",
            "instance_reclaim": {"enabled": True},
        }  # fmt: skip
        if project.each is None:
            return terms | {"assignment_strategy": "random"}
        ids = [str(n) for n in range(len(project.pairs))]
        groups = [
            {"name": f"batch-{first}", "instances": ids[first : first + project.each]}
            for first in range(0, len(ids), project.each)
        ]
        batches = {"auto_assign_annotators": True, "groups": groups}
        return terms | {"assignment_strategy": "batch", "batch_assignment": batches}

    def close(self) -> None:
        self.kill()

    def annotator(self, number: int) -> PotatoAnnotator:
        return PotatoAnnotator(number, Browser(self.port))

    def export(self) -> Exported:
        answer = Browser(self.port).post("/admin/api/export", {"format": "jsonl"}, **{"X-API-Key": ADMIN_KEY})
        done = answer.json()
        assert done.get("success"), done
        answers: Counter[tuple[int, int]] = Counter()
        size = 0
        for name in done["files_written"]:
            content = (self.home / name).read_text()
            size += len(content.encode())
            for row in map(json.loads, content.splitlines()):
                answers[int(row["user_id"]), int(row["instance_id"])] += len(row["labels"])
        return Exported(size, answers)

    def page(self, number: int) -> Page:
        someone = self.annotator(number)
        someone.sign_in()
        return Page("/annotate", someone.browser.cookies, ".pairwise-tile")


class PotatoAnnotator(Annotator):
    def sign_in(self) -> None:
        self.browser.follow(f"/?PROLIFIC_PID={self.number}")

    def next(self) -> int | None:
        shown = self.browser.follow("/annotate")
        found = INSTANCE.search(shown.text)
        if found is None:
            return None
        one = found[1] or found[2]
        for path in READS:
            self.browser.get(path.format(one))
        return int(one)

    def submit(self, pair: int, choice: str) -> None:
        one, selected = str(pair), SELECTIONS[choice]
        change = {"instance_id": one, "schema_name": "better", "label_name": "selection", "action": "update"}
        self.browser.post("/api/track_annotation_change", {**change, "new_value": selected, "source": "user"})
        sent = {
            "instance_id": one,
            "annotations": {"better:selection": selected},
            "cleared_schemas": [],
            "span_annotations": [],
            "response_time_seconds": 12.3,
        }
        # Half a second after the click, and again before the next item.
        for _ in range(2):
            said = self.browser.post("/updateinstance", sent)
            if said.status != 200 or said.json().get("status") == "error":
                raise RefusedError(said.text[:300])
        self.browser.post("/annotate", {"action": "next_instance", "instance_id": one})
        events = [{"event_type": "navigation", "target": "instance_load", "instance_id": one, "metadata": {}}]
        tracked = {"instance_id": one, "events": events, "focus_time": {}, "scroll_depth": 0}
        self.browser.post("/api/track_interactions", tracked)


POTATO = Potato()
