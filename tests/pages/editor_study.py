"""Somebody at the editor: a study with a topic, its passages, and a task that is theirs to write."""

import time
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import BrowserContext, Locator, Page, expect

from crowdrag.studies.models import Participant, User
from crowdrag.studies.participants import consents
from tests.factories import (
    ParticipantFactory,
    PassageFactory,
    RetrievedPassageFactory,
    StyleFactory,
    TopicFactory,
    WritingPlanFactory,
    WritingTaskFactory,
)
from tests.participants import as_participant
from writing.editor import logs
from writing.models import Topic, WritingTask

SENTENCES = (
    "The tide follows the moon, and at new and full moon the sun's pull adds to it.",
    "A funnel of land raises the water at its narrow end, so that the range grows from the mouth inwards.",
    "Where two waves meet from either side, the range may fall to almost nothing.",
    "Gauges have been read by hand since 1711, and by wire since the middle of the last century.",
    "Wind and air pressure change the height by as much as a metre, which no table foretells.",
)


def passage_text(rank: int) -> str:
    """A text of a hundred words or so, another for each rank."""
    turned = SENTENCES[rank % 5 :] + SENTENCES[: rank % 5]
    return f"Harbour {rank} lies on the northern coast. " + " ".join(turned) + f" Its mark is the number {1000 + rank}."


@dataclass
class Desk:
    """A task with whose it is."""

    task: WritingTask
    writer: Participant

    @property
    def path(self) -> str:
        return reverse("writing_editor", args=[self.task.study.slug, self.task.external_id])


def topic_with(texts: list[str], **fields: Any) -> Topic:
    """A topic and its ranked passages."""
    topic = TopicFactory(**({"query": "Why do tides differ from harbour to harbour?"} | fields))
    for rank, text in enumerate(texts):
        passage = PassageFactory(study=topic.study, text=text)
        RetrievedPassageFactory(topic=topic, passage=passage, rank=rank)
    return topic


def desk(texts: list[str] | None = None, *, target: int = 250, **fields: Any) -> Desk:
    """A claimed task of a writer who has consented; 20 passages unless others are given."""
    topic = topic_with([passage_text(rank) for rank in range(20)] if texts is None else texts, **fields)
    plan = WritingPlanFactory(study=topic.study)
    style = StyleFactory(
        study=topic.study, name="essay", label="Essay", target_words=target, instructions="Begin with a thesis."
    )
    writer = ParticipantFactory(study=topic.study)
    assert plan.consent_text is not None
    consents.give(participant=writer, text=plan.consent_text, now=timezone.now())
    task = WritingTaskFactory(
        claimed=True, topic=topic, style=style, participant=writer, instructions=plan.instructions
    )
    return Desk(task, writer)


def enter(context: BrowserContext, base: str, writer: Participant) -> None:
    """Let the browser be this writer's, as their link does."""
    client = Client()
    as_participant(client, writer)
    _take_session(context, base, client)


def admit(context: BrowserContext, base: str, user: User) -> None:
    """Let the browser be this user's, as signing in does."""
    client = Client()
    client.force_login(user)
    _take_session(context, base, client)


def _take_session(context: BrowserContext, base: str, client: Client) -> None:
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": base}])


def sit_down(page: Page, base: str, at: Desk) -> None:
    """Open the editor and wait until one can write."""
    enter(page.context, base, at.writer)
    page.goto(base + at.path)
    page.wait_for_selector("#text:not([disabled])")


def leave(context: BrowserContext) -> None:
    """Leave every page, and wait until the server has done what they last asked for."""
    context.set_offline(False)
    for page in context.pages:
        page.goto("about:blank")
    left_alone()


def left_alone() -> None:
    """Wait until the server has done the last of what a browser that has gone asked: it must not meet the flush."""
    name = connection.settings_dict["NAME"]
    quiet = 0
    for _ in range(400):
        time.sleep(0.02)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND state <> 'idle'", [name])
            quiet = quiet + 1 if cursor.fetchone()[0] <= 1 else 0
        if quiet > 2:
            return


def field(page: Page) -> Locator:
    """The text field."""
    return page.locator("#text")


def write(page: Page, text: str) -> None:
    """Put text in at the caret, as an input method does: quicker than keys, and no list opens."""
    field(page).focus()
    page.keyboard.insert_text(text)


def findings(page: Page) -> Locator:
    """What the checks found."""
    return page.locator("#findings li")


def saved(page: Page) -> None:
    """Wait until the page says that all is saved."""
    expect(page.locator("#save-state")).to_have_attribute("data-state", "saved", timeout=15_000)


def recorded(at: Desk) -> list[list[Any]]:
    """What the server has of the log."""
    log = logs.log_of(at.task)
    assert log is not None
    return list(logs.events(log))
