"""Set up the demo study and say how to get in."""

from typing import Any

from django.core.management.base import CommandError
from django.urls import reverse

from crowdrag.command_output import ResultCommand

from ... import setup


class Command(ResultCommand):
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
        addresses = {
            "overview": address + reverse("study", args=[demo.study.slug]),
            "write": address + demo.link,
            "judge": address + demo.judging if demo.judging else "",
            "new_study": address + reverse("study_new"),
        }
        people = [f"  Write as a crowd worker  {addresses['write']}"]
        if addresses["judge"]:
            people.append(f"  Judge as a crowd worker  {addresses['judge']}")
        self.print_result(
            {"study": demo.study.slug, "email": demo.email, "password": demo.password, **addresses},
            *people,
            "",
            f"  Login     {demo.email}",
            f"  Password  {demo.password}",
            f"  Start your own study: {addresses['new_study']}",
            f"  Overview of the demo study: {addresses['overview']}",
        )
