"""Charts as Vega-Lite specifications made by Altair, drawn here as SVG or PNG: the same for page, file and paper."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ..experiments.fair_rag import figures as fair_rag_figures
from ..experiments.self_preference import figures as self_preference_figures
from ..experiments.uplift_rag import figures as uplift_rag_figures
from ..figures.renderer import MEDIA_TYPES, UnknownChartError, draw
from ..figures.vega_lite import SIZES, EmptyChartError, Labels, Spec, Tables, sized
from ..planning import figures as planning_figures
from ..tables import run_tables, value_labels
from ..tables.value_labels import Questions
from . import captions
from .agreement import figures as agreement_figures
from .citations import figures as citations_figures
from .competence import figures as competence_figures
from .grades import figures as grades_figures
from .interdependence import figures as interdependence_figures
from .leaderboard import figures as leaderboard_figures
from .lengths import figures as lengths_figures
from .model_judges import figures as model_judges_figures
from .order_effects import figures as order_effects_figures
from .readability import figures as readability_figures
from .reference_metrics import figures as reference_metrics_figures
from .surveys import figures as surveys_figures
from .text_reuse import figures as text_reuse_figures
from .writing_process import figures as writing_process_figures

__all__ = ["CHARTS", "DRAWING", "SIZES", "THEMES", "EmptyChartError", "chart",
           "is_known", "of_rows", "specification", "specifications"]  # fmt: skip

THEMES = ("light", "dark")
#: Counted up when charts come to look otherwise, so that browsers fetch them again.
DRAWING = 6


@dataclass(frozen=True)
class Chart:
    """A chart of one or more tables; `make` gets their rows, names in words, the theme's colours, the parameters."""

    tables: tuple[str, ...]
    make: Callable[[Tables, Labels, Spec, Spec], Spec]


def specification(study: Study, run: Run, name: str, theme: str = "light", size: str = "paper") -> Spec:
    """Return a chart of a run as a Vega-Lite specification.

    Raises
    ------
    UnknownChartError
        If there is no such chart or theme.
    EmptyChartError
        If the run holds nothing that it could show.
    """
    if name not in CHARTS or theme not in THEMES:
        raise UnknownChartError(f"There is no chart {name!r} in a theme {theme!r}; there are {', '.join(CHARTS)}.")
    return of_rows(study, name, theme, run_tables.read(run, *CHARTS[name].tables), run.parameters, size)


def specifications(run: Run) -> Iterator[tuple[str, Spec]]:
    """Yield every chart that a run holds something for, by name; what they show is read once for all of them."""
    rows = run_tables.read(run, *dict.fromkeys(table for each in CHARTS.values() for table in each.tables))
    labels = _labels(run.study, rows)
    for name, each in CHARTS.items():
        try:
            yield name, _made(name, "light", {table: rows[table] for table in each.tables}, run.parameters, labels)
        except EmptyChartError:
            continue


def of_rows(study: Study, name: str, theme: str, rows: Tables, parameters: Spec, size: str = "paper") -> Spec:
    """Return a chart of rows that no run may hold yet; raises `EmptyChartError` as `specification` does."""
    return sized(_made(name, theme, rows, parameters, _labels(study, rows)), size)


def _labels(study: Study, rows: Tables) -> Labels:
    questions = Questions.of(study) if "survey" in rows else Questions()
    return Labels(value_labels.dimensions(study), value_labels.styles(study), questions)


def _made(name: str, theme: str, rows: Tables, parameters: Spec, labels: Labels) -> Spec:
    look = _looks()
    colours = look["categories"][theme] | {"ground": look[theme]["background"]}
    made = CHARTS[name].make(rows, labels, colours, parameters)
    return made | {"description": str(captions.figure(name).alt), "config": look[theme]}


def is_known(name: str, theme: str, form: str, size: str = "paper") -> bool:
    """Say whether there is such a chart in such a theme, format and size."""
    return name in CHARTS and theme in THEMES and form in MEDIA_TYPES and size in SIZES


def chart(study: Study, run: Run, name: str, theme: str, form: str, size: str = "paper") -> bytes:
    """Return a chart of a run, drawn; raises as `specification` and `draw` do."""
    return draw(specification(study, run, name, theme, size), form)


@lru_cache(maxsize=1)
def _looks() -> dict[str, Any]:
    """The looks of charts, made of the same tokens as the pages (docs/face.md)."""
    look: dict[str, Any] = json.loads(Path(settings.BASE_DIR, "static", "charts", "theme.json").read_text())
    return look


#: The charts by name. A chart that is added here is described in `analysis.methods.captions`.
CHARTS: dict[str, Chart] = {
    "lengths": Chart(("lengths",), lengths_figures.lengths),
    "citation_ranks": Chart(("citation_ranks",), citations_figures.ranks),
    "citation_rank_medians": Chart(("citation_rank_medians",), citations_figures.rank_medians),
    "citation_density": Chart(("citation_density",), citations_figures.density),
    "text_reuse": Chart(("text_reuse", "responses"), text_reuse_figures.text_reuse),
    "readability": Chart(("responses",), readability_figures.readability),
    "writing_process": Chart(("writing_process",), writing_process_figures.writing_process),
    "survey": Chart(("survey",), surveys_figures.survey),
    "agreement": Chart(("agreement",), agreement_figures.chart),
    "competence": Chart(("competence",), competence_figures.chart),
    "grades": Chart(("grade_means",), grades_figures.chart),
    "grades_of_systems": Chart(("leaderboard",), grades_figures.of_systems),
    "leaderboard": Chart(("leaderboard",), leaderboard_figures.chart),
    "order_effects": Chart(("order_effects",), order_effects_figures.chart),
    "interdependence": Chart(("interdependence",), interdependence_figures.chart),
    "reference_metrics": Chart(("reference_metrics",), reference_metrics_figures.reference_metrics),
    "model_judges": Chart(("model_judges",), model_judges_figures.chart),
    "model_self_preference": Chart(("model_self_preference",), model_judges_figures.own_responses),
    "plan": Chart(("plan", "plan_costs"), planning_figures.chart),
    "fair_disparity": Chart(("fair_queries",), fair_rag_figures.disparity),
    "fair_tradeoffs": Chart(("fair_curves",), fair_rag_figures.tradeoffs),
    "fair_attribution": Chart(("fair_curves",), fair_rag_figures.attribution),
    "uplift_results": Chart(("uplift_results",), uplift_rag_figures.results),
    "uplift_ablations": Chart(("uplift_ablations",), uplift_rag_figures.ablations),
    "uplift_thresholds": Chart(("uplift_thresholds",), uplift_rag_figures.thresholds),
    "uplift_categories": Chart(("uplift_categories",), uplift_rag_figures.categories),
    "uplift_errors": Chart(("uplift_errors",), uplift_rag_figures.errors),
    "uplift_transfer": Chart(("uplift_transfer",), uplift_rag_figures.transfer),
    "self_preference_pairs": Chart(("self_preference_pairs",), self_preference_figures.pairs),
    "self_preference_rating_tests": Chart(("self_preference_rating_tests",), self_preference_figures.rating_tests),
    "self_preference_by_knowledge": Chart(("self_preference_by_knowledge",), self_preference_figures.by_knowledge),
    "self_preference_scores": Chart(("self_preference_scores",), self_preference_figures.scores),
}
