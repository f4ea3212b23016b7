"""The first page of results: key figures and agreement."""

from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from analysis.enums import Coders, Split
from crowdrag.studies.models import Study

from ...tables import run_tables, value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState
from .. import undefined_values
from ..undefined_values import reasons

HEADLINE = ("topics_judged", "responses_judged", "pairs", "judges", "judgments", "differentiable_share")
#: The headline of a study without judgments.
WRITTEN = ("topics", "responses", "judgments")


@dataclass(frozen=True)
class DimensionColumn:
    """A column of the table of agreement."""

    split: str
    coders: str
    split_label: str | Promise
    coders_label: str | Promise


def overview(study: Study, state: AnalysisState) -> dict[str, Any]:
    """Return the context of the page; without a result, only the state."""
    if state.run is None:
        return {}
    tables = run_tables.read(state.run, "key_figures", "agreement", "agreement_means", "mace")
    labels, styles = value_labels.dimensions(study), value_labels.styles(study)
    figures = [
        row | {"label": value_labels.figure(row["name"], styles), "is_share": row["name"] in value_labels.SHARES,
               "is_count": isinstance(row["value"], int), "digits": 2 if row.get("unit") else 1}
        for row in tables["key_figures"]
    ]  # fmt: skip
    by_name = {row["name"]: row for row in figures}
    headline = HEADLINE if state.run.summary.get("judgments", 0) else WRITTEN
    pool_coders = [Coders(state.run.parameters.get("pool", "crowd").lower()), Coders.CORRECTED]
    crowd = [row for row in tables["agreement"] if row["coders"] in pool_coders and row["split"] != Split.EXPERT_PAIRS]
    quarter = [row for row in tables["agreement"] if row["coders"] == Coders.CORRECTED_QUARTER]
    # The crowd's agreement on the experts' pairs belongs next to that of the experts.
    others = [row for row in tables["agreement"] if row not in crowd and row not in quarter]
    models = [_model(row, labels) for row in tables["mace"]]
    return {
        "headline": [by_name[name] for name in headline if name in by_name],
        "figures": figures,
        "surplus": by_name["judgments_surplus"]["value"] if "judgments_surplus" in by_name else 0,
        "agreement": _grid(crowd, tables["agreement_means"], labels),
        "others": _grid(others, tables["agreement_means"], labels),
        "quarter": _grid(quarter, tables["agreement_means"], labels),
        "parameters": state.run.parameters,
        "notes": reasons((row, _place(row, labels)) for row in tables["agreement"]),
        "threshold": state.run.parameters.get("spam_threshold", 0.7),
        "no_intervals": undefined_values.without_intervals(tables),
        "models": models,
        "has_continued": any(row["is_continued"] for row in models),
    }


def _model(row: Row, labels: dict[str, str]) -> dict[str, Any]:
    """Return a fit with its label, and whether an update continued it, so that it has no restarts to compare."""
    is_continued = row["log_likelihood"] is not None and row["converged"] is None
    return row | {"label": labels.get(row["dimension"], row["dimension"]), "is_continued": is_continued}


def _grid(rows: list[Row], means: list[Row], labels: dict[str, str]) -> dict[str, Any]:
    """Rows by dimension, with a cell for each split and coders, and the means; no rows if nothing was judged twice."""
    if all(row["alpha"] is None and not row["items"] for row in rows):
        rows = []
    keys = list(dict.fromkeys((row["split"], row["coders"]) for row in rows))
    keys.sort(key=lambda key: (list(Split).index(Split(key[0])), list(Coders).index(Coders(key[1]))))
    cells = {(row["dimension"], row["split"], row["coders"]): row for row in rows}
    mean = {(row["split"], row["coders"]): row for row in means}
    return {
        "columns": [DimensionColumn(s, c, Split(s).label, Coders(c).label) for s, c in keys],
        "rows": [
            {"label": labels.get(name, name), "cells": [cells.get((name, *key)) for key in keys]}
            for name in dict.fromkeys(row["dimension"] for row in rows)
        ],
        "means": [mean.get(key) for key in keys],
    }


def _place(row: Row, labels: dict[str, str]) -> str:
    name = labels.get(row["dimension"], row["dimension"])
    return f"{name} ({Coders(row['coders']).label}, {Split(row['split']).label})"
