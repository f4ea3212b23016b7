"""A pytest plugin: PostgreSQL and Valkey for the tests, started before Django reads its settings.

With DATABASE_URL and BROKER_URL set, those are used. Otherwise the stores run in a folder of this session alone and
are gone after it, even when the session is killed. `-p no:django` (the pure packages' tests) starts nothing.
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

#: Where Linux keeps files in memory, and what must be free there: a few databases and what tests put beside them.
MEMORY, ROOM_MB = Path("/dev/shm"), 4096
#: Names the database that the databases of tests are copied from; unset where the server is not ours to fill.
TEMPLATE = "CROWDRAG_TESTS_TEMPLATE"


def _in_memory() -> Path | None:
    """Return a folder that is kept in memory, where there is one with room."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return None
    return MEMORY if shutil.disk_usage(MEMORY).free > ROOM_MB * MEGABYTE else None


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Set the environment before pytest-django's turn."""
    if early_config.pluginmanager.is_blocked("django") or "PYTEST_XDIST_WORKER" in os.environ:
        return (yield)
    folder = DataFolder(Path(tempfile.mkdtemp(prefix="crowdrag-tests-", dir=_in_memory())).resolve())
    os.environ["CROWDRAG_DATA_DIR"] = str(folder.root)
    # WhiteNoise wants a folder of collected files; it stays empty, the tests read static files where they are kept.
    (folder.root / "staticfiles").mkdir()
    # Pages are tested as a machine without TLS shows them; tests of headers say otherwise themselves.
    os.environ.setdefault("HTTPS", "false")
    # Static files under their own names: no test needs them collected first.
    os.environ.setdefault("STATICFILES_STORAGE", "django.contrib.staticfiles.storage.StaticFilesStorage")
    os.environ.setdefault("CROWDRAG_MIN_FREE_MB", "200")
    if environment.embeds_postgres():
        os.environ[TEMPLATE] = "crowdrag_tests"
    if not environment.embeds_postgres() and not environment.embeds_valkey():
        # Otherwise the stores' supervisor removes the folder, when it has stopped them.
        _stack.callback(shutil.rmtree, folder.root, ignore_errors=True)
    os.environ.update(_stack.enter_context(_stores(folder)))
    return (yield)


def _stores(folder: DataFolder) -> AbstractContextManager[dict[str, str]]:
    from crowdrag.runtime.embedded_stores import borrow

    return borrow(folder, options=("--volatile", "--remove"))


def pytest_unconfigure() -> None:
    """Give the stores back; their supervisor then ends and removes the folder."""
    _stack.close()
