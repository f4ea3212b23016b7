"""The report of an analysis: the sections of all methods, and the methods text."""

from collections.abc import Mapping

from django.urls import reverse

from crowdrag.jobs.models import Run

from ..inputs import snapshots
from ..methods.method import SECTIONS
from ..methods.registry import METHODS
from ..methods.run_facts import RunFacts
from ..methods.settings import AnalysisSettings
from ..tables.rows import Row
from . import methods_text, report_kinds
from .report_kinds import Part
from .types import About, Methods, Report, Section


def parts(run: Run) -> tuple[Part, ...]:
    """Return the sections with the tables and figures of their methods."""
    return tuple(
        Part(
            section.key,
            section.title,
            tuple(table for method in METHODS if method.section is section for table in method.tables),
            tuple(figure for method in METHODS if method.section is section for figure in method.figures),
        )
        for section in SECTIONS
    )


def compose(run: Run, about: About, rows: Mapping[str, list[Row]], sections: tuple[Section, ...]) -> Report:
    """Return the whole report."""
    return Report(f"{run.study.title}: analysis", about, methods_of(run, rows, sections), sections)


def methods_of(run: Run, rows: Mapping[str, list[Row]], sections: tuple[Section, ...]) -> Methods:
    """Describe what the run did; parameters unknown to this version are only listed."""
    known = {name: value for name, value in run.parameters.items() if name in AnalysisSettings.__dataclass_fields__}
    names = frozenset(table.name for section in sections for table in section.tables if table.size)
    return methods_text.methods(
        RunFacts(
            settings=AnalysisSettings(**known),
            seed=run.seed,
            code_version=run.code_version,
            summary=run.summary,
            names=names,
            rows=rows,
            has_known=bool(snapshots.inputs(run).main.known),
        )
    )


def report_url(run: Run) -> str:
    """Return the URL of an analysis's report."""
    return reverse("report", args=[run.study.slug]) + f"?run={run.key}"


def register(prefix: str) -> None:
    """Register the report kind when the app is ready."""
    report_kinds.register(
        report_kinds.ReportKind(
            prefix=prefix,
            parts=parts,
            compose=compose,
            caption_parameters=lambda run: run.parameters,
            parameters_in_words=lambda run: dict(sorted(run.parameters.items())),
            report_url=report_url,
        )
    )
