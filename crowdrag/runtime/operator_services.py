"""The operator's own PostgreSQL and broker: require answers before anything starts that would wait for them."""

import os
import time
import urllib.parse
from collections.abc import Callable, Collection
from typing import Any, Final

import psycopg

from crowdrag.runtime.data_folder import Problem
from crowdrag.runtime.supervisor import say

# Seconds that a connection may take, and in total, since all machines may start after a power failure.
CONNECT_WITHIN: Final = 5
PATIENCE: Final = 10.0
#: Parts that work without a broker: the sweep wakes Celery later for what they leave.
WITHOUT_BROKER: Final = frozenset({"web", "llm"})


def postgresql_version(url: str) -> str:
    """Return the version of the PostgreSQL at a URL; Django accepts more schemes than PostgreSQL's own library."""
    with psycopg.connect("postgresql://" + url.split("://", 1)[1], connect_timeout=CONNECT_WITHIN) as connection:
        row = connection.execute("SELECT current_setting('server_version')").fetchone()
    return str(row[0]) if row else "?"


def broker_version(url: str) -> str:
    """Return name and version of the broker at a URL, as Celery connects to it."""
    from kombu import Connection

    limits = {"max_retries": 1, "interval_start": 0, "interval_step": 0}
    timeouts = {"socket_connect_timeout": CONNECT_WITHIN, "socket_timeout": CONNECT_WITHIN}
    with Connection(url, connect_timeout=CONNECT_WITHIN, transport_options=limits | timeouts) as connection:
        channel: Any = connection.default_channel
        info = channel.client.info("server")
    return f"{info.get('server_name', 'redis')} {info.get('valkey_version', info['redis_version'])}"


def require_database(*, patience: float = PATIENCE) -> None:
    """Wait a little for the operator's own PostgreSQL; raise a Problem if it does not answer."""
    if problem := _ask(postgresql_version, "PostgreSQL", "DATABASE_URL", time.monotonic() + patience):
        raise Problem(problem)


def require_answers(parts: Collection[str], *, patience: float = PATIENCE) -> None:
    """Wait a little for the operator's own services; refuse to start the parts that cannot work without them.

    Raises
    ------
    Problem
        that names the variable of the service that does not answer.
    """
    require_database(patience=patience)
    ends_at = time.monotonic() + patience
    if problem := _ask(broker_version, "The broker", "BROKER_URL", ends_at):
        if set(parts) - WITHOUT_BROKER:
            raise Problem(problem)
        say(f"{problem} Tasks wait until it answers.")


def _ask(ask: Callable[[str], str], title: str, name: str, ends_at: float) -> str:
    """Return a sentence that says why a service of the operator does not answer until then, or nothing."""
    url = os.environ.get(name, "")
    while url:
        try:
            ask(url)
        except Exception as error:  # noqa: BLE001 - whatever it is, it does not answer
            if time.monotonic() > ends_at:
                advice = f"Start it, or correct {name}."
                return f"{title} at {place(url)} does not answer ({name}): {reason(error)} {advice}"
            time.sleep(1)
        else:
            break
    return ""


def place(url: str) -> str:
    """Return the host and port, or the path, of a URL: all of it but the password."""
    rest = url.partition("://")[2]
    return rest.rpartition("@")[2].partition("?")[0] or urllib.parse.urlsplit(url).scheme


def reason(error: Exception) -> str:
    """Return the last line of an error, as one sentence."""
    text = (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()
    return text if text.endswith(".") else f"{text}."
