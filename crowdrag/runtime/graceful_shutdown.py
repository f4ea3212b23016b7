"""Gunicorn's configuration behind a proxy with several servers: announce a stop for a while before stopping.

    gunicorn --config python:crowdrag.runtime.graceful_shutdown ...

On SIGTERM the process continues to serve for CROWDRAG_DRAIN_SECONDS, and /readyz returns 503, so that the proxy sends
requests elsewhere; then it stops as usual, after finishing current requests. A second SIGTERM ends the wait.
"""

import mmap
import os
import signal
import threading
from typing import Any

# One byte that gunicorn's master shares with its forked workers: 1 when it is shutting down.
_flag = mmap.mmap(-1, 1)


def is_draining() -> bool:
    """Return whether the web server of this process is shutting down."""
    return _flag[0] == 1


def when_ready(server: Any) -> None:
    """Delay the stop of gunicorn's master."""
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
