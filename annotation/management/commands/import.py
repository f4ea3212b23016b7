"""`crowdrag import`: the imports of the pages, as a command."""

# ruff: noqa: N999 -- commands are called by their module's name

import argparse
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser

from crowdrag.command_output import add_json_option
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.jobs.run_command import RunCommand
from crowdrag.studies.models import Study
from crowdrag.studies.study import services
from writing.corpus.formats import study_answers
from writing.corpus.imports import importers, response_files, trec
from writing.corpus.imports.importers import (
    COLUMN_NAMES,
    DRY_RUN,
    FORMAT,
    FROM_ONE,
    PASSAGE_LINES,
    STRICT,
    SYSTEM,
    Importer,
)


def _column_names(text: str) -> str:
    """Check the columns of a data set."""
    try:
        study_answers.parse_columns(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


_OPTIONS: dict[str, dict[str, Any]] = {
    "depth": {"type": int, "default": trec.DEPTH, "help": "passages per topic (default: %(default)s)"},
    FROM_ONE: {"action": "store_true", "help": "citation markers count the passages from 1, not from 0"},
    PASSAGE_LINES: {"action": "store_true", "help": "each line of a passage's cell is a passage"},
    FORMAT: {
        "default": "",
        "choices": [name for name, _title in study_answers.choices()],
        "help": "format of the answers (default: recognised)",
    },
    SYSTEM: {"default": "", "help": "name of the system of answers that name none (default: the file's name)"},
    COLUMN_NAMES: {
        "default": "",
        "type": _column_names,
        "metavar": "ROLE=COLUMN,...",
        "help": "columns of a Hugging Face data set, for example query=question,answer=output",
    },
    DRY_RUN: {"action": "store_true", "help": "store nothing, and show what would be created"},
    STRICT: {"action": "store_true", "help": "refuse input with faults in single rows, instead of setting these aside"},
    "style": {
        "default": response_files.DEFAULT_STYLE,
        "help": "style of responses that name none (default: %(default)s)",
    },
}


class Command(RunCommand):
    """Import into a study, wait for it, and report the new rows or the problems."""

    help = (
        "Import a corpus, topics, a TREC run, responses or a questionnaire into a study. Creates the study if it "
        "does not exist."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add a subcommand with the arguments of each kind of import."""
        kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT", parser_class=argparse.ArgumentParser)
        for importer in importers.all_importers():
            of_kind = kinds.add_parser(
                importer.name, help=str(importer.description), description=str(importer.description)
            )
            if len(importer.inputs) == 1:
                role = importer.inputs[0]
                nargs: dict[str, Any] = {"nargs": "+"} if role.many else {}
                metavar = "FILE" if role.many else str(role.label).upper()
                of_kind.add_argument("path", metavar=metavar, type=Path, help=str(role.help), **nargs)
            else:
                for role in importer.inputs:
                    of_kind.add_argument(
                        f"--{role.role}", required=True, metavar="FILE", type=Path, help=str(role.help)
                    )
            add_json_option(of_kind)
            for name in importer.options:
                of_kind.add_argument(f"--{name.replace('_', '-')}", **_OPTIONS[name])
            of_kind.add_argument("--study", required=True, metavar="SLUG", help="the study's short name")
            of_kind.add_argument("--title", default="", help="title of a new study (default: its short name)")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Start the import and wait for it."""
        importer = importers.get(options["what"])
        files = _files(importer, options)
        slug = options["study"]
        known = Study.objects.filter(slug=slug).first()
        study = known or _new_study(slug, options["title"] or slug)
        is_taken = False
        try:
            run = importers.start(
                study=study,
                importer=importer,
                files=files,
                options={name: options[name] for name in importer.options},
            )
            run = self.follow(run)
            is_taken = run.state == RunState.DONE and not options.get(DRY_RUN)
        finally:
            # The run needs a study from the start. A new study is deleted with an import that fails.
            if known is None and not is_taken:
                services.discard(study)
        self._conclude(run, slug, is_new=known is None and is_taken)

    def _conclude(self, run: Run, slug: str, *, is_new: bool) -> None:
        values = {
            "run": run.key,
            "study": slug,
            "is_new_study": is_new,
            "state": run.state,
            "summary": run.summary,
            "problems": run.problems,
        }
        if run.state == RunState.DONE:
            lines = [f"Made the study {slug}."] if is_new else []
            lines += ["Dry run: nothing was stored. An import would create:"] if run.parameters.get(DRY_RUN) else []
            lines += [f"{name}: {value}" for name, value in _flat(run.summary)]
            lines += [f"{fault['effect']}: {_line(fault)}" for fault in run.problems]
            self.print_result(values, *lines, *([_without(run.summary, len(run.problems))] if run.problems else []))
            return
        self.print_result(values)
        for problem in run.problems:
            self.stderr.write(_line(problem))
        raise CommandError(run.error or f"The import was {run.get_state_display()}.")


def _new_study(slug: str, title: str) -> Study:
    """Create a study, or report why its slug is invalid."""
    try:
        return services.create(slug=slug, title=title, by=None)
    except ValidationError as error:
        raise CommandError(f"--study {slug}: {' '.join(error.messages)}") from None


def _line(problem: dict[str, Any]) -> str:
    """Return a problem and its location on one line."""
    line = f"line {problem['line']}" if problem["line"] else ""
    location = ", ".join(filter(None, (problem["file"], line, problem["field"])))
    expected = f" (expected: {problem['expected']})" if problem["expected"] else ""
    return f"{location}: {problem['message']}{expected}"


def _without(summary: dict[str, Any], listed: int) -> str:
    """Return how many rows the import left out or stored incompletely."""
    set_aside, incomplete = (sum(summary.get(name, {}).values()) for name in ("set_aside", "incomplete"))
    parts = (("Set aside", set_aside, "row"), ("Incomplete", incomplete, "row"), ("Listed", listed, "fault"))
    sentences = " ".join(f"{what}: {n} {unit if n == 1 else unit + 's'}." for what, n, unit in parts)
    return f"{sentences} {'--strict refuses it.' if set_aside + incomplete == 1 else '--strict refuses them.'}"


def _files(importer: Importer, options: dict[str, Any]) -> dict[str, list[Path]]:
    """Return the given paths by role; refuse missing paths at once."""
    if len(importer.inputs) == 1:
        paths_of = {importer.inputs[0].role: options["path"]}
    else:
        paths_of = {inputs.role: options[inputs.role] for inputs in importer.inputs}
    files = {role: paths if isinstance(paths, list) else [paths] for role, paths in paths_of.items()}
    for path in (path for paths in files.values() for path in paths):
        if not path.exists():
            raise CommandError(f"There is no {path}.")
    return {role: [path.resolve() for path in paths] for role, paths in files.items()}


def _flat(summary: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return a nested summary as a flat list of lines."""
    pairs: list[tuple[str, Any]] = []
    for name, value in summary.items():
        if isinstance(value, dict):
            pairs += [(f"{name}.{key}", part) for key, part in value.items()]
        else:
            pairs.append((name, value))
    return [(name, ", ".join(map(str, value[:10])) if isinstance(value, list) else value) for name, value in pairs]
