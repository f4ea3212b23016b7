"""Researchers and reviewers, by the API: they start runs, build releases and decide about submitted work."""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from bench.chaos import client
from bench.chaos.client import Client, Journal, Reply

POLL, PAUSE = 1.0, (4.0, 12.0)
REJECTS = 0.1
ENDED = ("DONE", "FAILED", "CANCELLED")


class Script:
    """A person's script: every POST has a key, so that sending it again has one effect."""

    def __init__(self, order: dict[str, Any], who: str, journal: Journal, rng: random.Random) -> None:
        self.order, self.journal, self.rng = order, journal, rng
        self.base = f"/api/v1/studies/{order['study']}/"
        self.client = Client(order, journal, rng, {"Authorization": f"Bearer {order['tokens'][who]}"})

    def get(self, path: str) -> Reply:
        """Read something."""
        return self.client.ask("GET", path if path.startswith("/") else self.base + path)

    def post(self, path: str, body: Any = None) -> Reply:
        """Do something once."""
        key = f"{self.rng.getrandbits(128):032x}"
        while True:
            reply = self.client.ask("POST", self.base + path, body, **{"Idempotency-Key": key})
            # The first copy of this request is still being answered.
            if reply.status != 409 or reply.json.get("code") != "under-way":
                return reply
            time.sleep(0.5)

    def run(self, path: str, body: Any, of: Callable[[Any], str] = lambda row: row["key"]) -> str:
        """Start a run and follow it to its end, resuming it when it failed; return its key, or nothing."""
        reply = self.post(path, body)
        if reply.status not in (200, 201, 202):
            self.refused(path, reply)
            return ""
        key = of(reply.json)
        self.journal.note("started", run=key, path=path)
        return self.follow(key)

    def follow(self, key: str) -> str:
        """Wait for a run's end."""
        while True:
            row = self.get(f"runs/{key}/").json
            if row["state"] == "DONE":
                self.journal.note("done", run=key)
                return key
            if row["state"] in ENDED:
                self.journal.note("failed", run=key, kind=row["kind"], about=f"{row['error']} {row['problems']}"[:300])
                reply = self.post(f"runs/{key}/resume/")
                if reply.status != 200:
                    self.refused("resume", reply)
                    return ""
            if client.is_over(self.order):
                raise client.GaveUp(f"run {key} of {row['kind']} is {row['state']}")
            time.sleep(POLL)

    def refused(self, about: str, reply: Reply) -> None:
        """Note an answer that nobody expected."""
        text = reply.content[:400].decode(errors="replace")
        self.journal.note("refused", who="researcher", about=f"{about}: {reply.status} {text}")

    def pause(self) -> None:
        """Do something else for some seconds."""
        time.sleep(self.rng.uniform(*PAUSE))


def model_judges(script: Script, number: int) -> None:
    """Have the model judge; with another temperature it is another judge, so that nothing comes from the store."""
    order = {"campaign": script.order["models_campaign"], "endpoint": script.order["endpoint"], "seed": number}
    script.run("judges/", order | {"temperature": number / 1000})


def model_writers(script: Script, number: int) -> None:
    """Have the model write."""
    script.run("writing/models/", {
        "endpoint": script.order["endpoint"], "styles": [script.order["style"]], "which": "chosen",
        "topics": script.order["model_topics"], "temperature": number / 1000, "seed": number,
    })  # fmt: skip


def experiments(script: Script, number: int) -> None:
    """Run an experiment on a file of questions of its own."""
    uploads = script.order["uploads"]
    script.run("experiments/self_preference/", {
        "collection": {"source": "passages", "upload": uploads[number % len(uploads)]}, "seed": number,
        "generator": f"endpoint:{script.order['endpoint']}", "parameters": {"author": "gpt", "resamples": 100},
    })  # fmt: skip


def analyses(script: Script, number: int) -> None:
    """Analyse the judgments so far."""
    script.run("results/", {"seed": number, "parameters": {}})


def exports(script: Script, _number: int) -> None:
    """Export the study."""
    script.run("exports/", {"format": "archive"})


def releases(script: Script, number: int) -> None:
    """Build a release, check its files by their sums, and publish it."""
    reply = script.post("releases/", {"title": f"Release {number}", "creators": [{"name": "Chaos"}]})
    if reply.status != 201:
        return script.refused("releases/", reply)
    release = reply.json["number"]
    script.journal.note("drafted", release=release)
    if not script.run(f"releases/{release}/build/", None, of=lambda row: row["run"]):
        return None
    for row in script.get(f"releases/{release}/files/").json["results"]:
        content = script.get(urlsplit(row["address"]).path).content
        is_right = hashlib.sha256(content).hexdigest() == row["sha256"]
        script.journal.note("downloaded", release=release, path=row["path"], is_right=is_right)
    reply = script.post(f"releases/{release}/publish/")
    if reply.status == 200:
        script.journal.note("published", release=release, digest=reply.json["digest"])
    else:
        script.refused("publish", reply)
    return None


def reviews_of_judging(script: Script, _number: int) -> None:
    """Accept or reject what was submitted."""
    place = f"campaigns/{script.order['campaign']}/assignments/"
    _decide(script, f"{place}?state=SUBMITTED&limit=20", place, "decided", "assignment")


def reviews_of_writing(script: Script, _number: int) -> None:
    """Accept or reject responses."""
    _decide(script, "review/?state=SUBMITTED&limit=20", "review/", "reviewed", "task")


def _decide(script: Script, listed: str, place: str, what: str, name: str) -> None:
    for row in script.get(listed).json["results"]:
        rejects = script.rng.random() < REJECTS
        action, body = ("reject", {"reason": "Too short."}) if rejects else ("accept", {"note": ""})
        reply = script.post(f"{place}{row['external_id']}/{action}/", body)
        if reply.status == 200:
            script.journal.note(what, **{name: row["external_id"]}, state=reply.json["state"])
        elif reply.status != 409:
            script.refused(action, reply)


WORK = (model_judges, model_writers, experiments, analyses, exports, releases, reviews_of_judging, reviews_of_writing)


def work(order: dict[str, Any], number: int, journal: Journal) -> None:
    """One kind of work, again and again."""
    what = WORK[number]
    is_review = what in (reviews_of_judging, reviews_of_writing)
    script = Script(
        order, "reviewer" if is_review else "researcher", journal, random.Random(f"{order['seed']}/script/{number}")
    )
    turn = 0
    while not client.is_finishing(order):
        turn += 1
        what(script, turn)
        script.pause()
    journal.note("counted", who=what.__name__, sent=script.client.sent, resent=script.client.resent)


if __name__ == "__main__":
    client.main("researchers", work, lambda _order: len(WORK))
