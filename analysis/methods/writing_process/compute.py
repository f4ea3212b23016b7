"""Measures of the writing process from logs (docs/methods/writing-process.md)."""

from collections.abc import Sequence

import numpy as np

from analysis.stats.bootstrap import NOT_NEGATIVE, weighted_mean
from analysis.stats.weighted import weighted_quantile

from ...inputs.arrays import Inputs, Process
from ...inputs.responses import MEASURES
from ...tables.rows import NOTE, Row
from ..context import Context, Tables
from ..response_groups import Resampling, cells, groups, with_reason

NOT_RECORDED = "the log does not record all measures of this table"
UNREADABLE = "the log cannot be read"


def compute_tables(analysed: Context) -> Tables:
    """Compute the measures of each log, and their means; none without logs."""
    inputs = analysed.inputs
    if not inputs.processes:
        return {}
    resampling = analysed.topics_of_responses
    return {
        "writing_process": process_rows(inputs),
        "writing_process_means": mean_rows(inputs, inputs.processes, resampling),
    }


def process_rows(inputs: Inputs) -> list[Row]:
    """Make one row for each response with a log."""
    rows = []
    for process in inputs.processes:
        row: Row = {"response": inputs.responses[process.response].name}
        row |= {name: process.measures.get(name) for name in MEASURES}
        missing = [name for name in MEASURES if row[name] is None]
        if len(missing) == len(MEASURES):
            row[NOTE] = UNREADABLE
        elif missing:
            row[NOTE] = NOT_RECORDED
        rows.append(row)
    return rows


def mean_rows(inputs: Inputs, processes: Sequence[Process], resampling: Resampling) -> list[Row]:
    """Compute mean and median of each measure by style and origin, one row each; undefined values are left out."""
    responses = [inputs.responses[process.response] for process in processes]
    topic = resampling.places(responses)
    rows = []
    for style, origin, chosen in groups(responses, inputs.styles):
        for measure in MEASURES:
            values = np.array([_number(process.measures.get(measure)) for process in processes])[chosen]
            if np.isnan(values).all():
                continue
            data = (values, topic[chosen], resampling.topics)
            n = int(np.sum(~np.isnan(values)))
            for statistic, function in (("mean", weighted_mean(*data)), ("median", weighted_quantile(*data, 0.5))):
                key: Row = {"style": style, "origin": origin, "measure": measure, "statistic": statistic}
                interval = resampling.interval(function, bounds=NOT_NEGATIVE)
                rows.append(with_reason(key | cells(interval, n), statistic, interval.clusters))
    return rows


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
