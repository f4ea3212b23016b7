"""Interdependence of the dimensions (docs/methods/interdependence.md)."""

from ..method import LABELS, Method
from ..order_effects import PAGE
from ..run_facts import RunFacts
from . import compute, figures, tables


def describe_tau(facts: RunFacts) -> str:
    """Describe how the dimensions were correlated."""
    if not facts.measured("interdependence", "tau"):
        return ""
    return "The interdependence of two dimensions is Kendall's tau between their gold labels [@kendall1938]."


METHOD = Method(
    name="interdependence",
    title="Dimensions",
    section=LABELS,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_tau,),
    pages=(PAGE,),
)
