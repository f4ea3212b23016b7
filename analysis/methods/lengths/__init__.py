"""Lengths of responses."""

from typing import Any

from django.http import QueryDict

from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import WRITING, Method, Page
from ..run_facts import RunFacts
from . import compute, figures, tables


def describe_lengths(facts: RunFacts) -> str:
    """Describe how words, responses and statements are counted."""
    if not facts.has("responses"):
        return ""
    return (
        f"Words are separated by spaces. Responses under {facts.settings.min_words} words count as non-responses and "
        "are left out of statistics of length. A statement is the text before a citation marker, with the passages "
        "that the marker cites."
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page about responses, with the tables of several methods."""
    from .. import response_page  # imports the tables of all methods

    return response_page.page_context(study, state, query)


PAGE = Page(50, "writing_results", "writing/", "Text statistics", "analysis/methods/writing.html", page_context)

METHOD = Method(
    name="lengths",
    title="Lengths",
    section=WRITING,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_lengths,),
    pages=(PAGE,),
    reads_judgments=False,
    reads_texts=True,
)
