"""Checks the consistency of the data; exits with 1 if a check fails. It changes nothing and may run at any time."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from crowdrag.command_output import ResultCommand

from ... import invariants


class Command(ResultCommand):
    """Checks the consistency of the data; exits with 1 if a check fails."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Which ones; all by default."""
        parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(invariants.names()))

    def handle(self, *args: Any, names: list[str], **options: Any) -> None:
        """Check, and say of each what was seen."""
        if unknown := sorted(set(names) - set(invariants.names())):
            raise CommandError(f"Unknown check: {', '.join(unknown)}. Choose from: {', '.join(invariants.names())}.")
        broken, results = 0, []
        for invariant, tally in invariants.check(names):
            broken += tally.broken
            sign = "ok    " if not tally.broken else "BROKEN"
            counts = f"{tally.checked} checked, {tally.broken} broken"
            results.append(_values(invariant, tally))
            self.remark(f"{sign} {invariant.name}: {counts}. {invariant.says}")
            for example in tally.examples:
                self.remark(f"         {example}")
        self.print_result({"broken": broken, "invariants": results})
        if broken:
            raise CommandError(f"{broken} broken.")


def _values(invariant: invariants.Invariant, tally: invariants.Tally) -> dict[str, Any]:
    return {
        "name": invariant.name,
        "says": invariant.says,
        "checked": tally.checked,
        "broken": tally.broken,
        "examples": tally.examples,
    }
