"""Report kinds: for each kind of run, the sections, the methods text, and the names of parameters."""

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
    """Tables and figures of one section of a report."""

    key: str
    title: LazyText
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class ReportKind:
    """Report of runs whose kind begins with `prefix`.

    Attributes
    ----------
    parts : callable(Run) -> tuple of Part
        The sections in order.
    compose : callable(Run, About, rows by table, sections) -> Report
        The whole report with title and methods text.
    caption_parameters : callable(Run) -> mapping
        The run's parameters for captions.
    parameters_in_words : callable(Run) -> dict
        The run's parameters for comparisons of two runs.
    report_url : callable(Run) -> str
        URL of the report.
    """

    prefix: str
    parts: Callable[[Run], tuple[Part, ...]]
    compose: Callable[[Run, About, Mapping[str, list[Row]], tuple[Section, ...]], Report]
    caption_parameters: Callable[[Run], Mapping[str, Any]]
    parameters_in_words: Callable[[Run], Mapping[str, Any]]
    report_url: Callable[[Run], str]


_KINDS: dict[str, ReportKind] = {}


def register(kind: ReportKind) -> None:
    """Register a report kind when the app is ready."""
    _KINDS[kind.prefix] = kind


def of(run: Run) -> ReportKind:
    """Return the report kind of a run; raise `LookupError` if it has none."""
    for prefix, kind in _KINDS.items():
        if run.kind.startswith(prefix):
            return kind
    raise LookupError(f"Runs of the kind {run.kind!r} have no report.")
