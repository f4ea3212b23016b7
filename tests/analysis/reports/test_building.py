"""A report as a value: what is in it, and that the same run gives the same files."""

import json
import zipfile
from dataclasses import FrozenInstanceError

import pytest

from analysis import reports
from analysis.figures import figure, renderer
from analysis.methods import judge_certificate
from analysis.reports import builder, documents, exports, services
from analysis.tables import run_tables
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Participant
from tests.analysis import small_study
from tests.analysis.methods import judged_both_ways
from tests.analysis.page_visits import client_of, results

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def few_charts(monkeypatch):
    """Two charts do here; that each of them is drawn in every format is tried where charts are."""
    for name in figure.FIGURES.keys() - {"agreement", "grades"}:
        monkeypatch.delitem(figure.FIGURES, name)


def shown(run):
    """The tables of a run's report by their names."""
    return {table.name: table for table in reports.report(run).tables}


def test_it_holds_every_table_of_the_run_once_and_cannot_be_changed(run):
    """What it holds of the demo study is golden: tests/golden."""
    report = reports.report(run)
    assert sorted(table.name for table in report.tables) == sorted(run_tables.names(run))
    with pytest.raises(FrozenInstanceError):
        report.title = "other"


def test_large_tables_are_counted_and_not_read(run, monkeypatch):
    made = shown(run)
    gold = run_tables.read(run, "gold")["gold"]
    assert (made["gold"].size, made["gold"].rows, made["gold"].is_whole) == (len(gold), (), False)
    assert len(reports.whole_table(run, "gold").rows) == len(gold)
    with pytest.raises(run_tables.UnknownTableError):
        reports.whole_table(run, "order")
    monkeypatch.setattr(builder, "MOST_ROWS", 3)
    agreement = shown(run)["agreement"]  # one that grew too long
    assert agreement.rows == ()
    assert agreement.size > 3


def test_what_is_no_number_is_none():
    rows = [{"dimension": "all", "mean": value} for value in (float("nan"), float("inf"), float("-inf"), None)]
    made = builder.long_table("grade_means", rows, {}, builder.ValueLabels({}, {}))
    assert [row["mean"] for row in made.rows] == [None] * 4


def test_html_and_pdf_of_a_run_are_the_same_to_the_byte(run):
    first, again = reports.report(run), reports.report(run)
    assert first == again
    assert documents.write_html(first) == documents.write_html(again)
    assert documents.write_pdf(first) == documents.write_pdf(again)


@pytest.mark.extended
def test_everything_is_packed_in_the_background_and_the_same_to_the_byte(run, tmp_path):
    made = services.start(run=run)
    assert services.start(run=run) == made
    made = lifecycle.wait(made)
    assert (made.state, made.error) == (RunState.DONE, "")
    artifact = services.packed(run)
    exports.pack(run, tmp_path / "again.zip")
    with artifact.file.open("rb") as file:
        content = file.read()
    assert content == (tmp_path / "again.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "again.zip") as packed:
        names = {name.split("/", 1)[1] for name in packed.namelist()}
        assert packed.testzip() is None
        captions = json.loads(packed.read(f"{run.study.slug}-report/captions.json"))
    assert {"report.html", "report.pdf", "methods.tex", "references.bib", "run.json", "tables/gold.csv"} <= names
    for name in run_tables.names(run):
        assert {f"tables/{name}.{form}" for form in ("csv", "tex", "json")} <= names
    for name in captions["figures"]:
        assert {f"figures/{name}.{form}" for form in ("svg", "png", "pdf", "json")} <= names


def test_the_certificate_of_model_judges_holds_all_its_tables_and_how_it_was_made(run):
    assert exports.certificate(run) is None  # no model judged there
    study = judged_both_ways.people()
    judged_both_ways.model(study)
    Participant.objects.filter(study=study, external_id=judged_both_ways.WRITER).update(
        specification={"model": "small-model", "prompt": "Which is better?", "parameters": {"temperature": 0}}
    )
    made = small_study.analyse(study, epsilon=0.15)
    content = json.loads(exports.certificate(made))
    names = [table.name for table in judge_certificate.METHOD.tables]
    assert {name: content[name] for name in names} == run_tables.read(made, *names)
    assert (content["run"]["run"], content["run"]["parameters"]["epsilon"]) == (str(made.key), 0.15)
    assert {row["epsilon"] for row in content["judge_certificate"]} == {0.15}
    assert [row["prompt"] for row in content["judge_prompts"]] == ["Which is better?"]
    client = client_of(study)
    page = client.get(results(study, f"judge-certificate/?run={made.key}"))
    assert (page.status_code, b"certificate.json" in page.content) == (200, True)
    sent = client.get(results(study, f"report/certificate.json?run={made.key}"))
    assert (sent.content, sent["Content-Type"]) == (exports.certificate(made), "application/json")
    none = client_of(run.study)
    assert none.get(results(run.study, f"report/certificate.json?run={run.key}")).status_code == 404
    assert b"certificate.json" not in none.get(results(run.study, "judge-certificate/")).content


def test_packing_the_report_of_an_analysis_that_is_gone_is_rejected(run):
    made = services.start(run=run)
    run.delete()
    made = lifecycle.wait(made)
    assert (made.state, len(made.problems)) == (RunState.FAILED, 1)


def test_a_figure_is_drawn_in_each_format(run):
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "json": b"{"}
    assert set(starts) == set(renderer.MEDIA_TYPES)
    for form, start in starts.items():
        drawn = figure.render(run.study, run, "agreement", "light", form)
        assert drawn.startswith(start)
        assert figure.render(run.study, run, "agreement", "light", form) == drawn
