"""Pages of reports in every state; the report of the demo study is golden (tests/golden)."""

import re

import pgtrigger
import pytest
from django.core.cache import cache
from django.utils import timezone

from analysis.analyses import erasure
from analysis.figures import figure
from analysis.reports import builder, services
from annotation.models import Assignment
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant
from tests.analysis import small_study
from tests.analysis.page_visits import client_of, results, visit
from tests.analysis.reports import hostile
from tests.analysis.small_study import analyse
from tests.factories import StudyFactory

pytestmark = pytest.mark.django_db
PAGES = ("report/", "analyses/", "analyses/compare/")


@pytest.fixture(autouse=True)
def one_chart(monkeypatch):
    for name in figure.FIGURES.keys() - {"agreement"}:
        monkeypatch.delitem(figure.FIGURES, name)


def text(answer) -> str:
    return re.sub(r"\s+", " ", answer.content.decode())


def test_without_an_analysis_pages_are_there_and_show_none():
    for study in (StudyFactory(), small_study.make()):
        for page in PAGES:
            assert visit(study, page).context["run"] is None, page


@pytest.mark.extended
def test_files_of_a_report_are_sent_to_be_kept(run):
    study, client = run.study, client_of(run.study)
    for name, start, media in (
        ("report.html", b"<!doctype html>", "text/html; charset=utf-8"),
        ("report.pdf", b"%PDF", "application/pdf"),
        ("methods.tex", b"", "application/x-tex; charset=utf-8"),
        ("references.bib", b"@inproceedings{gienapp2025", "text/plain; charset=utf-8"),
    ):
        answer = client.get(results(study, f"report/{name}?run={run.key}"))
        assert answer.content.lstrip().startswith(start)
        assert answer["Content-Type"] == media
        assert answer["Content-Disposition"] == f'attachment; filename="{study.slug}-{str(run.key)[:8]}-{name}"'


def test_there_are_no_other_files_nor_of_other_studies(run):
    other = StudyFactory()
    ours, theirs = client_of(run.study), client_of(other)
    for client, study, page in (
        (ours, run.study, "report/report.exe"),
        (ours, run.study, f"analyses/compare/?a=x&b={run.key}"),
        (theirs, other, f"report/report.pdf?run={run.key}"),
        (theirs, other, f"report/?run={run.key}"),
        (theirs, other, f"analyses/compare/?a={run.key}&b={run.key}"),
    ):
        assert client.get(results(study, page)).status_code == 404, page


def test_everything_is_packed_once_and_offered_until_somebody_has_themselves_erased(
    run, django_capture_on_commit_callbacks
):
    client = client_of(run.study)
    answer = client.post(results(run.study, f"report/build/?run={run.key}"))
    made = Run.objects.get(kind=services.KIND)
    assert answer["Location"] == f"/studies/{run.study.slug}/runs/{made.key}/"
    zip_address = f"/studies/{run.study.slug}/runs/{made.key}/files/"
    assert zip_address not in text(visit(run.study, "report/"))
    lifecycle.wait(made)
    assert zip_address in text(visit(run.study, "report/"))
    with django_capture_on_commit_callbacks(execute=True):
        erasure.erase(Participant.objects.get(study=run.study, external_id="w1"), timezone.now())
    assert services.packed(run) is None


def test_the_list_of_analyses_sets_surplus_judgments_apart():
    study = small_study.make()
    run = analyse(study, k=3)
    counted, read = run.summary["judgments"], run.snapshot.judgments
    page = text(visit(study, "analyses/"))
    assert counted < read
    assert re.search(rf'data-value="{counted}">{counted} <span class="estimate-n">\D*{read - counted}\b', page)


@pytest.mark.extended
def test_two_analyses_are_compared(run):
    study, same = run.study, analyse(run.study)
    Assignment.objects.filter(participant__external_id="w4").update(is_included=False)
    new = analyse(study)

    def compared(other: Run):
        return visit(study, f"analyses/compare/?a={run.key}&b={other.key}").context["comparison"]

    assert compared(same).is_equal
    assert {each.name for each in compared(new).changed} >= {"agreement", "competence"}


@pytest.mark.extended
def test_hostile_names_stay_texts_on_every_page():
    study = small_study.make()
    name = hostile.HTML[0] + "{{ 7*7 }}\u202e"
    with pgtrigger.ignore("annotation.Dimension:never_updated", "writing.Style:never_updated"):
        study.dimensions.filter(name="clear").update(label=name)
        study.styles.filter(name="bullet").update(label=name)
    run, new = analyse(study), analyse(study, seed=1)
    for page in ("report/", "analyses/", f"analyses/compare/?a={run.key}&b={new.key}"):
        assert "<script>alert" not in text(visit(study, page))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;{{ 7*7 }}[U+202E]" in text(visit(study, "report/?part=agreement"))
    assert "<script" not in text(visit(study, "report/report.html"))
    assert visit(study, "report/report.pdf").content.startswith(b"%PDF")
    visit(study, "charts/agreement.svg")


def test_a_report_is_shown_one_part_at_a_time(run):
    parts = dict(visit(run.study, "report/").context["parts"])
    assert [*parts][:: len(parts) - 1] == ["methods", "about"]
    for part in parts:
        context = visit(run.study, f"report/?part={part}").context
        assert context["part"] == part
        assert [section.key for section in context["sections"]] == ([part] if part not in {"methods", "about"} else [])
    assert visit(run.study, "report/?part=nothing").context["part"] == "methods"
    # No language model judged here: tables without rows are in the files only.
    empty = {section.key for section in builder.report(run).sections} - {*parts}
    assert "models" in empty


def test_a_report_is_built_once_until_its_data_or_labels_change(run, monkeypatch):
    built, build = [], builder.report
    monkeypatch.setattr(builder, "report", lambda run: built.append(run) or build(run))
    cache.clear()
    for _twice in range(2):
        visit(run.study, "report/")
    assert len(built) == 1
    with pgtrigger.ignore("annotation.Dimension:never_updated"):
        run.study.dimensions.filter(name="clear").update(label="Clearer")
    assert "Clearer" in text(visit(run.study, "report/?part=agreement"))
    Run.objects.filter(pk=run.pk).update(stale_at=timezone.now(), stale_reason="erased")
    visit(run.study, "report/")
    assert len(built) == 3
