"""Check the connection with Prolific, and subscribe to its webhooks."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from crowdrag.command_output import ResultCommand
from crowdrag.recruitment import webhooks
from crowdrag.recruitment.prolific import endpoints
from crowdrag.recruitment.prolific.account import WEBHOOK_SECRET, get_account, webhook_secret
from crowdrag.recruitment.prolific.client import Client
from crowdrag.recruitment.prolific.errors import PlatformError


class Command(ResultCommand):
    help = "Check the connection to Prolific. With --subscribe, Prolific notifies this system about changes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--subscribe", metavar="ADDRESS", help="public URL of this system, for example https://example.org"
        )

    def handle(self, *args: Any, subscribe: str | None, **options: Any) -> None:
        try:
            values = self._check()
            if subscribe:
                values["subscribed"] = events = list(webhooks.subscribe(base=subscribe))
                self.remark(f"Subscribed: {', '.join(events) or 'nothing new'}.")
        except PlatformError as error:
            raise CommandError(str(error)) from error
        self.print_result(values)

    def _check(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        with Client(get_account()) as client:
            endpoints.me(client)
            values["address"] = client.account.base_url
            self.remark(f"The token works at {client.account.base_url}")
            if workspace := client.account.workspace:
                held = endpoints.balance(client, workspace)
                amount, currency = held.get("available_balance"), held.get("currency_code")
                values |= {"balance_minor_units": amount, "currency": currency}
                self.remark(f"Balance: {amount} {currency} (minor units)")
        values["has_webhook_secret"] = bool(webhook_secret())
        if not webhook_secret():
            self.remark(f"{WEBHOOK_SECRET} is not set, so messages from Prolific are refused.")
        return values
