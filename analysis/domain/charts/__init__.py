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

from .. import captions, tables
from ..pages import words
from ..pages.questions import Questions
from ..typesetting import setting
from ..typesetting.characters import visible
from . import (
    agreement,
    competence,
    fair,
    grades,
    interdependence,
    leaderboard,
    metrics,
    model_judges,
    order_effects,
    plan,
    preferring,
    process,
    uplift,
    writing,
)
from .making import EmptyChartError, Labels, Spec, Tables
from .sizes import SIZES, sized

__all__ = ["CHARTS", "DRAWING", "MEDIA_TYPES", "SIZES", "THEMES", "EmptyChartError", "UnknownChartError", "chart",
           "draw", "is_known", "of_rows", "specification", "specifications"]  # fmt: skip

THEMES = ("light", "dark")
MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "json": "application/json"}
VEGA_LITE = "6.4"
#: Counted up when charts come to look otherwise, so that browsers fetch them again.
DRAWING = 6


@dataclass(frozen=True)
class Chart:
    """A chart of one or more tables; `make` gets their rows, names in words, the theme's colours, the parameters."""

    tables: tuple[str, ...]
    make: Callable[[Tables, Labels, Spec, Spec], Spec]


class UnknownChartError(LookupError):
    """There is no chart of this name, format or theme."""


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
    return of_rows(study, name, theme, tables.read(run, *CHARTS[name].tables), run.parameters, size)


def specifications(run: Run) -> Iterator[tuple[str, Spec]]:
    """Yield every chart that a run holds something for, by name; what they show is read once for all of them."""
    rows = tables.read(run, *dict.fromkeys(table for each in CHARTS.values() for table in each.tables))
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
    return Labels(words.dimensions(study), words.styles(study), questions)


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


def draw(spec: Spec, form: str) -> bytes:
    """Draw a specification as "svg", "png" or "pdf", or write it as "json".

    Raises
    ------
    UnknownChartError
        If there is no such format.
    """
    import vl_convert  # starts a JavaScript engine: only those who draw pay for it

    # A control character in a label makes it abort the whole process: what nobody sees is written as its number.
    spec = spec if form == "json" else _visible(spec)
    if form == "svg":
        return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).encode()
    if form == "png":
        return vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=2)
    if form == "pdf":
        return setting.picture(vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE), alt=spec["description"])
    if form == "json":
        return json.dumps(spec, ensure_ascii=False, indent=1).encode()
    raise UnknownChartError(f"There is no chart as {form!r}; there are {', '.join(MEDIA_TYPES)}.")


def _visible(part: Any) -> Any:
    """A specification, or a part of it, in which every letter can be seen."""
    if isinstance(part, str):
        return visible(part)
    if isinstance(part, dict):
        return {_visible(key): _visible(value) for key, value in part.items()}
    return [_visible(each) for each in part] if isinstance(part, list | tuple) else part


@lru_cache(maxsize=1)
def _looks() -> dict[str, Any]:
    """The looks of charts, made of the same tokens as the pages (docs/face.md)."""
    look: dict[str, Any] = json.loads(Path(settings.BASE_DIR, "static", "charts", "theme.json").read_text())
    return look


#: The charts by name. A chart that is added here is described in `analysis.domain.captions`.
CHARTS: dict[str, Chart] = {
    "lengths": Chart(("lengths",), writing.lengths),
    "citation_ranks": Chart(("citation_ranks",), writing.ranks),
    "citation_rank_medians": Chart(("citation_rank_medians",), writing.rank_medians),
    "citation_density": Chart(("citation_density",), writing.density),
    "text_reuse": Chart(("text_reuse", "responses"), metrics.text_reuse),
    "readability": Chart(("responses",), writing.readability),
    "writing_process": Chart(("writing_process",), process.writing_process),
    "survey": Chart(("survey",), process.survey),
    "agreement": Chart(("agreement",), agreement.chart),
    "competence": Chart(("competence",), competence.chart),
    "grades": Chart(("grade_means",), grades.chart),
    "grades_of_systems": Chart(("leaderboard",), grades.of_systems),
    "leaderboard": Chart(("leaderboard",), leaderboard.chart),
    "order_effects": Chart(("order_effects",), order_effects.chart),
    "interdependence": Chart(("interdependence",), interdependence.chart),
    "reference_metrics": Chart(("reference_metrics",), metrics.reference_metrics),
    "model_judges": Chart(("model_judges",), model_judges.chart),
    "model_self_preference": Chart(("model_self_preference",), model_judges.own_responses),
    "plan": Chart(("plan", "plan_costs"), plan.chart),
    "fair_disparity": Chart(("fair_queries",), fair.disparity),
    "fair_tradeoffs": Chart(("fair_curves",), fair.tradeoffs),
    "fair_attribution": Chart(("fair_curves",), fair.attribution),
    "uplift_results": Chart(("uplift_results",), uplift.results),
    "uplift_ablations": Chart(("uplift_ablations",), uplift.ablations),
    "uplift_thresholds": Chart(("uplift_thresholds",), uplift.thresholds),
    "uplift_categories": Chart(("uplift_categories",), uplift.categories),
    "uplift_errors": Chart(("uplift_errors",), uplift.errors),
    "uplift_transfer": Chart(("uplift_transfer",), uplift.transfer),
    "self_preference_pairs": Chart(("self_preference_pairs",), preferring.pairs),
    "self_preference_rating_tests": Chart(("self_preference_rating_tests",), preferring.rating_tests),
    "self_preference_by_knowledge": Chart(("self_preference_by_knowledge",), preferring.by_knowledge),
    "self_preference_scores": Chart(("self_preference_scores",), preferring.scores),
}
