"""Killed, cancelled, twice at once, and erased meanwhile: nothing is lost, done twice, or left."""

import time
from datetime import UTC, datetime
from importlib.util import find_spec

import pytest

from analysis.analyses import erasure
from analysis.inputs.texts import digest
from analysis.methods.reference_metrics import bertscore_runs, encodings
from analysis.models import Encoder, Encoding, SimilarityScore
from crowdrag.jobs import kinds, lifecycle, worker
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from tests.analysis import small_study
from tests.analysis.bertscore.texts import compute, kept, set_texts, text_of
from tests.analysis.other_processes import python
from tests.concurrency import together
from writing import erasure as writing_erasing
from writing.models import Response

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="the extra `neural` is not installed")

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.extended
def test_a_worker_that_dies_loses_one_topic_at_most(study, encoded, monkeypatch):
    run = bertscore_runs.start(study=study)
    keep, calls = encodings.keep, []

    def dies(*args, **options):
        if calls:
            raise KeyboardInterrupt
        calls.append(keep(*args, **options))

    monkeypatch.setattr(encodings, "keep", dies)
    with pytest.raises(KeyboardInterrupt):
        worker.work_next(run)
    monkeypatch.setattr(encodings, "keep", keep)
    assert SimilarityScore.objects.count() == 3
    assert lifecycle.wait(run).state == RunState.DONE
    assert SimilarityScore.objects.count() == 6
    assert sorted(encoded.values()) == [1, 1, 1, 2, 2, 2]


def test_a_cancelled_run_keeps_what_it_has_and_goes_on_where_it_was(study, encoded, monkeypatch):
    run = bertscore_runs.start(study=study)
    report = kinds.Work.report
    monkeypatch.setattr(
        kinds.Work, "report", lambda self, done, *rest: (report(self, done, *rest), done and _cancel(run))
    )
    worker.work_next(run)
    monkeypatch.setattr(kinds.Work, "report", report)
    run.refresh_from_db()
    assert (run.state, SimilarityScore.objects.count()) == (RunState.CANCELLED, 3)
    encoded.clear()
    assert lifecycle.wait(lifecycle.resume(run=run)).state == RunState.DONE
    assert (SimilarityScore.objects.count(), len(encoded)) == (6, 3)


def _cancel(run: Run) -> None:
    lifecycle.cancel(run=run)
    raise kinds.RunCancelledError


def test_after_a_cancellation_nothing_comes(study, monkeypatch):
    run = bertscore_runs.start(study=study)
    score = bertscore_runs._score

    def cancelled_meanwhile(*args):
        effect = score(*args)
        lifecycle.cancel(run=run)
        return effect

    monkeypatch.setattr(bertscore_runs, "_score", cancelled_meanwhile)
    worker.work_next(run)
    run.refresh_from_db()
    assert (run.state, Encoding.objects.count(), SimilarityScore.objects.count()) == (RunState.CANCELLED, 0, 0)


def erase(name: str) -> None:
    writer = Response.objects.get(external_id=name).participant
    writing_erasing.erase(writer, NOW)
    erasure.erase(writer, NOW)


def test_erasure_takes_what_was_made_of_the_text(db):
    study = set_texts(small_study.make(), t1_x="the cat", t1_y="the cat")
    compute(study)
    gone = {digest(text_of("t2-x"))}
    erase("t1-x")
    left = set(Encoding.objects.values_list("text", flat=True))
    assert not left & gone
    assert digest("the cat") in left  # somebody else wrote the same
    assert not any(gone & set(pair) for pair in kept())
    assert len(left) == 4


def test_what_is_encoded_while_its_text_is_erased_is_not_kept(study):
    run = bertscore_runs.start(study=study)
    work = kinds.Work(run, run.units.get())
    effects = []
    work.keeper = effects.append
    bertscore_runs.work(work)
    erase("t1-x")
    for effect in effects:
        effect()
    left = set(Encoding.objects.values_list("text", flat=True))
    assert left
    assert not left & {digest(text_of("t1-x")), digest(text_of("t2-x"))}
    assert all(set(pair) <= left for pair in kept())


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_keep_everything_once():
    study = set_texts(small_study.make())
    runs = [bertscore_runs.start(study=study), bertscore_runs.start(study=study)]
    bertscore_runs.load(str(encodings.offered_models()[0].model), 2)
    together([lambda run=run: worker.work_next(run) for run in runs])
    assert (Encoder.objects.count(), Encoding.objects.count(), SimilarityScore.objects.count()) == (1, 6, 6)
    assert Run.objects.filter(state=RunState.DONE).count() == 2


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_killed_loses_one_topic_at_most(settings, encoded):
    settings.BERTSCORE_MODELS = ["all-MiniLM-L6-v2"]
    votes = {(f"t{n}-x", f"t{n}-y"): ("AAAB", "AANB") for n in range(30)}
    study = small_study.make(votes)
    set_texts(study, **{f"t{n}_{letter}": f"{letter} {n} {'cat ' * 300}" for n in range(30) for letter in "xy"})
    process = python("-m", "django", "bertscore", study.slug)
    ends_at = time.monotonic() + 120
    while SimilarityScore.objects.count() < 3:
        assert time.monotonic() < ends_at
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = set(Encoding.objects.values_list("text", flat=True))
    assert 6 <= len(before) < 60
    run = lifecycle.wait(Run.objects.get(kind=bertscore_runs.KIND))  # when the lease of the dead has run out
    assert run.state == RunState.DONE
    assert (Encoding.objects.count(), SimilarityScore.objects.count()) == (60, 30)
    assert len(encoded) == 60 - len(before)
    assert set(encoded.values()) == {1}
