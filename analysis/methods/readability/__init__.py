"""Reading ease (docs/methods/readability.md)."""

from ..lengths import PAGE
from ..method import WRITING, Method
from ..run_facts import RunFacts
from . import compute, figures, tables


def describe_readability(facts: RunFacts) -> str:
    """Describe how readability was measured."""
    is_measured = "readability" not in facts.names or facts.measured("readability", "value")
    return "Readability is Flesch's reading ease [@flesch1948]." if facts.has("responses") and is_measured else ""


METHOD = Method(
    name="readability",
    title="Reading ease",
    section=WRITING,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_readability,),
    pages=(PAGE,),
    reads_judgments=False,
    reads_texts=True,
)
