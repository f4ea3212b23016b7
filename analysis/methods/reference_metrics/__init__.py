"""Reference-based metrics such as BERTScore (docs/methods/reference-metrics.md)."""

from typing import Any

from django.http import QueryDict

from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import METRICS, Method, Page
from ..run_facts import RunFacts, enumerated
from . import compute, figures, queries, tables


def describe_metrics(facts: RunFacts) -> str:
    """Describe which metrics were compared with grades."""
    measured = facts.values("reference_metrics", "metric", "rho")
    encoder = facts.summary.get("bertscore")
    names = [tables.METRICS[name].citation for name in measured]
    if encoder and "bertscore" in measured:
        names[measured.index("bertscore")] += f" (embeddings of {encoder})"
    if not names:
        return ""
    return (
        f"As reference-based metrics we computed {enumerated(names)} of each other response against the "
        "best-graded response of its topic. We compared the rankings by metric and by grade with Spearman's rho, "
        "averaged over topics [@spearman1904]."
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    return queries.metrics(study, state)


PAGE = Page(
    80,
    "reference_metrics",
    "metrics/",
    "Reference-based metrics",
    "analysis/methods/reference_metrics.html",
    page_context,
    needs_judgments=True,
)

METHOD = Method(
    name="reference_metrics",
    title="Reference-based metrics",
    section=METRICS,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_metrics,),
    pages=(PAGE,),
    needs=("grades",),
    reads_texts=True,
)
