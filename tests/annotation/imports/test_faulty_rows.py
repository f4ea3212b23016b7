"""A published corpus is not refused because of single rows: they are set aside or imported in part, counted, listed."""

import gzip
import json
from collections.abc import Callable, Iterator
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from annotation.models import Judgment
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from tests.annotation.imports.published_corpora import CORPUS, Folder, Rows, bring_in, everything, stored
from tests.factories import StudyFactory
from writing.corpus.imports.importers import Stored
from writing.corpus.imports.problems import BadInput
from writing.models import Response, WritingTask

pytestmark = pytest.mark.django_db

TASKS, SNAPSHOTS, VOTES = "raw/study1_tasks", "raw/study1_responses_human", "raw/study2_responses"
POINTWISE, EXPERTS, COMBINED = "raw/study2_pointwise", "raw/expert-response", "raw/llm_ratings_combined"
NAMES = (
    "correctness_topical",
    "coherence_logical",
    "coherence_stylistic",
    "coverage_broad",
    "coverage_deep",
    "consistency_internal",
    "quality_overall",
)


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "corpus")


def second_asking(rows: Rows) -> None:
    """Ask a pair again, and get one of seven ratings, as in the published file."""
    rows.append(rows[1] | {"ratings": {"Q1_rating": "B", "Q1_justification": "cut"}})


def judgments_of(campaign: str) -> int:
    return Judgment.objects.filter(item__campaign__name=campaign).count()


def as_published(folder: Folder) -> None:
    """Put into the folder what the published one holds beside its data, and the answer that broke off."""
    for part in ("raw", "artifacts"):
        (folder.path / part / "README.md").write_text(f"# What is in {part}\n")
    (folder.path / "LICENSE").write_text("CC BY 4.0\n")
    (folder.path / "artifacts/grades.jsonl.gz").write_bytes(gzip.compress(b'{"response": "h-1"}\n'))
    rows = folder.rows(COMBINED)
    second_asking(rows)
    (folder.path / f"{COMBINED}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_the_folder_as_published_is_imported_and_refused_if_one_is_strict(study: Study, folder: Folder) -> None:
    as_published(folder)
    with pytest.raises(BadInput) as bad:
        bring_in(study, folder.path, strict=True)
    assert [(problem.file, problem.line) for problem in bad.value.problems] == [(f"{COMBINED}.jsonl", 4)]
    assert not Response.objects.exists()
    found = stored(study, folder.path)
    assert (found.summary["set_aside"], found.summary["incomplete"]) == ({}, {f"{COMBINED}.jsonl": 1})
    assert [(fault["file"], fault["line"]) for fault in found.faults] == [(f"{COMBINED}.jsonl", 4)]
    assert set(found.faults[0]["field"].split(", ")) == set(NAMES[1:])
    # The second asking is a repeat with the one label that it has.
    again = Judgment.objects.filter(item__campaign__name="model-combined", item__pair__a__external_id="m-1", repeat=1)
    assert list(again.values_list("dimension__name", "value", "justification")) == [(NAMES[0], 1, "cut")]
    assert judgments_of("model-combined") == 22
    before = everything()
    assert stored(study, folder.path).summary["incomplete"] == found.summary["incomplete"]
    assert everything() == before


# A file, what is changed in it, the line that is set aside, and how many judgments of which campaign are left.
UNUSABLE: list[tuple[str, Callable[[Rows], Any], int, str, int]] = [
    (VOTES, lambda rows: rows[2].pop("worker"), 3, "crowd-pairwise", 49),
    (VOTES, lambda rows: rows.append(rows[0]), 9, "crowd-pairwise", 56),
    (VOTES, lambda rows: rows[2].update(response_b="m-9"), 3, "crowd-pairwise", 49),
    (VOTES, lambda rows: rows[2].update(query_id="t-9"), 3, "crowd-pairwise", 49),
    (VOTES, lambda rows: rows[3].update(item_index=3), 4, "crowd-pairwise", 49),
    (VOTES, lambda rows: [rows[2].pop(name) for name in ("validity", *NAMES[1:])], 3, "crowd-pairwise", 49),
    (POINTWISE, lambda rows: rows[0].update(submission_id=None), 1, "crowd-pointwise", 63 - 3 * 7),
    (EXPERTS, lambda rows: rows[0]["slide"].pop("3"), 3, "experts-pairwise", 14),
    (COMBINED, lambda rows: rows[2].update(ratings="broken off"), 3, "model-combined", 21),
]


def each_import(study: Study, path: Path, changes: list[tuple[str, Callable[[Rows], Any]]]) -> Iterator[Stored]:
    """Import the corpus with one change at a time, as the first import of the study; it is undone after each."""
    for number, (file, change) in enumerate(changes):
        folder = Folder(path / str(number))
        folder.change(file, change)
        with transaction.atomic():
            yield stored(study, folder.path)
            transaction.set_rollback(True)


@pytest.mark.parametrize("some", [slice(0, None, 4), pytest.param(slice(None), marks=pytest.mark.extended)])
def test_a_row_that_cannot_be_used_is_set_aside(study: Study, folder: Folder, tmp_path: Path, some: slice) -> None:
    cases = UNUSABLE[some]
    imports = each_import(study, tmp_path, [case[:2] for case in cases])
    for result, (file, _change, line, campaign, left) in zip(imports, cases, strict=True):
        assert line in [fault["line"] for fault in result.faults]
        assert (set(result.summary["set_aside"]), judgments_of(campaign)) == ({f"{file}.jsonl.gz"}, left)
    # Of each file the first case, all at once: the folder comes again, and touches nothing.
    for file, change, *_rest in {case[0]: case for case in reversed(UNUSABLE)}.values():
        folder.change(file, change)
    first = stored(study, folder.path)
    before = everything()
    assert stored(study, folder.path).summary["set_aside"] == first.summary["set_aside"]
    assert len(first.summary["set_aside"]) == 4
    assert everything() == before


@pytest.mark.extended
def test_a_label_that_is_missing_or_none_is_missing_and_the_rest_counts(study: Study, tmp_path: Path) -> None:
    name = "coverage_deep"

    def change_to(file: str, label: Any) -> Callable[[Rows], Any]:
        labels = {name: label, "Q5_rating": label}
        return lambda rows: (rows[0]["ratings"] if file == COMBINED else rows[0]).update(labels)

    cases = [(VOTES, label) for label in (None, "", "both", 3, ["A"])]
    cases += product((COMBINED, "artifacts/llm_ratings"), (None, "both"))
    imports = each_import(study, tmp_path, [(file, change_to(file, label)) for file, label in cases])
    for (file, _label), result in zip(cases, imports, strict=True):
        votes = Judgment.objects.filter(item__campaign__name="crowd-pairwise")
        assert result.summary["incomplete"] == {f"{file}.jsonl.gz": 1}
        assert [(fault["line"], fault["field"]) for fault in result.faults] == [(1, name)]
        counts = (votes.count(), votes.filter(dimension__name=name).count())
        assert counts == ((55, 7) if file == VOTES else (56, 8))


def test_a_letter_counts_in_either_case(study: Study, folder: Folder) -> None:
    folder.change(VOTES, lambda rows: [row.update(validity=row["validity"].lower()) for row in rows])
    folder.change("artifacts/llm_ratings", lambda rows: [row.update(coverage_deep="a") for row in rows])
    assert bring_in(study, folder.path)["made"]["crowd-pairwise"]["judgments"] == 56


def test_lines_that_are_not_json_or_not_text_are_set_aside(study: Study, folder: Folder) -> None:
    path = folder.path / f"{VOTES}.jsonl"
    path.write_bytes(b'{"broken": \n' + path.read_bytes() + b"\xff\xfe\xfd\n[1]\n" + b'{"worker": 1}\n' * 500)
    found = stored(study, folder.path)
    assert found.summary["set_aside"] == {f"{VOTES}.jsonl": 503}
    lines = [fault["line"] for fault in found.faults]
    assert (lines[:3], len(lines)) == ([1, 10, 11], 100)  # a hundred are listed
    assert judgments_of("crowd-pairwise") == 56


def test_what_a_broken_task_takes_with_it_is_counted(study: Study, folder: Folder) -> None:
    folder.change(TASKS, lambda rows: rows[0].update(topic="t-7"))

    found = stored(study, folder.path)

    log = sum(row["response"] == "h-1" for row in folder.rows(SNAPSHOTS))
    pairs = sum("h-1" in (row["response_a"], row["response_b"]) for row in folder.rows(VOTES))
    assert WritingTask.objects.count() == 3
    assert found.summary["made"]["responses"] == 7
    assert found.summary["set_aside"][f"{TASKS}.jsonl.gz"] == 1
    assert found.summary["set_aside"][f"{SNAPSHOTS}.jsonl"] == log
    assert found.summary["set_aside"][f"{VOTES}.jsonl"] == pairs
    assert judgments_of("crowd-pairwise") == 56 - 7 * pairs


def test_a_file_of_which_no_row_fits_is_another_file_and_refused(study: Study, folder: Folder) -> None:
    folder.write(VOTES, [{"something": "else"}] * 3)

    with pytest.raises(BadInput) as bad:
        stored(study, folder.path)

    assert [problem.file for problem in bad.value.problems] == [f"{VOTES}.jsonl.gz"]


def test_what_contradicts_the_study_is_refused_all_the_same(study: Study, folder: Folder) -> None:
    bring_in(study, CORPUS)
    folder.change(VOTES, lambda rows: rows[0].update(validity="N"))

    with pytest.raises(BadInput):
        stored(study, folder.path)


def test_one_worker_who_stopped_early_does_not_cost_the_others(study: Study, folder: Folder) -> None:
    rows = folder.rows(POINTWISE)
    others = [row | {"worker": "p-8"} for row in rows[:3]]
    folder.write(POINTWISE, [*(row | {"worker": "p-9"} for row in rows[:2]), *rows, *others])

    found = stored(study, folder.path)

    assert found.summary["set_aside"] == {f"{POINTWISE}.jsonl.gz": 2}
    assert judgments_of("crowd-pointwise") == (9 + 3) * 7


def individual(rows: Rows) -> Rows:
    """Return answers as the file of single questions holds them."""
    keys = {f"Q{n}": name for n, name in enumerate(NAMES, 1)}
    return [
        row | {"ratings": {f"{keys[key[:2]]}{key[2:]}": value for key, value in row["ratings"].items()}} for row in rows
    ]


def test_judgments_of_single_questions_come_with_their_reasons(study: Study, folder: Folder) -> None:
    path = folder.path / "raw/llm_ratings_individual.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in individual(folder.rows(COMBINED))))

    summary = stored(study, folder.path).summary

    assert summary["files_not_there"] == []
    found = Judgment.objects.filter(item__campaign__name="model-individual")
    assert found.filter(justification="because 1").count() == 3
    assert found.filter(repeat=1).count() == 7
    assert summary["model_individual"]["only_in_raw"] == 1
    assert sum(summary["model_individual"][word] for word in ("equal_in_both_files", "different")) == 2


def parsed(response: str, text: str, **more: str) -> dict[str, Any]:
    """Return a parsed response as the published artifact holds it."""
    return {
        "response": response,
        "topic": "t-8",
        "style": "essay",
        "kind": "llm",
        "query": "Why is the sky blue?",
        "references_ids": ["p-1", "p-2"],
        "references_texts": ["Light scatters.", "Blue most of all."],
        "raw_text": text,
        "cleaned_text": "Light scatters.",
        "statements": [{"text": "Light scatters.", "citations": ["p-1"]}],
    } | more


def test_what_only_the_parsed_responses_hold_is_taken_from_them(study: Study, folder: Folder) -> None:
    rows = [parsed("m-8", "Light scatters [0]."), parsed("h-8", "Blue [1].", kind="human"), {"response": 5}]
    folder.change("artifacts/responses", lambda given: given.extend(rows))

    summary = stored(study, folder.path).summary

    assert summary["set_aside"] == {"artifacts/responses.jsonl.gz": 1}
    assert summary["made"]["responses"] == 10
    response = Response.objects.get(external_id="m-8")
    assert (response.topic.query, response.statements.get().citations.count()) == ("Why is the sky blue?", 1)
    assert Response.objects.get(external_id="h-8").participant.external_id == "unknown"


def test_a_parsed_response_stands_in_for_a_log_that_is_missing(study: Study, folder: Folder) -> None:
    folder.change(SNAPSHOTS, lambda rows: [rows.remove(row) for row in list(rows) if row["response"] == "h-1"])
    row = parsed("h-1", "Leaves fall [0].", kind="human", topic="t-1", style="bullet")
    folder.write("artifacts/responses", [row])

    stored(study, folder.path)

    response = Response.objects.get(external_id="h-1")
    assert (response.participant.external_id, response.task.external_id) == ("w-1", "h-1")
    assert judgments_of("crowd-pairwise") == 56


def test_the_command_shows_faults_and_refuses_them_if_told_to(folder: Folder) -> None:
    as_published(folder)
    out, err = StringIO(), StringIO()
    given = ["import", "crowdrag25", str(folder.path), "--study", "small"]
    StudyFactory(slug="small")
    with pytest.raises(CommandError):
        call_command(*given, "--strict", stdout=StringIO(), stderr=err)
    call_command(*given, stdout=out, stderr=StringIO())
    assert f"{COMBINED}.jsonl, line 4" in err.getvalue()
    assert f"{COMBINED}.jsonl, line 4" in out.getvalue()
    refused, done = Run.objects.order_by("pk")
    assert (refused.state, done.state, len(done.problems)) == (RunState.FAILED, RunState.DONE, 1)
