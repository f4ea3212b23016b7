"""The analysis as a run, and as a command."""

import csv
import io
import json

import pytest
from django.core.management import CommandError, call_command

from analysis.domain import analysing, snapshots, tables
from analysis.domain.results import COLUMNS
from analysis.domain.results.earlier import FITS
from analysis.domain.results.settings import BadParameterError, Settings
from analysis.models import Snapshot, Table
from annotation.models import Assignment
from crowdrag.runs.domain import executing, running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from tests.analysis import small_study
from tests.factories import StudyFactory, UserFactory
from writing.models import Response

pytestmark = pytest.mark.django_db
QUICK = {"resamples": 30, "restarts": 3, "refine": 0}
NAMES = ["key_figures", "agreement", "competence", "gold", "grades", "grade_means", "agreement_means", "mace"]


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)


def analyse(study, *, seed=0, **parameters) -> Run:
    run = analysing.start(study=study, seed=seed, parameters=QUICK | parameters)
    return running.wait(run)


def all_bytes(run: Run) -> dict[str, bytes]:
    return {f"{name}.{form}": tables.write(run, name, form) for name in NAMES for form in tables.MEDIA_TYPES}


def test_run_stores_every_table_and_the_snapshot_at_once():
    study, by = small_study.make(), UserFactory()
    run = running.wait(analysing.start(study=study, by=by, parameters=QUICK))
    assert (run.state, run.error) == (RunState.DONE, "")
    stored = set(run.tables.values_list("name", flat=True))
    assert set(NAMES) | {FITS} <= stored
    assert stored - {FITS} <= set(COLUMNS)
    snapshot = run.snapshot
    assert run.inputs_digest == snapshot.digest == snapshots.inputs(run).digest
    assert (snapshot.pool, snapshot.judgments, snapshot.responses) == ("crowd", 56, 6)
    assert run.summary == {"topics": 2, "pairs": 7, "participants": 4, "judgments": 56, "simulated": False}
    assert run.parameters == Settings(**QUICK).write()
    assert run.created_by == by


def test_same_inputs_parameters_and_seed_give_the_same_tables_to_the_byte():
    study = small_study.make()
    first, again, other_seed = analyse(study), analyse(study), analyse(study, seed=1)
    assert first.inputs_digest == again.inputs_digest == other_seed.inputs_digest
    assert all_bytes(first) == all_bytes(again)
    assert all_bytes(first) != all_bytes(other_seed)
    # The same study elsewhere, with other row ids.
    assert all_bytes(analyse(small_study.make())) == all_bytes(first)


def test_simulated_judgments_are_said_to_be():
    study = small_study.make()
    study.campaigns.update(is_simulated=True)
    assert analyse(study).summary["simulated"] is True


def test_state_tells_the_latest_run_and_whether_judgments_changed_since():
    study = small_study.make()
    nothing = analysing.state(study)
    assert (nothing.run, nothing.newer, nothing.changed, nothing.judgments) == (None, None, False, 56)
    first = analyse(study)
    assert analysing.state(study).run == first
    assert analysing.state(study).changed is False
    Assignment.objects.filter(participant__external_id="w4").update(is_included=False)
    after = analysing.state(study)
    assert (after.run, after.changed, after.added) == (first, True, -14)
    second = analyse(study)
    assert analysing.state(study).run == second
    assert analysing.state(study).changed is False
    assert analysing.state(study, key=first.key).run == first


def test_one_judgment_for_another_and_a_response_less_are_changes():
    study = small_study.make()
    Assignment.objects.filter(participant__external_id="w4").update(is_included=False)
    analyse(study)
    Assignment.objects.filter(participant__external_id="w4").update(is_included=True)
    Assignment.objects.filter(participant__external_id="w3").update(is_included=False)
    state = analysing.state(study)
    assert (state.added, state.changed) == (0, True)
    analyse(study)
    Response.objects.filter(external_id="t1-z").update(is_included=False)
    assert analysing.state(study).changed is True


def test_runs_of_other_studies_are_not_found():
    run = analyse(small_study.make())
    with pytest.raises(Run.DoesNotExist):
        analysing.state(StudyFactory(), key=run.key)


def test_start_refuses_what_cannot_be_analysed():
    with pytest.raises(analysing.NothingToAnalyseError, match="collect them"):
        analysing.start(study=StudyFactory())
    study = small_study.make()
    with pytest.raises(BadParameterError, match="seed"):
        analysing.start(study=study, seed=-1)
    with pytest.raises(BadParameterError, match="resamples must lie between 1"):
        analysing.start(study=study, parameters={"resamples": 0})
    assert not Run.objects.exists()


def test_all_that_vanishes_before_the_run_fails_it_with_the_cure():
    study = small_study.make()
    run = analysing.start(study=study, parameters=QUICK)
    Assignment.objects.update(is_included=False)
    Response.objects.update(is_included=False)
    executing.work_next(run)
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert "no accepted and included judgments" in run.problems[0]["message"]
    assert not Table.objects.exists()
    assert not Snapshot.objects.exists()


def test_rows_where_picks_rows_in_the_database():
    run = analyse(small_study.make())
    found = tables.of(run, "gold").rows_where("$[*] ? (@.response_a == $a && @.response_b == $b)", a="t1-x", b="t1-y")
    assert [(row["dimension"], row["response_a"], row["response_b"]) for row in found] == [
        ("clear", "t1-x", "t1-y"),
        ("deep", "t1-x", "t1-y"),
    ]
    hostile = tables.of(run, "gold").rows_where("$[*] ? (@.response_a == $a)", a='x" || true || "')
    assert hostile == []


def test_command_writes_every_table_figure_and_what_made_them(tmp_path):
    study = small_study.make()
    out = tmp_path / "new" / "folder"
    call_command("analyse", study.slug, out=out, seed=5, resamples=30, restarts=3, refine=0, stdout=io.StringIO())
    for name in NAMES:
        rows = json.loads((out / f"{name}.json").read_text())
        assert [key for key in rows[0] if key != "note"] == list(COLUMNS[name])
        assert len(list(csv.reader((out / f"{name}.csv").open(newline="")))) == len(rows) + 1
    for name in ("agreement", "competence", "grades"):
        assert json.loads((out / "figures" / f"{name}.json").read_text())["$schema"].startswith(
            "https://vega.github.io"
        )
        assert (out / "figures" / f"{name}.svg").read_text().startswith("<svg")
    run = Run.objects.get()
    about = json.loads((out / "run.json").read_text())
    readme = (out / "README.md").read_text()
    assert "`agreement.csv`" in readme
    assert all(f"`{path.stem}`" in readme for path in out.glob("*.csv"))
    assert about["inputs_digest"] == run.inputs_digest
    assert (about["seed"], about["parameters"]["resamples"]) == (5, 30)
    assert about["code_version"] == run.code_version
    assert about["environment"]["python"]
    assert not list(out.rglob("*.part"))


@pytest.mark.parametrize(
    ("slug", "options", "message"),
    [
        ("no-such-study", {}, "There is no study 'no-such-study'"),
        ("empty", {}, "no accepted and included judgments"),
        ("full", {"resamples": 0}, "resamples must lie between"),
        ("full", {"seed": -3}, "seed must not be negative"),
    ],
)
def test_command_that_fails_says_why(tmp_path, slug, options, message):
    StudyFactory(slug="empty")
    small_study.make(study=StudyFactory(slug="full"))
    with pytest.raises(CommandError, match=message):
        call_command("analyse", slug, out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_command_whose_run_fails_says_why_and_writes_nothing(tmp_path, monkeypatch):
    study = small_study.make()
    monkeypatch.setattr("crowdrag.runs.domain.timing.MAX_ATTEMPTS", 1)
    monkeypatch.setattr("analysis.domain.analysing.compute", lambda *_, **__: 1 / 0)
    with pytest.raises(CommandError, match="division by zero"):
        call_command("analyse", study.slug, out=tmp_path / "out", stdout=io.StringIO())
    assert not (tmp_path / "out").exists()
