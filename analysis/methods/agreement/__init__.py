"""Agreement: Krippendorff's alpha (docs/methods/agreement.md)."""

from typing import Any

from django.http import QueryDict

from analysis.enums import Coders, Split
from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import AGREEMENT, Method, Page
from ..run_facts import RunFacts, enumerated
from . import compute, figures, queries, tables


def describe_alpha(facts: RunFacts) -> str:
    """Describe the alpha computed and the splits it was computed on."""
    if not facts.measured("agreement", "alpha"):
        return ""
    splits = ""
    if facts.measured("agreement", "alpha", split=Split.DIFFERENTIABLE):
        splits = (
            " We also report it for differentiable pairs and for all other pairs (minimally differentiable). A pair is "
            "differentiable if it has a majority (more than half of the judgments) on more than four sevenths of the "
            "dimensions."
        )
    return (
        "Inter-annotator agreement is Krippendorff's alpha at the ordinal level (left, neither, right), with "
        f"judges as coders and presented pairs as units [@krippendorff2011].{splits}"
    )


def describe_other_pools(facts: RunFacts) -> str:
    """Describe the other pools whose agreement is reported beside that of the analysed pool."""
    coders = [word for key, word in ((Coders.EXPERT, "of experts"), (Coders.POINTWISE, "of pointwise ratings"))
            if facts.measured("agreement", "alpha", coders=key)]  # fmt: skip
    return f"We also report the agreement {enumerated(coders)}." if coders else ""


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    return queries.overview(study, state)


PAGE = Page(10, "results", "", "Agreement", "analysis/methods/overview.html", page_context, is_live=True)

METHOD = Method(
    name="agreement",
    title="Agreement",
    section=AGREEMENT,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(
        describe_alpha,
        describe_other_pools,
    ),
    pages=(PAGE,),
    is_live=True,
)
