"""Pages of reports: what they show, to whom, in every state."""

import re

import pgtrigger
import pytest
from django.test import Client
from django.utils import timezone

from analysis.domain import charts, erasing
from analysis.domain.reports import packing
from annotation.models import Assignment
from crowdrag.runs.domain import running
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Participant
from tests.analysis import small_study
from tests.analysis.reports import hostile
from tests.analysis.reports.reported import analyse
from tests.factories import MembershipFactory, StudyFactory

pytestmark = pytest.mark.django_db
PAGES = ("report/", "analyses/", "compare/")


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)


@pytest.fixture(autouse=True)
def one_chart(monkeypatch):
    monkeypatch.setattr(charts, "CHARTS", {"agreement": charts.CHARTS["agreement"]})


def member_of(study, role=Role.VIEWER) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def address(study, page="report/") -> str:
    return f"/studies/{study.slug}/results/{page}"


def text(answer) -> str:
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_without_an_analysis_pages_are_there_and_show_none():
    for study in (StudyFactory(), small_study.make()):
        client = member_of(study)
        for page in PAGES:
            answer = client.get(address(study, page))
            assert (answer.status_code, answer.context["run"]) == (200, None), page


def test_the_report_shows_methods_tables_charts_and_what_made_it(run):
    study = run.study
    shown = text(member_of(study).get(address(study)))
    assert "We analysed 56 judgments that 4 participants" in shown
    assert "Krippendorff&#x27;s alpha (ordinal) by dimension" in shown
    assert "whose spam probability on the dimension exceeds 0.7." in shown
    assert f"charts/agreement.pdf?run={run.key}" in shown
    assert f"tables/gold.csv?run={run.key}" in shown
    assert run.inputs_digest in shown
    assert "Everything as zip" not in shown


def test_files_of_a_report_are_sent_to_be_kept(run):
    study = run.study
    client = member_of(study)
    tex = "application/x-tex; charset=utf-8"
    for name, start, media in (
        ("report.html", b"<!doctype html>", "text/html; charset=utf-8"),
        ("report.pdf", b"%PDF", "application/pdf"),
        ("methods.tex", b"We analysed", tex),
        ("references.bib", b"@inproceedings{gienapp2025", "text/plain; charset=utf-8"),
    ):
        answer = client.get(f"{address(study)}{name}?run={run.key}")
        assert answer.content.lstrip().startswith(start)
        assert answer["Content-Type"] == media
        assert answer["Content-Disposition"] == f'attachment; filename="{study.slug}-{str(run.key)[:8]}-{name}"'


def test_there_are_no_other_files_nor_of_other_studies(run):
    study, other = run.study, StudyFactory()
    client = member_of(study)
    assert client.get(f"{address(study)}report.exe").status_code == 404
    assert client.get(f"{address(other)}report.pdf?run={run.key}").status_code == 404
    assert member_of(other).get(f"{address(other)}?run={run.key}").status_code == 404
    assert member_of(other).get(f"{address(other, 'compare/')}?a={run.key}&b={run.key}").status_code == 404
    assert client.get(f"{address(study, 'compare/')}?a=x&b={run.key}").status_code == 404


def test_everything_is_packed_once_and_offered(run):
    study = run.study
    client = member_of(study)
    answer = client.post(f"{address(study, 'report/pack/')}?run={run.key}")
    made = Run.objects.get(kind=packing.KIND)
    assert answer["Location"] == f"/studies/{study.slug}/runs/{made.key}/"
    assert "Everything is being packed" in text(client.get(address(study)))
    running.wait(made)
    shown = text(client.get(address(study)))
    assert f"runs/{made.key}/files/" in shown or str(made.key) in shown
    assert "Everything as zip" in shown


def test_what_somebody_had_erased_leaves_no_zip_of_a_report(run, django_capture_on_commit_callbacks):
    study = run.study
    running.wait(packing.start(run=run))
    assert packing.packed(run)
    with django_capture_on_commit_callbacks(execute=True):
        erasing.erase(Participant.objects.get(study=study, external_id="w1"), timezone.now())
    assert packing.packed(run) is None


def test_analyses_are_listed_with_what_made_them_and_whether_they_are_current():
    study = small_study.make()
    analyse(study, seed=4, spam_threshold=0.6)
    shown = text(member_of(study).get(address(study, "analyses/")))
    assert "<code>spam_threshold</code> 0.6" in shown
    lede = " ".join(shown.split('class="lede"')[1].split("</p>")[0].split())
    for said in ("with", "refine 0", "resamples 30", "restarts 3", "spam_threshold 0.6"):
        assert said in lede
    assert "pool" not in lede
    assert "current" in shown
    Assignment.objects.filter(participant__external_id="w4").update(is_included=False)
    analyse(study)
    shown = text(member_of(study).get(address(study, "analyses/")))
    assert shown.count("data changed since") == 1
    assert shown.count('name="a"') == 2


def test_the_list_counts_as_the_pages_do_and_sets_surplus_judgments_apart():
    study = small_study.make()
    run = analyse(study, k=3)
    shown = " ".join(text(member_of(study).get(address(study, "analyses/"))).split())
    counted, read = run.summary["judgments"], run.snapshot.judgments
    assert counted < read
    assert f"{counted} judgments" in shown
    assert f'data-value="{counted}">{counted} <span class="estimate-n">+ {read - counted} surplus</span>' in shown


def test_two_analyses_are_compared(run):
    study = run.study
    old, same = run, analyse(study)
    Assignment.objects.filter(participant__external_id="w4").update(is_included=False)
    new = analyse(study)
    client = member_of(study)
    assert "Choose two analyses" in text(client.get(address(study, "compare/")))
    equal = text(client.get(f"{address(study, 'compare/')}?a={old.key}&b={same.key}"))
    assert "Nothing changed: every table of both is the same." in equal
    changed = text(client.get(f"{address(study, 'compare/')}?a={old.key}&b={new.key}"))
    assert "Nothing changed: every" not in changed
    assert re.search(r"The \d+ largest of \d+ changes", changed)
    assert "inputs digest" in changed


def test_hostile_names_stay_texts_on_every_page():
    study = small_study.make()
    name = hostile.HTML[0] + "{{ 7*7 }}\u202e"
    with pgtrigger.ignore("annotation.Dimension:never_updated", "writing.Style:never_updated"):
        study.dimensions.filter(name="clear").update(label=name)
        study.styles.filter(name="bullet").update(label=name)
    run = analyse(study)
    new = analyse(study, seed=1)
    client = member_of(study)
    for page in ("report/", "analyses/", f"compare/?a={run.key}&b={new.key}"):
        shown = text(client.get(address(study, page)))
        assert "<script>alert" not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7*7 }}[U+202E]" in text(client.get(address(study)))
    made = client.get(f"{address(study)}report.html").content.decode()
    assert "<script" not in made
    assert client.get(f"{address(study)}report.pdf").content.startswith(b"%PDF")
    assert client.get(f"{address(study, 'charts/agreement.svg')}").status_code == 200
