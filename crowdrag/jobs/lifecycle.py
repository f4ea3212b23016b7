"""Start, cancel, resume and await runs. A run records the code and packages that it ran with."""

import platform
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import lru_cache, partial
from importlib import metadata
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from crowdrag.studies.models import Study, User

from . import completion, kinds, leases, tasks, worker
from .enums import RunState, UnitState
from .models import Run, Unit


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version of this code, with its commit if git knows it."""
    commit = _git("describe", "--always", "--dirty", "--abbrev=12")
    return f"{settings.VERSION}+{commit}" if commit else settings.VERSION


@lru_cache(maxsize=1)
def _package_versions() -> tuple[tuple[str, str], ...]:
    versions = {dist.metadata["Name"]: dist.version for dist in metadata.distributions() if dist.metadata["Name"]}
    return tuple(sorted(versions.items(), key=lambda item: item[0].lower()))


def software_environment() -> dict[str, Any]:
    """Return Python, platform and the version of every installed package."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(_package_versions()),
    }


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(settings.BASE_DIR), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()  # noqa: S603 -- fixed words
    except (OSError, subprocess.SubprocessError):
        return ""


BATCH = 1000


class NotActiveError(Exception):
    """There is nothing to cancel."""

    def __init__(self, run: Run):
        super().__init__(f"This run is {run.get_state_display()} already.")


class NotResumableError(Exception):
    """Only failed or cancelled runs can be resumed, unless their input was rejected."""

    def __init__(self, run: Run):
        super().__init__(
            "The input of this run was refused. Start a new run with another input."
            if run.is_rejected
            else f"This run is {run.get_state_display()}: only a run that failed or was cancelled can be resumed."
        )


@transaction.atomic
def start(
    *,
    study: Study,
    kind: str,
    parameters: dict[str, Any] | None = None,
    by: User | None = None,
    seed: int = 0,
    now: datetime | None = None,
) -> Run:
    """Plan a run with its units, and wake workers once it is committed.

    Raises
    ------
    kinds.UnknownKindError
        if no app registered the kind.
    kinds.InputRejectedError
        if the kind's plan already finds the input invalid; then no run is created.
    """
    what, now = kinds.get(kind), now or timezone.now()
    run = Run.objects.create(
        study=study,
        kind=kind,
        queue=what.queue,
        parameters=parameters or {},
        seed=seed,
        code_version=code_version(),
        environment=software_environment(),
        created_by=by,
        created_at=now,
    )
    units = (_unit(run, i, planned, now) for i, planned in enumerate(what.plan(run)))
    count = len(Unit.objects.bulk_create(units, batch_size=BATCH))
    run.save(update_fields=["inputs_digest", "summary", "parameters"])  # set by the plan
    if count:
        transaction.on_commit(partial(tasks.wake, queue=run.queue, messages=count))
    else:
        completion.conclude(run.pk, now=now)
        run.refresh_from_db()
    return run


def _unit(run: Run, position: int, planned: dict[str, Any] | kinds.LaterUnit, now: datetime) -> Unit:
    later = planned if isinstance(planned, kinds.LaterUnit) else kinds.LaterUnit(0, planned)
    return Unit(run=run, position=position, stage=later.stage, payload=later.payload, due_at=now)


def move_to_background(run: Run) -> None:
    """Let all other runs of its queue come first; call it in the transaction that starts the run."""
    run.is_background = True
    run.save(update_fields=["is_background"])


@transaction.atomic
def cancel(*, run: Run, by: User | None = None, now: datetime | None = None) -> Run:
    """Cancel a run. Results of its finished units stay; when this returns, no other effect of it will follow.

    Raises
    ------
    NotActiveError
        if it has already ended.
    """
    run = completion.lock_run(run.pk)
    if not run.is_active:
        raise NotActiveError(run)
    leases.cancel_open(run, now=now)
    completion.end(run, state=RunState.CANCELLED, now=now, cancelled_by=by)
    return Run.objects.get(pk=run.pk)


@transaction.atomic
def resume(*, run: Run, by: User | None = None, now: datetime | None = None) -> Run:
    """Resume a failed or cancelled run; finished units stay done, all others get all their attempts again.

    Raises
    ------
    NotResumableError
        if it is active or done, or its input was rejected.
    """
    run = completion.lock_run(run.pk)
    if not run.is_resumable:
        raise NotResumableError(run)
    moment = leases.time_expression(now)
    again = run.units.filter(state__in=[UnitState.FAILED, UnitState.CANCELLED]).update(
        state=UnitState.PENDING, due_at=moment, attempts=0, lost=0, error="", finished_at=None
    )
    state = RunState.RUNNING if run.started_at else RunState.PLANNED
    Run.objects.filter(pk=run.pk).update(
        state=state, error="", problems=[], finished_at=None, cancelled_by=None, resumed_by=by, resumed_at=moment
    )
    transaction.on_commit(partial(tasks.wake, queue=run.queue, messages=again or 1))
    return Run.objects.get(pk=run.pk)


@transaction.atomic
def note(
    *,
    run: Run,
    summary: dict[str, Any] | None = None,
    inputs_digest: str | None = None,
    problems: list[dict[str, Any]] | None = None,
) -> None:
    """Add to a run's summary and problems, or set its inputs digest: for effects, which workers apply in parallel.

    Problems of a run that is done are faults of its input despite which it continued.
    """
    current = completion.lock_run(run.pk)
    current.summary |= summary or {}
    current.problems += problems or []
    if inputs_digest is not None:
        current.inputs_digest = inputs_digest
    current.save(update_fields=["summary", "inputs_digest", "problems"])


def mark_stale(*, run: Run, reason: str, now: datetime | None = None) -> None:
    """Mark a run as stale because its inputs have changed since; the first reason stays."""
    Run.objects.filter(pk=run.pk, stale_at__isnull=True).update(
        stale_at=leases.time_expression(now), stale_reason=reason
    )


def wait(run: Run, report: worker.Report | None = None) -> Run:
    """Wait until a run has ended and return its final state; `report` gets a `Progress` from time to time.

    While no worker of the run's queue has a heartbeat, its units are executed in this process. Ctrl-C and SIGTERM,
    which the command turns into an exit, cancel the run.
    """
    try:
        return worker.follow(run, report=report)
    except (KeyboardInterrupt, SystemExit):
        with suppress(NotActiveError):
            cancel(run=run)
        raise


def active_runs(study: Study) -> Iterator[str]:
    """Yield a sentence if runs of a study are still active."""
    if active := Run.objects.filter(study=study).active().count():
        yield f"Active runs: {active}. Wait until they are done, or cancel them on the page “Activity”."
