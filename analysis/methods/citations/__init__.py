"""Citations: which passages responses cite, in which order, and where."""

from ..lengths import PAGE
from ..method import WRITING, Method
from ..run_facts import RunFacts, enumerated
from . import compute, figures, tables


def describe_citations(facts: RunFacts) -> str:
    """Describe how passage selection was measured."""
    measures = []
    if facts.measured("citation_overlap", "jaccard"):
        measures.append("the Jaccard coefficient of the sets of passages that two responses cite")
    if facts.measured("citation_order", "rho"):
        measures.append("Spearman's rho between the positions of their shared passages [@spearman1904]")
    if facts.measured("citation_ranks", "probability"):
        measures.append("the probability that the passage at a rank is cited")
    return f"To describe the choice of passages, we use {enumerated(measures)}." if measures else ""


METHOD = Method(
    name="citations",
    title="Citations",
    section=WRITING,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_citations,),
    pages=(PAGE,),
    reads_judgments=False,
    reads_texts=True,
)
