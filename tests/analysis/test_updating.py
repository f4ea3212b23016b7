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
from tests.factories import MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db
QUICK = {"resamples": 30, "restarts": 3, "refine": 2}
LIVE = ("agreement", "agreement_means", "competence", "gold", "grades", "grade_means")


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)


@pytest.fixture(scope="module")
def judged(shared_rows):
    """A study whose fourth judge is still at work."""
    made = small_study.make()
    Assignment.objects.filter(participant__external_id="w4").update(state=AssignmentState.SUBMITTED)
    return made.pk


@pytest.fixture
def study(judged, db):
    return Study.objects.get(pk=judged)


def analyse(study, **parameters) -> Run:
    return running.wait(analysing.start(study=study, parameters=QUICK | parameters))


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
    full = analysing.start(study=study, parameters=QUICK)
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


def test_an_analysis_of_an_earlier_version_says_what_to_do(study):
    base = analyse(study)
    Table.objects.filter(run=base, name=FITS).delete()
    accept(study)
    assert list(due.due(now=timezone.now() + timedelta(hours=1))) == []
    failed = update(base)
    assert (failed.state, "Analyse again" in failed.problems[0]["message"]) == (RunState.FAILED, True)


def test_judgments_that_vanish_fail_an_update_with_the_cure(study):
    base = analyse(study)
    begun = working.start(base)
    Assignment.objects.update(is_included=False)
    executing.work_next(begun)
    begun.refresh_from_db()
    assert "No judgment counts any more" in begun.problems[0]["message"]


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


def test_pages_say_as_of_when_and_what_is_not_updated(study, client):
    base = analyse(study)
    accept(study)
    updated = update(base)
    user = UserFactory()
    MembershipFactory(study=study, user=user, role=Role.EDITOR)
    client.force_login(user)
    for name in ("results", "competence", "grades", "pairs"):
        page = client.get(reverse(name, args=[study.slug]))
        text = " ".join(page.content.decode().split())
        assert page.status_code == 200
        assert "Updated with 14 judgments since the" in text
        assert str(base.key) in text
        assert str(updated.key) in text
        assert "Analyse again" in text
        assert "have come since" not in text
    page = client.get(reverse("leaderboard", args=[study.slug]))
    assert "14 judgments have come since" in page.content.decode()
    # Charts and tables of the update, and what it took over.
    for name, form in (("grades", "json"), ("key_figures", "csv")):
        answer = client.get(reverse("result_table", args=[study.slug, name, form]) + f"?run={updated.key}")
        assert answer.status_code == 200
    chart = client.get(reverse("result_chart", args=[study.slug, "grades", "json"]) + f"?run={updated.key}")
    assert chart.status_code == 200
    assert client.get(reverse("run", args=[study.slug, updated.key])).status_code == 200
    assert client.get(reverse("runs", args=[study.slug])).status_code == 200
