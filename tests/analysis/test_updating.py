"""Updates of an analysis as runs: what they read and store, when they are due, what pages say, and who leaves them."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from analysis.domain import analysing, erasing, snapshots, tables
from analysis.domain.results.earlier import FITS
from analysis.domain.updating import due, working
from analysis.models import Table
from annotation.enums import AssignmentState
from annotation.models import Assignment, AssignmentTransition
from crowdrag.runs.domain import executing, running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis import small_study

from .visits import client_of, results, visit

pytestmark = pytest.mark.django_db
LIVE = ("agreement", "agreement_means", "competence", "gold", "grades", "grade_means")


@pytest.fixture(scope="module")
def judged(shared_rows):
    """A study whose fourth judge is still at work."""
    made = small_study.make()
    Assignment.objects.filter(participant__external_id="w4").update(state=AssignmentState.SUBMITTED)
    return made.pk


@pytest.fixture
def study(judged, db):
    return Study.objects.get(pk=judged)


def analyse(study) -> Run:
    return small_study.analyse(study, refine=2)


def accept(study, at=None) -> None:
    """The fourth judge's work comes to count."""
    for given in Assignment.objects.filter(participant__external_id="w4", questionnaire__campaign__study=study):
        Assignment.objects.filter(pk=given.pk).update(state=AssignmentState.ACCEPTED)
        AssignmentTransition.objects.create(
            assignment=given, before=AssignmentState.SUBMITTED, after=AssignmentState.ACCEPTED, at=at or timezone.now()
        )


def update(base: Run) -> Run:
    return running.wait(working.start(base))


def rows(run: Run) -> dict[str, bytes]:
    return {name: tables.write(run, name, "csv") for name in LIVE}


def test_an_update_holds_what_a_full_analysis_of_the_same_judgments_holds(study):
    base = analyse(study)
    accept(study)
    updated, full = update(base), analyse(study)
    assert updated.state == RunState.DONE, updated.error
    assert rows(updated) == rows(full) != rows(base)
    assert updated.inputs_digest == full.inputs_digest == snapshots.inputs(updated).digest
    assert updated.summary["since"] == 14
    # What it did not make anew is still the full analysis's that it is of.
    assert not Table.objects.filter(run=updated, name="key_figures").exists()
    assert tables.write(updated, "key_figures", "json") == tables.write(base, "key_figures", "json")
    assert tables.read(updated, "leaderboard") == tables.read(base, "leaderboard")
    assert tables.base_of(updated) == base
    assert tables.base_of(base) is None


def test_pages_show_the_latest_update_of_the_latest_analysis(study):
    base = analyse(study)
    assert analysing.state(study, live=True).run == base
    accept(study)
    updated = update(base)
    state = analysing.state(study, live=True)
    assert (state.run, state.full, state.is_update, state.changed) == (updated, base, True, False)
    assert analysing.state(study).run == base
    assert analysing.state(study).changed
    assert analysing.state(study, key=updated.key).full == base
    full = analyse(study)
    assert analysing.state(study, live=True).run == full
    assert not analysing.state(study, live=True).is_update


def test_due_is_what_changed_and_nothing_is_tried_twice(study):
    assert due.update_due(now=timezone.now()) == []  # nothing was analysed yet
    base = analyse(study)
    assert due.update_due(now=timezone.now()) == []
    accept(study)
    begun = due.update_due(now=timezone.now())
    assert [run.parameters["of"] for run in begun] == [str(base.key)]
    assert due.update_due(now=timezone.now() + timedelta(hours=1)) == []  # one is at work
    running.wait(begun[0])
    assert due.update_due(now=timezone.now() + timedelta(hours=1)) == []


def test_an_update_that_fails_is_not_tried_again_until_something_changes(study, monkeypatch):
    base = analyse(study)
    accept(study)
    monkeypatch.setattr("crowdrag.runs.domain.timing.MAX_ATTEMPTS", 1)
    monkeypatch.setattr(working, "compute", lambda *_, **__: 1 / 0)
    failed = update(base)
    assert failed.state == RunState.FAILED
    later = timezone.now() + timedelta(hours=1)
    assert list(due.due(now=later)) == []
    Assignment.objects.filter(participant__external_id="w3").update(is_included=False)
    accept(study, at=later)
    assert list(due.due(now=later)) == [base]


def test_not_while_an_analysis_is_at_work_and_an_analysis_ends_an_update(study):
    base = analyse(study)
    accept(study)
    later = timezone.now()
    (begun,) = due.update_due(now=later)
    full = analysing.start(study=study, parameters=small_study.QUICK)
    begun.refresh_from_db()
    assert begun.state == RunState.CANCELLED
    assert list(due.due(now=later + timedelta(hours=1))) == []
    running.wait(full)
    assert analysing.state(study, live=True).run == full
    assert working.latest(base) is None


def test_not_more_often_than_a_minute(study):
    base = analyse(study)
    first = update(base)
    accept(study)
    assert list(due.due(now=first.created_at + timedelta(seconds=59))) == []
    assert list(due.due(now=first.created_at + timedelta(minutes=11))) == [base]


def test_only_the_last_updates_stay(study):
    base = analyse(study)
    made = [update(base) for _ in range(5)]
    assert list(Run.objects.filter(kind=tables.UPDATE).order_by("pk")) == made[-3:]


def test_an_update_without_the_fits_of_an_analysis_or_without_judgments_fails(study):
    base = analyse(study)
    begun = working.start(base)
    Assignment.objects.update(is_included=False)
    executing.work_next(begun)
    begun.refresh_from_db()
    assert (begun.state, len(begun.problems)) == (RunState.FAILED, 1)
    Assignment.objects.update(is_included=True)
    Table.objects.filter(run=base, name=FITS).delete()  # as of an earlier version
    accept(study)
    assert list(due.due(now=timezone.now() + timedelta(hours=1))) == []
    failed = update(base)
    assert (failed.state, len(failed.problems)) == (RunState.FAILED, 1)


def test_who_is_erased_leaves_the_fits_and_the_updates(study):
    base = analyse(study)
    updated = update(base)
    person = study.participants.get(external_id="w1")
    assert any("w1" in row.values() for row in Table.objects.get(run=base, name=FITS).rows)
    erasing.erase(person, timezone.now())
    for table in Table.objects.filter(run__in=[base, updated]):
        assert not any("w1" in row.values() for row in table.rows), table.name
    updated.refresh_from_db()
    assert updated.stale_at
    assert working.latest(base) is None  # what holds a pseudonym's votes is shown with a warning, not as the latest


def test_pages_show_the_update_and_where_it_is_not_what_came_since(study):
    base = analyse(study)
    accept(study)
    updated = update(base)
    for name in ("", "competence/", "grades/", "pairs/"):
        answer = visit(study, name, Role.EDITOR)
        text = answer.content.decode()
        assert (answer.context["state"].added, answer.context["run"].summary["since"]) == (0, 14)
        assert f'action="{results(study, "analyse/")}"' in text
        assert all(str(run.key) in text for run in (base, updated))
    assert visit(study, "leaderboard/").context["state"].added == 14
    # Charts and tables of the update, and what it took over.
    for name in ("tables/grades.json", "tables/key_figures.csv", "charts/grades.json"):
        visit(study, f"{name}?run={updated.key}")
    client = client_of(study)
    for name, arguments in (("run", [updated.key]), ("runs", [])):
        assert client.get(reverse(name, args=[study.slug, *arguments])).status_code == 200
