"""A study that nobody has judged yet: its writing is analysed all the same, the rest is left out."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from analysis.analyses import services, updates
from analysis.inputs import queries
from analysis.inputs.arrays import unpack
from analysis.inputs.texts import Texts
from analysis.methods.registry import compute
from analysis.methods.reusable_fits import FITS
from analysis.methods.settings import AnalysisSettings
from analysis.models import ResultTable
from analysis.reports import builder, documents
from annotation.enums import Judges
from annotation.models import Assignment
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis import small_study
from tests.analysis.page_visits import client_of, results, visit
from tests.factories import StudyFactory

pytestmark = pytest.mark.django_db
#: Pages about judgments alone, and all pages.
JUDGED = ("competence/", "grades/", "leaderboard/", "pairs/", "order/", "metrics/")
PAGES = ("", *JUDGED, "models/", "writing/", "report/", "analyses/")
REDRAWN = {"bootstrap": "refit", "resample": "topics+workers", "grades_from": "votes"}


@pytest.fixture(scope="module")
def written(shared_rows):
    study = StudyFactory()
    small_study.responses(study)
    return study.pk


@pytest.fixture
def study(written, db):
    return Study.objects.get(pk=written)


def analyse(study, **parameters):
    run = small_study.analyse(study, **{"resamples": 10} | parameters)
    assert run.state == RunState.DONE, (run.error, run.problems)
    return run


@pytest.mark.parametrize("others", [(), (Judges.EXPERT,), (Judges.MODEL,), (Judges.EXPERT, Judges.MODEL)])
def test_every_table_is_made_without_judgments_of_the_pool(study, others):
    for judges in others:
        small_study.campaign(study, judges=judges, names=[f"{judges}{i}" for i in range(4)])
    inputs = queries.load(study)
    assert unpack(inputs.pack()).digest == inputs.digest
    for options in ({}, REDRAWN):
        settings = AnalysisSettings(resamples=10, restarts=2, refine=0, **options)
        results = compute(inputs, settings=settings, seed=0, texts=Texts(study, inputs))
        assert results.summary == {"topics": 0, "pairs": 0, "participants": 0, "judgments": 0, "simulated": False}
        assert results.tables["responses"]


def test_only_a_study_of_nothing_at_all_cannot_be_analysed(study):
    empty = StudyFactory()
    with pytest.raises(services.NothingToAnalyseError):
        services.start(study=empty)
    for each, may in ((empty, False), (study, True)):
        client = client_of(each, Role.EDITOR)
        for page in PAGES:
            text = client.get(results(each, page)).content.decode()
            assert (f'action="/studies/{each.slug}/results/analyse/"' in text) is may, page


@pytest.mark.extended
def test_pages_of_judgments_show_none_and_the_page_of_writing_everything(study):
    analyse(study)
    for page in PAGES:
        context = visit(study, page).context
        assert bool(context["not_judged"] and context.get("needs_judgments")) is (page in JUDGED), page
    assert "charts/agreement" not in visit(study).content.decode()
    assert 'id="lengths"' in visit(study, "writing/").content.decode()
    # A study's home has a card of the results.
    assert client_of(study).get(f"/studies/{study.slug}/").status_code == 200


@pytest.mark.extended
def test_judgments_that_come_are_left_to_a_full_analysis(study):
    run = analyse(study)
    assert not ResultTable.objects.filter(run=run, name=FITS).exists()
    small_study.campaign(study)
    assert not list(updates.due(now=timezone.now() + timedelta(days=1)))
    assert visit(study).context["state"].added == 56
    assert lifecycle.wait(updates.start(run)).state == RunState.FAILED
    assert analyse(study).summary["judgments"] == 56
    assert "charts/agreement" in visit(study).content.decode()
    # Those of an update may be gone again.
    run = study.runs.latest("pk")
    Assignment.objects.filter(participant__study=study).update(is_included=False)
    update = lifecycle.wait(updates.start(run))
    assert (update.state, len(update.problems)) == (RunState.FAILED, 1)


@pytest.mark.extended
def test_those_who_judged_are_analysed_unless_somebody_chooses(study):
    small_study.campaign(study, judges=Judges.MODEL, names=[f"m{i}" for i in range(4)])
    run = analyse(study)
    assert (run.parameters["pool"], run.summary["judgments"]) == (Judges.MODEL, 56)
    assert analyse(study, pool=Judges.CROWD).summary["judgments"] == 0
    small_study.campaign(study, judges=Judges.EXPERT, names=["e1", "e2", "e3", "e4"])
    assert analyse(study).parameters["pool"] == Judges.EXPERT
    small_study.campaign(study)
    assert analyse(study).parameters["pool"] == Judges.CROWD


@pytest.mark.extended
def test_the_judgments_of_another_pool_stand_beside_an_empty_one(study):
    small_study.campaign(study, judges=Judges.EXPERT, names=["e1", "e2", "e3", "e4"])
    run = analyse(study, pool=Judges.CROWD)
    for page in PAGES:
        visit(study, page)
    assert visit(study).context["not_judged"]
    analyse(study, pool="MODEL")
    assert analyse(study, pool="EXPERT").summary["judgments"] == 56
    assert run.summary["judgments"] == 0


@pytest.mark.extended
def test_report_files_and_command_claim_nothing_of_judgments(study, tmp_path):
    call_command(
        "analyse", study.slug, out=tmp_path, extras=["report"], resamples=10, restarts=2, refine=0, stdout=io.StringIO()
    )
    run = study.runs.get()
    report = builder.report(run)
    of_judgments = {"hovy2013", "krippendorff2011", "rao1967", "wilcoxon1945", "kendall1938"}
    assert not of_judgments & {work.key for work in report.methods.references}
    assert documents.write_pdf(report).startswith(b"%PDF")
    assert (tmp_path / "report.pdf").exists()
    assert (tmp_path / "report.html").read_bytes() == documents.write_html(report)
    assert (tmp_path / "lengths.csv").stat().st_size
    assert json.loads((tmp_path / "agreement.json").read_text()) == []
    again = analyse(study)
    assert visit(study, f"analyses/compare/?a={run.key}&b={again.key}").context["run"]
