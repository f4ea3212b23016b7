"""Look at the connection with Prolific, and have it tell by itself what happens."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from crowdrag.recruitment.domain import subscribing
from crowdrag.recruitment.domain.prolific import api
from crowdrag.recruitment.domain.prolific.account import HOOK_SECRET, account, hook_secret
from crowdrag.recruitment.domain.prolific.client import Client
from crowdrag.recruitment.domain.prolific.errors import PlatformError


class Command(BaseCommand):
    help = "Check the connection with Prolific; with --subscribe, have it call this system when something changes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--subscribe", metavar="ADDRESS", help="this system's own address, as in https://example.org"
        )

    def handle(self, *args: Any, subscribe: str | None, **options: Any) -> None:
        try:
            self._check()
            if subscribe:
                events = subscribing.subscribe(base=subscribe)
                self.stdout.write(f"Subscribed: {', '.join(events) or 'nothing new'}.")
        except PlatformError as error:
            raise CommandError(str(error)) from error

    def _check(self) -> None:
        with Client(account()) as client:
            api.me(client)
            self.stdout.write(f"The token works at {client.account.base_url}")
            if workspace := client.account.workspace:
                held = api.balance(client, workspace)
                amount, currency = held.get("available_balance"), held.get("currency_code")
                self.stdout.write(f"Balance: {amount} {currency} (minor units)")
        if not hook_secret():
            self.stdout.write(f"{HOOK_SECRET} is not set: what Prolific tells by itself is not taken.")
