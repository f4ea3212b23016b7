"""Make the endpoint of the local model, or bring it up to date."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from crowdrag.command_output import ResultCommand
from crowdrag.llm import GatewayError, endpoints


class Command(ResultCommand):
    """`manage.py local_endpoint`: idempotent; the runtime calls it at every start."""

    help = "Create or update the endpoint 'local' from CROWDRAG_LLM_URL."

    def add_arguments(self, parser: CommandParser) -> None:
        """Name what may differ from the default."""
        parser.add_argument("--url", default=None, help="base URL of the server (default: CROWDRAG_LLM_URL)")
        parser.add_argument("--model", default=endpoints.LOCAL_MODEL, help="name of the model on the server")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it."""
        try:
            endpoint = endpoints.ensure_local(url=options["url"], model=options["model"])
        except GatewayError as error:
            raise CommandError(str(error)) from error
        self.print_result(
            {"name": endpoint.name, "model": endpoint.model, "address": endpoint.base_url},
            f"The endpoint 'local' is {endpoint.model} at {endpoint.base_url}.",
        )
