"""Obstacles to archiving or deleting a study. Each app registers its own.

An archived study is read-only. A deleted one is lost for good, so there are more obstacles: what others rely on.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum

from .models import Study


class Closure(StrEnum):
    """The two ways to end work in a study."""

    ARCHIVE = "archive"
    DELETE = "delete"


# Returns sentences that name the obstacles and what to do about them.
Obstacles = Callable[[Study], Iterable[str]]
_sources: list[tuple[frozenset[Closure], Obstacles]] = []


class StudyInUseError(ValueError):
    """The study cannot be archived or deleted; `reasons` say why, and what to do."""

    def __init__(self, reasons: list[str]):
        self.reasons = reasons
        super().__init__(" ".join(reasons))


def register_obstacles(source: Obstacles, *closures: Closure) -> None:
    """Add obstacles to these closures (to both, if none is named); called once from `ready`."""
    _sources.append((frozenset(closures or Closure), source))


def obstacles(study: Study, closure: Closure) -> list[str]:
    """Return all obstacles."""
    return [reason for closures, source in _sources if closure in closures for reason in source(study)]


def refuse_if_in_use(study: Study, closure: Closure) -> None:
    """Raise `StudyInUseError` if there are any obstacles."""
    if reasons := obstacles(study, closure):
        raise StudyInUseError(reasons)
