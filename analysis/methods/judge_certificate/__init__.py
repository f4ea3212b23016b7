"""May a model judge stand in for people? (docs/methods/judge-certificate.md)."""

from typing import Any

from django.http import QueryDict

from analysis.stats.alternative_annotator import FALSE_DISCOVERY_RATE
from crowdrag.studies.enums import AuditedContent
from crowdrag.studies.models import Study

from ...tables import run_tables
from ...tables.run_tables import AnalysisState
from ..method import MODELS, Method, Page
from ..run_facts import RunFacts
from . import compute, tables


def describe_certificate(facts: RunFacts) -> str:
    """Describe the test of model judges."""
    if not facts.measured("judge_certificate", "difference"):
        return ""
    (epsilon,) = facts.values("judge_certificate", "epsilon", "difference")
    return (
        "Whether a model may stand in for people was tested with the alternative annotator test [@calderon2025] "
        f"(epsilon {epsilon}, false discovery rate {FALSE_DISCOVERY_RATE}), and over all judgments with the variance "
        "between topics."
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    name = tables.JUDGE_CERTIFICATE.name
    has_certificate = (
        state.run is not None and name in run_tables.names(state.run) and bool(run_tables.read(state.run, name)[name])
    )
    return {"method": METHOD, "has_certificate": has_certificate}


PAGE = Page(
    91,
    "judge_certificate",
    "judge-certificate/",
    "Judge certificate",
    "analysis/methods/judge_certificate.html",
    page_context,
    audited=AuditedContent.PEOPLE,
)

METHOD = Method(
    name="judge_certificate",
    title="Judge certificate",
    section=MODELS,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    sentences=(describe_certificate,),
    pages=(PAGE,),
)
