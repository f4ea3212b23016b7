"""Check the invariants of the data. It changes nothing and may run at any time."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from ... import invariants


class Command(BaseCommand):
    """`manage.py check_invariants`: ends with a status other than 0 when something does not hold."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Which ones; all by default."""
        parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(invariants.names()))

    def handle(self, *args: Any, names: list[str], **options: Any) -> None:
        """Check, and say of each what was seen."""
        if unknown := sorted(set(names) - set(invariants.names())):
            raise CommandError(f"There is no {', '.join(unknown)}; there are {', '.join(invariants.names())}.")
        broken = 0
        for invariant, tally in invariants.check(names):
            broken += tally.broken
            sign = "ok    " if not tally.broken else "BROKEN"
            counts = f"{tally.checked} checked, {tally.broken} broken"
            self.stdout.write(f"{sign} {invariant.name}: {counts}. {invariant.says}")
            for example in tally.examples:
                self.stdout.write(f"         {example}")
        if broken:
            raise CommandError(f"{broken} broken.")
