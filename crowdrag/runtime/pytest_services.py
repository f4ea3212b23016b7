"""A pytest plugin: PostgreSQL and Valkey for the tests, started before Django reads its settings.

If DATABASE_URL and BROKER_URL are set, those are used. Otherwise the stores run in a folder of this session and are
removed after it, even when the session is killed. `-p no:django` (tests of the pure packages) starts nothing.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from crowdrag.runtime import environment
from crowdrag.runtime.data_folder import MEGABYTE, DataFolder

_stack = ExitStack()

#: Where Linux keeps files in memory, and the free space needed there: some databases and other files of tests.
MEMORY, ROOM_MB = Path("/dev/shm"), 4096
#: Tests run in as many processes as there are cores: a thread for each core in each of them would only wait.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
#: The name of the database that test databases are copied from; unset if the server is not ours.
TEMPLATE = "CROWDRAG_TESTS_TEMPLATE"


def _in_memory() -> Path | None:
    """Return a folder in memory, if there is one with enough space."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return None
    return MEMORY if shutil.disk_usage(MEMORY).free > ROOM_MB * MEGABYTE else None


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Set the environment before pytest-django's turn."""
    for name in THREADS:
        os.environ.setdefault(name, "1")
    if early_config.pluginmanager.is_blocked("django") or "PYTEST_XDIST_WORKER" in os.environ:
        return (yield)
    folder = DataFolder(Path(tempfile.mkdtemp(prefix="crowdrag-tests-", dir=_in_memory())).resolve())
    os.environ["CROWDRAG_DATA_DIR"] = str(folder.root)
    # WhiteNoise requires a folder of collected files; it stays empty, tests read the original static files.
    (folder.root / "staticfiles").mkdir()
    # Pages are tested as on a machine without TLS; tests of headers override this.
    os.environ.setdefault("HTTPS", "false")
    # Static files under their own names: no test needs them collected first.
    os.environ.setdefault("STATICFILES_STORAGE", "django.contrib.staticfiles.storage.StaticFilesStorage")
    os.environ.setdefault("CROWDRAG_MIN_FREE_MB", "200")
    if environment.embeds_postgres():
        os.environ[TEMPLATE] = "crowdrag_tests"
    if not environment.embeds_postgres() and not environment.embeds_valkey():
        # Otherwise the stores' supervisor removes the folder after stopping them.
        _stack.callback(shutil.rmtree, folder.root, ignore_errors=True)
    os.environ.update(_stack.enter_context(_stores(folder)))
    return (yield)


def _stores(folder: DataFolder) -> AbstractContextManager[dict[str, str]]:
    from crowdrag.runtime.embedded_stores import borrow

    return borrow(folder, options=("--volatile", "--remove"))


def pytest_unconfigure() -> None:
    """Release the stores; their supervisor then ends and removes the folder."""
    _stack.close()
