"""Compute the BERTScores of a study's responses, for an analysis to take."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.methods.reference_metrics import bertscore_runs, encodings
from analysis.methods.settings import BadParameterError
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.progress import Progress
from crowdrag.studies.models import Study


class Command(BaseCommand):
    help = "Compute the BERTScores of a study's responses. `analyse` uses existing scores only."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument(
            "--model", default="",
            help="one of CROWDRAG_BERTSCORE_MODELS, as NAME or NAME:LAYER (default: the first)",
        )  # fmt: skip

    def handle(self, *args: Any, study: str, model: str, **options: Any) -> None:
        study_row = Study.objects.filter(slug=study).first()
        if study_row is None:
            raise CommandError(f"There is no study {study!r}.")
        try:
            choice = encodings.choose_model(model)
            run = bertscore_runs.start(study=study_row, model=str(choice))
        except (BadParameterError, bertscore_runs.NothingToCompareError) as error:
            raise CommandError(str(error)) from error
        run = lifecycle.wait(run, report=self._tell)
        if self.stderr.isatty():
            self.stderr.write("\r\033[K", ending="")
        if run.state != RunState.DONE:
            problems = "; ".join(problem.get("message", "") for problem in run.problems)
            raise CommandError(f"The run is {run.get_state_display()}. {problems or run.error}".strip())
        summary = run.summary
        self.stdout.write(
            f"{summary['texts']} texts encoded and {summary['pairs']} pairs scored with {summary['model']}, layer "
            f"{summary['layer']}, on {summary['device']}."
        )

    def _tell(self, progress: Progress) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\033[K{progress.done} of {progress.total} {progress.message}", ending="")
