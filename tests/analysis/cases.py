"""Many small cases in one test: all of them are tried, and all that failed are said together."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def check_each(cases: Iterable[Any], check: Callable[..., None]) -> None:
    """Call the check with each case, a tuple being several arguments; fail once, with all that failed."""
    failures = []
    for case in cases:
        try:
            check(*case) if isinstance(case, tuple) else check(case)
        except (AssertionError, pytest.fail.Exception) as error:
            failures.append(f"{case!r}: {error}")
    assert not failures, "\n".join(failures)
