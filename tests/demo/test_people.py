"""The demo's writers write through the editor's own calls; what they write disturbs nothing else."""

import json
from datetime import timedelta
from random import Random

import pytest
from django.test import Client

from analysis.writing_process import review_signals
from crowdrag.demo import setup, texts, typist, writers
from crowdrag.studies.models import Study, User
from crowdrag.studies.study import services
from tests.factories import NOW, RetrievedPassageFactory, StudyFactory, TopicFactory, UserFactory, WritingTaskFactory
from writing.editor import codec, events, logs
from writing.editor.codec import SPLICE
from writing.enums import TaskState
from writing.models import Response, WritingTask
from writing.progress import overview

pytestmark = pytest.mark.django_db
TEXT = (
    "Shade cools the street. [0] Roots lift the pavement, and care costs more than planting. [1, 2]\n\nIt is worth it."
)


@pytest.fixture
def study() -> Study:
    study = StudyFactory(slug="demo", is_simulated=True)
    for name in ("demo-1", "demo-4", "demo-5"):
        topic = TopicFactory(study=study, external_id=name)
        for rank in range(20):
            RetrievedPassageFactory(topic=topic, rank=rank)
    return study


@pytest.fixture
def user() -> User:
    return UserFactory()


@pytest.mark.parametrize("manner", list(typist.MANNERS))
def test_a_typist_leaves_a_log_that_rebuilds_the_text(manner: str) -> None:
    task = WritingTaskFactory(claimed=True)
    typist.write(task=task, text=TEXT, manner=manner, rng=Random(1), now=NOW)
    task.refresh_from_db()
    log = logs.log_of(task)
    assert log is not None
    assert (task.draft, codec.final_text(logs.events(log))) == (TEXT, TEXT)
    found = [event for batch in log.batches.order_by("number") for event in codec.unpack(bytes(batch.payload))]
    assert {event[0] for event in found} <= set(events.BY_CODE)
    assert [event[1] for event in found] == sorted(event[1] for event in found)
    deleted = [event for event in found if event[0] == SPLICE and event[5] == "deleted"]
    if manner != "pasted":  # whose few typed words may have a slip in them
        assert bool(deleted) is (manner == "careful")


def test_the_same_seed_types_the_same() -> None:
    def payloads(seed: int) -> list[bytes]:
        task = WritingTaskFactory(claimed=True)
        typist.write(task=task, text=TEXT, manner="careful", rng=Random(seed), now=NOW)
        return [bytes(batch.payload) for batch in logs.log_of(task).batches.order_by("number")]

    assert payloads(1) == payloads(1) != payloads(2)


def test_a_typist_who_was_killed_in_the_middle_begins_anew() -> None:
    task = WritingTaskFactory(claimed=True)
    typist.write(task=task, text="Something else [0].", manner="careful", rng=Random(1), now=NOW)
    typist.write(task=task, text=TEXT, manner="careful", rng=Random(1), now=NOW + timedelta(hours=1))
    task.refresh_from_db()
    assert task.draft == TEXT


def test_a_paste_from_elsewhere_is_told_as_the_page_tells_it() -> None:
    task = WritingTaskFactory(claimed=True)
    pasted = "Roots lift the pavement, and care costs more than planting."
    typist.write(task=task, text=TEXT, manner="pasted", pasted=pasted, rng=Random(1), now=NOW)
    found = list(logs.events(logs.log_of(task)))
    splice = next(event for event in found if event[0] == SPLICE and event[5] == "pasted")
    assert splice[4] == pasted
    told = next(event for event in found if event[0] == "p")
    assert told[2:4] == [events.ELSEWHERE, len(pasted)]


def test_each_manner_shows_its_own_signals_and_no_others() -> None:
    found = {}
    for number, script in enumerate(json.loads((texts.FOLDER / "writers.json").read_text())["scripts"]):
        desk = typist.EditorClient(Random(writers.SEED + number), typist.MANNERS[script["manner"]])
        typist.perform(desk, script["text"], script.get("pasted", ""))
        told = review_signals.signals(desk.events, ["A passage."], desk.text)
        found[script["writer"], script["topic"]] = {each.name for each in told if each.level in {"note", "strong"}}
    assert found == {
        ("typist-1", "demo-4"): set(),
        ("typist-1", "demo-5"): set(),
        ("typist-2", "demo-4"): {"paste_from_elsewhere", "away_before_paste"},
        ("typist-3", "demo-4"): {"uniform_rhythm", "no_corrections", "transcription"},
    }


@pytest.mark.extended
def test_writers_hand_in_trials_that_wait_for_review(study: Study, user: User) -> None:
    link = writers.ensure(study=study, user=user, now=NOW)
    tasks = WritingTask.objects.filter(study=study, participant__isnull=False)
    assert {(task.is_trial, task.participant.is_simulated) for task in tasks} == {(True, True)}
    assert sorted(tasks.values_list("state", flat=True)) == [TaskState.ACCEPTED] + [TaskState.SUBMITTED] * 3
    assert not Response.objects.filter(study=study).included().exists()
    assert all(task.active_seconds > 10 for task in tasks)
    found = overview.overview(study)
    assert (found.waiting, found.spending.paid) == (3, writers.TERMS["pay"])
    assert [stage.people for stage in found.stages] == [0, 3, 3, 3, 3, 3, 1]
    before = list(tasks.order_by("id").values())
    assert writers.ensure(study=study, user=user, now=NOW) == link
    assert list(tasks.order_by("id").values()) == before


@pytest.mark.extended
def test_a_plan_that_somebody_closed_stays_closed(study: Study, user: User) -> None:
    writers.ensure(study=study, user=user, now=NOW)
    study.writing_plan.__class__.objects.update(is_open=False)
    writers.ensure(study=study, user=user, now=NOW)
    assert not study.writing_plan.__class__.objects.get().is_open


def test_the_link_lets_anybody_in(study: Study, user: User, settings, tmp_path) -> None:
    settings.DATA_DIR = tmp_path
    link = writers.ensure(study=study, user=user, now=NOW)
    page = Client().get(writers.address(link))
    assert page.status_code == 200
    assert "3.50" in page.content.decode()
    assert study.slug == setup.SLUG
    assert services.Study.objects.count() == 1
