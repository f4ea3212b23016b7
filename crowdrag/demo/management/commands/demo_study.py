"""Set up the demo study and say how to get in."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ... import setup


class Command(BaseCommand):
    help = "Create or update the demo study. Long work continues in the background. You can run the command again."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument(
            "--address", default="http://localhost:8000", help=("URL of the web server, used in the output")
        )

    def handle(self, *args: Any, address: str, **options: Any) -> None:
        try:
            demo = setup.set_up()
        except setup.DemoError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"  Address   {address}/studies/{demo.study.slug}/")
        self.stdout.write(f"  Login     {demo.email}")
        self.stdout.write(f"  Password  {demo.password}")
        self.stdout.write(f"  Write a response yourself, as a crowd worker does: {address}{demo.link}")
        if demo.judging:
            self.stdout.write(f"  Judge responses yourself, likewise: {address}{demo.judging}")
