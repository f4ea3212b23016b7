"""What all tests share. The stores that they run on are started by crowdrag.runtime.pytest_services."""

from typing import Any

import hypothesis
import pytest
from django.test import TransactionTestCase
from xdist.scheduler import LoadFileScheduling

from tests import emptying

# These machines are shared: how long an example takes says nothing. All else is as Hypothesis has it, in CI too.
hypothesis.settings.register_profile("shared machine", parent=hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("shared machine")
# A quarter of the suite's time was Django's own way.
TransactionTestCase._fixture_teardown = emptying.after  # type: ignore[attr-defined]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling:
    """A file is one worker's, and so are all files of `tests/runtime`: they share a system that takes long to start."""
    return OneSystem(config, log)


class OneSystem(LoadFileScheduling):
    """Hands out files, some of them together."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "tests/runtime" if file.startswith("tests/runtime/") else file
