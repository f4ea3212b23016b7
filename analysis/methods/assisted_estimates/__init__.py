"""Estimates from people's labels of a part, assisted by models' votes on all (docs/methods/assisted-estimates.md)."""

from typing import Any

from django.http import QueryDict

from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import MODELS, Method, Page
from ..run_facts import RunFacts
from . import compute, figures, queries, tables


def describe_assisted_estimates(facts: RunFacts) -> str:
    """Describe how models' votes entered estimates, if they did."""
    if not facts.has("assisted_judges", advice=tables.USE):
        return ""
    return (
        "Model-assisted estimates use the votes of language models on all pairs as control variates for people's "
        "gold labels of a part of them [@angelopoulos2023] [@kluger2025], tuned between topics. They assume that "
        "people judged a random part of the pairs. The gold labels themselves contain no votes of models."
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page: advice and the rows of one dimension."""
    return queries.assisted_estimates(study, state, query)


PAGE = Page(
    92,
    "assisted_estimates",
    "assisted-estimates/",
    "Model-assisted estimates",
    "analysis/methods/assisted_estimates.html",
    page_context,
    needs_judgments=True,
)

METHOD = Method(
    name="assisted_estimates",
    title="Model-assisted estimates",
    section=MODELS,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_assisted_estimates,),
    pages=(PAGE,),
    needs=("grades",),
)
