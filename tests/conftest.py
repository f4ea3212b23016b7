"""What all tests share. The stores that they run on are started by crowdrag.runtime.pytest_services."""

from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from django.db import transaction
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker
from xdist.scheduler import LoadFileScheduling

from tests import emptying

# These machines are shared: how long an example takes says nothing. All else is as Hypothesis has it, in CI too.
hypothesis.settings.register_profile("shared machine", parent=hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("shared machine")
# A quarter of the suite's time was Django's own way.
TransactionTestCase._fixture_teardown = emptying.after  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def shared_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Open a transaction for fixtures that make rows for all tests of a file; it is rolled back after the last of them.

    Each test then runs in a savepoint of it, and sees the rows as they were made. A test function is not given the
    objects that were made, but reads them anew: otherwise it would see what another test did to them in memory.
    """
    with django_db_blocker.unblock():
        opened = transaction.atomic()
        # Durable blocks are allowed in it, as in the transactions that Django opens for tests.
        opened._from_testcase = True  # type: ignore[attr-defined]
        with opened:
            yield
            transaction.set_rollback(True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """A file is one worker's, and so are all files of `tests/runtime`: they share a system that takes long to start."""
    return OneSystem(config, log)


class OneSystem(LoadFileScheduling):
    """Hands out files, some of them together."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "tests/runtime" if file.startswith("tests/runtime/") else file
