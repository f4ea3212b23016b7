"""Analyse a study's judgments and write its tables, and its report and figures if asked for, into a folder."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.analyses import services
from analysis.methods.settings import PARAMETERS, BadParameterError
from analysis.parameters import Parameter
from analysis.reports import exports
from analysis.reports.exports import Extra
from crowdrag.jobs.models import Run
from crowdrag.jobs.run_command import RunCommand
from crowdrag.studies.models import Study

ALL = "all"


def _option(parameter: Parameter) -> dict[str, Any]:
    """Return the command-line arguments of a parameter."""
    about = ". ".join(str(text) for text in (parameter.label, parameter.help) if text)
    if parameter.kind == "flag":
        value = not parameter.default
        return {"dest": parameter.name, "action": "store_const", "const": value, "help": f"{about} (turned off)"}
    default = "" if parameter.default in ("", None) else f" (default: {parameter.default})"
    option: dict[str, Any] = {"help": f"{about}{default}".replace("%", "%%")}
    if parameter.kind == "choice":
        values = [value for value, _label in parameter.choices if value]
        is_upper = all(value.isupper() for value in values)
        return option | {"choices": values, "type": str.upper if is_upper else str}
    return option | {"type": {"integer": int, "number": float, "text": str}[parameter.kind]}


class Command(RunCommand):
    help = "Analyse a study's judgments: agreement, competence, labels and grades, with confidence intervals."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--out", type=Path, required=True, help="folder to write the tables into, as CSV and JSON")
        parser.add_argument(
            "--with",
            dest="extras",
            nargs="+",
            choices=[*Extra, ALL],
            default=[],
            help="also write the report (HTML and PDF), the tables as LaTeX, the figures, or all of these. With "
            "--resume of a finished run, nothing is computed again",
        )
        parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
        self.add_resume_option(parser)
        for parameter in PARAMETERS.values():
            parser.add_argument(parameter.option, **_option(parameter))

    def handle(self, *args: Any, study: str, out: Path, **options: Any) -> None:
        study_row = Study.objects.filter(slug=study).first()
        if study_row is None:
            slugs = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)[:10])
            raise CommandError(f"There is no study {study!r}. Studies: {slugs or 'none, import one first'}.")
        if out.exists() and not out.is_dir():
            raise CommandError(f"{out} is a file. Give a folder for the tables.")
        self.resume_hint = f"crowdrag analyse {study} --out {out}"
        if key := options.get("resume"):
            run = self.resumed(key, study=study_row, kind=services.KIND)
        else:
            run = self._start(study_row, options)
        run = self.finished(run)
        extras = tuple(Extra) if ALL in options["extras"] else options["extras"]
        files = exports.write(run, out, extras=extras, how=f"{self.resume_hint} --resume {run.key}")
        self.print_result(
            {
                "run": run.key,
                "study": study,
                "folder": str(out),
                "files": sorted(str(path.relative_to(out)) for path in files),
            },
            f"{len(files)} files written to {out}: {', '.join(['tables', *dict.fromkeys(extras)])} and run.json.",
        )

    def _start(self, study: Study, options: dict[str, Any]) -> Run:
        parameters = {name: options[name] for name in PARAMETERS if options.get(name) is not None}
        try:
            return services.start(study=study, seed=options["seed"], parameters=parameters)
        except (services.NothingToAnalyseError, BadParameterError) as error:
            raise CommandError(str(error)) from error
