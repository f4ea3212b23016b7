"""Output of commands: sentences for people, or one JSON object for scripts."""

import argparse
import json
from collections.abc import Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from crowdrag.runtime.usage import JSON_HELP


class ResultCommand(BaseCommand):
    """A command that prints a result."""

    is_json = False

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Add `--json` to the command's own options."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--json", action="store_true", help=JSON_HELP)
        return parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Set the output format, then run."""
        self.is_json = bool(options.pop("json", False))
        return super().execute(*args, **options)

    def remark(self, line: str) -> None:
        """Print a remark besides the result; it appears at once, also in a file or pipe."""
        if not self.is_json:
            self.stdout.write(line)
            self.stdout.flush()

    def print_result(self, values: Mapping[str, Any], *lines: str) -> None:
        """Print a result: its lines for people, its values for scripts. Keys are stable, new ones may be added."""
        if self.is_json:
            self.stdout.write(as_json(values))
        for line in lines:
            self.remark(line)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    """Let a subcommand accept `--json` as well, without undoing it if given before the subcommand."""
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=JSON_HELP)


def as_json(values: Mapping[str, Any]) -> str:
    """Format a result for scripts."""
    return json.dumps(values, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)
