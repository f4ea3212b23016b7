"""Gunicorn's configuration where a proxy stands before several of it: who is asked to stop first says so for a while.

    gunicorn --config python:crowdrag.runtime.graceful_shutdown ...

On SIGTERM the process goes on serving for CROWDRAG_DRAIN_SECONDS, and /readyz says 503, so that the proxy sends
requests elsewhere from then on; then it stops as ever, with the requests that are being answered. A second SIGTERM
ends the waiting.
"""

import mmap
import os
import signal
import threading
from typing import Any

# One byte that gunicorn's master shares with the workers that it forks: 1 when it is on its way out.
_flag = mmap.mmap(-1, 1)


def is_draining() -> bool:
    """Return whether the web server that this process belongs to is on its way out."""
    return _flag[0] == 1


def when_ready(server: Any) -> None:
    """Let gunicorn's master stop later than it is asked to."""
    stop_at_once = server.handle_term

    def handle_term() -> None:
        seconds = float(os.environ.get("CROWDRAG_DRAIN_SECONDS", "0"))
        if seconds <= 0 or is_draining():
            stop_at_once()
        _flag[0] = 1
        server.log.info("Draining for %g s", seconds)
        timer = threading.Timer(seconds, server.signal, (signal.SIGTERM, None))
        timer.daemon = True
        timer.start()

    server.handle_term = handle_term
