"""Kinds of runs for tests. An effect inserts a row, an upload named after its unit: each must be there exactly once."""

import os
import signal
import time
from collections.abc import Callable, Iterable
from typing import Any

from django.db import connection
from django.utils import timezone

from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.models import Run, Upload


def mark(work: kinds.Work) -> None:
    """Leave a row that can be counted."""
    name = f"unit {work.unit.position}"
    Upload.objects.create(
        study=work.run.study, name=name, size=0, sha256="0" * 64, file="none", uploaded_at=timezone.now()
    )


def planned(run: Run) -> Iterable[dict[str, Any]]:
    return [{"i": i} for i in range(run.parameters.get("units", 1))]


def in_stages(run: Run) -> Iterable[kinds.LaterUnit]:
    return [kinds.LaterUnit(stage) for stage, units in enumerate(run.parameters["stages"]) for _ in range(units)]


def staged(work: kinds.Work) -> Callable[[], None]:
    if work.unit.position in work.run.parameters.get("fail", []):
        raise OSError("not yet")
    return lambda: mark(work)


def tiny(work: kinds.Work) -> Callable[[], None]:
    time.sleep(work.run.parameters.get("seconds", 0.02))
    return lambda: mark(work)


def slow(work: kinds.Work) -> Callable[[], None]:
    seconds = work.run.parameters["seconds"]
    for step in range(100):
        work.report(step, 100, "thinking")
        time.sleep(seconds / 100)
    return lambda: mark(work)


def slow_effect(work: kinds.Work) -> Callable[[], None]:
    def effect() -> None:
        mark(work)
        time.sleep(work.run.parameters["seconds"])

    return effect


def dying(work: kinds.Work) -> Callable[[], None]:
    def effect() -> None:
        mark(work)
        if work.unit.fence == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    return effect


def disconnected(work: kinds.Work) -> Callable[[], None]:
    if work.unit.fence <= work.run.parameters["times"]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    return lambda: mark(work)


def failing(work: kinds.Work) -> Callable[[], None]:
    if work.unit.attempts < work.run.parameters.get("failures", 99):
        raise OSError("the disk is on fire")
    return lambda: mark(work)


def breaking(work: kinds.Work) -> Callable[[], None]:
    def effect() -> None:
        mark(work)
        raise ValueError("halfway through")

    return effect


def rejecting(work: kinds.Work) -> Callable[[], None]:
    n = work.run.parameters.get("problems", 1)
    problems = [{"file": "a.jsonl", "line": i + 1, "expected": "a number"} for i in range(n)]
    raise kinds.InputRejectedError(problems, is_final=work.run.parameters.get("is_final", True))


def finished(run: Run) -> None:
    if run.parameters.get("finish_fails"):
        raise RuntimeError("no room for results")
    lifecycle.note(run=run, summary={"finished": run.summary.get("finished", 0) + 1})


ALL = [
    kinds.Kind(name=f"test.{work.__name__}", title=work.__name__.capitalize(), plan=planned, work=work, finish=finished)
    for work in (tiny, slow, slow_effect, dying, disconnected, failing, breaking, rejecting)
] + [kinds.Kind(name="test.staged", title="Staged", plan=in_stages, work=staged)]


def register_all() -> None:
    for kind in ALL:
        kinds.register(kind)
