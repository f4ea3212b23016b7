"""Competence of judges and gold labels from their votes (docs/methods/competence.md)."""

from typing import Any

from django.http import QueryDict

from analysis.enums import Coders
from analysis.stats import mace
from crowdrag.studies.enums import AuditedContent
from crowdrag.studies.models import Study

from ...tables.run_tables import AnalysisState
from ..method import LABELS, Method, Page
from ..run_facts import RunFacts
from . import compute, figures, queries, tables


def describe_mace(facts: RunFacts) -> str:
    """Describe how competence and gold labels were estimated."""
    if not facts.measured("mace", "log_likelihood"):
        return ""
    fixed = mace.MaceSettings()
    known = " The known labels of gold items were fixed." if facts.settings.fix_known and facts.has_known else ""
    a, b = fixed.spam_prior
    model = (
        "The competence of each judge and the gold label of each pair were estimated with MACE [@hovy2013], "
        f"one model per dimension, with {{}}Beta({a:g}, {b:g}) priors on spamming and "
        f"Dirichlet({fixed.strategy_prior:g}) priors on strategies, "
    )
    if facts.settings.averages:
        return (
            f"{model.format('')}averaged over all optima of the likelihood by a sequential Monte Carlo sampler with "
            "collapsed Gibbs sweeps [@delmoral2006] [@liu1994]. Gold labels are the most probable labels, and grades "
            f"are means over joint draws of the labels [@paun2018].{known}"
        )
    search = (
        f", followed by {facts.settings.refine} rounds of search from the best of them" if facts.settings.refine else ""
    )
    return (
        f"{model.format('variational M-steps, ')}as the most likely of {facts.settings.restarts} random restarts of up "
        f"to {fixed.max_iter} iterations{search}.{known}"
    )


def describe_correction(facts: RunFacts) -> str:
    """Describe which judgments the corrected crowd excludes."""
    if not facts.measured("agreement", "alpha", coders=Coders.CORRECTED):
        return ""
    quarter = ""
    if facts.measured("agreement", "alpha", coders=Coders.CORRECTED_QUARTER):
        quarter = (
            f" The alternative correction leaves out the least competent "
            f"{100 * facts.settings.least_competent:g} % of a dimension's judges, but keeps at least "
            f"{facts.settings.kept_votes} judgments of each pair."
        )
    return (
        "The corrected crowd leaves out the judgments of judges with a spam probability on the dimension above "
        f"{facts.settings.spam_threshold:g}.{quarter}"
    )


def page_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page."""
    return queries.participants(
        study,
        state,
        text=query.get("text", "").strip(),
        sort=query.get("sort", "-mean"),
        page=query.get("page"),
    )


PAGE = Page(
    20,
    "competence",
    "competence/",
    "Competence",
    "analysis/methods/competence.html",
    page_context,
    needs_judgments=True,
    is_live=True,
    audited=AuditedContent.PEOPLE,
)


def pairs_context(study: Study, state: AnalysisState, query: QueryDict) -> dict[str, Any]:
    """Build the template context of the page of pairs."""
    chosen = {name: query.get(name, "") for name in ("topic", "dimension", "label", "sort")}
    return queries.pairs(study, state, page=query.get("page"), **chosen)


PAIRS_PAGE = Page(
    60,
    "pairs",
    "pairs/",
    "Gold labels",
    "analysis/methods/pairs.html",
    pairs_context,
    needs_judgments=True,
    is_live=True,
)

METHOD = Method(
    name="competence",
    title="Labels",
    section=LABELS,
    compute=compute.compute_tables,
    tables=tables.TABLES,
    figures=figures.FIGURES,
    sentences=(
        describe_mace,
        describe_correction,
    ),
    pages=(PAGE, PAIRS_PAGE),
    is_live=True,
)
