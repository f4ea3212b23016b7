"""Surveys of writers as a method of analysis."""

from django.utils.translation import gettext_lazy as _

from ..method import STUDY, Method
from ..responses_page import PAGE
from . import compute, figures, tables

METHOD = Method(
    name="surveys",
    title=_("Surveys"),
    section=STUDY,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    pages=(PAGE,),
)
