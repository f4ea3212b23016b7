"""How runs of each kind are reported: which sections there are, the text about the methods, the names of parameters."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crowdrag.jobs.models import Run

from ..figures.figure import Figure
from ..tables.rows import Row
from ..tables.table import LazyText, Table
from .types import About, Report, Section


@dataclass(frozen=True)
class Part:
    """Tables and figures that stand in one section of a report."""

    key: str
    title: LazyText
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class ReportKind:
    """How runs whose kind begins with `prefix` are reported.

    Attributes
    ----------
    parts : callable(Run) -> tuple of Part
        The sections in their order.
    compose : callable(Run, About, rows by table, sections) -> Report
        The whole, with its title and methods text.
    caption_parameters : callable(Run) -> mapping
        The run's parameters as captions say them.
    parameters_in_words : callable(Run) -> dict
        The run's parameters as a comparison of two runs lists them.
    report_url : callable(Run) -> str
        Where the report is read.
    """

    prefix: str
    parts: Callable[[Run], tuple[Part, ...]]
    compose: Callable[[Run, About, Mapping[str, list[Row]], tuple[Section, ...]], Report]
    caption_parameters: Callable[[Run], Mapping[str, Any]]
    parameters_in_words: Callable[[Run], Mapping[str, Any]]
    report_url: Callable[[Run], str]


_KINDS: dict[str, ReportKind] = {}


def register(kind: ReportKind) -> None:
    """Make a kind known; called when the app is ready."""
    _KINDS[kind.prefix] = kind


def of(run: Run) -> ReportKind:
    """Return how a run is reported; raises `LookupError` for a kind of run that has no report."""
    for prefix, kind in _KINDS.items():
        if run.kind.startswith(prefix):
            return kind
    raise LookupError(f"Runs of the kind {run.kind!r} have no report.")
