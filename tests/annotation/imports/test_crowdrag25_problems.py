"""A folder with something wrong in it: file, line, field and what was expected, and the study stays as it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crowdrag.studies.models import Study
from tests.annotation.imports.published_corpora import CORPUS, Folder, Rows, bring_in, everything
from tests.factories import CampaignFactory, StudyFactory
from writing.corpus.imports.problems import BadInput, Problem

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "corpus")


def refused(study: Study, path: Path) -> list[Problem]:
    """Import, and return the problems; nothing may have changed."""
    before = everything()
    with pytest.raises(BadInput) as bad:
        bring_in(study, path)
    assert everything() == before
    return bad.value.problems


# A file, what is changed in it, the line and the field of the first problem, and the datum that it names.
Case = tuple[str, Callable[[Rows], Any], tuple[int, str], str]


def check_refused(study: Study, path: Path, cases: list[Case]) -> None:
    """Import the corpus with one change at a time: the first problem is the expected one, and nothing is stored."""
    for number, (file, change, place, datum) in enumerate(cases):
        folder = Folder(path / str(number))
        folder.change(file, change)
        first = refused(study, folder.path)[0]
        assert (first.file, first.line, first.field) == (f"{file}.jsonl.gz", *place), number
        assert first.expected
        assert datum in first.message


def set_(n: int, **values: Any) -> Callable[[Rows], None]:
    return lambda rows: rows[n].update(values)


def twice(rows: Rows) -> None:
    rows.append(rows[0])


def without(n: int, name: str) -> Callable[[Rows], None]:
    return lambda rows: rows[n].pop(name)


TASKS, SNAPSHOTS, VOTES = "raw/study1_tasks", "raw/study1_responses_human", "raw/study2_responses"
POINTWISE, EXPERTS, MODELS = "raw/study2_pointwise", "raw/expert-response", "artifacts/llm_ratings"


FAULTS: list[Case] = [
    ("raw/study1_retrieval", twice, (3, "topic"), "t-1"),
    (TASKS, twice, (5, ""), "h-1"),
    (TASKS, set_(1, topic="t-7"), (2, "topic"), "t-7"),
    (TASKS, set_(1, style="ode"), (2, "style"), "ode"),
    (TASKS, set_(1, worker_expertise=6), (2, "worker_expertise"), "6"),
    (TASKS, set_(1, query_answerable="yes"), (2, "query_answerable"), "yes"),
    (SNAPSHOTS, without(4, "timestamp"), (5, "timestamp"), ""),
    (SNAPSHOTS, set_(4, timestamp="now"), (5, "timestamp"), "now"),
    (SNAPSHOTS, set_(4, text="\x00"), (5, "text"), "\\x00"),
    (SNAPSHOTS, set_(5, topic="t-2"), (6, "topic, style"), "t-2"),
    ("raw/study1_responses_llm", twice, (5, ""), "m-1"),
    ("raw/study1_responses_llm", set_(3, text=None), (4, "text"), "None"),
    (VOTES, set_(2, validity="x"), (3, "validity"), "x"),
    (VOTES, without(2, "coverage_deep"), (3, "coverage_deep"), "6 of 7"),
    (VOTES, set_(2, response_b="m-9"), (3, "response_b"), "m-9"),
    (VOTES, set_(2, response_b="m-1"), (3, "response_b"), "m-1"),
    (VOTES, set_(2, response_b="h-3"), (3, "response_b"), "h-3"),
    (VOTES, set_(2, query_id="t-9"), (3, "query_id"), "t-9"),
    (VOTES, twice, (9, "item_index"), "1"),
    (VOTES, set_(1, item_index=1.5), (2, "item_index"), "1.5"),
    (VOTES, set_(3, item_index=3), (4, "position"), "q-1"),
    (
        VOTES,
        lambda rows: rows.append(
            rows[2] | {"worker": "j-9", "item_index": 1, "response_a": "m-3", "response_b": "h-3"}
        ),
        (9, "position"),
        "q-1",
    ),
    (POINTWISE, set_(0, coverage_deep=2), (1, "coverage_deep"), "2"),
    (POINTWISE, set_(4, query_id="t-1"), (4, "query_id"), ""),
    (POINTWISE, lambda rows: rows.pop(), (7, "query_id"), ""),
    ("raw/study2_demographic", twice, (3, ""), "s-1"),
    ("raw/study2_demographic", set_(1, time_taken=-1), (2, "time_taken"), "-1"),
    (EXPERTS, lambda rows: rows[0]["validity"].update({"2": "C"}), (2, "validity"), "C"),
    (EXPERTS, lambda rows: rows[0]["slide"].pop("3"), (3, "slide"), ""),
    (EXPERTS, lambda rows: rows[0].update(slide=[1]), (1, ""), ""),
    (EXPERTS, lambda rows: rows[0]["prolific_pid"].update({"2": "annot1"}), (2, "correctness_topical"), ""),
    ("raw/llm_ratings_combined", lambda rows: rows[1]["ratings"].pop("Q3_rating"), (2, "coherence_stylistic"), "6"),
    (MODELS, set_(0, inference="both"), (1, "inference"), "both"),
    (MODELS, set_(4, quality_overall="C"), (5, "quality_overall"), "C"),
]


@pytest.mark.parametrize("some", [slice(0, None, 4), pytest.param(slice(None), marks=pytest.mark.extended)])
def test_what_is_wrong_is_named_and_nothing_is_stored(study: Study, tmp_path: Path, some: slice) -> None:
    check_refused(study, tmp_path, FAULTS[some])


def test_what_is_missing_or_something_else_is_refused(study: Study, tmp_path: Path) -> None:
    logs, votes, other = Folder(tmp_path / "logs"), Folder(tmp_path / "votes"), tmp_path / "other"
    logs.remove(TASKS)
    problems = refused(study, logs.path)
    assert (problems[0].line, problems[0].field, len(problems)) == (1, "response", 4)
    votes.remove(VOTES)
    assert refused(study, votes.path)
    other.mkdir()
    (other / "notes.txt").write_text("hello")
    assert "notes.txt" in refused(study, other)[0].message
    CampaignFactory(study=study, name="experts-pairwise")
    assert "experts-pairwise" in refused(study, CORPUS)[0].message


def test_a_file_cut_short_is_refused(study: Study, folder: Folder) -> None:
    folder.write(SNAPSHOTS, folder.rows(SNAPSHOTS) * 50)
    path = folder.path / f"{SNAPSHOTS}.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])
    assert refused(study, folder.path)[0].file == f"{SNAPSHOTS}.jsonl.gz"


def test_problems_of_all_files_come_at_once(study: Study, folder: Folder) -> None:
    folder.change(TASKS, set_(0, topic=None))
    folder.change(VOTES, set_(0, validity="X"))
    folder.change(MODELS, set_(0, coverage_deep="x"))

    assert [p.file for p in refused(study, folder.path)] == [f"{name}.jsonl.gz" for name in (TASKS, VOTES, MODELS)]


def test_a_thousand_problems_are_a_hundred(study: Study, folder: Folder) -> None:
    folder.write(VOTES, [{}] * 1000)

    assert len(refused(study, folder.path)) == 100


CONTRADICTIONS: list[Case] = [
    (SNAPSHOTS, set_(3, text="Another text"), (1, "text"), "h-1"),
    (SNAPSHOTS, lambda rows: rows.pop(1), (1, "response"), "h-1"),
    ("raw/study1_responses_llm", set_(0, text="Other"), (1, "text"), "m-1"),
    (TASKS, set_(0, worker="w-9"), (1, "worker"), "w-9"),
    (TASKS, set_(0, worker_knowledge=1), (1, ""), "h-1"),
    (VOTES, set_(0, validity="N"), (1, "correctness_topical"), "-1"),
    ("raw/study2_demographic", set_(0, approvals=1), (1, ""), "s-1"),
]


@pytest.mark.extended
def test_what_contradicts_the_study_is_refused(study: Study, tmp_path: Path) -> None:
    bring_in(study, CORPUS)
    check_refused(study, tmp_path, CONTRADICTIONS)


def test_a_refused_import_may_be_mended_and_brought_again(study: Study, folder: Folder) -> None:
    folder.change(VOTES, set_(0, validity="X"))
    refused(study, folder.path)

    assert bring_in(study, CORPUS)["made"]["crowd-pairwise"]["judgments"] == 56
