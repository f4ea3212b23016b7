"""A folder in the layout of the published corpus becomes a study, row for row."""

from copy import deepcopy
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from annotation.enums import CampaignKind, Inference, Judges
from annotation.imports import crowdrag25
from annotation.imports.crowdrag25 import record_schemas
from annotation.models import Assignment, Campaign, Item, Judgment, Pair, PlatformSubmission, QuestionnaireItem
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study
from tests.annotation.imports.published_corpora import CORPUS, Folder, bring_in, everything
from tests.factories import StudyFactory
from writing.editor import logs
from writing.enums import Origin, TaskState
from writing.models import SurveyAnswers, WritingLog, WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def imported(shared_rows: None) -> tuple[Study, dict[str, Any]]:
    """Import the folder once; return the study and the figures."""
    study = StudyFactory()
    return study, bring_in(study, CORPUS)


@pytest.fixture
def study(imported: tuple[Study, dict[str, Any]], db: None) -> Study:
    return deepcopy(imported[0])


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / "corpus")


def at(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def votes(campaign: str, **conditions: Any) -> list[tuple[Any, ...]]:
    """Return a campaign's judgments in the order in which they were stored."""
    found = Judgment.objects.filter(item__campaign__name=campaign, **conditions).order_by("id")
    return list(
        found.values_list(
            "assignment__participant__external_id",
            "item__pair__a__external_id",
            "item__pair__b__external_id",
            "dimension__name",
            "value",
        )
    )


def test_the_summary_counts_what_was_made(imported: tuple[Study, dict[str, Any]]) -> None:
    summary = imported[1]
    names = ("pairs", "questionnaires", "assignments", "judgments", "judgments_unchanged")
    counts = {
        "crowd-pairwise": (3, 2, 4, 56, 0), "crowd-pointwise": (0, 1, 2, 63, 0), "experts-pairwise": (0, 1, 3, 21, 0),
        "model-combined": (0, 1, 1, 21, 0), "model-individual": (0, 1, 1, 14, 0),
    }  # fmt: skip
    assert summary["made"] == {
        "topics": 2, "topics_unchanged": 0, "passages": 6, "writing_tasks": 4, "writing_logs": 4, "responses": 8,
        "responses_unchanged": 0, "citations_that_match_no_passage": 1,
        "experts_left_out": 1, "platform_submissions": 2,
        **{campaign: dict(zip(names, numbers, strict=True)) for campaign, numbers in counts.items()},
    }  # fmt: skip
    derived = {"equal_in_both_files": 3, "different": 0, "only_in_raw": 0, "only_in_artifacts": 0}
    responses = {"compared": 2, "equal": 1, "different": 1, "examples": ["m-2"], "only_here": 0, "unreadable": []}
    expected = {
        "files_not_there": ["llm_ratings_individual"], "set_aside": {}, "incomplete": {}, "snapshots": 11,
        "pointwise_repeats": 3, "model_combined": derived, "published_responses": responses,
        "published_ratings": {"pairs": 3, "equal": 3, "different": 0, "examples": [], "unreadable": []},
    }  # fmt: skip
    assert summary.items() >= expected.items()


def test_the_same_folder_twice_touches_no_row(study: Study) -> None:
    # Nor a decision that somebody took meanwhile.
    Assignment.objects.filter(participant__external_id="annot5").update(is_included=True)
    before = everything()
    made = bring_in(study, CORPUS)["made"]
    assert everything() == before
    names = ("topics", "passages", "writing_tasks", "writing_logs", "responses", "experts_left_out")
    assert [made[name] for name in names] == [0] * 6
    assert [made[name]["judgments"] for name in made if "-" in name] == [0] * 5
    assert made["crowd-pairwise"]["judgments_unchanged"] == 56


def test_a_task_has_its_times_surveys_and_response(study: Study) -> None:
    task = WritingTask.objects.get(study=study, external_id="h-1")
    assert (task.topic.external_id, task.style.name) == ("t-1", "bullet")
    assert (task.participant.external_id, task.participant.kind) == ("w-1", ParticipantKind.CROWD)
    assert (task.state, task.claimed_at, task.submitted_at) == (
        TaskState.ACCEPTED,
        at(1728671105500),
        at(1728671106400),
    )
    assert task.response.text == "- Leaves fall in autumn [0].\n- Trees save water [1, 2]."
    assert (task.response.origin, task.response.submitted_at) == (Origin.HUMAN, at(1728671106400))
    assert dict(SurveyAnswers.objects.filter(task=task).values_list("survey__kind", "answers")) == {
        "ENTRY": {"query_answerable": 1, "query_controversial": -1, "worker_knowledge": 3, "worker_expertise": 1},
        "EXIT": {"worker_satisfaction": 1, "references_quality": 5, "references_extra": 1, "references_omission": -1},
    }
    # Who answered nothing has no answers, rather than made-up ones.
    assert not SurveyAnswers.objects.filter(task__external_id="h-4").exists()
    # The published corpus has people who wrote twice on a topic.
    assert WritingTask.objects.filter(topic=task.topic, participant=task.participant).count() == 2


def test_a_log_gives_back_every_snapshot(study: Study, folder: Folder) -> None:
    given: dict[str, list[tuple[int, str]]] = {}
    for row in folder.rows("raw/study1_responses_human"):
        given.setdefault(row["response"], []).append((row["timestamp"], row["text"]))
    for log in WritingLog.objects.select_related("task"):
        snapshots = given.pop(log.task.external_id)
        origin = snapshots[0][0]
        assert log.started_at == at(origin)
        assert list(logs.snapshots(log)) == [(ms - origin, text) for ms, text in snapshots]
        assert logs.text_at(log, 300) == snapshots[1][1]
        assert log.task.response.text == snapshots[-1][1]
    assert given == {}


def test_a_log_may_come_in_pieces(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    study = StudyFactory()
    monkeypatch.setattr(crowdrag25.corpus_, "SEAL_AT", 3)
    monkeypatch.setattr(crowdrag25.corpus_, "SEAL_ON_CHANGE", 1)
    rows = folder.rows("raw/study1_responses_human")
    # One snapshot of each response after another, as if all had been written at once.
    of_each: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        of_each.setdefault(row["response"], []).append(row)
    rows = [row for several in zip_longest(*of_each.values()) for row in several if row]
    folder.write("raw/study1_responses_human", rows)

    bring_in(study, folder.path)

    log = WritingLog.objects.get(task__study=study, task__external_id="h-1")
    batches = list(log.batches.order_by("number").values_list("number", "first_event", "event_count"))
    assert len(batches) > 1
    assert [first for _, first, _ in batches] == [sum(n for _, _, n in batches[:i]) for i in range(len(batches))]
    assert [text for _, text in logs.snapshots(log)] == [row["text"] for row in rows if row["response"] == "h-1"]


def test_the_crowds_votes_stand_as_presented_in_the_order_of_the_file(study: Study, folder: Folder) -> None:
    names = ["validity", *record_schemas.NAMES[1:]]
    stored_as = dict(zip(names, record_schemas.NAMES, strict=True))
    expected = [
        (row["worker"], row["response_a"], row["response_b"], stored_as[name], {"A": -1, "N": 0, "B": 1}[row[name]])
        for row in folder.rows("raw/study2_responses")
        for name in names
    ]
    assert votes("crowd-pairwise") == expected
    # A pair in two questionnaires has all its votes; the first ones of the file are the first ones here.
    pair = Pair.objects.get(a__external_id="h-1", b__external_id="m-1")
    judges = Judgment.objects.filter(
        item__pair=pair, dimension__name="coverage_broad", item__campaign__judges=Judges.CROWD
    )
    assert list(judges.order_by("id").values_list("assignment__participant__external_id", flat=True)) == [
        "j-1",
        "j-2",
        "j-3",
        "w-1",
    ]
    places = QuestionnaireItem.objects.filter(questionnaire__external_id="q-1").order_by("position")
    assert list(places.values_list("position", "item__pair__a__external_id")) == [(1, "h-1"), (2, "m-1"), (4, "h-3")]


def test_who_wrote_and_judged_is_one_participant(study: Study) -> None:
    writer = Participant.objects.get(study=study, external_id="w-1")
    assert writer.responses.count() == 2
    assert writer.assignments.count() == 1
    model = Participant.objects.get(study=study, kind=ParticipantKind.MODEL)
    assert (model.external_id, model.specification) == ("gpt-4o-2024-08-06", {"model": "gpt-4o-2024-08-06"})
    assert model.responses.count() == 4
    assert model.assignments.count() == 2


def test_pointwise_items_are_a_workers_rows_in_order_and_a_second_pass_is_a_repeat(
    study: Study, folder: Folder
) -> None:
    items = Item.objects.filter(campaign__name="crowd-pointwise").order_by("entries__position")
    assert list(items.values_list("external_id", "topic__external_id")) == [
        ("q-9/t-1/1", "t-1"),
        ("q-9/t-2/1", "t-2"),
        ("q-9/t-1/2", "t-1"),
    ]
    stored = Judgment.objects.filter(item__campaign__name="crowd-pointwise", dimension__name="coverage_deep").order_by(
        "id"
    )
    given = folder.rows("raw/study2_pointwise")
    fields = (
        "assignment__participant__external_id",
        "item__topic__external_id",
        "external_id",
        "value",
        "judged_at",
        "repeat",
    )
    assert list(stored.values_list(*fields)) == [
        (row["worker"], row["query_id"], row["response"], row["coverage_deep"], at(row["submitted_at"]), int(n >= 6))
        for n, row in enumerate(given)
    ]
    assert Judgment.objects.filter(item__campaign__name="crowd-pointwise").counted().count() == 6 * 7
    assert Assignment.objects.get(participant__external_id="p-2").submitted_at == at(given[5]["submitted_at"])
    campaign = Campaign.objects.get(name="crowd-pointwise")
    assert campaign.dimensions.get(name="coverage_deep").values == [-3, -1, 1, 3]


def test_experts_come_with_their_times_and_one_is_left_out_for_a_reason(study: Study) -> None:
    campaign = Campaign.objects.get(study=study, name="experts-pairwise")
    assert (campaign.kind, campaign.judges) == (CampaignKind.EXPERT, Judges.EXPERT)
    included = Assignment.objects.filter(questionnaire__campaign=campaign).order_by("id")
    assert list(included.values_list("participant__external_id", "is_included")) == [
        ("annot1", True),
        ("annot2", True),
        ("annot5", False),
    ]
    assert included.get(is_included=False).decisions.get().holds is False
    assert Judgment.objects.pool(Judges.EXPERT).count() == 14
    times = Judgment.objects.filter(assignment__participant__external_id="annot1").order_by("dimension__name")
    assert dict(times.values_list("dimension__name", "judged_at")) | {} == {
        "correctness_topical": datetime(2024, 11, 19, 8, 38, 39, 626000, UTC),
        "quality_overall": datetime(2024, 11, 19, 8, 38, 55, 376000, UTC),
    } | dict.fromkeys(record_schemas.NAMES[1:-1])
    assert included[0].submitted_at == datetime(2024, 11, 19, 9, tzinfo=UTC)


def test_a_models_first_judgment_counts_and_the_others_are_kept(study: Study) -> None:
    combined = Campaign.objects.get(study=study, name="model-combined")
    assert (combined.judges, combined.inference) == (Judges.MODEL, Inference.COMBINED)
    found = Judgment.objects.filter(item__campaign=combined, dimension__name="correctness_topical").order_by("id")
    fields = ("item__pair__a__external_id", "repeat", "value", "justification")
    assert list(found.values_list(*fields)) == [
        ("h-1", 0, 1, "because 1"),
        ("m-1", 0, -1, "because 1"),
        ("h-1", 1, -1, "because 1"),
    ]
    # A model may answer "neither" where people had to decide: it was asked another version of the dimension.
    assert combined.dimensions.get(name="quality_overall").values == [-1, 0, 1]
    assert Campaign.objects.get(name="crowd-pairwise").dimensions.get(name="quality_overall").values == [-1, 1]
    assert {row[3:] for row in votes("model-individual", item__pair__a__external_id="h-1")} == {
        (name, 0 if name == "coherence_stylistic" else 1) for name in record_schemas.NAMES
    }


def test_what_the_platform_said_is_kept(study: Study) -> None:
    rows = PlatformSubmission.objects.filter(campaign__study=study).order_by("external_id")
    assert list(rows.values_list("external_id", "participant__external_id", "seconds", "approvals")) == [
        ("s-1", "j-1", 1022.0, 2503),
        ("s-2", None, None, 7),
    ]
