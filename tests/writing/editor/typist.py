"""An editor's side of the protocol for tests: it numbers events and batches and sends them, without a browser."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from django.test import Client
from django.urls import reverse

from crowdrag.studies.models import Consent
from tests.factories import NOW, WritingPlanFactory, WritingTaskFactory
from tests.participants import as_participant
from writing.editor import codec
from writing.models import WritingPlan, WritingTask

Event = list[Any]


def digest(text: str) -> str:
    """The check sum that the editor sends."""
    return hashlib.sha256(text.encode()).hexdigest()


def typed(text: str, *, at: int = 0, ms: int = 0, every: int = 150) -> list[Event]:
    """The events of typing a text: a splice a character, as the editor records it."""
    return [["s", ms + i * every, at + i, 0, character, "typed", "insertText"] for i, character in enumerate(text)]


def consented(task: WritingTask) -> WritingTask:
    """See to it that the study has a plan, and the task's writer consented to its text."""
    plan = WritingPlan.objects.filter(study=task.study).first() or WritingPlanFactory(study=task.study)
    Consent.objects.get_or_create(participant=task.participant, text=plan.consent_text, defaults={"given_at": NOW})
    return task


class Editor:
    """One tab: opens a session and sends batches in it."""

    def __init__(self, task: WritingTask | None = None, client: Client | None = None) -> None:
        self.task = consented(task or WritingTaskFactory(claimed=True))
        self.client = client or Client(enforce_csrf_checks=False)
        if client is None:
            as_participant(self.client, self.task.participant)
        self.told: dict[str, Any] = {}
        self.number = self.first = 0
        self.text = ""

    def url(self, name: str) -> str:
        return reverse(name, args=[self.task.study.slug, self.task.external_id])

    def post(self, url: str, body: Any, **headers: str) -> Any:
        return self.client.post(url, json.dumps(body), content_type="application/json", headers=headers)

    def open(self, **device: Any) -> Any:
        """Open a session; keep what was told."""
        answer = self.post(self.url("writing_session"), {"device": device, "clock": 0})
        if answer.status_code == 201:
            self.told = answer.json()
            self.number, self.first, self.text = self.told["next_batch"], self.told["next_event"], self.told["text"]
        return answer

    def batch(self, events: Sequence[Event]) -> dict[str, Any]:
        """The next batch, not sent yet."""
        return {"number": self.number, "first": self.first, "events": list(events), "wall": 0, "mono": 0.5}

    def post_batch(self, batch: dict[str, Any], token: str | None = None) -> Any:
        return self.post(reverse("writing_log"), batch, **{"X-Writing-Token": token or self.told["token"]})

    def send(self, events: Sequence[Event]) -> Any:
        """Send events as the next batch; when it is acknowledged, go on."""
        answer = self.post_batch(self.batch(events))
        if answer.status_code == 200:
            self.number += 1
            self.first += len(events)
            replay = codec.Replay()
            replay.text = self.text
            for event in events:
                replay.apply(event)
            self.text = replay.text
        return answer

    def type(self, text: str) -> Any:
        """Type at the end."""
        return self.send(typed(text, at=len(self.text)))

    def finish(self, **other: Any) -> Any:
        said = {"session": self.told["session"], "events": self.first, "digest": digest(self.text)} | other
        return self.post(self.url("writing_finish"), said)
