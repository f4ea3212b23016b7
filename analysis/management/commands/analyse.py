"""Analyse a study's judgments and write every table and figure into a folder."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analysis.analyses import services
from analysis.methods.settings import CHOICES, PRESETS, AnalysisSettings, BadParameterError
from analysis.reports import exports
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.jobs.progress import Progress
from crowdrag.studies.models import Study

DEFAULTS = AnalysisSettings()


class Command(BaseCommand):
    help = "Analyse a study's judgments: agreement, competence, labels, grades, each with its uncertainty."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--out", type=Path, required=True, help="folder to write tables and figures into")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--resamples", type=int, help=f"bootstrap resamples of topics ({DEFAULTS.resamples})")
        parser.add_argument("--restarts", type=int, help=f"random starts of MACE ({DEFAULTS.restarts})")
        parser.add_argument("--refine", type=int, help=f"rounds of search after them ({DEFAULTS.refine}; published: 0)")
        parser.add_argument("--spam-threshold", type=float, help=f"of the corrected crowd ({DEFAULTS.spam_threshold})")
        parser.add_argument("--k", type=int, help="votes of a pair that count (as many as the campaign asked for)")
        parser.add_argument(
            "--no-fix-known", dest="fix_known", action="store_const", const=False,
            help="do not fix labels that are known beforehand (of gold items)",
        )  # fmt: skip
        parser.add_argument(
            "--least-competent", type=float,
            help=f"share of people that the other rule of correction leaves out ({DEFAULTS.least_competent})",
        )  # fmt: skip
        parser.add_argument("--kept-votes", type=int, help=f"votes of a pair that it keeps ({DEFAULTS.kept_votes})")
        parser.add_argument(
            "--first-positions", type=int,
            help=f"items that are the first of a questionnaire, for order effects ({DEFAULTS.first_positions})",
        )  # fmt: skip
        parser.add_argument("--min-words", type=int, help=f"shorter texts are non-responses ({DEFAULTS.min_words})")
        parser.add_argument(
            "--density-bins", type=int, help=f"parts of a text, for where citations stand ({DEFAULTS.density_bins})"
        )
        parser.add_argument(
            "--least-topics", type=int, help=f"topics from which a participant is ranked ({DEFAULTS.least_topics})"
        )
        parser.add_argument(
            "--reuse-limit", type=float, help=f"BLEU below which a statement is no copy ({DEFAULTS.reuse_limit})"
        )
        parser.add_argument(
            "--bertscore", help="whose BERTScores to take, as NAME or NAME:LAYER, or none (those computed last)"
        )
        parser.add_argument(
            "--labels",
            choices=CHOICES["labels"],
            help="averaged over all optima of MACE, or of the likeliest one (averaged)",
        )
        parser.add_argument(
            "--grades-from", choices=CHOICES["grades_from"], help="what responses are graded by (gold labels)"
        )
        parser.add_argument(
            "--bootstrap", choices=CHOICES["bootstrap"],
            help="whether resamples keep the competences as fitted or fit them anew (conditional)",
        )  # fmt: skip
        parser.add_argument(
            "--resample", choices=CHOICES["resample"], help="what resamples draw: topics, or judges too (topics)"
        )
        parser.add_argument(
            "--preset", choices=list(PRESETS), help="parameters as one: the procedure of the published corpus"
        )
        parser.add_argument("--pool", type=str.upper, help=f"whose judgments ({DEFAULTS.pool.lower()})")

    def handle(self, *args: Any, study: str, out: Path, **options: Any) -> None:
        found = Study.objects.filter(slug=study).first()
        if found is None:
            slugs = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:10])
            raise CommandError(f"There is no study {study!r}. There are: {slugs or 'none; import one first'}.")
        if out.exists() and not out.is_dir():
            raise CommandError(f"{out} is a file: name a folder to write the tables into.")
        names = [each.name for each in fields(AnalysisSettings)]
        parameters = {name: options[name] for name in names if options.get(name) is not None}
        try:
            run = services.start(study=found, seed=options["seed"], parameters=parameters)
        except (services.NothingToAnalyseError, BadParameterError) as error:
            raise CommandError(str(error)) from error
        run = lifecycle.wait(run, report=self._tell)
        self._end_line()
        if run.state != RunState.DONE:
            raise CommandError(_why(run))
        files = exports.write(run, out)
        self.stdout.write(f"{len(files)} files written to {out}: tables, figures and run.json.")

    def _tell(self, progress: Progress) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r\033[K{progress.done} of {progress.total} {progress.message}", ending="")

    def _end_line(self) -> None:
        if self.stderr.isatty():
            self.stderr.write("\r\033[K", ending="")


def _why(run: Run) -> str:
    problems = "; ".join(problem.get("message", "") for problem in run.problems)
    return f"The analysis is {run.get_state_display()}. {problems or run.error}".strip()
