"""Updates of an analysis as runs: what they read and store, when they are due, what pages show, and who leaves them."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from analysis.analyses import erasure, services, updates
from analysis.inputs import snapshots
from analysis.methods.reusable_fits import FITS
from analysis.models import ResultTable
from analysis.tables import run_tables
from annotation.enums import AssignmentState, CampaignState, Judges
from annotation.judging import slots
from annotation.models import Assignment, AssignmentTransition, Campaign, Slot
from crowdrag.jobs import lifecycle, worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis import small_study
from tests.analysis.page_visits import client_of, results, visit
from writing.models import Response

pytestmark = pytest.mark.django_db
LIVE = ("agreement", "agreement_means", "competence", "gold", "grades", "grade_means")
HOUR = timedelta(hours=1)


def analyse(study) -> Run:
    return small_study.analyse(study, refine=2)


@pytest.fixture(scope="module")
def analysed(shared_rows):
    """An analysis of a study whose fourth judge is still at work."""
    made = small_study.make()
    Assignment.objects.filter(participant__external_id="w4").update(state=AssignmentState.SUBMITTED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crowdrag.jobs.tasks.wake", lambda **_: None)
        return analyse(made).pk


@pytest.fixture
def base(analysed, db) -> Run:
    return Run.objects.get(pk=analysed)


def accept(base: Run, at=None) -> None:
    """The fourth judge's work comes to count."""
    for given in Assignment.objects.filter(participant__external_id="w4", questionnaire__campaign__study=base.study):
        Assignment.objects.filter(pk=given.pk).update(state=AssignmentState.ACCEPTED)
        AssignmentTransition.objects.create(
            assignment=given, before=AssignmentState.SUBMITTED, after=AssignmentState.ACCEPTED, at=at or timezone.now()
        )


def update(base: Run) -> Run:
    return lifecycle.wait(updates.start(base))


def rows(run: Run) -> dict[str, bytes]:
    return {name: run_tables.write(run, name, "csv") for name in LIVE}


def test_an_update_holds_what_a_full_analysis_of_the_same_judgments_holds_and_is_shown_until_there_is_one(base):
    study = base.study
    assert services.state(study, live=True).run == base
    accept(base)
    updated = update(base)
    state = services.state(study, live=True)
    assert (state.run, state.full, state.is_update, state.changed) == (updated, base, True, False)
    assert (services.state(study).run, services.state(study).changed) == (base, True)
    assert services.state(study, key=updated.key).full == base
    full = analyse(study)
    state = services.state(study, live=True)
    assert (state.run, state.is_update) == (full, False)
    assert updated.state == RunState.DONE, updated.error
    assert rows(updated) == rows(full) != rows(base)
    assert updated.inputs_digest == full.inputs_digest == snapshots.inputs(updated).digest
    assert updated.summary["since"] == 14
    # What it did not make anew is still the full analysis's that it is of.
    assert not ResultTable.objects.filter(run=updated, name="key_figures").exists()
    assert run_tables.write(updated, "key_figures", "json") == run_tables.write(base, "key_figures", "json")
    assert run_tables.read(updated, "leaderboard") == run_tables.read(base, "leaderboard")
    assert (run_tables.full_analysis_of(updated), run_tables.full_analysis_of(base)) == (base, None)


def test_an_update_does_not_count_judgments_by_models_which_it_does_not_include(base):
    small_study.campaign(base.study, judges=Judges.MODEL, names=("m1", "m2", "m3", "m4"))
    assert services.state(base.study).added > 0
    assert update(base).summary["since"] == 0


def test_due_is_what_changed_and_nothing_is_tried_twice(base, monkeypatch):
    now = timezone.now()
    assert updates.update_due(now=now) == []
    accept(base)
    (begun,) = updates.update_due(now=now)
    assert begun.parameters["of"] == str(base.key)
    assert updates.update_due(now=now + HOUR) == []  # one is at work
    monkeypatch.setattr("crowdrag.jobs.leases.MAX_ATTEMPTS", 1)
    monkeypatch.setattr(updates, "compute", lambda *_, **__: 1 / 0)
    assert lifecycle.wait(begun).state == RunState.FAILED
    assert updates.update_due(now=now + HOUR) == []  # it failed: not until something changes
    Assignment.objects.filter(participant__external_id="w3").update(is_included=False)
    accept(base, at=now + HOUR)
    assert list(updates.due(now=now + HOUR)) == [base]


def test_an_analysis_ends_an_update_and_none_is_due_while_one_is_at_work(base):
    accept(base)
    now = timezone.now()
    (begun,) = updates.update_due(now=now)
    full = services.start(study=base.study, parameters=small_study.QUICK)
    begun.refresh_from_db()
    assert begun.state == RunState.CANCELLED
    assert list(updates.due(now=now + HOUR)) == []
    lifecycle.wait(full)
    assert services.state(base.study, live=True).run == full
    assert updates.latest(base) is None


def test_not_more_often_than_a_minute_and_only_the_last_updates_stay(base):
    made = [update(base) for _ in range(5)]
    assert list(Run.objects.filter(kind=run_tables.UPDATE).order_by("pk")) == made[-3:]
    accept(base)
    assert list(updates.due(now=made[-1].created_at + timedelta(seconds=59))) == []
    assert list(updates.due(now=made[-1].created_at + timedelta(minutes=11))) == [base]


def test_an_update_without_the_fits_of_an_analysis_or_without_judgments_fails(base):
    begun = updates.start(base)
    Assignment.objects.update(is_included=False)
    worker.work_next(begun)
    begun.refresh_from_db()
    assert (begun.state, len(begun.problems)) == (RunState.FAILED, 1)
    Assignment.objects.update(is_included=True)
    ResultTable.objects.filter(run=base, name=FITS).delete()  # as of an earlier version
    accept(base)
    assert list(updates.due(now=timezone.now() + HOUR)) == []
    failed = update(base)
    assert (failed.state, len(failed.problems)) == (RunState.FAILED, 1)


def test_who_is_erased_leaves_the_fits_and_the_updates(base):
    updated = update(base)
    assert ResultTable.objects.filter(run=base, name=FITS).exists()
    assert any("w1" in row.values() for row in ResultTable.objects.get(run=base, name="competence").rows)
    erasure.erase(base.study.participants.get(external_id="w1"), timezone.now())
    assert not ResultTable.objects.filter(run=base, name=FITS).exists()
    for table in ResultTable.objects.filter(run__in=[base, updated]):
        assert not any("w1" in row.values() for row in table.rows), table.name
    updated.refresh_from_db()
    assert updated.stale_at
    assert updates.latest(base) is None  # what holds a pseudonym's votes is shown with a warning, not as the latest


def test_pages_show_the_update_and_where_it_is_not_what_came_since(base):
    study = base.study
    accept(base)
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
    assert client_of(study).get(reverse("run", args=[study.slug, updated.key])).status_code == 200


def test_the_page_marks_fits_that_an_update_continued(base):
    accept(base)
    update(base)
    context = visit(base.study).context
    assert all(row["is_continued"] for row in context["models"])
    assert context["has_continued"]
    assert not visit(base.study, f"?run={base.key}").context["has_continued"]


@pytest.fixture
def judged(db):
    """A study without an analysis, and the slots of its campaign, all held by accepted questionnaires."""
    study = small_study.make()
    campaign = study.campaigns.get()
    Campaign.objects.filter(pk=campaign.pk).update(has_slots=True, state=CampaignState.CLOSED, k=4)
    slots.ensure(campaign=campaign, now=timezone.now())
    hold_slots(study)
    return study


def hold_slots(study) -> None:
    """Give each slot to one of the questionnaires of a study."""
    held = Assignment.objects.filter(questionnaire__campaign__study=study)
    for slot, holder in zip(study.campaigns.get().slots.all(), held, strict=True):
        Slot.objects.filter(pk=slot.pk).update(holder=holder)


def test_the_first_analysis_starts_once_when_all_questionnaires_of_a_campaign_are_accepted(judged):
    now = timezone.now()
    last = Assignment.objects.filter(participant__external_id="w4", participant__study=judged)
    last.update(state=AssignmentState.SUBMITTED)
    assert updates.start_first_due(now=now) == []
    last.update(state=AssignmentState.ACCEPTED)
    judged.campaigns.get().slots.update(holder=None)
    assert updates.start_first_due(now=now) == []
    hold_slots(judged)
    (begun,) = updates.start_first_due(now=now)
    assert (begun.study, begun.kind, begun.created_by) == (judged, services.KIND, None)
    lifecycle.cancel(run=begun)
    assert updates.start_first_due(now=now) == []  # it was cancelled: a person decides


def test_no_first_analysis_of_an_archived_study_or_without_included_judgments(judged):
    now = timezone.now()
    Study.objects.update(archived_at=now)
    assert updates.start_first_due(now=now) == []
    Study.objects.update(archived_at=None)
    Assignment.objects.update(is_included=False)
    Response.objects.update(is_included=False)
    assert updates.start_first_due(now=now) == []


@pytest.mark.parametrize(
    ("kind", "state", "number"),
    [("judge.model", RunState.DONE, 1), ("judge.model", RunState.FAILED, 0), ("export", RunState.DONE, 0)],
)
def test_the_first_analysis_starts_when_a_model_judge_is_done(db, kind, state, number):
    study = small_study.make()
    ended = Run(study=study, kind=kind, state=state)
    for _ in range(2):
        updates.start_first_after(ended, timezone.now())
    assert Run.objects.filter(study=study, kind=services.KIND).count() == number


def test_a_page_of_results_shows_the_progress_of_the_first_analysis(judged):
    (begun,) = updates.start_first_due(now=timezone.now())
    text = visit(judged, "leaderboard/").content.decode()
    assert reverse("run_progress", args=[judged.slug, begun.key]) in text
