"""What all tests share. The stores that they run on are started by crowdrag.runtime.pytest_services."""

import gc
import hashlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import django
import hypothesis
import pytest
from django.apps import apps
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.management import call_command
from django.db import connection, transaction
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker
from xdist.scheduler import LoadFileScheduling

from crowdrag.runtime.data_folder import FileLock
from crowdrag.runtime.postgres import program
from crowdrag.runtime.pytest_services import TEMPLATE
from tests import database_reset
from tests.processor_time import ProcessorTime

# These machines are shared: how long an example takes says nothing. All else is as Hypothesis has it, in CI too.
hypothesis.settings.register_profile("shared machine", parent=hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("shared machine")
# A quarter of the suite's time was Django's own way.
TransactionTestCase._fixture_teardown = database_reset.after  # type: ignore[attr-defined]
# Slow on purpose, a third of a second for each sign-in; what they are in use is for Django to say.
PBKDF2PasswordHasher.iterations = 1000
# Dumps of the tables as the migrations make them, so that a run does not wait for the migrations again.
DUMPS, KEPT_DUMPS = Path(__file__).resolve().parents[1] / ".pytest_cache", 3


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorTime(), "processor time")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: DjangoDbBlocker
) -> None:
    """Have the database of this process copied from one that is migrated once, by whichever process comes first."""
    name = os.environ.get(TEMPLATE)
    if name is None:
        return
    lock = FileLock(Path(os.environ["CROWDRAG_DATA_DIR"], "template.lock"))
    with _held(lock), django_db_blocker.unblock(), connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name])
        if cursor.fetchone() is None:
            cursor.execute(f'CREATE DATABASE "{name}"')
            _make_tables(name)
    connection.settings_dict["TEST"]["TEMPLATE"] = name


@pytest.fixture(scope="session")
def django_db_keepdb(request: pytest.FixtureRequest) -> bool:
    """Leave a database in a server of the tests' own alone: it goes with the server, whoever is still connected."""
    return TEMPLATE in os.environ or request.config.option.reuse_db


@contextmanager
def _held(lock: FileLock) -> Iterator[None]:
    assert lock.acquire(wait=120), "another process of these tests has been making tables for two minutes"
    try:
        yield
    finally:
        lock.release()


def _make_tables(name: str) -> None:
    """Make all tables in a new database: from the dump of an earlier run with the same migrations, if there is one."""
    dump = DUMPS / f"tables-{_digest_of_migrations()}.sql"
    if dump.is_file():
        _run("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--file={dump}", "--dbname", name)
        return
    _migrate(name)
    DUMPS.mkdir(exist_ok=True)
    for earlier in sorted(DUMPS.glob("tables-*"), key=lambda path: path.stat().st_mtime)[: -KEPT_DUMPS + 1]:
        earlier.unlink(missing_ok=True)
    partial = dump.with_suffix(f".{os.getpid()}")
    _run("pg_dump", "--no-owner", f"--file={partial}", "--dbname", name)
    partial.replace(dump)


def _digest_of_migrations() -> str:
    """Return a digest of all that makes the tables: every app's migrations, and the server that runs them."""
    digest = hashlib.sha256(f"{django.__version__} {connection.pg_version}".encode())
    for app in apps.get_app_configs():
        for path in sorted(Path(app.path, "migrations").glob("*.py")):
            digest.update(f"{app.label} {path.name}".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _run(name: str, *arguments: str) -> None:
    """Run a client program of PostgreSQL on the server of these tests."""
    known = connection.get_connection_params()
    server = {f"PG{key.upper()}": str(known[key]) for key in ("host", "port", "user", "password") if known.get(key)}
    subprocess.run([program(name), *arguments], env=os.environ | server, check=True, stdout=subprocess.DEVNULL)


def _migrate(name: str) -> None:
    """Run all migrations in a new database, and leave it: a database that is in use cannot be copied."""
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        call_command("migrate", verbosity=0)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


_shared = ExitStack()


@pytest.fixture(scope="module")
def shared_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Open a transaction for fixtures that make rows for all tests of a file; it is rolled back after the last of them.

    Each test then runs in a savepoint of it, and sees the rows as they were made. A test function is not given the
    objects that were made, but reads them anew: otherwise it would see what another test did to them in memory.
    """
    _shared.enter_context(_rolled_back(django_db_blocker))
    yield
    _shared.close()


@contextmanager
def _rolled_back(blocker: DjangoDbBlocker) -> Iterator[None]:
    with blocker.unblock():
        opened = transaction.atomic()
        # Durable blocks are allowed in it, as in the transactions that Django opens for tests.
        opened._from_testcase = True  # type: ignore[attr-defined]
        with opened:
            yield
            transaction.set_rollback(True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """End the transaction of shared rows before a test that commits: such tests come last in their file."""
    mark = item.get_closest_marker("django_db")
    if (mark and mark.kwargs.get("transaction")) or {"transactional_db", "live_server"} & set(item.fixturenames):
        _shared.close()


def pytest_collection_finish() -> None:
    """Leave what stays until the end, such as thousands of tests, out of the search for garbage, and search less."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    """Give it back in the end, so that libraries find no leaks where there are none."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """A file is one worker's, and so are all files that share what takes long to start."""
    return Together(config, log)


class Together(LoadFileScheduling):
    """Hands out files, some of them together."""

    def _split_scope(self, nodeid: str) -> str:
        return _handed_out_with(nodeid)


#: What takes many seconds of each process that tests it, and where its tests are.
SHARED = {
    "a running system": ("tests/runtime/",),
    "neural libraries": ("tests/analysis/bertscore/", "tests/analysis/experiments/", "tests/analysis/rag/"),
}


def _handed_out_with(nodeid: str) -> str:
    """The file of a test, or what it shares with tests of other files."""
    shared = (name for name, places in SHARED.items() if nodeid.startswith(places))
    return next(shared, nodeid.partition("::")[0])
