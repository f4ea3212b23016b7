"""Record a backup or a drill from JSON on standard input. The backup commands call it."""

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from ... import backups


class Command(BaseCommand):
    """`manage.py note_backup`: kind, file and is_good must be told, other figures may."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, and keep."""
        try:
            facts = json.load(sys.stdin)
            if "made_at" in facts:
                facts["made_at"] = parse_datetime(facts["made_at"])
            backups.record(now=timezone.now(), **facts)
        except (ValueError, TypeError) as error:
            raise CommandError(f"This cannot be noted: {error}") from error
