"""Commands that start a run, show its progress and print its result."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bar

from crowdrag.command_output import ResultCommand
from crowdrag.studies.models import Study

from . import lifecycle
from .enums import RunState, UnitState
from .models import Run
from .progress import Progress
from .templatetags.jobs import kind_title, pace


class RunCommand(ResultCommand):
    """A command that starts or resumes a run."""

    #: The command-line words that resume a stopped run.
    resume_hint = ""

    def add_resume_option(self, parser: Any) -> None:
        """Add the option that resumes a stopped run."""
        parser.add_argument(
            "--resume", metavar="RUN", help="go on with a stopped or failed run; finished steps are not repeated"
        )

    def resumed(self, key: str, *, study: Study, kind: str) -> Run:
        """Resume a run of a study; an active one is only followed."""
        try:
            run = Run.objects.get(study=study, kind=kind, key=uuid.UUID(key))
        except (ValueError, ValidationError, Run.DoesNotExist):
            raise CommandError(f"The study {study.slug} has no such run: {key}.") from None
        if run.state == RunState.DONE or run.is_active:
            return run
        try:
            return lifecycle.resume(run=run)
        except lifecycle.NotResumableError as error:
            raise CommandError(str(error)) from error

    def follow(self, run: Run) -> Run:
        """Show a run's progress until it ends. A signal cancels it; then say what happened and how to resume."""
        self.stderr.flush()
        try:
            with shown_progress(self.stderr) as report:
                return lifecycle.wait(run, report=report)
        except (KeyboardInterrupt, SystemExit):
            self.stderr.write(self._stopped(run))
            raise

    def finished(self, run: Run) -> Run:
        """Follow a run that must be done before the command can continue."""
        run = self.follow(run)
        if run.state != RunState.DONE:
            raise CommandError(" ".join(filter(None, (why_not_done(run), self._how_to_go_on(run)))))
        return run

    def _stopped(self, run: Run) -> str:
        run = Run.objects.get(pk=run.pk)
        if run.state == RunState.DONE:
            return f"Stopped, but the run {run.key} is done."
        done, total = run.units.filter(state=UnitState.DONE).count(), run.units.count()
        kept = f" {done:,} of {total:,} steps are done and kept." if total > 1 else ""
        return f"Stopped. {kind_title(run.kind)} (run {run.key}) is cancelled.{kept} {self._how_to_go_on(run)}".rstrip()

    def _how_to_go_on(self, run: Run) -> str:
        if not run.is_resumable:
            return ""
        return f"To go on: {self.resume_hint} --resume {run.key}" if self.resume_hint else "To try again, repeat it."


def why_not_done(run: Run) -> str:
    """Return how an unsuccessful run ended, and why."""
    problems = "; ".join(str(problem.get("message", problem)) for problem in run.problems[:5])
    return f"{kind_title(run.kind)}: {run.get_state_display()}. {problems or run.error}".strip()


Report = Callable[[Progress], None]


@contextmanager
def shown_progress(stream: OutputWrapper) -> Iterator[Report]:
    """Show progress as a bar on a terminal, and as plain lines elsewhere."""
    if not stream.isatty():
        yield ProgressLines(stream)
        return
    columns = (BarColumn(bar_width=30), TextColumn("{task.percentage:>3.0f} %"), TextColumn("{task.description}"))
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Waiting", total=None)

        def show(progress: Progress) -> None:
            completed = progress.done + progress.begun
            bar.update(task, total=progress.total or None, completed=completed, description=describe(progress))

        yield show


class ProgressLines:
    """Prints progress without a terminal: a line for each stage, and one every minute."""

    EVERY = 60.0

    def __init__(self, into: OutputWrapper):
        self._into = into
        self._stage: int | None = None
        self._printed: float | None = None

    def __call__(self, progress: Progress) -> None:
        """Write a line if one is due."""
        if not (line := describe(progress)):
            return
        stage, now = progress.stage.number if progress.stage else None, monotonic()
        if self._printed is not None and stage == self._stage and now - self._printed < self.EVERY:
            return
        self._stage, self._printed = stage, now
        self._into.write(line)
        self._into.flush()


def describe(progress: Progress) -> str:
    """Return the progress of a run and the time left in one line."""
    steps = (
        f"{progress.done:,} of {progress.total:,} {progress.message}".strip() if progress.total else progress.message
    )
    return f"{steps} ({speed})" if (speed := pace(progress)) else steps
