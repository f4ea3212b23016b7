"""Provide the embedded stores to a single command: those of a running system, or ones started for it.

The stores of commands have their own supervisor, which stops when no command uses them. A command shows that it uses
them by holding a shared lock, so it cannot forget to stop them, not even when it is killed.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import redis

from crowdrag.runtime import data_folder, environment, valkey
from crowdrag.runtime.data_folder import EXIT_ALREADY_RUNNING, REPOSITORY, DataFolder, Problem
from crowdrag.runtime.processes import open_private, tail

PATIENCE = 120.0


def require_system(folder: DataFolder) -> None:
    """Refuse a folder without a database, for commands that read an existing system: borrowing would create one."""
    if environment.embeds_postgres() and not folder.has_database:
        raise Problem(f"There is no CrowdRAG system in {folder.root}. Is CROWDRAG_DATA_DIR set?")
    if missing := environment.missing_keys(folder):
        raise Problem(
            f"{', '.join(missing)}: neither set nor in {folder.keys}. Set the keys of the system, or the "
            "CROWDRAG_DATA_DIR that contains them."
        )


@contextmanager
def borrow(folder: DataFolder, *, options: tuple[str, ...] = ()) -> Iterator[dict[str, str]]:
    """Yield the environment of a CrowdRAG process, with the stores available while the block runs."""
    if not environment.embeds_postgres() and not environment.embeds_valkey():
        folder.create()
        yield environment.missing_variables(folder)
        return
    folder.create()
    lock = folder.users_lock
    # A supervisor that is just stopping holds this lock exclusively until it has stopped.
    if not lock.acquire(shared=True, wait=PATIENCE):
        raise Problem(f"The database and broker of {folder.root} do not stop. See {folder.logs / 'stores.log'}")
    try:
        _await_stores(folder, options)
        url = str(data_folder.read_status(folder).get("llm_url") or "") if data_folder.is_running(folder) else ""
        yield environment.missing_variables(folder, llm_url=url)
    finally:
        lock.release()


def _await_stores(folder: DataFolder, options: tuple[str, ...]) -> None:
    """Wait for stores that respond, and start a supervisor for them if there is none."""
    log = folder.logs / "stores.log"
    deadline = time.monotonic() + PATIENCE
    starter: subprocess.Popen[bytes] | None = None
    while not stores_answer(folder):
        running = data_folder.is_running(folder)
        if starter is not None and starter.poll() is not None and not running:
            # It may have met another command's supervisor, which has ended since; otherwise it has reported why it
            # failed.
            if starter.returncode != EXIT_ALREADY_RUNNING:
                raise Problem(f"The database and broker could not be started:\n{tail(log)}")
            starter = None
        if starter is None and not running:
            folder.check_space()
            starter = _start(folder, options)
        if time.monotonic() > deadline:
            raise Problem(f"The database and broker do not answer. The end of {log}:\n{tail(log)}")
        time.sleep(0.05)


def _start(folder: DataFolder, options: tuple[str, ...]) -> subprocess.Popen[bytes]:
    """Start the stores' supervisor detached from this process: another command may outlive us and use them."""
    log = folder.logs / "stores.log"
    log.unlink(missing_ok=True)
    with open_private(log) as output:
        return subprocess.Popen(
            [sys.executable, "-m", "crowdrag.runtime.supervisor", "--stores", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment.child_environment(folder) | environment_of_stores(folder),
            cwd=REPOSITORY,
            start_new_session=True,
        )


def environment_of_stores(folder: DataFolder) -> dict[str, str]:
    """Return the environment of the stores' supervisor: only addresses that were given to us, not our own defaults."""
    return {
        "CROWDRAG_DATA_DIR": str(folder.root),
        **({"DATABASE_URL": ""} if environment.embeds_postgres() else {}),
        **({"BROKER_URL": ""} if environment.embeds_valkey() else {}),
    }


def stores_answer(folder: DataFolder) -> bool:
    """Return whether both embedded stores answer a query."""
    try:
        if environment.embeds_postgres():
            psycopg.connect(folder.database_url(), connect_timeout=5).close()
        if environment.embeds_valkey():
            with valkey.client(folder) as connection:
                connection.ping()
    except (psycopg.OperationalError, redis.RedisError):
        return False
    return True
