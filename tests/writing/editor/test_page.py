"""The editor's page as the server gives it: who gets it, what is in it, and what it fetches."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.factories import NOW, ParticipantFactory, WritingTaskFactory
from tests.pages.editor_study import Desk, desk
from tests.participants import as_participant
from writing.assignments.lifecycle import TASKS
from writing.editor import script_messages, sessions
from writing.enums import SurveyKind
from writing.models import WritingPlan, WritingTask
from writing.plans import surveys

SCRIPTS = Path(__file__).resolve().parents[3] / "static/js"


@pytest.fixture
def at(client: Client, db: None) -> Desk:
    made = desk()
    as_participant(client, made.writer)
    return made


def step(at: Desk) -> str:
    return reverse("writing_task", args=[at.task.study.slug, at.task.external_id])


def change(at: Desk, **fields: Any) -> None:
    WritingTask.objects.filter(pk=at.task.pk).update(**fields)


def test_the_page_has_the_topic_the_passages_and_the_instructions_until_somebody_has_sat_down(
    client: Client, at: Desk
) -> None:
    html = client.get(at.path).content.decode()
    for shown in ("Why do tides differ", "Begin with a thesis.", "Write, and cite.", "2.50", 'data-target="250"'):
        assert shown in html, shown
    assert [f'id="passage-{rank}"' in html for rank in (0, 19, 20)] == [True, True, False]
    assert '<details id="instructions" open>' in html
    sessions.open_session(task=at.task, device={}, now=timezone.now())
    assert '<details id="instructions">' in client.get(at.path).content.decode()


def test_who_revises_reads_what_to_revise(client: Client, at: Desk) -> None:
    assert 'id="sent-back"' not in client.get(at.path).content.decode()
    change(at, revises=WritingTaskFactory(claimed=True, topic__study=at.task.study))
    TASKS.record(at.task, "", "sent back for revision", note="Cite <b>more</b>.", now=timezone.now())
    page = client.get(at.path).content.decode()
    for shown in ('id="sent-back" open>', "Cite &lt;b&gt;more&lt;/b&gt;.", '<details id="instructions">'):
        assert shown in page, shown


def test_it_takes_few_queries_is_kept_by_no_cache_and_comes_compressed(
    client: Client, at: Desk, django_assert_max_num_queries: Any
) -> None:
    client.get(at.path)
    with django_assert_max_num_queries(9):
        response = client.get(at.path, headers={"accept-encoding": "gzip"})
    assert "no-store" in response["Cache-Control"]
    assert response["Content-Encoding"] == "gzip"


def test_the_token_is_masked_anew_each_time_and_nothing_is_reflected(client: Client, at: Desk) -> None:
    """What BREACH needs: a secret that stays the same, and text of the attacker's choice beside it."""
    first, second = (client.get(at.path + "?q=reflected-words").content.decode() for _ in range(2))
    tokens = [re.search(r'X-CSRFToken": "(\w+)"', page)[1] for page in (first, second)]  # type: ignore[index]
    assert tokens[0] != tokens[1]
    assert "reflected-words" not in first


def test_the_page_opens_for_whoever_consented_and_has_the_task_alone(client: Client, at: Desk) -> None:
    assert Client().get(at.path).status_code == 403
    stranger = ParticipantFactory(study=at.task.study)
    change(at, participant=stranger)
    assert client.get(at.path)["Location"] == step(at), "it is another one's now"
    as_participant(client, stranger)
    assert client.get(at.path)["Location"].startswith(reverse("participant_consent", args=[at.task.study.slug]))


@pytest.mark.parametrize("fields", [{"state": "SUBMITTED"}, {"state": "RETURNED"}, {"finished_at": NOW}], ids=str)
def test_what_is_not_to_be_written_now_is_led_to_its_step(client: Client, at: Desk, fields: dict[str, Any]) -> None:
    change(at, **fields)
    assert client.get(at.path)["Location"] == step(at)


def test_questions_come_first(client: Client, at: Desk) -> None:
    WritingPlan.objects.update(entry_survey=surveys.ensure(study=at.task.study, kind=SurveyKind.ENTRY, now=NOW))
    assert client.get(at.path)["Location"] == step(at)


def test_hostile_texts_are_text(client: Client, db: None) -> None:
    evil = "</script><script>alert(1)</script>\u202eevil <img src=x onerror=alert(2)> =cmd() 😀 {{ 7|add:7 }}"
    made = desk([evil], query=evil, narrative=evil)
    as_participant(client, made.writer)
    html = client.get(made.path).content.decode()
    assert "<script>alert" not in html
    assert "<img src=x" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "{{ 7|add:7 }}" in html


def test_the_scripts_say_what_the_server_words_and_nothing_else(client: Client, at: Desk) -> None:
    known = set(script_messages.editor())
    plain = {re.sub(r"\.(one|other)$", "", name) for name in known}
    scripts = [*(SCRIPTS / "editor").glob("*.js"), SCRIPTS / "assignments/deadline.js"]
    text = "\n".join(path.read_text() for path in scripts)
    said = set(re.findall(r'(?:say|told)\(\s*"([\w.]+)"', text)) - {"fenced", "closed"}
    missing = {name for name in said if name not in plain}
    assert missing == set()
    # Names that are put together: words.${length}, save.${kind}, finding.${kind}, ...
    beginnings = (*re.findall(r"`([a-z_]+\.)\$", text), "fenced.", "closed.")
    strings = set(re.findall(r'"([\w.]+)"', text))
    unused = {name for name in plain if name not in strings and not name.startswith(beginnings)}
    assert unused == set()
    assert json.loads(re.search(r'id="wording"[^>]*>(.*?)</script>', client.get(at.path).content.decode())[1])  # type: ignore[index]
