"""The page about reference-based metrics: how well they rank responses as people do (crowdrag25, Table 8)."""

from typing import Any

from crowdrag.studies.models import Study

from .. import tables
from ..analysing import State
from ..captions.written import METRICS, RANKINGS
from ..results.reference_metrics import NO_BERTSCORE
from ..results.schema import NOTE, Row
from . import bertscore, words
from .reasons import reasons

#: In the order of the paper's table: best and worst alone first, then the whole ranking; the neural metric first.
SHOWN_RANKINGS = ("best_worst", "full")
SHOWN_METRICS = ("bertscore", "bleu", "rouge_l")


def metrics(study: Study, state: State) -> dict[str, Any]:
    """Return what the page shows; nothing where there is no result yet."""
    if state.run is None:
        return {}
    rows = tables.read(state.run, "reference_metrics")["reference_metrics"]
    labels = words.dimensions(study)
    return {
        "rankings": [(RANKINGS[ranking], [METRICS[metric] for metric in SHOWN_METRICS]) for ranking in SHOWN_RANKINGS],
        "rows": _rows(rows, labels),
        "has_rho": any(row["rho"] is not None for row in rows),
        "left_out": max((row["left_out"] for row in rows if row["rho"] is not None), default=0),
        # That there are no BERTScores is said where they can be had.
        "notes": reasons((row, _place(row, labels)) for row in rows if row.get(NOTE) != NO_BERTSCORE),
        "bertscore": bertscore.offer(study, state.run),
    }


def _rows(rows: list[Row], labels: dict[str, str]) -> list[dict[str, Any]]:
    """A row a dimension, a cell for each ranking and metric."""
    columns = [(ranking, metric) for ranking in SHOWN_RANKINGS for metric in SHOWN_METRICS]
    cells = {(row["dimension"], row["ranking"], row["metric"]): row for row in rows}
    return [
        {"label": labels.get(name, name), "cells": [cells.get((name, *column)) for column in columns]}
        for name in dict.fromkeys(row["dimension"] for row in rows)
    ]


def _place(row: Row, labels: dict[str, str]) -> str:
    """What a reason is about."""
    dimension = labels.get(row["dimension"], row["dimension"])
    return f"{dimension} ({METRICS[row['metric']]})"
