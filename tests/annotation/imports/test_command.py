"""`crowdrag import`: each kind of input becomes a run, and what is wrong becomes a message and a status."""

import gzip
import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotation.imports.crowdrag25 import record_schemas
from annotation.models import Dimension, Judgment
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from crowdrag.studies.study import services
from tests.annotation.shared import signed_in
from tests.factories import StudyFactory, TopicFactory
from writing.corpus.imports import importers
from writing.models import Response, Topic

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parents[2] / "data"
IMPORTS = DATA / "imports"


def command(*arguments: object) -> str:
    """Run the command and return what it wrote."""
    out = StringIO()
    call_command("import", *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def test_a_corpus_makes_its_study_and_the_same_again_changes_nothing() -> None:
    for counted in ("judgments", "judgments_unchanged"):
        out = command("crowdrag25", DATA / "crowdrag25", "--study", "small", "--title", "A small corpus")
        assert f"crowd-pairwise.{counted}: 56\n" in out
    assert Study.objects.get(slug="small").title == "A small corpus"
    first, second = Run.objects.order_by("id")
    assert (first.kind, first.state, first.summary["responses"]) == ("import.crowdrag25", RunState.DONE, 8)
    assert first.inputs_digest == second.inputs_digest
    assert len(first.inputs_digest) == 64
    assert Judgment.objects.filter(item__campaign__study__slug="small").count() == 56 + 63 + 21 + 21 + 14


def test_topics_and_then_responses_and_a_questionnaire() -> None:
    StudyFactory(slug="own")

    command("topics", IMPORTS / "topics.jsonl", "--study", "own")
    command("responses", IMPORTS / "responses.jsonl", "--study", "own", "--style", "news")
    command("questionnaire", IMPORTS / "questionnaire.json", "--study", "own")

    assert Topic.objects.filter(study__slug="own").count() == 2
    assert Response.objects.get(study__slug="own", participant__external_id="sys-b").style.name == "news"
    assert Dimension.objects.filter(study__slug="own").count() == 2


def test_trec() -> None:
    files = {"topics": "topics.trec", "run": "run.txt", "passages": "passages.jsonl"}
    given = [part for role, name in files.items() for part in (f"--{role}", IMPORTS / name)]
    assert "run_tag: my-run\n" in command("trec", *given, "--study", "t", "--depth", 1)
    assert Topic.objects.get(study__slug="t", external_id="t-1").retrieved.get().passage.external_id == "d-1"


def test_bad_input_is_told_line_by_line_and_makes_no_study(tmp_path: Path) -> None:
    bad, err = tmp_path / "topics.jsonl.gz", StringIO()
    bad.write_bytes(gzip.compress(json.dumps({"topic": "t-1", "query": 5, "passages": []}).encode()))
    StudyFactory(slug="old")
    for slug in ("fresh", "old"):
        with pytest.raises(CommandError, match="2"):
            call_command("import", "topics", str(bad), "--study", slug, stdout=StringIO(), stderr=err)
    lines = [line for line in err.getvalue().splitlines() if "topics.jsonl.gz, line" in line]
    places = [f"topics.jsonl.gz, line 1, {field}:" for field in ("query", "passages")]
    assert [line.startswith(place) for line, place in zip(lines, places * 2, strict=True)] == [True] * 4
    # Nor do a folder where a file is meant, a file that is not there, and a name that a page has.
    for path, slug in ((IMPORTS, "fresh"), (tmp_path / "nothing", "fresh"), (IMPORTS / "topics.jsonl", "new")):
        with pytest.raises(CommandError):
            command("topics", path, "--study", slug)
    assert [study.slug for study in Study.objects.all()] == ["old"]
    assert len(Run.objects.get().problems) == 2


def test_an_import_that_was_stopped_leaves_no_new_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_args: object, **_options: object) -> Run:
        raise KeyboardInterrupt

    monkeypatch.setattr("crowdrag.jobs.worker.follow", stop)
    with pytest.raises(KeyboardInterrupt):
        command("topics", IMPORTS / "topics.jsonl", "--study", "s")

    assert not Study.objects.exists()


@pytest.mark.parametrize("has_run", [False, True])
def test_a_study_that_holds_anything_is_not_discarded(has_run: bool) -> None:
    study = StudyFactory()
    if has_run:
        importers.start(study=study, importer=importers.get("topics"), files={"file": IMPORTS / "topics.jsonl"})
    else:
        TopicFactory(study=study)

    assert not services.discard(study)
    assert Study.objects.filter(pk=study.pk).exists()


def test_a_file_that_vanished_before_the_run_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "topics.jsonl"
    gone.write_text("")
    StudyFactory(slug="s")
    start = importers.start

    def start_and_lose(**options: object) -> Run:
        gone.unlink()
        return start(**options)  # type: ignore[arg-type]

    monkeypatch.setattr(importers, "start", start_and_lose)
    with pytest.raises(CommandError, match="1"):
        command("topics", gone, "--study", "s")
    assert len(Run.objects.get().problems) == 1


def test_the_page_of_the_corpus_names_every_file_that_is_read() -> None:
    study = StudyFactory()
    page = signed_in(study).get(reverse("import_form", args=[study.slug, "crowdrag25"])).content.decode()
    assert sorted(re.findall(r"(?:raw|artifacts)/([\w-]+)\.jsonl\.gz", page)) == sorted(record_schemas.FILES)
