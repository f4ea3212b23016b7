"""A folder with something wrong in it: file, line, field and what was expected, and the study stays as it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation.models import Campaign
from crowdrag.studies.models import Study
from tests.annotation.corpora import CORPUS, Folder, Rows, bring_in, everything
from tests.factories import CampaignFactory, StudyFactory
from writing.domain.imports.problems import BadInput, Problem

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
    found = problems_of(study, path)
    assert everything() == before
    return found


def problems_of(study: Study, path: Path) -> list[Problem]:
    with pytest.raises(BadInput) as bad:
        bring_in(study, path)
    return bad.value.problems


# A file, what is changed in it, and the first problem that this gives: its line, its field and what it says.
Case = tuple[str, Callable[[Rows], Any], tuple[int, str], str | None]


def check_refused(study: Study, path: Path, cases: list[Case]) -> None:
    """Import the corpus with one change at a time: the first problem is the expected one, and nothing is stored."""
    before = everything()
    found, expected = [], []
    for number, (file, change, place, message) in enumerate(cases):
        folder = Folder(path / str(number))
        folder.change(file, change)
        first = problems_of(study, folder.path)[0]
        assert first.expected, (file, place)
        found.append((number, first.file, first.line, first.field, first.message if message else None))
        expected.append((number, f"{file}.jsonl.gz", *place, message))
        assert everything() == before, (file, place)
    assert found == expected


def set_(n: int, **values: Any) -> Callable[[Rows], None]:
    return lambda rows: rows[n].update(values)


def twice(rows: Rows) -> None:
    rows.append(rows[0])


def without(n: int, name: str) -> Callable[[Rows], None]:
    return lambda rows: rows[n].pop(name)


TASKS, SNAPSHOTS, VOTES = "raw/study1_tasks", "raw/study1_responses_human", "raw/study2_responses"
POINTWISE, EXPERTS, MODELS = "raw/study2_pointwise", "raw/expert-response", "artifacts/llm_ratings"


FAULTS: list[Case] = [
    ("raw/study1_retrieval", twice, (3, "topic"), "topic t-1 is on line 1 already"),
    (TASKS, twice, (5, ""), "h-1 is on line 1 already"),
    (TASKS, set_(1, topic="t-7"), (2, "topic"), "there is no topic t-7 in this study or this import"),
    (TASKS, set_(1, style="ode"), (2, "style"), "there is no style ode in this study"),
    (TASKS, set_(1, worker_expertise=6), (2, "worker_expertise"), "got 6"),
    (TASKS, set_(1, query_answerable="yes"), (2, "query_answerable"), "got 'yes'"),
    (SNAPSHOTS, without(4, "timestamp"), (5, "timestamp"), "is missing"),
    (SNAPSHOTS, set_(4, timestamp="now"), (5, "timestamp"), "got 'now'"),
    (SNAPSHOTS, set_(4, text="\x00"), (5, "text"), "holds NUL (\\u0000): '\\x00'"),
    (SNAPSHOTS, set_(5, topic="t-2"), (6, "topic, style"), "got topic t-2, style essay"),
    ("raw/study1_responses_llm", twice, (5, ""), "m-1 is on line 1 already"),
    ("raw/study1_responses_llm", set_(3, text=None), (4, "text"), "got None"),
    (VOTES, set_(2, validity="x"), (3, "validity"), "has 6 of 7 labels; validity got 'x'"),
    (VOTES, without(2, "coverage_deep"), (3, "coverage_deep"), "has 6 of 7 labels"),
    (VOTES, set_(2, response_b="m-9"), (3, "response_b"), "there is no response m-9 in this study or this import"),
    (VOTES, set_(2, response_b="m-1"), (3, "response_b"), "m-1 answers topic t-1"),
    (VOTES, set_(2, response_b="h-3"), (3, "response_b"), "both are h-3"),
    (VOTES, set_(2, query_id="t-9"), (3, "query_id"), "there is no topic t-9 in this study or this import"),
    (VOTES, twice, (9, "item_index"), "this worker's vote on item 1 of this submission is on line 1 already"),
    (VOTES, set_(1, item_index=1.5), (2, "item_index"), "got 1.5"),
    (
        VOTES,
        set_(3, item_index=3),
        (4, "position"),
        "position 3 of questionnaire q-1: this item stands at 1 already",
    ),
    (
        VOTES,
        lambda rows: rows.append(
            rows[2] | {"worker": "j-9", "item_index": 1, "response_a": "m-3", "response_b": "h-3"}
        ),
        (9, "position"),
        "position 1 of questionnaire q-1: another item stands there already",
    ),
    (POINTWISE, set_(0, coverage_deep=2), (1, "coverage_deep"), "has 6 of 7 labels; coverage_deep got 2"),
    (POINTWISE, set_(4, query_id="t-1"), (4, "query_id"), None),
    (POINTWISE, lambda rows: rows.pop(), (7, "query_id"), None),
    ("raw/study2_demographic", twice, (3, ""), "s-1 is on line 1 already"),
    ("raw/study2_demographic", set_(1, time_taken=-1), (2, "time_taken"), "got -1"),
    (EXPERTS, lambda rows: rows[0]["validity"].update({"2": "C"}), (2, "validity"), None),
    (EXPERTS, lambda rows: rows[0]["slide"].pop("3"), (3, "slide"), "is missing"),
    (EXPERTS, lambda rows: rows[0].update(slide=[1]), (1, ""), "the file is something else"),
    (EXPERTS, lambda rows: rows[0]["prolific_pid"].update({"2": "annot1"}), (2, "correctness_topical"), None),
    (
        "raw/llm_ratings_combined",
        lambda rows: rows[1]["ratings"].pop("Q3_rating"),
        (2, "coherence_stylistic"),
        "has 6 of 7 labels",
    ),
    (MODELS, set_(0, inference="both"), (1, "inference"), "got 'both'"),
    (MODELS, set_(4, quality_overall="C"), (5, "quality_overall"), "has 6 of 7 labels; quality_overall got 'C'"),
]


def test_what_is_wrong_is_named_and_nothing_is_stored(study: Study, tmp_path: Path) -> None:
    check_refused(study, tmp_path, FAULTS)


def test_a_log_without_a_task_is_refused(study: Study, folder: Folder) -> None:
    folder.remove(TASKS)

    problems = refused(study, folder.path)

    first = problems[0]
    assert (first.line, first.field, first.message) == (1, "response", "there is no writing task for response h-1")
    assert len(problems) == 4


def test_a_file_cut_short_is_refused(study: Study, folder: Folder) -> None:
    folder.write(SNAPSHOTS, folder.rows(SNAPSHOTS) * 50)
    path = folder.path / f"{SNAPSHOTS}.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])

    assert "cannot be unpacked" in refused(study, folder.path)[0].message


def test_problems_of_all_files_come_at_once(study: Study, folder: Folder) -> None:
    folder.change(TASKS, set_(0, topic=None))
    folder.change(VOTES, set_(0, validity="X"))
    folder.change(MODELS, set_(0, coverage_deep="x"))

    assert [p.file for p in refused(study, folder.path)] == [f"{name}.jsonl.gz" for name in (TASKS, VOTES, MODELS)]


def test_a_thousand_problems_are_a_hundred(study: Study, folder: Folder) -> None:
    folder.write(VOTES, [{}] * 1000)

    assert len(refused(study, folder.path)) == 100


def test_a_folder_of_something_else_is_refused(study: Study, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")

    problems = refused(study, tmp_path)

    assert problems[0].message == "no file of the corpus is there, but notes.txt"


CONTRADICTIONS: list[Case] = [
    (
        SNAPSHOTS,
        set_(3, text="Another text"),
        (1, "text"),
        "response h-1 is in the study already, with another text",
    ),
    (SNAPSHOTS, lambda rows: rows.pop(1), (1, "response"), "the study has 4 snapshots of response h-1, here are 3"),
    (
        "raw/study1_responses_llm",
        set_(0, text="Other"),
        (1, "text"),
        "response m-1 is in the study already, with another text",
    ),
    (TASKS, set_(0, worker="w-9"), (1, "worker"), "got w-9"),
    (
        TASKS,
        set_(0, worker_knowledge=1),
        (1, ""),
        "the study has other answers of response h-1 to the before writing survey",
    ),
    (
        VOTES,
        set_(0, validity="N"),
        (1, "correctness_topical"),
        "the study has -1 of this participant for this item, not 0",
    ),
    ("raw/study2_demographic", set_(0, approvals=1), (1, ""), "the study has something else of submission s-1"),
]


def test_what_contradicts_the_study_is_refused(study: Study, tmp_path: Path) -> None:
    bring_in(study, CORPUS)
    check_refused(study, tmp_path, CONTRADICTIONS)


def test_a_campaign_of_the_same_name_and_another_kind_is_not_touched(study: Study) -> None:
    CampaignFactory(study=study, name="experts-pairwise")

    assert refused(study, CORPUS)[0].message == "the study has a campaign experts-pairwise of another kind"
    assert Campaign.objects.filter(study=study).count() == 1


def test_facts_without_votes_have_nothing_to_belong_to(study: Study, folder: Folder) -> None:
    folder.remove(VOTES)

    assert refused(study, folder.path)[0].message == "there is no campaign that the submissions belong to"


def test_a_refused_import_may_be_mended_and_brought_again(study: Study, folder: Folder) -> None:
    folder.change(VOTES, set_(0, validity="X"))
    refused(study, folder.path)

    assert bring_in(study, CORPUS)["made"]["crowd-pairwise"]["judgments"] == 56
