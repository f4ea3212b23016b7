"""Responses and their lengths as a method of analysis."""

from django.utils.translation import gettext_lazy as _

from ..method import WRITING, Method
from ..responses_page import PAGE
from ..run_facts import RunFacts
from . import compute, figures, tables


def describe_lengths(facts: RunFacts) -> str:
    """How words, responses and statements are counted."""
    if not facts.has("responses"):
        return ""
    return (
        f"Words are separated by spaces; responses under {facts.settings.min_words} words are taken for non-responses "
        "and left out "
        "of statistics of length. A statement is the text before a citation marker, with the passages that the marker "
        "names."
    )


METHOD = Method(
    name="lengths",
    title=_("Lengths"),
    section=WRITING,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_lengths,),
    pages=(PAGE,),
)
