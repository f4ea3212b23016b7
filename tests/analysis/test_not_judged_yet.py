"""A study that nobody has judged yet: its writing is analysed all the same, the rest says what is missing."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from analysis.domain import analysing, loading
from analysis.domain.inputs import unpack
from analysis.domain.reports import as_html, as_pdf, building
from analysis.domain.results import compute
from analysis.domain.results.earlier import FITS
from analysis.domain.results.settings import Settings
from analysis.domain.texts import Texts
from analysis.domain.updating import due, working
from analysis.models import Table
from annotation.enums import Judges
from annotation.models import Assignment
from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState
from crowdrag.studies.enums import Role
from tests.analysis import small_study
from tests.factories import MembershipFactory, StudyFactory

pytestmark = pytest.mark.django_db
PAGES = ("", "competence/", "grades/", "leaderboard/", "writing/", "pairs/", "order/", "metrics/", "models/", "report/",
         "analyses/")  # fmt: skip
HOW = {
    "plain": {},
    "redrawn": {"bootstrap": "refit", "resample": "topics+workers", "grades_from": "votes"},
}


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)


@pytest.fixture
def study():
    found = StudyFactory()
    small_study.responses(found)
    return found


@pytest.mark.parametrize("others", [(), (Judges.EXPERT,), (Judges.MODEL,), (Judges.EXPERT, Judges.MODEL)])
def test_every_table_is_made_without_judgments_of_the_pool(study, others):
    for judges in others:
        small_study.campaign(study, judges=judges, names=[f"{judges}{i}" for i in range(4)])
    inputs = loading.load(study)
    assert unpack(inputs.pack()).digest == inputs.digest
    for how, options in HOW.items():
        settings = Settings(resamples=10, restarts=2, refine=0, **options)
        found = compute(inputs, settings=settings, seed=0, texts=Texts(study, inputs))
        assert found.summary == {"topics": 0, "pairs": 0, "participants": 0, "judgments": 0, "simulated": False}, how
        assert found.tables["responses"], how


def analyse(study, **parameters):
    parameters = {"resamples": 10, "restarts": 2, "refine": 0} | parameters
    run = running.wait(analysing.start(study=study, parameters=parameters))
    assert run.state == RunState.DONE, (run.error, run.problems)
    return run


def client_of(study, role=Role.EDITOR):
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def shown(client, study, page=""):
    answer = client.get(f"/studies/{study.slug}/results/{page}")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_nothing_at_all_is_an_error_and_pages_say_so():
    empty = StudyFactory()
    with pytest.raises(analysing.NothingToAnalyseError):
        analysing.start(study=empty)
    client = client_of(empty)
    for page in PAGES:
        assert f'action="/studies/{empty.slug}/results/analyse/"' not in shown(client, empty, page), page


def test_responses_alone_can_be_analysed_from_every_page(study):
    client = client_of(study)
    for page in PAGES:
        assert f'action="/studies/{study.slug}/results/analyse/"' in shown(client, study, page), page


def test_pages_of_judgments_say_that_there_are_none_and_writing_shows_everything(study):
    analyse(study)
    client = client_of(study)
    for page in PAGES:
        text = shown(client, study, page)
        assert ("No judgments yet" in text) is (page not in {"writing/", "report/", "analyses/"}), page
        assert "6 responses, no judgments yet," in text
    assert "Key figures" in shown(client, study)
    assert "charts/agreement" not in shown(client, study)
    assert 'id="lengths"' in shown(client, study, "writing/")
    # A study's home has a card of the results.
    assert client.get(f"/studies/{study.slug}/").status_code == 200


def test_judgments_that_come_are_left_to_a_full_analysis(study):
    run = analyse(study)
    assert not Table.objects.filter(run=run, name=FITS).exists()
    small_study.campaign(study)
    assert not list(due.due(now=timezone.now() + timedelta(days=1)))
    assert "56 judgments have come since" in shown(client_of(study), study)
    assert running.wait(working.start(run)).state == RunState.FAILED
    assert analyse(study).summary["judgments"] == 56
    assert "charts/agreement" in shown(client_of(study), study)


def test_an_update_of_judgments_that_are_all_gone_is_refused():
    study = small_study.make()
    run = analyse(study)
    Assignment.objects.update(is_included=False)
    update = running.wait(working.start(run))
    assert update.state == RunState.FAILED
    assert "No judgment counts any more" in update.problems[0]["message"]


def test_the_judgments_of_another_pool_stand_beside_an_empty_one(study):
    small_study.campaign(study, judges=Judges.EXPERT, names=["e1", "e2", "e3", "e4"])
    run = analyse(study)
    text = shown(client_of(study), study)
    assert "No judgments yet" in text
    assert "Experts and pointwise ratings" in text
    for page in PAGES:
        shown(client_of(study), study, page)
    analyse(study, pool="MODEL")
    assert analyse(study, pool="EXPERT").summary["judgments"] == 56
    assert run.summary["judgments"] == 0


def test_report_files_and_command_claim_nothing_of_judgments(study, tmp_path):
    call_command("analyse", study.slug, out=tmp_path, resamples=10, restarts=2, refine=0, stdout=io.StringIO())
    run = study.runs.get()
    made = building.report(run)
    said = " ".join(made.methods.paragraphs)
    assert "We analysed 6 responses to 2 topics" in said
    for word in ("MACE", "Krippendorff", "Bradley", "grades", "competences", "Wilcoxon", "Kendall"):
        assert word not in said
    assert as_pdf.write(made).startswith(b"%PDF")
    assert (tmp_path / "report.pdf").exists()
    assert (tmp_path / "report.html").read_bytes() == as_html.write(made)
    assert (tmp_path / "lengths.csv").stat().st_size
    assert json.loads((tmp_path / "agreement.json").read_text()) == []
    again = analyse(study)
    client = client_of(study)
    assert client.get(f"/studies/{study.slug}/results/compare/?run={run.key}&other={again.key}").status_code == 200
