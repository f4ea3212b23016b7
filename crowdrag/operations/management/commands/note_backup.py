"""Record a backup or a drill: reads JSON from standard input; kind, file and is_good are required."""

import json
import sys
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from ... import backups


class Command(BaseCommand):
    """`manage.py note_backup`: `backup`, `drill` and `restore` call it, and scripts that back up with other tools."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Read and record."""
        try:
            facts = json.load(sys.stdin)
            if "made_at" in facts:
                facts["made_at"] = parse_datetime(facts["made_at"])
            backups.record(now=_time(facts.pop("at", "")) or timezone.now(), **facts)
        except (ValueError, TypeError) as error:
            raise CommandError(f"Invalid input: {error}") from error


def _time(text: str) -> datetime | None:
    return parse_datetime(text) if text else None
