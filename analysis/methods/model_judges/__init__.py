"""Language models as judges (docs/methods/model-judges.md)."""

from typing import Any

from django.http import QueryDict

from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import MODELS, Method, Page
from ..run_facts import RunFacts, enumerated
from . import compute, figures, queries, tables
from .tables import MEASURES


def describe_model_judges(facts: RunFacts) -> str:
    """Describe what language models judged."""
    if not any(facts.measured("model_judges", measure) for measure in MEASURES):
        return ""
    names = {"combined": "all dimensions at once", "individual": "one dimension at a time"}
    inferences = [names.get(inference, inference) for inference in facts.values("model_judges", "inference", "items")]
    orders = " in both orders" if facts.measured("model_judges", "alpha_orders") else ""
    gold = (
        ". Their agreement with the gold labels is Krippendorff's alpha with the model and the gold label as the two "
        "coders"
        if facts.measured("model_judges", "alpha_gold")
        else ""
    )
    return f"Language models judged the same pairs{orders}, prompted for {enumerated(inferences)}{gold}."


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    return queries.model_judges(study, state, page=query.get("page"))


PAGE = Page(90, "model_judge_results", "models/", "Model agreement", "analysis/methods/model_judges.html", page_context)

METHOD = Method(
    name="model_judges",
    title="Model judges",
    section=MODELS,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_model_judges,),
    pages=(PAGE,),
)
