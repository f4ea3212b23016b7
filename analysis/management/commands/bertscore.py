"""Compute the BERTScores of a study's responses, for an analysis to take."""

from typing import Any

from django.core.management.base import CommandError

from analysis.methods.reference_metrics import bertscore_runs, encodings
from analysis.methods.settings import BadParameterError
from crowdrag.jobs.run_command import RunCommand
from crowdrag.studies.models import Study


class Command(RunCommand):
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
        run = self.finished(run)
        summary = run.summary
        self.print_result(
            {"run": run.key, "study": study, **summary},
            f"{summary['texts']} texts encoded and {summary['pairs']} pairs scored with {summary['model']}, layer "
            f"{summary['layer']}, on {summary['device']}.",
        )
