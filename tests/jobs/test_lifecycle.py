"""Start, cancel, resume; what becomes of a run whose work fails, is rejected, or ends."""

import re
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from crowdrag.jobs import completion, kinds, leases, lifecycle, run_files, sweep, tasks, worker
from crowdrag.jobs.enums import RunState, UnitState
from crowdrag.jobs.models import Run, Unit, Upload
from crowdrag.studies.models import Study
from tests.factories import NOW, StudyFactory, UserFactory

pytestmark = pytest.mark.django_db


def start(study: Study, kind: str, **parameters: object) -> Run:
    return lifecycle.start(study=study, kind=f"test.{kind}", parameters={"seconds": 0} | parameters)


def exhaust(run: Run) -> Run:
    """Do all that a run has to do, without the waits between attempts."""
    while worker.work_next(run):
        run.units.filter(state=UnitState.PENDING).update(due_at=timezone.now() - timedelta(seconds=1))
    run.refresh_from_db()
    return run


def test_a_run_says_what_made_it(study: Study) -> None:
    user = UserFactory()
    run = lifecycle.start(study=study, kind="test.tiny", parameters={"units": 3, "x": 1}, by=user, seed=7)
    assert (run.state, run.seed, run.created_by, run.queue) == (RunState.PLANNED, 7, user, "default")
    assert run.parameters == {"units": 3, "x": 1}
    assert run.code_version.startswith("0.")
    assert run.environment["packages"]["Django"].startswith("5.2")
    assert [unit.payload for unit in run.units.order_by("position")] == [{"i": 0}, {"i": 1}, {"i": 2}]


def test_workers_are_woken_on_commit_only(
    study: Study, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks
) -> None:
    woken = []
    monkeypatch.setattr(tasks, "wake", lambda **said: woken.append(said))
    with django_capture_on_commit_callbacks(execute=True):
        start(study, "tiny", units=3)
        assert woken == []
    assert woken == [{"queue": "default", "messages": 3}]


def test_an_unknown_kind_is_refused_with_those_that_there_are(study: Study) -> None:
    with pytest.raises(kinds.UnknownKindError, match=r"test\.nothing.*test\.tiny"):
        start(study, "nothing")


def test_a_kind_is_registered_once_and_for_a_queue_that_there_is() -> None:
    with pytest.raises(ValueError, match="tiny"):
        kinds.register(kinds.Kind(name="test.tiny", title="Another", work=lambda _work: None))
    with pytest.raises(ValueError, match="fast"):
        kinds.register(kinds.Kind(name="test.fast", title="Fast", work=lambda _work: None, queue="fast"))


def test_a_failure_is_tried_again_later_and_later(study: Study) -> None:
    run = start(study, "failing", failures=2)
    waits = []
    for attempt in (1, 2):
        assert worker.work_next(run)
        unit = run.units.get()
        assert (unit.state, unit.attempts, unit.error) == (UnitState.PENDING, attempt, "OSError: the disk is on fire")
        waits.append((unit.due_at - timezone.now()).total_seconds())
        assert not worker.work_next(run)
        run.units.update(due_at=timezone.now())
    assert 0 < waits[0] <= 2 < waits[1] <= 8
    run = exhaust(run)
    assert (run.state, run.error, run.units.get().error) == (RunState.DONE, "", "")
    assert Upload.objects.count() == 1


def test_the_third_failure_is_the_last_and_other_units_are_done_nevertheless(study: Study) -> None:
    run = start(study, "failing", units=2)
    run = exhaust(run)
    assert run.state == RunState.FAILED
    assert run.error.startswith("OSError: the disk is on fire")
    assert list(run.units.order_by("position").values_list("attempts", flat=True)) == [3, 3]


@pytest.mark.django_db(transaction=True)
def test_a_database_that_goes_away_is_not_the_units_fault() -> None:
    run = exhaust(start(StudyFactory(), "disconnected", times=leases.MAX_ATTEMPTS))
    unit = run.units.get()
    assert (run.state, unit.state, unit.attempts, unit.lost) == (
        RunState.DONE, UnitState.DONE, 0, leases.MAX_ATTEMPTS,
    )  # fmt: skip
    assert Upload.objects.count() == 1


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_a_unit_with_which_the_database_goes_away_each_time_fails_in_the_end() -> None:
    run = exhaust(start(StudyFactory(), "disconnected", times=99))
    assert (run.state, run.units.get().lost) == (RunState.FAILED, leases.MAX_LOST)


def test_an_effect_that_breaks_leaves_nothing(study: Study) -> None:
    run = exhaust(start(study, "breaking"))
    assert (run.state, run.error) == (RunState.FAILED, "ValueError: halfway through")
    assert not Upload.objects.exists()


def test_rejected_input_is_final_and_its_problems_are_kept(study: Study) -> None:
    run = exhaust(start(study, "rejecting", problems=137, units=3))
    assert run.state == RunState.FAILED
    assert re.findall(r"\d+", run.error) == ["137", "100"]
    assert (len(run.problems), run.is_rejected) == (100, True)
    assert run.problems[99] == {"file": "a.jsonl", "line": 100, "expected": "a number"}
    assert sorted(run.units.values_list("state", flat=True)) == ["CANCELLED", "CANCELLED", "FAILED"]
    assert max(run.units.values_list("attempts", flat=True)) == 1
    with pytest.raises(lifecycle.NotResumableError):
        lifecycle.resume(run=run)


def test_a_run_that_was_stopped_for_what_can_change_is_resumed_whatever_its_problems_name(study: Study) -> None:
    run = exhaust(start(study, "rejecting", problems=1, is_final=False))
    assert run.problems[0]["file"]
    assert (run.state, run.is_rejected) == (RunState.FAILED, False)
    assert lifecycle.resume(run=run).is_active


def test_a_file_is_offered_once_and_not_if_it_was_refused(study: Study, tmp_path: Path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    made = {}
    for name, content in (("first", "a"), ("again", "a"), ("bad", "b"), ("both", "c")):
        (tmp_path / name).write_text(content)
        made[name] = run_files.store_upload(study=study, source=tmp_path / name)
    exhaust(start(study, "rejecting", problems=1, inputs=[{"role": "file", "upload": made["bad"].pk}]))
    exhaust(start(study, "rejecting", problems=1, inputs=[{"role": "file", "upload": made["both"].pk}]))
    exhaust(start(study, "tiny", collection={"upload": made["both"].pk}))
    assert [upload.name for upload in run_files.reusable_uploads(study) if upload.name in made] == ["both", "again"]


def test_a_command_that_is_ended_cancels_its_run(study: Study) -> None:
    run = start(study, "tiny", units=3)

    def end(_progress: object) -> None:
        sys.exit(143)

    with pytest.raises(SystemExit):
        lifecycle.wait(run, report=end)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_a_rejection_by_a_claim_that_was_taken_over_counts_for_nothing(study: Study) -> None:
    run = start(study, "tiny")
    earlier = leases.claim(worker="a", run=run)
    Unit.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    leases.return_expired()
    assert leases.claim(worker="b", run=run).fence == 2
    completion.reject(earlier, rejected=kinds.InputRejectedError([{"line": 1}]))
    run.refresh_from_db()
    assert (run.state, run.problems) == (RunState.RUNNING, [])


def test_a_finish_that_fails_fails_the_run_and_resuming_tries_it_again(study: Study) -> None:
    run = exhaust(start(study, "tiny", finish_fails=True))
    assert run.state == RunState.FAILED
    assert "RuntimeError: no room for results" in run.error
    assert Upload.objects.count() == 1
    run.parameters = {}
    run.save(update_fields=["parameters"])
    run = lifecycle.resume(run=run)
    completion.conclude(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error, run.summary) == (RunState.DONE, "", {"finished": 1})


def test_cancelling_keeps_what_is_done_and_drops_what_is_claimed(study: Study) -> None:
    user = UserFactory()
    run = start(study, "tiny", units=3)
    worker.work_next(run)
    claimed = leases.claim(worker="a", run=run)
    cancelled = lifecycle.cancel(run=run, by=user)
    assert (cancelled.state, cancelled.cancelled_by) == (RunState.CANCELLED, user)
    with pytest.raises(leases.LeaseLostError):
        leases.complete(claimed, effect=lambda: Upload.objects.all().delete() and None)
    assert Upload.objects.count() == 1
    assert not worker.work_next(run)
    assert not leases.renew(claimed, done=0, total=0, message="")
    with pytest.raises(lifecycle.NotActiveError):
        lifecycle.cancel(run=run)


def test_resuming_does_the_rest(study: Study) -> None:
    assert start(study, "tiny", units=0).state == RunState.DONE
    run = start(study, "tiny", units=3)
    lifecycle.cancel(run=run)
    assert lifecycle.resume(run=run).state == RunState.PLANNED
    worker.work_next(run)
    lifecycle.cancel(run=run)
    run = exhaust(lifecycle.resume(run=run, by=UserFactory()))
    assert (run.state, run.cancelled_by) == (RunState.DONE, None)
    assert (run.summary, run.started_at <= run.finished_at) == ({"finished": 1}, True)
    assert sorted(Upload.objects.values_list("name", flat=True)) == ["unit 0", "unit 1", "unit 2"]
    completion.conclude(run.pk)
    run.refresh_from_db()
    assert run.summary == {"finished": 1}
    with pytest.raises(lifecycle.NotResumableError):
        lifecycle.resume(run=run)


def test_a_report_to_a_cancelled_run_raises(study: Study) -> None:
    from crowdrag.jobs.heartbeat import LeaseHeartbeat

    run = start(study, "tiny")
    heart = LeaseHeartbeat(leases.claim(worker="a", run=run))
    heart.report(5, 3, "more than all")
    assert (heart.done, heart.total, heart.message) == (3, 3, "more than all")
    lifecycle.cancel(run=run)
    heart._renew((0, 0, ""))
    with pytest.raises(kinds.RunCancelledError):
        heart.report(1, 3)


def test_a_unit_of_a_background_run_is_given_back_when_another_run_waits(study: Study) -> None:
    run = start(study, "tiny")
    lifecycle.move_to_background(run)

    def work(work: kinds.Work) -> None:
        start(study, "tiny")
        work.reporter.__self__._renew((0, 0, ""))
        work.check()

    kind = kinds.get(run.kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(kinds._kinds, run.kind, replace(kind, work=work))
        assert worker.work_next(run)
    unit = run.units.get()
    assert (unit.state, unit.attempts, unit.lost) == (UnitState.PENDING, 0, 0)
    run.refresh_from_db()
    assert run.state == RunState.RUNNING


def test_an_interrupted_unit_is_given_back(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(study, "tiny")

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tests.jobs.kinds_app.kinds.time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        worker.work_next(run)
    unit = run.units.get()
    assert (unit.state, unit.attempts, unit.lost) == (UnitState.PENDING, 0, 0)
    with pytest.raises(KeyboardInterrupt):
        lifecycle.wait(run)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_notes_add_up_the_first_reason_to_be_stale_stays_and_waits_grow_up_to_a_limit(study: Study) -> None:
    run = start(study, "tiny")
    lifecycle.note(run=run, summary={"a": 1}, inputs_digest="d")
    lifecycle.note(run=Run.objects.get(pk=run.pk), summary={"b": 2})
    for reason in ("a response was erased", "another one"):
        lifecycle.mark_stale(run=run, reason=reason)
    run.refresh_from_db()
    assert (run.summary, run.inputs_digest, run.stale_reason) == ({"a": 1, "b": 2}, "d", "a response was erased")
    assert [leases.BACKOFF.waits[n - 1].total_seconds() for n in (1, 2, 3, 4, 5, 9)] == [2, 8, 32, 128, 300, 300]


def test_code_version_names_the_commit_where_git_knows_it(settings, tmp_path: Path) -> None:
    from crowdrag.jobs import lifecycle

    settings.BASE_DIR = tmp_path
    lifecycle.code_version.cache_clear()
    assert lifecycle.code_version() == settings.VERSION
    lifecycle.code_version.cache_clear()


def staged(study: Study, **parameters: object) -> Run:
    return lifecycle.start(study=study, kind="test.staged", parameters={"stages": [2, 1, 2]} | parameters, now=NOW)


def states(run: Run) -> list[str]:
    return list(run.units.order_by("position").values_list("state", flat=True))


def test_a_stage_begins_when_all_before_it_are_done(study: Study) -> None:
    run = staged(study)
    first, second = (leases.claim(worker="a", run=run, now=NOW) for _ in range(2))
    assert (first.stage, second.stage) == (0, 0)
    leases.complete(first, effect=None)
    assert leases.claim(worker="b", run=run, now=NOW) is None
    leases.complete(second, effect=None)
    alone = leases.claim(worker="b", run=run, now=NOW)
    assert (alone.stage, leases.claim(worker="c", run=run, now=NOW)) == (1, None)
    leases.complete(alone, effect=None)
    assert {leases.claim(worker=name, run=run, now=NOW).stage for name in "cd"} == {2}


def test_a_failure_ends_the_run_when_its_stage_is_through_and_resuming_goes_on_from_there(study: Study) -> None:
    run = staged(study, fail=[0])
    run = exhaust(run)
    assert (run.state, run.error) == (RunState.FAILED, "OSError: not yet")
    assert states(run) == [UnitState.FAILED, UnitState.DONE, *[UnitState.CANCELLED] * 3]
    Run.objects.filter(pk=run.pk).update(parameters=run.parameters | {"fail": []})
    run = exhaust(lifecycle.resume(run=run))
    assert (run.state, set(states(run))) == (RunState.DONE, {UnitState.DONE})
    assert set(Upload.objects.values_list("name", flat=True)) == {f"unit {i}" for i in range(5)}


def test_the_sweep_ends_what_a_worker_left_behind_a_failure(study: Study) -> None:
    run = staged(study)
    Unit.objects.filter(run=run, stage=0).update(state=UnitState.FAILED, finished_at=NOW, error="gone")
    assert sweep.sweep().due["default"] == 0
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert run.error.startswith("gone")
