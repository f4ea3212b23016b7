"""Write the generated pages of docs/reference."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crowdrag.operations import reference


class Command(BaseCommand):
    help = "Write the generated pages of docs/reference from the code."

    def add_arguments(self, parser: CommandParser) -> None:
        """Allow to look only."""
        parser.add_argument("--check", action="store_true", help="write nothing and fail if a page is out of date")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        pages = list(reference.outdated())
        if check and pages:
            raise CommandError(f"Out of date: {', '.join(path.name for path, _text in pages)}. Run make reference.")
        for path, text in pages:
            path.write_text(text, encoding="utf-8")
            self.stdout.write(f"{path} written.")
