"""A unit tells of its answers as they come, stops between them, and counts what likelihoods took."""

import fcntl
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.experiments import generators
from analysis.experiments.cached_generator import CachedGenerator
from analysis.experiments.stage_context import CountedGenerator, StageContext
from analysis.models import CachedOutput
from analysis.rag.generation import Options, model_cache
from analysis.rag.protocols import Collection, Message, Prompt, Usage
from crowdrag.jobs.kinds import RunCancelledError
from tests.analysis.rag import tiny
from tests.llm.conftest import study  # noqa: F401 - fixtures

pytestmark = pytest.mark.django_db


def prompts(n: int, text: str = "ok:a") -> list[Prompt]:
    return [Prompt((Message("user", f"{text} {i}"),), max_tokens=4) for i in range(n)]


@pytest.fixture
def told() -> list[tuple[int, int, str]]:
    return []


@pytest.fixture
def context(told, endpoint, study):  # noqa: F811
    """A context that is cancelled when as many steps were told as `limit` says."""
    limit = [1000]

    def report(done: int, total: int, message: str) -> None:
        told.append((done, total, message))
        if len(told) >= limit[0]:
            raise RunCancelledError

    def make(named: str):
        return generators.generator({"generator": named or f"endpoint:{endpoint.name}"}, study=study, purpose="test")

    made = StageContext(run=SimpleNamespace(study=study), collection=Collection("c", ()), parameters=None, payload={},
               make=make, reporter=report)  # type: ignore[arg-type]  # fmt: skip
    made.limit = limit  # type: ignore[attr-defined]
    return made


def test_each_answer_of_an_endpoint_is_told_and_one_that_is_cancelled_sends_no_more(context, told, server, endpoint):
    endpoint.concurrency = 1
    endpoint.save()
    context.generator.generate(prompts(5))
    # The same is told twice a second while an answer takes long.
    assert list(dict.fromkeys((done, total) for done, total, _message in told if done)) == [(i, 5) for i in range(1, 6)]
    told.clear()
    server.seen.clear()
    context.limit[0] = 3
    with pytest.raises(RunCancelledError):
        context.generator.generate(prompts(40, "ok:b"))
    assert len(server.seen) < 10


def test_answers_are_steps_of_what_was_told_where_they_are_asked_for_together(context, told):
    context.report(2, 8, "lists", by_answer=True)
    context.generator.generate(prompts(2))
    context.generator.generate(prompts(3, "ok:c"))
    assert [done for done, _total, _message in told] == [2, 3, 4, 5, 6, 7]
    assert {said[1:] for said in told} == {(8, "lists")}
    told.clear()
    context.report(1, 4, "methods")
    context.generator.generate(prompts(2, "ok:d"))
    assert told == [(1, 4, "methods")] * 3  # a method asks for any number: that is no step, but one may stop there


def test_each_batch_of_a_model_is_told_and_what_was_generated_until_it_stops_is_kept(told, tmp_path: Path, context):
    pytest.importorskip("torch", reason="the extra `neural` is not installed")
    folder = tiny.gpt2(tmp_path / "gpt2")
    context.make = lambda _named: CachedGenerator(str(folder), Options(batch_tokens=1, device="cpu"), study=None)
    context.limit[0] = 4
    try:
        with pytest.raises(RunCancelledError):
            context.generator.generate(prompts(20, "the cat"))
        assert [done for done, _total, _message in told] == [0, 1, 2, 3]
        assert CachedOutput.objects.count() == 3
    finally:
        model_cache.MODELS.clear()


def test_who_waits_for_another_jobs_device_looks_whether_to_go_on(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(model_cache, "_mark", lambda _device: f"test-{os.getpid()}-{tmp_path.name}")
    monkeypatch.setattr(model_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    lock = tmp_path / f"crowdrag-device-test-{os.getpid()}-{tmp_path.name}.lock"
    lock.touch()
    looked = []

    def look() -> None:
        looked.append(None)
        if len(looked) == 2:
            raise RunCancelledError

    with lock.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with (
            pytest.raises(RunCancelledError),
            model_cache.looking(look),
            model_cache.one_job(SimpleNamespace(type="cuda")),
        ):
            pytest.fail("two jobs")
    assert len(looked) == 2
    with model_cache.one_job(SimpleNamespace(type="cuda")):  # it is nobody's now, and nobody is asked
        assert len(looked) == 2


def test_likelihoods_of_an_endpoint_are_counted_and_paid(context, server, paid):
    asked = [Prompt((Message("user", "scored"),))] * 4
    found = context.generator.likelihoods(asked, ["sat on it", "barks", "barks", " "])
    assert np.isnan(found[3])
    usage = context.usage
    assert (usage.calls, usage.stored) == (len(server.seen), 0) == (2, 0)  # one occurs twice, one claims nothing
    assert usage.prompt_tokens > 0
    assert usage.cost > 0
    before = usage.cost
    context.generator.likelihoods(asked, ["sat on it", "barks", "barks", " "])
    assert (usage.calls, usage.stored, usage.cost) == (2, 2, before)


def test_likelihoods_of_a_model_are_counted(tmp_path: Path):
    pytest.importorskip("torch", reason="the extra `neural` is not installed")
    usage = Usage()
    folder = tiny.gpt2(tmp_path / "gpt2")
    counted = CountedGenerator(CachedGenerator(str(folder), Options(device="cpu"), study=None), usage)
    try:
        counted.likelihoods(prompts(3, "the cat"), ["sat", "sat", "sat"])
        counted.likelihoods(prompts(3, "the cat"), ["sat", "sat", "barks"])
    finally:
        model_cache.MODELS.clear()
    assert (usage.calls, usage.stored) == (4, 2)
