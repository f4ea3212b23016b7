"""The page about language models as judges (crowdrag25, Table 9)."""

from typing import Any

from django.core.paginator import Paginator

from annotation.enums import Judges
from crowdrag.studies.models import Study

from ...figures.figure import FIGURES
from ...tables import run_tables, value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState
from ...tables.table import fill, get
from ..undefined_values import reasons
from . import compute
from .tables import INFERENCES, MEASURES, SIZES

MODELS_PER_PAGE = 5
NAMES = ("model_judges", "model_self_preference")
#: Columns of Table 9 for each prompt type; the agreement between prompt types is shown once.
OF_A_WAY = ("alpha_orders", "alpha_gold", "mean_rho", "front_preference")
#: Columns that older analyses do not have.
AGREEMENT: Row = dict.fromkeys(
    f"{name}{end}" for name in compute.AGREEMENTS for end in ("", "_low", "_high")
) | dict.fromkeys(("items_own", "items_others"))


def model_judges(study: Study, state: AnalysisState, *, page: str | None) -> dict[str, Any]:
    """Return a page of models, each with a row for each dimension."""
    if state.run is None:
        return {}
    tables = run_tables.read(state.run, *NAMES)
    labels = value_labels.dimensions(study) | {value_labels.ALL: str(value_labels.EVERY_DIMENSION)}
    models = list(dict.fromkeys(row["participant"] for row in tables["model_judges"]))
    shown = Paginator(models, MODELS_PER_PAGE).get_page(page)
    return {
        "page": shown,
        "models": [_model(name, tables["model_judges"], labels) for name in shown],
        "own": [_self_preference(name, tables["model_self_preference"], labels) for name in shown],
        "headers": [MEASURES[name] for name in OF_A_WAY],
        "notes": reasons((row, _about(row, labels)) for name in NAMES for row in tables[name]),
        "captions": {name: fill(get(name).caption, state.run.parameters) for name in NAMES},
        "drawn": {name: fill(FIGURES[name].caption, state.run.parameters) for name in NAMES},
        # The models' judgments are then the analysed ones, and the gold label comes from the models themselves.
        "is_own_pool": state.run.parameters.get("pool") == Judges.MODEL,
    }  # fmt: skip


def _about(row: Row, labels: dict[str, str]) -> str:
    dimension = labels.get(row["dimension"], row["dimension"])
    return f"{dimension} ({row['participant']}, {INFERENCES[row['inference']]})"


def _model(name: str, rows: list[Row], labels: dict[str, str]) -> dict[str, Any]:
    model_rows = [row for row in rows if row["participant"] == name]
    ways = [way for way in INFERENCES if any(row["inference"] == way for row in model_rows)]
    cells = {(row["inference"], row["dimension"]): row for row in model_rows}
    dimensions = [
        *dict.fromkeys(row["dimension"] for row in model_rows if row["dimension"] != value_labels.ALL),
        value_labels.ALL,
    ]
    return {
        "name": name,
        "ways": [INFERENCES[way] for way in ways],
        "rows": [
            {
                "label": labels.get(dimension, dimension),
                "is_all": dimension == value_labels.ALL,
                "cells": [_cell(cells.get((way, dimension)), measure) for way in ways for measure in OF_A_WAY],
                "both": next(
                    (_cell(cells[way, dimension], "alpha_inference") for way in ways if (way, dimension) in cells), None
                ),
            }
            for dimension in dimensions
        ],
    }


def _cell(row: Row | None, measure: str) -> dict[str, Any] | None:
    if row is None:
        return None
    return {"value": row[measure], "low": row[f"{measure}_low"], "high": row[f"{measure}_high"],
            "n": row[SIZES[measure]]}  # fmt: skip


def _self_preference(name: str, rows: list[Row], labels: dict[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "rows": [
            AGREEMENT
            | row
            | {"label": labels.get(row["dimension"], row["dimension"]), "is_all": row["dimension"] == value_labels.ALL,
                   "asked": INFERENCES[row["inference"]]}
            for row in rows
            if row["participant"] == name
        ],
    }  # fmt: skip
