"""Run an experiment on a study's topics or a file of questions, and write its report into a folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from analysis.experiments import experiment as experiments
from analysis.experiments import experiment as experiments_experiment
from analysis.experiments import retrievers, runs, services
from analysis.experiments.experiment import BadParameterError, CostEstimate, Experiment
from analysis.experiments.question_sets import FORMATS, BadCollectionError
from analysis.reports import exports
from analysis.tables import run_tables
from crowdrag.jobs.kinds import InputRejectedError
from crowdrag.jobs.models import Run, Upload
from crowdrag.jobs.run_command import RunCommand
from crowdrag.studies import money
from crowdrag.studies.models import Study


class Command(RunCommand):
    help = "Run an experiment on how retrieval changes a model's answers."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("name", help=f"name of the experiment: {', '.join(experiments.EXPERIMENTS)}")
        parser.add_argument(
            "config",
            nargs="?",
            type=Path,
            help=("a TOML file with any of the options below (command-line options override it)"),
        )
        parser.add_argument("--study", help="the study's short name (pays for calls and stores the results)")
        parser.add_argument("--file", type=Path, help="a file of questions (default: the study's topics or responses)")
        parser.add_argument("--format", choices=list(FORMATS), help="the format of the file")
        parser.add_argument("--corpus", type=Path, help="a file of documents to search for each question")
        parser.add_argument(
            "--candidates",
            type=int,
            help=f"documents from the corpus per question (default: {services.CANDIDATES}, 0: those named in the file)",
        )
        parser.add_argument(
            "--searcher",
            help="the retriever for the corpus, or trec:FILE for what another system found (default: bm25)",
        )
        parser.add_argument("--others", type=int, help="number of extra passages from other questions")
        parser.add_argument("--style", help="for the study's topics: style of the right answers (default: any)")
        parser.add_argument(
            "--queries", type=int, help=("maximum number of questions, sampled with the seed (default: all)")
        )
        parser.add_argument("--generator", help="answering model: endpoint:NAME or model:NAME")
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", help="set a parameter (may be repeated)"
        )
        parser.add_argument("--seed", type=int, help="random seed (default: 0)")
        parser.add_argument("--out", type=Path, help="folder for the report, tables and figures")
        self.add_resume_option(parser)
        parser.add_argument("--estimate", action="store_true", help="print the cost estimate and exit")

    def handle(self, *args: Any, name: str, out: Path | None, **arguments: Any) -> None:
        try:
            options = _merged(arguments)
        except BadParameterError as error:
            raise CommandError(str(error)) from error
        study = _study(options["study"])
        if out is not None and out.exists() and not out.is_dir():
            raise CommandError(f"{out} is a file. Give a folder.")
        self.resume_hint = f"crowdrag experiment {name} --study {study.slug}" + (f" --out {out}" if out else "")
        try:
            if key := options.get("resume"):
                self._follow(self.resumed(key, study=study, kind=experiments.get(name).kind), out)
                return
            order = self._order(experiments.get(name), study, options)
            expected = services.forecast(order)
            self._print_estimate(expected, is_result=options["estimate"])
            if options["estimate"]:
                return
            run = services.start(order)
        except (LookupError, BadParameterError, BadCollectionError, InputRejectedError) as error:
            problems = getattr(error, "problems", None)
            raise CommandError(
                "; ".join(problem["message"] for problem in problems) if problems else str(error)
            ) from error
        self._follow(run, out)

    def _order(self, experiment: Experiment, study: Study, options: dict[str, Any]) -> services.Order:
        parameters = options[experiments_experiment.PARAMETERS] | dict(
            _pair(assignment, experiment) for assignment in options["set"]
        )
        common = {"generator": options["generator"] or parameters.pop("generator", ""), "queries": options["queries"]}
        common["collection"] = _collection(study, experiment, options, self._note)
        return services.order(experiment, study, {**parameters, **common}, seed=options["seed"])

    def _note(self, reason: str, count: int) -> None:
        self.stderr.write(f"Left out: {count:,} {reason}.")

    def _print_estimate(self, expected: services.CostForecast, *, is_result: bool) -> None:
        estimate = expected.estimate
        time = "unknown time" if expected.seconds is None else f"about {expected.seconds:,.0f} s"
        line = (
            f"{estimate.queries:,} questions ({estimate.left_out:,} excluded), {_calls(estimate)}, about "
            f"{estimate.prompt_tokens:,} input tokens and {estimate.completion_tokens:,} output tokens, at most "
            f"{money.format_cost(expected.cost, expected.currency)}, {time}; "
            f"{expected.units:,} units. {estimate.note}".strip()
        )
        if is_result and not expected.problem:
            self.print_result(_forecast_values(expected), line)
        else:
            self.remark(line)
        if expected.problem:
            raise CommandError(expected.problem)
        if expected.is_over_budget:
            self.stderr.write(
                "This may cost more than the study's remaining budget. The run stops before it exceeds the budget."
            )

    def _follow(self, run: Run, out: Path | None) -> None:
        self.remark(f"Run {run.key}.")
        run = self.finished(run)
        usage = run.summary.get("usage", {})
        took = [f"{usage.get('calls', 0):,} calls", f"{usage.get('stored', 0):,} stored answers"]
        lines = [f"Done: {', '.join([*took, *runs.losses(run)])}."]
        warnings = list(runs.warnings(run))
        for warning in warnings:
            self.stderr.write(warning)
        values: dict[str, Any] = {"run": run.key, "study": run.study.slug, "usage": usage, "warnings": warnings}
        if out is not None:
            files = exports.write(run, out)
            lines.append(f"{len(files)} files written to {out}: report, tables and figures.")
            values |= {"folder": str(out), "files": sorted(str(path.relative_to(out)) for path in files)}
        self.print_result(values, *lines)


def _forecast_values(expected: services.CostForecast) -> dict[str, Any]:
    """Return a cost estimate for scripts, in the study's currency."""
    estimate = expected.estimate
    return {
        "questions": estimate.queries,
        "excluded": estimate.left_out,
        "calls": estimate.calls,
        "calls_at_most": estimate.most.calls if estimate.most else estimate.calls,
        "input_tokens": estimate.prompt_tokens,
        "output_tokens": estimate.completion_tokens,
        "cost_at_most": expected.cost,
        "currency": expected.currency,
        "seconds": expected.seconds,
        "units": expected.units,
        "is_over_budget": expected.is_over_budget,
    }


def _calls(estimate: CostEstimate) -> str:
    return (
        f"{estimate.calls:,} to {estimate.most.calls:,} calls" if estimate.most else f"at most {estimate.calls:,} calls"
    )


def _merged(arguments: dict[str, Any]) -> dict[str, Any]:
    """Merge all options: command line, then TOML file, then defaults."""
    written = (
        experiments_experiment.read_configuration(arguments["config"])
        if arguments["config"]
        else {experiments_experiment.PARAMETERS: {}}
    )
    usual = {key: kind() for key, kind in experiments_experiment.KEYS.items()} | dict.fromkeys(
        experiments_experiment.PATHS
    )
    usual |= {"candidates": services.CANDIDATES, "searcher": retrievers.WORDS}
    return usual | written | {key: value for key, value in arguments.items() if value is not None}


def _study(slug: str) -> Study:
    if not slug:
        raise CommandError("Give the study: --study, or study in the TOML file.")
    if (study := Study.objects.filter(slug=slug).first()) is None:
        raise CommandError(f"There is no study {slug!r}.")
    return study


def _collection(
    study: Study, experiment: Experiment, options: dict[str, Any], note: Callable[[str, int], None]
) -> dict[str, Any]:
    path = options.get("file")
    if path is None:
        study_sources = [source for source in run_tables.OF_STUDY if source in experiment.collections]
        return {"source": (study_sources or [run_tables.STUDY])[0], "style": options["style"]}
    if not options.get("format"):
        raise BadParameterError(f"Give the format of the file: --format, one of {', '.join(FORMATS)}.")
    for required in filter(None, (path, options["corpus"])):
        if not Path(required).is_file():
            raise BadParameterError(f"There is no file {required}.")
    upload = _searched(study, options, note) if options["corpus"] else services.upload_questions(study, Path(path))
    return services.of_upload(study, options["format"], upload.pk, options["others"])


def _searched(study: Study, options: dict[str, Any], note: Callable[[str, int], None]) -> Upload:
    if options["format"] != "qa":
        raise BadParameterError("Searching a corpus needs plain questions: --format qa.")
    return services.with_candidates(
        study=study,
        questions=Path(options["file"]),
        corpus=Path(options["corpus"]),
        n=options["candidates"],
        searcher=options["searcher"],
        note=note,
    )


def _pair(text: str, experiment: Experiment) -> tuple[str, Any]:
    """Read `KEY=VALUE` by the parameter's kind; the experiment rejects unknown names."""
    name, equals, value = text.partition("=")
    if not equals:
        raise BadParameterError(f"--set needs KEY=VALUE, not {text!r}.")
    kinds = {parameter.name: parameter.kind for parameter in experiment.declared}
    kind = kinds.get(name.strip(), "text")
    if kind in {"numbers", "choices"}:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        return name.strip(), [_number(part) for part in parts] if kind == "numbers" else parts
    return name.strip(), _number(value) if kind in {"integer", "number", "flag"} else value


def _number(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
