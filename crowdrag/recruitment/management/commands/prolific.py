"""Check the connection with Prolific, and subscribe to its webhooks."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crowdrag.recruitment import webhooks
from crowdrag.recruitment.prolific import endpoints
from crowdrag.recruitment.prolific.account import WEBHOOK_SECRET, get_account, webhook_secret
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.prolific.errors import PlatformError


class Command(BaseCommand):
    help = "Check the connection to Prolific. With --subscribe, Prolific notifies this system about changes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--subscribe", metavar="ADDRESS", help="public URL of this system, for example https://example.org"
        )

    def handle(self, *args: Any, subscribe: str | None, **options: Any) -> None:
        try:
            self._check()
            if subscribe:
                events = webhooks.subscribe(base=subscribe)
                self.stdout.write(f"Subscribed: {', '.join(events) or 'nothing new'}.")
        except PlatformError as error:
            raise CommandError(str(error)) from error

    def _check(self) -> None:
        with Client(get_account()) as client:
            endpoints.me(client)
            self.stdout.write(f"The token works at {client.account.base_url}")
            if workspace := client.account.workspace:
                held = endpoints.balance(client, workspace)
                amount, currency = held.get("available_balance"), held.get("currency_code")
                self.stdout.write(f"Balance: {amount} {currency} (minor units)")
        if not webhook_secret():
            self.stdout.write(f"{WEBHOOK_SECRET} is not set: what Prolific tells by itself is not taken.")
