"""`crowdrag import`: each kind of input becomes a run, and what is wrong becomes a message and a status."""

import gzip
import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.domain.imports.crowdrag25 import shapes
from annotation.models import Dimension, Judgment
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from crowdrag.studies.domain import studies
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory, TopicFactory
from writing.domain.imports import importers
from writing.models import Response, Topic

pytestmark = pytest.mark.django_db

DATA = Path(__file__).parent.parent / "data"
IMPORTS = DATA / "imports"


def command(*arguments: object) -> tuple[str, str]:
    """Run the command and return what it wrote."""
    out, err = StringIO(), StringIO()
    call_command("import", *map(str, arguments), stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_a_corpus_makes_its_study() -> None:
    out, _ = command("crowdrag25", DATA / "crowdrag25", "--study", "small", "--title", "A small corpus")

    assert Study.objects.get(slug="small").title == "A small corpus"
    assert out.startswith("Made the study small.\n")
    assert "crowd-pairwise.judgments: 56\n" in out
    run = Run.objects.get(study__slug="small")
    assert (run.kind, run.state) == ("import.crowdrag25", RunState.DONE)
    assert run.summary["responses"] == 8
    assert len(run.inputs_digest) == 64
    assert Judgment.objects.filter(item__campaign__study__slug="small").count() == 56 + 63 + 21 + 21 + 14


def test_a_study_is_not_made_under_the_name_of_a_page() -> None:
    with pytest.raises(CommandError, match="--study new"):
        command("topics", IMPORTS / "topics.jsonl", "--study", "new")
    assert not Study.objects.exists()


def test_the_same_input_has_the_same_digest_and_changes_nothing() -> None:
    for _ in range(2):
        out, _err = command("crowdrag25", DATA / "crowdrag25", "--study", "small")

    first, second = Run.objects.order_by("id")
    assert first.inputs_digest == second.inputs_digest
    assert "crowd-pairwise.judgments:" not in out
    assert "crowd-pairwise.judgments_unchanged: 56\n" in out


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

    out, _ = command(
        "trec",
        *(part for role, name in files.items() for part in (f"--{role}", IMPORTS / name)),
        "--study",
        "t",
        "--depth",
        1,
    )

    assert Topic.objects.get(study__slug="t", external_id="t-1").retrieved.get().passage.external_id == "d-1"
    assert "run_tag: my-run\n" in out


def test_bad_input_is_told_line_by_line_and_fails(tmp_path: Path) -> None:
    bad = tmp_path / "topics.jsonl.gz"
    bad.write_bytes(gzip.compress(json.dumps({"topic": "t-1", "query": 5, "passages": []}).encode()))
    err = StringIO()

    with pytest.raises(CommandError, match="The input has 2 problems; nothing was changed"):
        call_command("import", "topics", str(bad), "--study", "s", stdout=StringIO(), stderr=err)

    assert err.getvalue().splitlines() == [
        "topics.jsonl.gz, line 1, query: got 5 (expected: a text that is not empty)",
        "topics.jsonl.gz, line 1, passages: has 0 (expected: a list with 1 or more entries)",
    ]
    assert not Study.objects.exists()


def test_a_refused_import_leaves_no_new_study_and_keeps_one_that_was_there(tmp_path: Path) -> None:
    bad = tmp_path / "topics.jsonl"
    bad.write_text(json.dumps({"topic": "t-1", "query": 5, "passages": []}))
    StudyFactory(slug="old")

    for slug in ("new", "old"):
        out = StringIO()
        with pytest.raises(CommandError):
            call_command("import", "topics", str(bad), "--study", slug, stdout=out, stderr=StringIO())
        assert out.getvalue() == ""

    assert [study.slug for study in Study.objects.all()] == ["old"]
    assert len(Run.objects.get().problems) == 2


def test_an_import_that_was_stopped_leaves_no_new_study(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_args: object, **_options: object) -> Run:
        raise KeyboardInterrupt

    monkeypatch.setattr("crowdrag.runs.domain.waiting.follow", stop)
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

    assert not studies.discard(study)
    assert Study.objects.filter(pk=study.pk).exists()


def test_a_conflict_with_the_study_is_told_the_same_way(tmp_path: Path) -> None:
    command("topics", IMPORTS / "topics.jsonl", "--study", "s")
    bad = tmp_path / "responses.jsonl"
    bad.write_text(json.dumps({"topic": "t-9", "run": "r", "text": "x"}))
    err = StringIO()

    with pytest.raises(CommandError, match="1 problem; nothing was changed"):
        call_command("import", "responses", str(bad), "--study", "s", stdout=StringIO(), stderr=err)

    assert err.getvalue().startswith("responses.jsonl, line 1, topic: there is no topic t-9")


def test_a_path_that_is_not_there_makes_no_study(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no "):
        command("topics", tmp_path / "nothing", "--study", "s")

    assert not Study.objects.exists()


def test_a_folder_where_one_file_is_meant_is_refused(tmp_path: Path) -> None:
    StudyFactory(slug="s")
    with pytest.raises(CommandError, match="1 problem"):
        command("topics", IMPORTS, "--study", "s")

    assert Run.objects.get().problems[0]["expected"] == "one file"


def test_a_file_that_vanished_before_the_run_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "topics.jsonl"
    gone.write_text("")
    StudyFactory(slug="s")
    start = importers.start

    def start_and_lose(**options: object) -> Run:
        gone.unlink()
        return start(**options)  # type: ignore[arg-type]

    monkeypatch.setattr(importers, "start", start_and_lose)
    with pytest.raises(CommandError, match="1 problem"):
        command("topics", gone, "--study", "s")

    assert Run.objects.get().problems[0]["message"] == "cannot be opened: No such file or directory"


def test_the_page_of_the_corpus_names_every_file_that_is_read(client: Client) -> None:
    member = MembershipFactory(role=Role.EDITOR)
    client.force_login(member.user)
    page = client.get(reverse("importing", args=[member.study.slug, "crowdrag25"])).content.decode()
    named = re.findall(r"(?:raw|artifacts)/([\w-]+)\.jsonl\.gz", page)
    assert sorted(named) == sorted(shapes.FILES)
