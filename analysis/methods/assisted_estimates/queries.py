"""The page of model-assisted estimates: advice, and the rows of one dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdrag.studies.models import Study

from ...tables import run_tables, value_labels
from ...tables.rows import NOTE, Row
from ...tables.run_tables import AnalysisState
from ..leaderboard.boards import HUMAN, PARTICIPANT
from .tables import (
    ADVICE,
    ASSISTED_ESTIMATES,
    ASSISTED_JUDGES,
    FEW_TOPICS,
    MEASURES,
    NOT_RANDOM,
    NOTHING_MORE,
    SEPARATE,
    USE,
)


def assisted_estimates(study: Study, state: AnalysisState, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rows of one dimension by measure, and what the advice of the judges comes to."""
    names = (ASSISTED_ESTIMATES.name, ASSISTED_JUDGES.name)
    if state.run is None or not set(names) <= set(run_tables.names(state.run)):
        return {}
    rows = run_tables.read(state.run, *names)
    judges, estimates = rows[ASSISTED_JUDGES.name], rows[ASSISTED_ESTIMATES.name]
    present = list(dict.fromkeys(row["dimension"] for row in estimates))
    requested = str(query.get("dimension"))
    dimension = requested if requested in present else value_labels.ALL
    labels = value_labels.dimensions(study)
    advice = {row["advice"] for row in judges}
    return {
        "has_judges": bool(judges),
        "has_use": any(row["advice"] == USE for row in estimates),
        "lacks_further_pairs": bool(advice) and advice <= {NOTHING_MORE, SEPARATE},
        "lacks_topics": FEW_TOPICS in advice and USE not in advice,
        "has_other_part": NOT_RANDOM in advice,
        "dimension": dimension,
        "dimensions": [
            (name, _label(name, labels)) for name in sorted(present, key=lambda name: name != value_labels.ALL)
        ],
        "measures": [
            {"name": measure, "label": str(label), "rows": shown}
            for measure, label in MEASURES.items()
            if (shown := _shown(estimates, dimension, measure))
        ],
    }


def _label(dimension: str, labels: Mapping[str, str]) -> str:
    return value_labels.EVERY_DIMENSION if dimension == value_labels.ALL else labels.get(dimension, dimension)


def _shown(rows: list[Row], dimension: str, measure: str) -> list[Row]:
    """Return the rows of origins and of systems that are no people, the best first."""
    chosen = [
        row
        for row in rows
        if (row["dimension"], row["measure"]) == (dimension, measure)
        and (row["kind"] != PARTICIPANT or row["origin"] != HUMAN)
    ]
    return [
        row
        | {
            "name": row["participant"] if row["kind"] == PARTICIPANT else value_labels.origin(row["origin"]),
            "is_origin": row["kind"] != PARTICIPANT,
            "is_used": row["advice"] == USE,
            "advice_label": ADVICE[row["advice"]],
            "note": row.get(NOTE) or "",
        }
        for row in sorted(chosen, key=lambda row: (row["kind"] == PARTICIPANT, -row["people"]))
    ]
