"""Order effects (docs/methods/order-effects.md)."""

from typing import Any

from django.http import QueryDict

from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import AGREEMENT, Method, Page
from ..run_facts import RunFacts
from . import compute, figures, queries, tables


def describe_order_effects(facts: RunFacts) -> str:
    """Describe how order effects were measured."""
    if not facts.measured("order_effects", "alpha"):
        return ""
    return (
        "To measure order effects, we compare alpha on pairs judged in both orders (each order alone and both pooled), "
        f"and alpha on the first {facts.settings.first_positions} items of a questionnaire and on the later ones."
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    return queries.order_effects(study, state)


PAGE = Page(
    70,
    "order_effects",
    "order/",
    "Order effects and dimensions",
    "analysis/methods/order_effects.html",
    page_context,
    needs_judgments=True,
)

METHOD = Method(
    name="order_effects",
    title="Order effects",
    section=AGREEMENT,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_order_effects,),
    pages=(PAGE,),
)
