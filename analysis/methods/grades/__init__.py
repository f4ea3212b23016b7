"""Grades of responses (docs/methods/grades.md)."""

from typing import Any

from django.http import QueryDict

from analysis.stats import bradley_terry
from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import GRADES, Method, Page
from ..run_facts import RunFacts
from ..settings import GOLD
from . import compute, figures, queries, tables


def describe_grades(facts: RunFacts) -> str:
    """Describe how responses were graded."""
    if not facts.measured("grade_means", "mean"):
        return ""
    model = bradley_terry.BradleyTerrySettings()
    is_fitted, is_from_labels = facts.measured("mace", "log_likelihood"), facts.settings.grades_from == GOLD
    is_averaged = is_fitted and is_from_labels and facts.settings.averages
    if not is_fitted:
        source = "judgments, each with the same weight,"
    elif not is_from_labels:
        source = "judgments, weighted by the competence of their judges,"
    else:
        source = "labels of each joint draw" if is_averaged else "gold labels"
    grade = "the mean over the draws of its rank" if is_averaged else "its rank"
    return (
        f"For each topic and dimension, the merits of responses were fitted to the {source} with the Bradley-Terry "
        f"model with ties [@rao1967], with a threshold of {model.threshold:g} on the log scale. The fit is "
        f"regularised by a virtual opponent of merit {model.dummy_merit:g} on the log scale, against which every "
        f"response wins and loses with a weight of {model.dummy_weight:g} [@gienapp2020]. A response's grade is "
        f"{grade} by ascending merit within its topic."
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    return queries.grades(study, state, topic=query.get("topic", ""), page=query.get("page"))


PAGE = Page(
    30,
    "grades",
    "grades/",
    "Grades",
    "analysis/methods/grades.html",
    page_context,
    needs_judgments=True,
    is_live=True,
)

METHOD = Method(
    name="grades",
    title="Grades",
    section=GRADES,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(describe_grades,),
    pages=(PAGE,),
    needs=("competence",),
    is_live=True,
)
