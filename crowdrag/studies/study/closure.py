"""What keeps a study from being archived or deleted. Each app registers what it knows.

An archived study is only read. A deleted one is gone for good, so more stands in its way: what others rely on.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum

from .models import Study


class Closure(StrEnum):
    """The two ways in which work in a study ends."""

    ARCHIVE = "archive"
    DELETE = "delete"


# Sentences that say what stands in the way, and what to do about it.
Obstacles = Callable[[Study], Iterable[str]]
_sources: list[tuple[frozenset[Closure], Obstacles]] = []


class StudyInUseError(ValueError):
    """The study cannot be archived or deleted; `reasons` say why, and what to do."""

    def __init__(self, reasons: list[str]):
        self.reasons = reasons
        super().__init__(" ".join(reasons))


def register_obstacles(source: Obstacles, *closures: Closure) -> None:
    """Add what stands in the way of these closures (of both, if none is named); called once from `ready`."""
    _sources.append((frozenset(closures or Closure), source))


def obstacles(study: Study, closure: Closure) -> list[str]:
    """Return all that stands in the way."""
    return [reason for closures, source in _sources if closure in closures for reason in source(study)]


def refuse_if_in_use(study: Study, closure: Closure) -> None:
    """Raise `StudyInUseError` if anything stands in the way."""
    if reasons := obstacles(study, closure):
        raise StudyInUseError(reasons)
