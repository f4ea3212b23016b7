"""A report of an experiment's run: its own methods paragraph, and what it took.

English as the rest of a report. docs/methods/experiments.md.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from crowdrag.jobs.models import Run
from crowdrag.studies import money

from ..experiments import phrasing
from ..experiments.experiment import PREFIX, get
from ..experiments.telling import collection_said, currency_of
from ..results.schema import Row
from .shape import About, Methods, Report, Section

__all__ = ["PREFIX", "report"]


def report(run: Run, about: About, rows: Mapping[str, list[Row]], sections: tuple[Section, ...]) -> Report:
    """Build the report of a finished experiment from what all reports share."""
    experiment = get(run.kind)
    said = collection_said(run.parameters.get("collection") or {})
    written = experiment.methods(run, rows)
    return Report(
        title=f"{run.study.title}: {experiment.title}",
        about=replace(about, parameters=tuple((name, said if name == "collection" else None if value == "" else value)
                                              for name, value in about.parameters)),
        methods=Methods((*written.paragraphs, *_left_out(run)), written.references),
        sections=(*sections, Section("cost", "What it took", paragraphs=tuple(_took(run)))),
    )  # fmt: skip


def _left_out(run: Run) -> list[str]:
    found = run.summary.get("left_out") or {}
    if not found:
        return []
    listed = ", ".join(f"{n} ({reason})" for reason, n in found.items())
    return [f"Left out while all of the data was read, before questions were drawn from it: {listed}."]


def _took(run: Run) -> list[str]:
    """Calls, tokens, money and time in sentences."""
    usage = run.summary.get("usage")
    if usage is None:
        return []
    asked = f"{usage['calls']:,} prompts were generated for this run, and {usage['stored']:,} had been answered before"
    tokens = f"{usage['prompt_tokens']:,} prompt tokens and {usage['completion_tokens']:,} completion tokens"
    found = [f"{asked} and cost nothing. With these, {tokens} were read and written."]
    if usage.get("failed"):
        found.append(f"{usage['failed']:,} prompts have no answer: the generator refused them or failed.")
    if cost := Decimal(str(usage.get("cost") or 0)):
        found.append(f"The calls cost {money.format_cost(cost, currency_of(run))}.")
    if run.started_at and run.finished_at:
        seconds = (run.finished_at - run.started_at).total_seconds()
        found.append(f"From the first unit to the last it took {phrasing.many(round(seconds), 'second')}.")
    return found
