"""Text reuse (docs/methods/text-reuse.md)."""

from ..lengths import PAGE
from ..method import WRITING, Method
from ..run_facts import RunFacts
from . import compute, figures, tables


def describe_reuse(facts: RunFacts) -> str:
    """Describe how text reuse was measured."""
    if not facts.has("text_reuse"):
        return ""
    return (
        "We measured text reuse as the lower-cased sentence-BLEU of a statement against the lines of "
        "each passage that it cites, with n-grams of up to eight words and effective order [@post2018]."
    )


METHOD = Method(
    name="text_reuse",
    title="Text reuse",
    section=WRITING,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_reuse,),
    pages=(PAGE,),
    reads_judgments=False,
    reads_texts=True,
)
