"""Start, cancel, resume; what becomes of a run whose work fails, is rejected, or ends."""

import re
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from crowdrag.runs import kinds, tasks
from crowdrag.runs.domain import claiming, concluding, executing, running, sweeping, timing, uploads
from crowdrag.runs.enums import RunState, UnitState
from crowdrag.runs.models import Run, Unit, Upload
from crowdrag.studies.models import Study
from tests.factories import NOW, UserFactory

pytestmark = pytest.mark.django_db


def start(study: Study, kind: str, **parameters: object) -> Run:
    return running.start(study=study, kind=f"test.{kind}", parameters={"seconds": 0} | parameters)


def exhaust(run: Run) -> Run:
    """Do all that a run has to do, without the waits between attempts."""
    while executing.work_next(run):
        run.units.filter(state=UnitState.PENDING).update(due_at=timezone.now() - timedelta(seconds=1))
    run.refresh_from_db()
    return run


def test_a_run_says_what_made_it(study: Study) -> None:
    user = UserFactory()
    run = running.start(study=study, kind="test.tiny", parameters={"units": 3, "x": 1}, by=user, seed=7)
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
    with pytest.raises(kinds.UnknownKind, match=r"test\.nothing.*test\.tiny"):
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
        assert executing.work_next(run)
        unit = run.units.get()
        assert (unit.state, unit.attempts, unit.error) == (UnitState.PENDING, attempt, "OSError: the disk is on fire")
        waits.append((unit.due_at - timezone.now()).total_seconds())
        assert not executing.work_next(run)
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
    with pytest.raises(running.NotResumableError):
        running.resume(run=run)


def test_a_run_that_was_stopped_for_what_can_change_is_resumed_whatever_its_problems_name(study: Study) -> None:
    run = exhaust(start(study, "rejecting", problems=1, is_final=False))
    assert run.problems[0]["file"]
    assert (run.state, run.is_rejected) == (RunState.FAILED, False)
    assert running.resume(run=run).is_active


def test_a_file_is_offered_once_and_not_if_it_was_refused(study: Study, tmp_path: Path, settings) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    made = {}
    for name, content in (("first", "a"), ("again", "a"), ("bad", "b"), ("both", "c")):
        (tmp_path / name).write_text(content)
        made[name] = uploads.store(study=study, source=tmp_path / name)
    exhaust(start(study, "rejecting", problems=1, inputs=[{"role": "file", "upload": made["bad"].pk}]))
    exhaust(start(study, "rejecting", problems=1, inputs=[{"role": "file", "upload": made["both"].pk}]))
    exhaust(start(study, "tiny", collection={"upload": made["both"].pk}))
    assert [upload.name for upload in uploads.offered(study) if upload.name in made] == ["both", "again"]


def test_a_command_that_is_ended_cancels_its_run(study: Study) -> None:
    run = start(study, "tiny", units=3)

    def end(_progress: object) -> None:
        sys.exit(143)

    with pytest.raises(SystemExit):
        running.wait(run, report=end)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_a_rejection_by_a_claim_that_was_taken_over_counts_for_nothing(study: Study) -> None:
    run = start(study, "tiny")
    earlier = claiming.claim(worker="a", run=run)
    Unit.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    claiming.return_lost()
    assert claiming.claim(worker="b", run=run).fence == 2
    concluding.reject(earlier, rejected=kinds.Rejected([{"line": 1}]))
    run.refresh_from_db()
    assert (run.state, run.problems) == (RunState.RUNNING, [])


def test_a_finish_that_fails_fails_the_run_and_resuming_tries_it_again(study: Study) -> None:
    run = exhaust(start(study, "tiny", finish_fails=True))
    assert run.state == RunState.FAILED
    assert "RuntimeError: no room for results" in run.error
    assert Upload.objects.count() == 1
    run.parameters = {}
    run.save(update_fields=["parameters"])
    run = running.resume(run=run)
    concluding.conclude(run.pk)
    run.refresh_from_db()
    assert (run.state, run.error, run.summary) == (RunState.DONE, "", {"finished": 1})


def test_cancelling_keeps_what_is_done_and_drops_what_is_claimed(study: Study) -> None:
    user = UserFactory()
    run = start(study, "tiny", units=3)
    executing.work_next(run)
    claimed = claiming.claim(worker="a", run=run)
    cancelled = running.cancel(run=run, by=user)
    assert (cancelled.state, cancelled.cancelled_by) == (RunState.CANCELLED, user)
    with pytest.raises(claiming.LeaseLost):
        claiming.complete(claimed, effect=lambda: Upload.objects.all().delete() and None)
    assert Upload.objects.count() == 1
    assert not executing.work_next(run)
    assert not claiming.renew(claimed, done=0, total=0, message="")
    with pytest.raises(running.NotActiveError):
        running.cancel(run=run)


def test_resuming_does_the_rest(study: Study) -> None:
    assert start(study, "tiny", units=0).state == RunState.DONE
    run = start(study, "tiny", units=3)
    running.cancel(run=run)
    assert running.resume(run=run).state == RunState.PLANNED
    executing.work_next(run)
    running.cancel(run=run)
    run = exhaust(running.resume(run=run, by=UserFactory()))
    assert (run.state, run.cancelled_by) == (RunState.DONE, None)
    assert (run.summary, run.started_at <= run.finished_at) == ({"finished": 1}, True)
    assert sorted(Upload.objects.values_list("name", flat=True)) == ["unit 0", "unit 1", "unit 2"]
    concluding.conclude(run.pk)
    run.refresh_from_db()
    assert run.summary == {"finished": 1}
    with pytest.raises(running.NotResumableError):
        running.resume(run=run)


def test_a_report_to_a_cancelled_run_raises(study: Study) -> None:
    from crowdrag.runs.domain.beating import Heart

    run = start(study, "tiny")
    heart = Heart(claiming.claim(worker="a", run=run))
    heart.report(5, 3, "more than all")
    assert (heart.done, heart.total, heart.message) == (3, 3, "more than all")
    running.cancel(run=run)
    heart._renew((0, 0, ""))
    with pytest.raises(kinds.Cancelled):
        heart.report(1, 3)


def test_an_interrupted_unit_is_given_back(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    run = start(study, "tiny")

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tests.runs.kinds_app.kinds.time.sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        executing.work_next(run)
    unit = run.units.get()
    assert (unit.state, unit.attempts, unit.lost) == (UnitState.PENDING, 0, 0)
    with pytest.raises(KeyboardInterrupt):
        running.wait(run)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_notes_add_up_the_first_reason_to_be_stale_stays_and_waits_grow_up_to_a_limit(study: Study) -> None:
    run = start(study, "tiny")
    running.note(run=run, summary={"a": 1}, inputs_digest="d")
    running.note(run=Run.objects.get(pk=run.pk), summary={"b": 2})
    for reason in ("a response was erased", "another one"):
        running.mark_stale(run=run, reason=reason)
    run.refresh_from_db()
    assert (run.summary, run.inputs_digest, run.stale_reason) == ({"a": 1, "b": 2}, "d", "a response was erased")
    assert [timing.backoff(n).total_seconds() for n in (1, 2, 3, 4, 5, 9)] == [2, 8, 32, 128, 300, 300]


def test_code_version_names_the_commit_where_git_knows_it(settings, tmp_path: Path) -> None:
    from crowdrag.runs.domain import recording

    settings.BASE_DIR = tmp_path
    recording.code_version.cache_clear()
    assert recording.code_version() == settings.VERSION
    recording.code_version.cache_clear()


def staged(study: Study, **parameters: object) -> Run:
    return running.start(study=study, kind="test.staged", parameters={"stages": [2, 1, 2]} | parameters, now=NOW)


def states(run: Run) -> list[str]:
    return list(run.units.order_by("position").values_list("state", flat=True))


def test_a_stage_begins_when_all_before_it_are_done(study: Study) -> None:
    run = staged(study)
    first, second = (claiming.claim(worker="a", run=run, now=NOW) for _ in range(2))
    assert (first.stage, second.stage) == (0, 0)
    claiming.complete(first, effect=None)
    assert claiming.claim(worker="b", run=run, now=NOW) is None
    claiming.complete(second, effect=None)
    alone = claiming.claim(worker="b", run=run, now=NOW)
    assert (alone.stage, claiming.claim(worker="c", run=run, now=NOW)) == (1, None)
    claiming.complete(alone, effect=None)
    assert {claiming.claim(worker=name, run=run, now=NOW).stage for name in "cd"} == {2}


def test_a_failure_ends_the_run_when_its_stage_is_through_and_resuming_goes_on_from_there(study: Study) -> None:
    run = staged(study, fail=[0])
    run = exhaust(run)
    assert (run.state, run.error) == (RunState.FAILED, "OSError: not yet")
    assert states(run) == [UnitState.FAILED, UnitState.DONE, *[UnitState.CANCELLED] * 3]
    Run.objects.filter(pk=run.pk).update(parameters=run.parameters | {"fail": []})
    run = exhaust(running.resume(run=run))
    assert (run.state, set(states(run))) == (RunState.DONE, {UnitState.DONE})
    assert set(Upload.objects.values_list("name", flat=True)) == {f"unit {i}" for i in range(5)}


def test_the_sweep_ends_what_a_worker_left_behind_a_failure(study: Study) -> None:
    run = staged(study)
    Unit.objects.filter(run=run, stage=0).update(state=UnitState.FAILED, finished_at=NOW, error="gone")
    assert sweeping.sweep().due["default"] == 0
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert run.error.startswith("gone")
