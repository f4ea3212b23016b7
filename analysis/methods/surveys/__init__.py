"""Surveys of writers before and after writing."""

from ..lengths import PAGE
from ..method import STUDY, Method
from . import compute, figures, tables

METHOD = Method(
    name="surveys",
    title="Surveys",
    section=STUDY,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    pages=(PAGE,),
    reads_judgments=False,
)
