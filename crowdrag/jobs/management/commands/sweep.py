"""Wake workers for what is due, and return what was lost, again and again."""

import os
import signal
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from crowdrag.command_output import ResultCommand

from ... import sweep


class Command(ResultCommand):
    """`manage.py sweep`: one of the services; any number of them may run."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """How often, or once."""
        parser.add_argument(
            "--every", type=float, default=3.0, metavar="SECONDS", help="time between two passes (default: 3)"
        )
        parser.add_argument("--once", action="store_true", help="make one pass and print what it found")

    def handle(self, *args: Any, every: float, once: bool, **options: Any) -> None:
        """Sweep."""
        if once:
            swept = sweep.sweep()
            due = ", ".join(f"{queue} {count}" for queue, count in swept.due.items())
            lines = [f"returned {swept.returned}, concluded {swept.concluded}, due: {due}"]
            if swept.scheduled:
                lines.append(f"did {', '.join(swept.scheduled)}")
            self.print_result(asdict(swept), *lines)
            if not swept.broker:
                self.stderr.write("The broker does not answer.")
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        sweep.sweep_repeatedly(every=every, stop=stop, alive=_touch_heartbeat)


def _touch_heartbeat() -> None:
    # The supervisor looks at this file's age (crowdrag/runtime); without a supervisor there is none.
    if path := os.environ.get("CROWDRAG_HEARTBEAT"):
        Path(path).touch()
