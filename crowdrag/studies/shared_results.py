"""Results that several parts of one page need: computed once while the page is put together, and kept no longer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from .models import Study

Result = TypeVar("Result")

_results: ContextVar[dict[tuple[Callable[..., Any], int], Any] | None] = ContextVar("shared_results", default=None)


@contextmanager
def sharing_results() -> Iterator[None]:
    """Compute each shared result at most once for a study within this block."""
    token = _results.set({})
    try:
        yield
    finally:
        _results.reset(token)


def shared(compute: Callable[[Study], Result]) -> Callable[[Study], Result]:
    """Share the result of a function of a study within `sharing_results`. Elsewhere it is computed by each call."""

    @wraps(compute)
    def result_of(study: Study) -> Result:
        results = _results.get()
        if results is None:
            return compute(study)
        key = (compute, study.pk)
        if key not in results:
            results[key] = compute(study)
        return results[key]  # type: ignore[no-any-return]

    return result_of
