"""An export is whole or not there, is of one moment, and takes little memory however large the study is."""

import json
import signal
import tracemalloc
import zipfile
from itertools import pairwise
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import InternalError, connection

from analysis.archive import services
from analysis.archive import writer as archive_writer
from analysis.archive.writer import Package
from annotation.models import Item, Judgment, Pair, QuestionnaireItem
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.models import Study
from tests import factories
from tests.analysis.archive.exported import contents, export, rows
from tests.analysis.other_processes import python
from tests.analysis.whole_study import whole_study
from writing.models import Passage, Response

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("own_files")]


def left_behind(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file()]


def ended_by(error: BaseException, format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an export of this format end by an error after all is written."""
    write = services.WRITERS[format_]

    def ended(package: Package, work: kinds.Work) -> dict[str, Any]:
        write(package, work)
        raise error

    monkeypatch.setitem(services.WRITERS, format_, ended)


@pytest.mark.parametrize("format_", ["archive", pytest.param("crowdrag25", marks=pytest.mark.extended)])
def test_an_error_in_the_middle_leaves_nothing(format_: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended_by(OSError(28, "No space left on device"), format_, monkeypatch)
    monkeypatch.setattr("crowdrag.jobs.leases.MAX_ATTEMPTS", 1)
    run = lifecycle.wait(services.start(study=whole_study(), format_=format_))
    assert run.state == RunState.FAILED
    assert "No space left" in run.error
    assert not Artifact.objects.exists()
    assert left_behind(tmp_path) == []


@pytest.mark.extended
def test_a_cancelled_export_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended_by(kinds.RunCancelledError(), "archive", monkeypatch)
    run = services.start(study=whole_study(), format_="archive")
    with pytest.raises(kinds.RunCancelledError):
        services.work(kinds.Work(run, run.units.get()), format_="archive")
    assert left_behind(tmp_path) == []


KILLED = """
import os, signal, django
django.setup()
from analysis.archive import services
from crowdrag.jobs import worker
from crowdrag.jobs.models import Run

def killed(package, work):
    exporting_as_ever(package, work)
    package._file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

exporting_as_ever = services.WRITERS["archive"]
services.WRITERS["archive"] = killed
worker.work_next(Run.objects.get(kind="export.archive"))
"""


@pytest.mark.extended
def test_killed_in_the_middle_and_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = services.start(study=whole_study(), format_="archive")
    process = python("-c", KILLED, CROWDRAG_DATA_DIR=str(tmp_path))
    _out, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    # What it wrote so far is there, under no name that anybody would take for an export.
    assert left_behind(tmp_path) == [f"export-{run.key}-1.partial"]
    assert not Artifact.objects.exists()
    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    # Its lease runs out; another worker does it again, and clears up.
    run = lifecycle.wait(run)
    assert run.state == RunState.DONE
    assert left_behind(tmp_path) == ["whole-archive.zip"]
    with zipfile.ZipFile(run.artifacts.get().file.path) as zipped:
        assert zipped.testzip() is None


def test_is_of_one_moment_while_others_write(monkeypatch: pytest.MonkeyPatch) -> None:
    study = whole_study()
    before = {name: content for name, content in contents(export(study)).items() if name != "manifest.json"}
    written = []

    def write_meanwhile() -> None:
        try:
            topic = factories.TopicFactory(study=study)
            factories.RetrievedPassageFactory(topic=topic, passage=Passage.objects.filter(study=study).first())
            Response.objects.filter(study=study).update(is_included=False)
            written.append(topic)
        finally:
            connection.close()

    def interrupted(table: Any, *arguments: Any) -> None:
        archiving_as_ever(table, *arguments)
        if table.name == "study":
            thread = Thread(target=write_meanwhile)
            thread.start()
            thread.join()

    archiving_as_ever = archive_writer.write_table
    monkeypatch.setattr(archive_writer, "write_table", interrupted)
    during = contents(export(study))
    assert len(written) == 1
    assert {name: content for name, content in during.items() if name != "manifest.json"} == before


def test_writes_nothing_to_the_database_while_it_reads() -> None:
    study = whole_study()

    def writing(*_: Any) -> dict[str, Any]:
        factories.TopicFactory(study=study)
        return {}

    run = Run.objects.create(study=study, kind="export.archive", code_version="1", created_at=factories.NOW)
    work = SimpleNamespace(run=run, unit=SimpleNamespace(fence=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(services.WRITERS, "archive", writing)
        with pytest.raises(InternalError, match="read-only"):
            services.work(work, format_="archive")  # type: ignore[arg-type]


def filled(pairs: int, people: int) -> Study:
    """A study in which each of the pairs was judged by each of the people."""
    topic = factories.TopicFactory()
    study = topic.study
    campaign, dimension = factories.CampaignFactory(study=study), factories.DimensionFactory(study=study)
    writer, style = factories.ParticipantFactory(study=study), factories.StyleFactory(study=study)
    head = {"study": study, "topic": topic, "style": style, "participant": writer, "created_at": factories.NOW}
    responses = Response.objects.bulk_create(
        Response(external_id=f"r{n}", origin="HUMAN", text="word " * 250, words=250, **head) for n in range(pairs + 1)
    )
    shown = Pair.objects.bulk_create(Pair(study=study, a=a, b=b) for a, b in pairwise(responses))
    items = Item.objects.bulk_create(Item(campaign=campaign, pair=pair, topic=topic) for pair in shown)
    sheet = factories.QuestionnaireFactory(campaign=campaign)
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=sheet, item=item, position=n) for n, item in enumerate(items)
    )
    Judgment.objects.bulk_create(
        (
            Judgment(assignment=each, item=item, dimension=dimension, value=n % 3 - 1, justification="so " * 30)
            for each in factories.AssignmentFactory.create_batch(people, questionnaire=sheet)
            for n, item in enumerate(items)
        ),
        batch_size=5000,
    )
    return study


def peak_of(study: Study) -> int:
    run = services.start(study=study, format_="archive")
    tracemalloc.start()
    try:
        services.work(kinds.Work(run, run.units.get()), format_="archive")
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.soak
def test_memory_does_not_grow_with_the_study() -> None:
    small, large = filled(pairs=200, people=10), filled(pairs=1000, people=20)
    peak_of(small)  # what is loaded once
    few, many = peak_of(small), peak_of(large)
    size = sum(len(json.dumps(row)) for row in rows(contents(export(large))["data/judgments.jsonl.gz"]))
    assert size > 4_000_000
    # Ten times the judgments: a few bytes each for where they stand, and the chunk that is at work.
    assert many - few < 1_500_000, (few, many)
    assert many < 12_000_000


@pytest.mark.extended
def test_progress_goes_up_to_all_rows() -> None:
    study = whole_study()
    reported: list[tuple[int, int, str]] = []
    run = services.start(study=study, format_="archive")
    services.work(kinds.Work(run, run.units.get(), lambda *each: reported.append(each)), format_="archive")
    steps = [done for done, _total, _message in reported]
    assert {total for _done, total, _message in reported} == {sum(archive_writer.counts(study).values())} == {steps[-1]}
    assert steps == sorted(steps)
