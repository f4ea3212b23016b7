"""The analysis as a run, and as a command."""

import io
import os
import sys

import pytest
from django.core.management import CommandError, call_command

from analysis.analyses import services
from analysis.inputs import snapshots
from analysis.methods import fits
from analysis.methods.reusable_fits import FITS
from analysis.methods.settings import AnalysisSettings, BadParameterError
from analysis.models import ResultTable, Snapshot
from analysis.stats import processes
from analysis.tables import run_tables
from analysis.tables.table import TABLES
from annotation.models import Assignment
from crowdrag.jobs import worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from tests.analysis import small_study
from tests.analysis.small_study import QUICK, analyse
from tests.factories import StudyFactory
from writing.models import Response

pytestmark = pytest.mark.django_db


def all_bytes(run: Run) -> dict[str, bytes]:
    return {
        f"{name}.{form}": run_tables.write(run, name, form)
        for name in run_tables.names(run)
        for form in run_tables.MEDIA_TYPES
    }


def test_run_stores_every_table_with_the_snapshot(run):
    assert (run.state, run.error) == (RunState.DONE, "")
    stored = set(run.tables.values_list("name", flat=True))
    assert {"agreement", "gold", "grades", FITS} <= stored <= {*TABLES, FITS}
    snapshot = run.snapshot
    assert run.inputs_digest == snapshot.digest == snapshots.inputs(run).digest
    assert (snapshot.pool, snapshot.judgments, snapshot.responses) == ("crowd", 56, 6)
    assert run.summary == {"topics": 2, "pairs": 7, "participants": 4, "judgments": 56, "simulated": False}
    assert run.parameters == AnalysisSettings(**QUICK).write()


@pytest.mark.extended
def test_same_inputs_parameters_and_seed_give_the_same_tables_to_the_byte(run):
    again, other_seed = analyse(run.study), analyse(run.study, seed=1)
    assert run.inputs_digest == again.inputs_digest == other_seed.inputs_digest
    assert all_bytes(run) == all_bytes(again)
    assert all_bytes(run) != all_bytes(other_seed)
    # The same study elsewhere, with other row ids.
    assert all_bytes(analyse(small_study.make())) == all_bytes(run)


@pytest.mark.extended
@pytest.mark.skipif(sys.platform in {"darwin", "win32"}, reason="processes are not forked here")
def test_other_processes_give_the_same_tables_and_leave_the_database_alone(run, monkeypatch):
    forks, fork = [], os.fork
    monkeypatch.setattr(os, "fork", lambda: forks.append(1) or fork())
    monkeypatch.setattr(fits, "FEWEST_IN_BACKGROUND", 0)
    monkeypatch.setattr(processes, "_THREADED", ())  # nothing of them is used in the other processes
    for module in (fits, processes):
        monkeypatch.setattr(module, "processors", lambda: 2)
    beside = analyse(run.study)
    assert len(forks) == 6  # two for the competences, two for methods beside the grades, two for those after them
    assert (beside.state, beside.error) == (RunState.DONE, "")
    assert beside.summary == run.summary
    assert all_bytes(beside) == all_bytes(run)


def test_state_is_the_latest_run_and_whether_judgments_or_responses_changed_since(run):
    study, by = run.study, Assignment.objects.filter
    nothing = services.state(small_study.make())
    assert (nothing.run, nothing.newer, nothing.changed, nothing.judgments) == (None, None, False, 56)
    state = services.state(study)
    assert (state.run, state.changed) == (run, False)
    by(participant__external_id="w4", participant__study=study).update(is_included=False)
    state = services.state(study)
    assert (state.run, state.changed, state.added) == (run, True, -14)
    second = analyse(study)
    state = services.state(study)
    assert (state.run, state.changed) == (second, False)
    assert services.state(study, key=run.key).run == run
    # One judge for another: as many judgments, but others.
    by(participant__external_id="w4", participant__study=study).update(is_included=True)
    by(participant__external_id="w3", participant__study=study).update(is_included=False)
    state = services.state(study)
    assert (state.added, state.changed) == (0, True)
    analyse(study)
    Response.objects.filter(external_id="t1-z", study=study).update(is_included=False)
    assert services.state(study).changed is True
    with pytest.raises(Run.DoesNotExist):
        services.state(StudyFactory(), key=run.key)


def test_start_refuses_what_cannot_be_analysed():
    with pytest.raises(services.NothingToAnalyseError):
        services.start(study=StudyFactory())
    study = small_study.make()
    for wrong in ({"seed": -1}, {"parameters": {"resamples": 0}}):
        with pytest.raises(BadParameterError):
            services.start(study=study, **wrong)
    assert not Run.objects.filter(study=study).exists()


def test_all_that_vanishes_before_the_run_fails_it():
    run = services.start(study=small_study.make(), parameters=QUICK)
    Assignment.objects.update(is_included=False)
    Response.objects.update(is_included=False)
    worker.work_next(run)
    run.refresh_from_db()
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)
    assert not ResultTable.objects.filter(run=run).exists()
    assert not Snapshot.objects.filter(run=run).exists()


def test_rows_where_picks_rows_in_the_database(run):
    gold, rows = run_tables.stored_table(run, "gold"), run.tables.get(name="gold").rows
    picked = gold.rows_where("$[*] ? (@.response_a == $a && @.response_b == $b)", a="t1-x", b="t1-y")
    assert picked == [row for row in rows if (row["response_a"], row["response_b"]) == ("t1-x", "t1-y")]
    assert len(picked) == 2
    assert gold.rows_where("$[*] ? (@.response_a == $a)", a='x" || true || "') == []


@pytest.mark.extended
def test_command_writes_data_at_once_and_the_rest_when_asked_for(tmp_path):
    """The tables, what is said of them and the report are golden: tests/golden."""
    study, out = small_study.make(), tmp_path / "new" / "folder"

    def written(**options):
        call_command("analyse", study.slug, out=out, **QUICK, **options, stdout=io.StringIO())
        return {path.name: path for path in out.rglob("*") if path.is_file()}

    files = written()
    run = study.runs.get(kind=services.KIND)
    data = {f"{name}.{form}" for name in run_tables.names(run) for form in ("csv", "json")}
    assert set(files) == data | {"README.md", "captions.json", "run.json", "methods.tex", "references.bib"}
    assert f"--resume {run.key} --with report latex figures" in files["README.md"].read_text()
    files = written(resume=str(run.key), extras=["latex", "figures"])
    assert {"grades.tex", "grades.svg", "grades.png"} <= set(files)
    assert "report.html" not in files
    for name in ("agreement", "competence", "grades"):
        assert (out / "figures" / f"{name}.svg").read_text().startswith("<svg")
    files = written(resume=str(run.key), extras=["report"])
    assert {"report.html", "report.pdf", "grades.tex", "grades.svg"} <= set(files)
    assert study.runs.filter(kind=services.KIND).count() == 1
    # Another run: what is left of the first would not belong to its tables.
    assert set(written()) == data | {"README.md", "captions.json", "run.json", "methods.tex", "references.bib"}


def test_command_that_cannot_start_or_whose_run_fails_writes_nothing(tmp_path, monkeypatch):
    StudyFactory(slug="empty")
    small_study.make(study=StudyFactory(slug="full"))
    monkeypatch.setattr("crowdrag.jobs.leases.MAX_ATTEMPTS", 1)
    monkeypatch.setattr("analysis.analyses.services.compute", lambda *_, **__: 1 / 0)
    for slug, options, failed in (
        ("no-such-study", {}, 0), ("empty", {}, 0), ("full", {"resamples": 0}, 0), ("full", {"seed": -3}, 0),
        ("full", {}, 1),
    ):  # fmt: skip
        with pytest.raises(CommandError):
            call_command("analyse", slug, out=tmp_path / "out", stdout=io.StringIO(), **options)
        assert Run.objects.filter(state=RunState.FAILED).count() == failed
        assert not (tmp_path / "out").exists()
