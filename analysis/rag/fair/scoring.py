"""The same answers by all metrics of their task, as they score: what is not utility (LaMP: MAE and RMSE, two ROUGE)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan, nan
from typing import Any

from . import estimating
from .lists import List
from .ranking import Rank, Ranked


@dataclass(frozen=True)
class Score:
    """What a query's answers to one way of ranking score by one metric: the mean over its sampled rankings.

    Attributes
    ----------
    query, retriever, rank, alpha
        What was ranked how (`ranking.Way`).
    metric : str
        Of `answers.METRICS`; of an error less is better.
    value, error : float
        The mean, and its standard error of having generated some lists only (NaN: one list stands for several).
    """

    query: str
    retriever: str
    rank: Rank
    alpha: float | None
    metric: str
    value: float
    error: float

    def write(self) -> dict[str, Any]:
        """As JSON: None for NaN."""
        return asdict(self) | {"error": None if isnan(self.error) else self.error}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Score:
        """From JSON."""
        return cls(**{**data, "error": nan if data["error"] is None else data["error"]})


def scores(query: str, ranked: Sequence[Ranked], found: Mapping[List, Mapping[str, float]]) -> list[Score]:
    """Average over the rankings of a query, for each way of ranking and each metric.

    Parameters
    ----------
    query : str
    ranked : sequence of Ranked
    found : mapping
        Of each list that was generated, by metric what its answer scores.
    """
    made = []
    for one in ranked:
        for metric in found[one.chosen.items[0]]:
            mean = estimating.mean(one.chosen, [found[each][metric] for each in one.chosen.items])
            way = one.way
            made.append(Score(query, way.retriever, way.rank, way.alpha, metric, mean.value, mean.error))
    return made
