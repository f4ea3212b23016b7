"""Page about reference-based metrics, with the state of the BERTScores."""

from dataclasses import dataclass
from typing import Any

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ...tables import run_tables, value_labels
from ...tables.rows import NOTE, Row
from ...tables.run_tables import AnalysisState
from ..undefined_values import reasons
from . import bertscore_runs, encodings
from .bertscore_runs import EncodingEstimate
from .compute import NO_BERTSCORE
from .encodings import EncoderChoice
from .models import Encoder
from .tables import METRICS, RANKINGS


@dataclass(frozen=True)
class OfferedEncoder:
    """An offered model and the estimated work with it."""

    choice: EncoderChoice
    estimate: EncodingEstimate


@dataclass(frozen=True)
class Offer:
    """The state of a study's BERTScores.

    Attributes
    ----------
    models : list of OfferedEncoder
        The default first.
    run : Run or None
        The latest run, if it is running, failed or was cancelled.
    encoder : Encoder or None
        The encoder whose scores the next analysis will use.
    is_newer : bool
        Whether there are newer scores than in the analysis shown.
    """

    models: list[OfferedEncoder]
    run: Run | None
    encoder: Encoder | None
    is_newer: bool

    @property
    def texts(self) -> int:
        """Number of texts to compare."""
        return self.models[0].estimate.texts if self.models else 0

    @property
    def missing(self) -> int:
        """Number of texts that the default model has not encoded."""
        return self.models[0].estimate.missing if self.models else 0


def offer(study: Study, shown: Run | None) -> Offer:
    """Return the state of BERTScores for a page that shows an analysis (or None)."""
    latest = Run.objects.filter(study=study, kind=bertscore_runs.KIND).newest_first().first()
    encoder = Encoder.objects.filter(study=study, similarity_scores__isnull=False).order_by("-used_at", "-pk").first()
    since = shown.started_at or shown.created_at if shown else None
    return Offer(
        models=[
            OfferedEncoder(choice, bertscore_runs.estimate_encoding(study, choice))
            for choice in encodings.offered_models()
        ],
        run=None if latest is None or latest.state == RunState.DONE else latest,
        encoder=encoder,
        is_newer=bool(encoder and since and encoder.used_at > since),
    )


#: Order of the paper's table: best and worst first, then the whole ranking; the neural metric first.
SHOWN_RANKINGS = ("best_worst", "full")


def metrics(study: Study, state: AnalysisState) -> dict[str, Any]:
    """Return the context of the page; empty without a result."""
    if state.run is None:
        return {}
    rows = run_tables.read(state.run, "reference_metrics")["reference_metrics"]
    labels = value_labels.dimensions(study)
    # A metric that was not computed has no column; a text below the table says how to get it.
    computed = {row["metric"] for row in rows if row["rho"] is not None}
    shown = [name for name in METRICS if name in computed]
    return {
        "rankings": [(RANKINGS[ranking], [METRICS[name].label for name in shown]) for ranking in SHOWN_RANKINGS],
        "rows": _rows(rows, labels, shown),
        "has_rho": any(row["rho"] is not None for row in rows),
        "left_out": max((row["left_out"] for row in rows if row["rho"] is not None), default=0),
        # The section about BERTScores already says that there are none.
        "notes": reasons((row, _place(row, labels)) for row in rows if row.get(NOTE) != NO_BERTSCORE),
        "bertscore": offer(study, state.run),
    }


def _rows(rows: list[Row], labels: dict[str, str], metrics: list[str]) -> list[dict[str, Any]]:
    """Make a row for each dimension, with a cell for each ranking and metric."""
    columns = [(ranking, metric) for ranking in SHOWN_RANKINGS for metric in metrics]
    cells = {(row["dimension"], row["ranking"], row["metric"]): row for row in rows}
    return [
        {"label": labels.get(name, name), "cells": [cells.get((name, *column)) for column in columns]}
        for name in dict.fromkeys(row["dimension"] for row in rows)
    ]


def _place(row: Row, labels: dict[str, str]) -> str:
    """Return what a reason refers to."""
    dimension = labels.get(row["dimension"], row["dimension"])
    return f"{dimension} ({METRICS[row['metric']].label})"
