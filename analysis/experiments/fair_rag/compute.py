"""Tables of the experiment, computed from the results of its stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.rag.fair_rag.query_measures import Point, Score
from analysis.rag.fair_rag.tables import Tables
from analysis.rag.fair_rag.utility import Labels

from ...tables.rows import NOTE, Row, number
from ..stage_context import StageContext
from . import stages
from .eligibility import metric, named
from .parameters import FairRagParameters
from .stages import LABELS, RANKINGS

#: Why a value of a query is undefined, by column.
UNDEFINED = {
    "disparity_normalised": "every ranking contains all documents",
    "relevance_normalised": "all rankings are equally good",
    "utility_normalised": "no answer to any ranking of this question has utility",
    "attribution": "attribution was not measured",
    "attributed_normalised": "answers follow from no document, or always from all documents",
    "utility_error": "one list was generated for several",
}
#: The steps that use a generator, and the usage counted in each.
ATTRIBUTION = "attribution"
STEPS = (LABELS, RANKINGS, ATTRIBUTION)
USED = ("prompts", "prompt_tokens", "completion_tokens", "failed", "unreadable")
TAKES_PART = ""


def tables(context: StageContext) -> dict[str, list[Row]]:
    """Compute all tables of the experiment, by name."""
    parameters: FairRagParameters = context.parameters
    labelled, ranked = context.results(LABELS), context.results(RANKINGS)
    points = [Point.read(point) for query_result in ranked.values() for point in query_result.get("points", ())]
    scores = [Score.read(score) for query_result in ranked.values() for score in query_result.get("scores", ())]
    tables_of_points = Tables(points, context.rng("fair intervals"), parameters.resamples)
    return {
        "fair_tradeoff": tables_of_points.tradeoffs(),
        "fair_intervals": tables_of_points.intervals(),
        "fair_alphas": tables_of_points.alphas(),
        "fair_summary": tables_of_points.summary(),
        "fair_metrics": tables_of_points.metrics(
            scores, {name: metric(context.by_id[name], parameters).name for name in ranked}
        ),
        "fair_curves": tables_of_points.curves(),
        "fair_queries": [_query(point) for point in points],
        "fair_labels": [row for name, query_labels in labelled.items() for row in _labels(context, name, query_labels)],
        "fair_examples": stages.examples(context, labelled, ranked),
        "fair_left_out": _left_out(context, labelled, ranked),
        "fair_costs": _costs(labelled, ranked, context.generator.name),
    }


def _query(point: Point) -> Row:
    row = point.write()
    reasons = [reason for name, reason in UNDEFINED.items() if row[name] is None]
    return row | ({NOTE: "; ".join(reasons)} if reasons else {})


def _labels(context: StageContext, name: str, stored_labels: Mapping[str, Any]) -> Iterable[Row]:
    """A row for each document of a labelled query."""
    if "alone" not in stored_labels:
        return
    labels = Labels.read(dict(stored_labels))
    documents = context.by_id[name].documents
    for document, alone, gain, useful in zip(
        documents, labels.alone, labels.gains, labels.useful.tolist(), strict=True
    ):
        yield {
            "query": name,
            "document": document.id,
            "without": number(labels.without),
            "alone": number(alone),
            "gain": number(gain),
            "useful": useful,
        }


def _left_out(context: StageContext, labelled: Mapping[str, Any], ranked: Mapping[str, Any]) -> list[Row]:
    """The number of queries that take part, and of those left out by reason, with the first names.

    What was left out while reading the file (documents, answers) was never a query of the run and is listed separately.
    """
    reasons: dict[str, list[str]] = {TAKES_PART: []}
    for name, query_labels in labelled.items():
        reasons.setdefault(query_labels["reason"] or ranked.get(name, {}).get("reason", TAKES_PART), []).append(name)
    rows: list[Row] = [
        {"reason": reason, "queries": len(names), "in_file": None, "named": named(names) or None if reason else None}
        for reason, names in reasons.items()
    ]
    unread = context.collection.left_out
    return rows + [{"reason": reason, "queries": None, "in_file": n, "named": None} for reason, n in unread]


def _costs(labelled: Mapping[str, Any], ranked: Mapping[str, Any], generator: str) -> list[Row]:
    """The generator's usage. Stored answers count too, because the result is based on them."""
    used = {
        LABELS: [query_labels["used"] for query_labels in labelled.values() if "used" in query_labels],
        RANKINGS: [query_result["used"] for query_result in ranked.values() if "used" in query_result],
        ATTRIBUTION: [query_result[ATTRIBUTION] for query_result in ranked.values() if query_result.get(ATTRIBUTION)],
    }
    by = {
        LABELS: generator,
        RANKINGS: generator,
        ATTRIBUTION: next((attribution["by"] for attribution in used[ATTRIBUTION]), None),
    }
    sampled = {RANKINGS: sum(query_result.get("sampled", 0) for query_result in ranked.values())}
    return [
        {"step": step, "by": by[step], "is_standin": any(usage.get("is_standin") for usage in used[step])}
        | {"rankings": sampled.get(step)}
        | {name: sum(usage.get(name, 0) for usage in used[step]) for name in USED}
        for step in STEPS
    ]
