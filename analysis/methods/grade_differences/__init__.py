"""Differences between grades of origins and styles (docs/methods/significance.md)."""

from ..grades import PAGE
from ..method import GRADES, Method
from ..run_facts import RunFacts
from . import compute, tables


def describe_tests(facts: RunFacts) -> str:
    """Describe how differences between grades were tested."""
    if not facts.measured("grade_tests", "p"):
        return ""
    return (
        "Differences between grades were tested with Wilcoxon's signed-rank test, paired by topic "
        "[@wilcoxon1945]. p-values were adjusted for multiple tests within each table by the procedure "
        "of Benjamini and Hochberg [@benjamini1995]."
    )


METHOD = Method(
    name="grade_differences",
    title="Tests of differences",
    section=GRADES,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    sentences=(describe_tests,),
    pages=(PAGE,),
    needs=("grades",),
)
