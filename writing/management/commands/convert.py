"""`crowdrag convert FILE --to FORMAT --out FILE`: a file of RAG evaluation in another format."""

import contextlib
import os
import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from crowdrag.command_output import ResultCommand
from writing.corpus.formats import conversion, format_registry, study_answers
from writing.corpus.imports import sources
from writing.corpus.imports.problems import BadInput, Effect, Problems


class Command(ResultCommand):
    help = (
        "Convert answers, topics, passages, runs, relevance judgments, nuggets or a leaderboard into another format "
        "that holds the same, and say what is lost. It needs no study."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        names = [each.name for each in format_registry.FORMATS]
        parser.add_argument("path", nargs="?", metavar="FILE", type=Path, help="the file, compressed or not")
        parser.add_argument("--to", choices=names, metavar="FORMAT", help="the new format")
        parser.add_argument("--from", dest="source", choices=names, metavar="FORMAT", help="default: recognised")
        parser.add_argument("--out", type=Path, metavar="FILE", help="output file (an existing file is replaced)")
        parser.add_argument("--system", default="", help="name of the system of answers that name none")
        parser.add_argument(
            "--column-names", default="", metavar="ROLE=COLUMN,...", help="columns of a Hugging Face data set"
        )
        parser.add_argument("--list", action="store_true", help="print the formats and exit")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list"]:
            self._list()
            return
        path, out = options["path"], options["out"]
        if path is None or options["to"] is None or out is None:
            raise CommandError("Give the file, the format and the output: crowdrag convert FILE --to FORMAT --out FILE")
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        if not out.parent.is_dir():
            raise CommandError(f"The folder {out.parent} does not exist. Create it first.")
        source = format_registry.get(options["source"]) if options["source"] else None
        try:
            columns = study_answers.parse_columns(options["column_names"])
            with contextlib.ExitStack() as stack:
                member = _member(path, stack)
                converted = conversion.convert(
                    member,
                    format_registry.get(options["to"]),
                    source=source,
                    columns=columns or None,
                    run=options["system"],
                )
        except BadInput as error:
            for problem in error.problems:
                self.stderr.write(str(problem))
            raise CommandError(f"{path.name} cannot be converted.") from None
        except (format_registry.UnknownFormatError, conversion.NotConvertibleError, ValueError) as error:
            raise CommandError(str(error.args[0])) from None
        if not converted.values:
            raise CommandError(f"{path.name} has no row that can be used. {_first_fault(converted)}")
        _write(out, converted.data)
        self._report(out, converted)

    def _list(self) -> None:
        formats = [
            {"name": each.name, "title": each.title, "holds": str(each.content), "source": each.source}
            for each in format_registry.FORMATS
        ]
        self.print_result(
            {"formats": formats}, *(f"{each['name']:<26} {each['holds']:<20} {each['title']}" for each in formats)
        )

    def _report(self, out: Path, converted: conversion.Conversion) -> None:
        incomplete = sum(converted.problems.rows(Effect.INCOMPLETE).values())
        values = {
            "file": str(out),
            "from": converted.source.name,
            "values": converted.values,
            "set_aside": converted.set_aside,
            "incomplete": incomplete,
            "lost": converted.lost,
            "problems": converted.problems.faults_as_rows(),
        }
        lines = [f"{out}  {converted.values:,} {converted.source.content} from {converted.source.name}"]
        lines += [f"Set aside: {converted.set_aside}. Incomplete: {incomplete}."]
        lines += [f"{effect}: {problem}" for problem, effect in converted.problems.faults]
        lines += [f"Lost: {part} ({count:,})" for part, count in converted.lost.items()]
        self.print_result(values, *lines)


def _first_fault(converted: conversion.Conversion) -> str:
    faults = converted.problems.faults
    return f"The first fault: {faults[0][0]}" if faults else "It is empty."


def _member(path: Path, stack: contextlib.ExitStack) -> sources.Member:
    """Return the file, or the only file of an archive."""
    member = sources.of_path(path)
    file = stack.enter_context(path.open("rb"))
    if not sources.is_archive(file, path.name):
        return member
    problems = Problems()
    members = stack.enter_context(sources.of_archive(file, path.name, problems))
    problems.refuse_any()
    visible = [each for each in members if not study_answers.is_ignored(each.name)]
    if len(visible) != 1:
        problems.add(file=path.name, expected="one file in the archive", message=f"there are {len(visible)}")
        problems.refuse_any()
    return visible[0]


def _write(out: Path, data: bytes) -> None:
    """Write the file; it gets its name when it is complete."""
    partial = out.with_name(f".{out.name}.{uuid.uuid4().hex}.partial")
    try:
        with partial.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(out)
    except OSError as error:
        raise CommandError(f"{out} cannot be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)
