"""What a release holds: every table is what it says, as it was chosen."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from analysis.inputs import snapshots
from analysis.models import ResultTable
from analysis.releases.choices import Choices, Logs, Passages, Pseudonyms, Timing
from analysis.releases.contents import release_contents, result_tables, selection
from analysis.releases.contents.source import Clock
from analysis.tables import rows as tables_rows
from analysis.tables.table import TABLES, Holds
from annotation.models import Assignment
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study
from tests.analysis.releases.consents import TEXT, all_agree, study
from tests.analysis.releases.release_files import read
from tests.analysis.whole_study import PLATFORM_ID, whole_study
from tests.factories import NOW

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_transaction")]
EVERYTHING: dict[str, Any] = {
    "passages": Passages.TEXTS, "passage_terms": "CC0", "excluded": True, "comments": True, "tables": True,
    "timing": Timing.EXACT,
}  # fmt: skip

#: Tables whose rows hold texts.
HOLDING_TEXTS = sorted(name for name, table in TABLES.items() if table.holds is Holds.TEXTS)


@pytest.fixture(scope="module")
def taken_part(shared_rows: None) -> int:
    """A study whose people agree to everything, made once."""
    return all_agree(study()).pk


@pytest.fixture
def made(taken_part: int, db: None) -> Study:
    return Study.objects.get(pk=taken_part)


@pytest.mark.extended
def test_every_table_is_what_it_says_and_names_no_platforms_id() -> None:
    made = whole_study()
    runs = tuple(str(key) for key in Run.objects.filter(study=made).values_list("key", flat=True))
    for logs in Logs:
        tables, layout, left_out = read(made, logs=logs, runs=runs, **EVERYTHING)
        assert PLATFORM_ID not in repr((tables, layout)), logs
        assert left_out == {(selection.JUDGMENTS, selection.NOT_ACCEPTED): 18}, logs
        assert all(rows for rows in tables.values()), logs  # a row in every table
        logged = {name for name in tables if name.startswith("log_")}
        more = {Logs.NONE: set(), Logs.MEASURES: {"log_measures"}, Logs.FULL: {"log_measures", "log_events"}}
        assert logged == more.get(logs, {"log_measures", "log_states"}), logs


def test_what_is_not_chosen_has_no_table(made: Study) -> None:
    tables, layout, _left_out = read(made, surveys=False, judgments=False, passages=Passages.NONE)
    assert set(tables) == {"participants", "topics", "styles", "responses", "statements", "citations"}
    assert {row["participant"] for row in tables["participants"]} == {r["participant"] for r in tables["responses"]}
    assert layout["raw/study1_tasks"][0]["worker_knowledge"] is None
    tables, _layout, left_out = read(made, origins=("MODEL",))
    assert [row["response"] for row in tables["responses"]] == ["model"]
    assert left_out[selection.RESPONSES, selection.NOT_CHOSEN] == 1
    tables, layout, _left_out = read(made, responses=False)
    assert "responses" not in tables
    assert "raw/study1_tasks" not in layout
    assert len(tables["judgments"]) == 2


def test_passages_are_in_as_far_as_their_terms_allow(made: Study) -> None:
    for passages, columns in {
        Passages.IDS: None,
        Passages.ADDRESSES: {"passage", "passage_version", "title", "url"},
        Passages.TEXTS: {"passage", "passage_version", "title", "url", "text"},
    }.items():
        tables, layout, _left_out = read(made, passages=passages, passage_terms="ODC-BY")
        assert tables["retrieved"][0]["passage"].startswith("passage-")
        assert ("passages" in tables) == (columns is not None)
        if columns:
            assert set(tables["passages"][0]) == columns
        texts = layout["raw/study1_retrieval"][0]["references_texts"]
        assert (texts[0] != "") == (passages == Passages.TEXTS)


def test_choices_are_kept_as_json_and_know_what_does_not_go_together() -> None:
    choices = Choices(logs=Logs.FULL, runs=("a", "b"), timing=Timing.ABSENT, licence="CC0-1.0")
    assert Choices.from_json(choices.as_json()) == choices
    assert Choices.from_json({}) == Choices()
    for wrong, problems in (
        ({}, 0), ({"passages": Passages.TEXTS}, 1), ({"topics": False}, 2),
        ({"logs": Logs.MINUTES, "timing": Timing.HOUR}, 1), ({"responses": False, "logs": Logs.FULL}, 1),
    ):  # fmt: skip
        assert len(Choices(**wrong).problems()) == problems
    for unknown, named in (({"other": 1}, "other"), ({"logs": "SOME"}, "SOME")):
        with pytest.raises(ValueError, match=named):
            Choices.from_json(unknown)


def test_fresh_pseudonyms_are_another_ones_in_each_release_and_the_same_when_it_is_built_again(made: Study) -> None:
    first, again, second = (people(made, release) for release in ("1", "1", "2"))
    assert first == again
    assert first & second == {"m-1"}  # a model is called what it is called
    assert people(made, "1", pseudonyms=Pseudonyms.STABLE) == {"writer", "judge-0", "judge-1", "m-1"}
    tables, layout, _left_out = read(made, "1")
    for name in ("writer", "judge-0"):
        assert repr(name) not in repr((tables, layout))
    writer = tables["responses"][0]["participant"]
    assert [row["worker"] for row in layout["raw/study1_tasks"]] == [writer]


def people(made: Study, release: str, **choices: Any) -> set[str]:
    return {row["participant"] for row in read(made, release, **choices)[0]["participants"]}


@pytest.mark.extended
def test_times_are_cut_to_the_step_that_was_chosen(made: Study) -> None:
    at = datetime(2026, 1, 1, 13, 2, 3, 500_000, UTC)
    for timing, time, seconds, ms in (
        (Timing.EXACT, at, 125.25, [0, 1500, 1600, 61_500]),
        (Timing.SECOND, at.replace(microsecond=0), 125.0, [0, 1000, 1000, 61_000]),
        (Timing.MINUTE, at.replace(second=0, microsecond=0), 120.0, [0, 0, 0, 60_000]),
        (Timing.HOUR, at.replace(minute=0, second=0, microsecond=0), 0.0, [0, 0, 0, 0]),
        (Timing.ABSENT, None, None, [None, None, None]),
    ):
        tables, _layout, _left_out = read(made, timing=timing, logs=Logs.FULL)
        row = tables["responses"][0]
        assert (row["submitted_at"], row["seconds"]) == (time, seconds)
        assert tables["judgments"][0]["judged_at"] == time
        assert [event["ms"] for event in tables["log_events"]][: len(ms)] == ms
        assert "clock" not in repr(tables["log_events"])


def test_a_cut_time_is_never_later_and_the_order_stays() -> None:
    clock = Clock(Timing.MINUTE)
    times = [NOW + timedelta(seconds=n * 17.3) for n in range(400)]
    cut = [clock.time(time) for time in times]
    assert all(found is not None and found <= time for found, time in zip(cut, times, strict=True))
    assert cut == sorted(cut)  # type: ignore[type-var]
    assert {found.second for found in cut if found} == {0}


def test_every_column_of_every_result_table_has_a_meaning_without_other_documents(made: Study) -> None:
    run = finished(made, "analysis")
    for name, table in TABLES.items():
        ResultTable.objects.create(run=run, name=name, rows=[dict.fromkeys((*table.column_names, tables_rows.NOTE))])
    with snapshots.repeatable_read():
        found = release_contents.read_contents(
            study=made, choices=Choices(runs=(str(run.key),), tables=True), release="1"
        )
    meanings = {f"{table.name}.{column.name}": column.meaning for table in found.tables for column in table.columns}
    assert "results_agreement.low" in meanings
    assert [name for name, meaning in meanings.items() if not meaning or "docs/" in meaning] == []


def finished(made: Study, kind: str, **given: Any) -> Run:
    common = {"state": RunState.DONE, "code_version": "1", "created_at": NOW, "finished_at": NOW}
    return Run.objects.create(study=made, kind=kind, **common, **given)


@pytest.mark.extended
def test_states_are_minute_by_minute_or_sentence_by_sentence(made: Study) -> None:
    minutes = read(made, logs=Logs.MINUTES, timing=Timing.EXACT)[0]["log_states"]
    assert [(row["state"], row["ms"], row["text"]) for row in minutes] == [
        (0, 1500, "Call me on "), (1, 62_000, "Leaves fall [0]."), (2, 125_250, TEXT),
    ]  # fmt: skip
    sentences = read(made, logs=Logs.SENTENCES, timing=Timing.ABSENT)[0]["log_states"]
    assert [(row["state"], row["ms"], row["text"]) for row in sentences] == [
        (0, None, "Leaves fall [0]."), (1, None, TEXT),
    ]  # fmt: skip


@pytest.mark.extended
def test_results_are_of_the_runs_that_were_named_by_the_names_of_the_release(made: Study) -> None:
    Assignment.objects.filter(participant__external_id="judge-1").update(is_included=False)
    run, other = (finished(made, "analysis", inputs_digest=digest) for digest in ("first", "second"))
    spam = [{"participant": f"judge-{n}", "dimension": "d", "spam_probability": n, "judgments": 1} for n in range(2)]
    ResultTable.objects.create(run=run, name="competence", rows=spam)
    gone = {"response_a": "human", "response_b": "gone", "dimension": "d", "p_a": 1.0, "label": "a"}
    ResultTable.objects.create(run=run, name="gold", rows=[gone | {"response_b": "model", "p_n": None}, gone])
    ResultTable.objects.create(run=other, name="grades", rows=[{"response": "human", "grade": 3}])
    ResultTable.objects.create(run=run, name="fits", rows=spam)
    tables, _layout, left_out = read(made, runs=(str(run.key),), tables=True)
    assert [(row["run"], row["inputs_digest"]) for row in tables["runs"]] == [(1, "first")]
    assert "grades" not in tables
    assert "results_fits" not in tables  # what later analyses begin from is no result
    (label,) = tables["gold"]
    assert label == {
        "run": 1, "response_a": "human", "response_b": "model", "dimension": "d", "p_a": 1.0, "p_n": None, "label": "a",
    }  # fmt: skip
    (row,) = tables["results_competence"]
    assert row["participant"] == tables["questionnaires"][0]["participant"]
    assert left_out[result_tables.ROWS, result_tables.ABOUT_LEFT_OUT] == 2
    assert "results_competence" not in read(made, runs=(str(run.key),))[0]
    assert "runs" not in read(made)[0]


@pytest.mark.parametrize(("source", "is_released"), [("study", False), ("responses", False), ("bank", True)])
def test_answers_made_of_texts_of_the_study_are_not_released_as_nobody_can_say_whose_they_are(
    made: Study, source: str, is_released: bool
) -> None:
    run = finished(made, "experiment.uplift", parameters={"collection": {"source": source}})
    for name in HOLDING_TEXTS:
        ResultTable.objects.create(run=run, name=name, rows=[{"query": "t", "answer": TEXT}])
    ResultTable.objects.create(run=run, name="uplift_costs", rows=[{"stage": "answers", "calls": 2}])
    tables, _layout, left_out = read(made, runs=(str(run.key),), tables=True, responses=False)
    assert (TEXT in repr(tables)) == is_released
    assert len(tables["results_uplift_costs"]) == 1
    assert left_out.get((result_tables.ROWS, result_tables.OF_OWN_TEXTS), 0) == (
        0 if is_released else len(HOLDING_TEXTS)
    )
