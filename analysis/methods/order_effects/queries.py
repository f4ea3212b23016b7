"""The page about order effects and interdependence of dimensions."""

from typing import Any

from analysis.enums import Coders
from crowdrag.studies.models import Study

from ...figures.figure import FIGURES
from ...tables import run_tables, value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState
from ...tables.table import fill, get
from .. import undefined_values
from ..undefined_values import reasons
from .tables import EFFECTS, PAIRS, PARTS

NAMES = ("order_effects", "order_differences", "front_preferences", "interdependence")


def order_effects(study: Study, state: AnalysisState) -> dict[str, Any]:
    """Return the context of the page; empty without a result."""
    if state.run is None:
        return {}
    tables = run_tables.read(state.run, *NAMES)
    without = undefined_values.without_intervals(tables)
    labels = value_labels.dimensions(study) | {value_labels.ALL: str(value_labels.EVERY_DIMENSION)}
    return {
        "effects": _effects(tables["order_effects"], tables["order_differences"], labels),
        "fronts": _fronts(tables["front_preferences"], labels),
        "matrix": _matrix(tables["interdependence"], labels),
        "notes": _reasons(tables, labels),
        "has_alpha": any(row["alpha"] is not None for row in tables["order_effects"]),
        "has_tau": any(row["tau"] is not None for row in tables["interdependence"]),
        "captions": {
            name: undefined_values.with_interval_note(fill(get(name).caption, state.run.parameters), [name], without)
            for name in NAMES
        },
        "drawn": {
            name: undefined_values.with_interval_note(
                fill(FIGURES[name].caption, state.run.parameters), [name], without
            )
            for name in ("order_effects", "interdependence")
        },
    }


def _effects(rows: list[Row], differences: list[Row], labels: dict[str, str]) -> list[dict[str, Any]]:
    """Make one table per effect, a row for each dimension: the parts, then their difference (crowdrag25, Table 5)."""
    cells = {(row["effect"], row["dimension"], row["part"]): row for row in rows}
    apart = {(row["effect"], row["dimension"]): row for row in differences}
    groups = []
    for effect, parts in PARTS.items():
        names = list(dict.fromkeys(row["dimension"] for row in rows if row["effect"] == effect))
        # No rows of dashes where, say, no pair was judged in both orders: the reasons are below.
        if any(row["alpha"] is not None for row in rows if row["effect"] == effect):
            groups.append(
                {
                    "effect": effect,
                    "title": EFFECTS[effect],
                    "parts": list(parts.values()),
                    "rows": [
                        {
                            "label": labels.get(name, name),
                            "is_all": name == value_labels.ALL,
                            "cells": [cells.get((effect, name, part)) for part in parts],
                            "apart": apart.get((effect, name)),
                        }
                        for name in names
                    ],
                }
            )
    return groups


def _fronts(rows: list[Row], labels: dict[str, str]) -> list[dict[str, Any]]:
    """Make a row for each dimension and pool of people."""
    cells = {(row["coders"], row["dimension"], row["pairs"]): row for row in rows}
    return [
        {
            "coders": Coders(coders).label,
            "label": labels.get(name, name),
            "cells": [cells.get((coders, name, pairs)) for pairs in PAIRS],
            "tested": cells.get((coders, name, "both_orders")),
        }
        for coders, name in dict.fromkeys((row["coders"], row["dimension"]) for row in rows)
    ]


def _matrix(rows: list[Row], labels: dict[str, str]) -> dict[str, Any]:
    """Make the matrix of dimensions, with the mean of each with the others below (crowdrag25, Table 6)."""
    cells = {(row["dimension_1"], row["dimension_2"]): row for row in rows}
    names = [name for name in dict.fromkeys(row["dimension_1"] for row in rows) if name != value_labels.ALL]
    return {
        "columns": [labels.get(name, name) for name in names],
        "rows": [
            {"label": labels.get(one, one), "cells": [cells.get((one, other)) for other in names]} for one in names
        ],
        "means": [cells.get((name, value_labels.ALL)) for name in names],
        "mean": cells.get((value_labels.ALL, value_labels.ALL)),
        "pairs": max((row["items"] for row in rows), default=0),
    }


def _reasons(tables: dict[str, list[Row]], labels: dict[str, str]) -> list[tuple[str, str]]:
    return [
        *reasons((row, f"{labels.get(row['dimension'], row['dimension'])} ({EFFECTS[row['effect']]})")
                 for row in tables["order_effects"]),
        *reasons((row, f"{labels.get(row['dimension'], row['dimension'])} ({Coders(row['coders']).label})")
                 for row in tables["front_preferences"]),
        *reasons((row, str(labels.get(row["dimension_1"], row["dimension_1"]))) for row in tables["interdependence"]),
    ]  # fmt: skip
