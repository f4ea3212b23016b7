"""Test on files of labels whether a judge may stand in for people. Needs no study and no database."""

import argparse
import json
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from analysis.methods.judge_certificate import file_comparison
from analysis.methods.judge_certificate.annotation_files import BadAnnotationFileError, read_judges, read_people
from analysis.methods.settings import EPSILON_OF_CROWD, EPSILON_OF_EXPERTS
from analysis.reports.exports import write_whole
from analysis.stats.alternative_annotator import Scoring
from crowdrag.command_output import ResultCommand

FILE: Final = "alt_test.json"


def _epsilon(text: str) -> float:
    try:
        epsilon = float(text)
    except ValueError:
        epsilon = -1.0
    if not 0 <= epsilon <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1, such as 0.15.")
    return epsilon


class Command(ResultCommand):
    help = "Test on files of labels whether a judge may stand in for people (the alternative annotator test)."
    requires_system_checks = ()

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("humans", type=Path, help="labels of people: JSON, {person: {item: label}}, may be gzipped")
        parser.add_argument("llm", type=Path, help="labels of judges: JSON, {judge: {item: label}}, may be gzipped")
        parser.add_argument(
            "--scoring",
            choices=[scoring.value for scoring in Scoring],
            required=True,
            help="how a label is scored against other people's: accuracy for categories, rmse for numbers",
        )
        parser.add_argument(
            "--epsilon",
            type=_epsilon,
            required=True,
            help=(
                f"how much better a person may be, 0 to 1: {EPSILON_OF_EXPERTS} for experts, 0.15 for skilled people, "
                f"{EPSILON_OF_CROWD} for the crowd"
            ),
        )
        parser.add_argument("--out", type=Path, required=True, help=f"the folder for {FILE}")

    def handle(
        self, *args: Any, humans: Path, llm: Path, scoring: str, epsilon: float, out: Path, **options: Any
    ) -> None:
        try:
            people, judges = read_people(humans, Scoring(scoring)), read_judges(llm, Scoring(scoring))
        except BadAnnotationFileError as error:
            raise CommandError(str(error)) from error
        result = file_comparison.compare(people, judges, scoring=Scoring(scoring), epsilon=epsilon)
        try:
            out.mkdir(parents=True, exist_ok=True)
            write_whole(out / FILE, f"{json.dumps(result, ensure_ascii=False, indent=2)}\n".encode())
        except OSError as error:
            raise CommandError(f"{out / FILE} cannot be written ({error.strerror}). Give another folder.") from error
        for row in result["set_aside"]:
            items = f": {', '.join(row['examples'])}" if row["examples"] else ""
            more = ", ..." if row["count"] > len(row["examples"]) > 0 else ""
            self.stderr.write(
                f"Set aside in {row['file']}, {row['annotator']}: {row['count']:,}, {row['reason']}{items}{more}."
            )
        self.print_result(
            {"file": str(out / FILE), **result},
            *(line for row in result["rows"] for line in _lines(row)),
            f"{out / FILE} written.",
        )


def _lines(row: dict[str, Any]) -> list[str]:
    """Return the sentences about a judge."""
    compared = len(row["p_values"])
    if row["passes"] is None:
        first = f"{row['judge']}: no result."
    else:
        first = (
            f"{row['judge']}: {'passes' if row['passes'] else 'does not pass'}. Winning rate "
            f"{row['winning_rate']:.2f} ({len(row['wins'])} of {compared} people), advantage probability "
            f"{row['advantage_probability']:.2f}."
        )
    return [first, *row["notes"]]
