"""The report of an experiment: its tables, figures, methods text and usage."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.urls import reverse

from crowdrag.jobs.models import Run
from crowdrag.studies import money

from ..reports import report_kinds
from ..reports.report_kinds import Part
from ..reports.types import About, Methods, Report, Section
from ..tables.display_table import Value
from ..tables.rows import Row
from . import experiment as experiments
from . import wording
from .wording import collection_label, currency_of


def parts(run: Run) -> tuple[Part, ...]:
    """One section with all tables and figures."""
    experiment = experiments.EXPERIMENTS.get(run.kind.removeprefix(experiments.PREFIX))
    if experiment is None:
        return ()
    return (Part(experiment.name, experiment.title, experiment.tables, experiment.figures),)


def compose(run: Run, about: About, rows: Mapping[str, list[Row]], sections: tuple[Section, ...]) -> Report:
    """Return the whole report, based on what all reports share."""
    experiment = experiments.get(run.kind)
    collection = collection_label(run.parameters.get("collection") or {})
    written = experiment.methods(run, rows)
    parameters = tuple((name, _parameter(name, value, collection)) for name, value in about.parameters)
    return Report(
        title=f"{run.study.title}: {experiment.title}",
        about=replace(about, parameters=parameters),
        methods=Methods((*written.paragraphs, *_left_out(run)), written.references),
        sections=(*sections, Section("cost", "Cost and time", paragraphs=tuple(_took(run)))),
    )


def _parameter(name: str, value: Value, collection: str) -> Value:
    if name == "collection":
        return collection
    return None if value == "" else value


def _left_out(run: Run) -> list[str]:
    omitted = run.summary.get("left_out") or {}
    if not omitted:
        return []
    listed = ", ".join(f"{n} ({reason})" for reason, n in omitted.items())
    return [f"Excluded from the whole data before questions were sampled: {listed}."]


def _took(run: Run) -> list[str]:
    """Calls, tokens, money and time, in sentences."""
    usage = run.summary.get("usage")
    if usage is None:
        return []
    prompts = f"{usage['calls']:,} prompts were sent for this run, and {usage['stored']:,} answers came from the store"
    tokens = f"{usage['prompt_tokens']:,} prompt tokens and {usage['completion_tokens']:,} completion tokens"
    sentences = [f"{prompts} at no cost. Together they took {tokens}."]
    if usage.get("failed"):
        sentences.append(f"{usage['failed']:,} prompts have no answer because the generator refused them or failed.")
    if cost := Decimal(str(usage.get("cost") or 0)):
        sentences.append(f"The calls cost {money.format_cost(cost, currency_of(run))}.")
    if run.started_at and run.finished_at:
        seconds = (run.finished_at - run.started_at).total_seconds()
        sentences.append(f"The run took {wording.many(round(seconds), 'second')}.")
    return sentences


def parameters_in_words(run: Run) -> dict[str, Any]:
    """A run's parameters in words, as its page shows them; most of their names say little alone."""
    experiment = experiments.EXPERIMENTS.get(run.kind.removeprefix(experiments.PREFIX))
    if experiment is not None:
        return wording.parameters_in_words(experiment, run)
    return {
        name: collection_label(value) if name == "collection" and isinstance(value, dict) else value
        for name, value in sorted(run.parameters.items())
    }


def report_url(run: Run) -> str:
    """The URL of an experiment's report."""
    return reverse("experiment_result", args=[run.study.slug, run.key])


def register() -> None:
    """Register the report kind; called once when the app is ready."""
    report_kinds.register(
        report_kinds.ReportKind(
            prefix=experiments.PREFIX,
            parts=parts,
            compose=compose,
            caption_parameters=lambda run: wording.caption_parameters(run.parameters),
            parameters_in_words=parameters_in_words,
            report_url=report_url,
        )
    )
