"""The leaderboard (docs/methods/leaderboard.md)."""

from typing import Any

from django.http import QueryDict

from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import GRADES, Method, Page
from ..run_facts import RunFacts
from . import compute, figures, queries, tables


def describe_leaderboard(facts: RunFacts) -> str:
    """Describe how systems were ranked."""
    if not facts.measured("leaderboard", "rank"):
        return ""
    spread = ". Ranks have bootstrap intervals" if facts.measured("leaderboard", "rank_low") else ""
    return (
        "Systems are ranked by merit (each writer counts as one system). For each dimension, one Bradley-Terry model "
        f"was fitted over all topics, with one parameter per system{spread}."
    )


def describe_fragility(facts: RunFacts) -> str:
    """Describe how the fragility of the order was found."""
    if not facts.measured("leaderboard_fragility", "votes"):
        return ""
    return (
        "For each two neighbours in rank, we searched for the fewest votes, judges and topics without which their "
        "order changes. The search uses influence functions [@broderick2020] [@huang2025], and each set was verified "
        "by fitting the merits again. The competences of the judges were held."
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    return queries.leaderboard(study, state, query=query)


PAGE = Page(
    5,
    "leaderboard",
    "leaderboard/",
    "Leaderboard",
    "analysis/methods/leaderboard.html",
    page_context,
    needs_judgments=True,
)

METHOD = Method(
    name="leaderboard",
    title="Leaderboard",
    section=GRADES,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_leaderboard, describe_fragility),
    pages=(PAGE,),
    needs=("grades",),
)
