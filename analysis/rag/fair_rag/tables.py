"""Tables of the experiment: summaries, Tables 1 and 2, tests between alphas, curves (fair_rag, 4 and 5).

Rows hold plain values; None if undefined, with the reason in `note`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np

from analysis.ranking import tradeoff
from analysis.stats.bootstrap import Floats, Interval, bootstrap, percentile_interval, resample_weights, weighted_mean
from analysis.stats.significance import adjusted

from . import ALL
from .curves import CURVES, area, curve, slope, steps
from .query_measures import Point, Score

Row = dict[str, Any]
#: Fields of `Point` in the summary; `NAME_error` holds the error from lists that were not generated.
MEASURES = (
    "disparity", "relevance", "distance", "disparity_normalised", "relevance_normalised", "utility",
    "utility_normalised", "attribution", "attributed_disparity", "attributed_normalised",
)  # fmt: skip
RESAMPLES = 1000
#: Metrics that are shown as the root of their mean: the squared error becomes the RMSE.
ROOTS = {"mse": "rmse"}
NOTE = "note"
FLAT = "the x measure is the same in all runs"
ONE_INTERVAL = "the runs are in fewer than two of the five intervals"
NO_RUN = "no run is in this interval"
FEW_RUNS = "fewer than two runs on one side, or all values are equal"
FEW_QUERIES = "fewer than two questions, or all differences are equal"
UNDEFINED = "undefined for every question"


class Tables:
    """Tables of one experiment.

    Parameters
    ----------
    points : sequence of Point
        In the order of the queries.
    rng : numpy.random.Generator
        Draws the resamples of queries once: all intervals use the same resamples.
    resamples : int
    """

    def __init__(self, points: Sequence[Point], rng: np.random.Generator, resamples: int = RESAMPLES) -> None:
        self._points = list(points)
        self._place = {name: i for i, name in enumerate(dict.fromkeys(point.query for point in points))}
        self._weights = resample_weights(len(self._place), resamples, rng) if points else np.ones((resamples, 0))

    def summary(self) -> list[Row]:
        """Return the mean of each measure over queries, for each ranking method."""
        ways = dict.fromkeys((point.retriever, point.rank, point.alpha) for point in self._points)
        rows = []
        for way in ways:
            group = [point for point in self._points if (point.retriever, point.rank, point.alpha) == way]
            about = dict(zip(("retriever", "rank", "alpha"), way, strict=True))
            rows += [about | {"measure": name} | self._mean(group, name) for name in MEASURES]
        return rows

    def metrics(self, scores: Sequence[Score], chosen: Mapping[str, str]) -> list[Row]:
        """Return the mean of each metric over queries, for each ranking method.

        Parameters
        ----------
        scores : sequence of Score
        chosen : mapping of str to str
            For each query, the metric that its utility uses.
        """
        groups: dict[tuple[str, str, float | None, str], list[Score]] = {}
        for score in scores:
            groups.setdefault((score.retriever, score.rank, score.alpha, score.metric), []).append(score)
        return [self._metric(key, group, chosen) for key, group in groups.items()]

    def tradeoffs(self) -> list[Row]:
        """Return Table 1: slope and area of each curve, with intervals by query."""
        return [row for retriever, group in self._groups() for row in self._tradeoffs(retriever, group)]

    def curves(self) -> list[Row]:
        """Return the curves of Figures 4 and 5, one row per interval."""
        rows = []
        for retriever, group in self._groups():
            for name in CURVES:
                for step in steps(curve(name, group, self._place), self._weights):
                    about = {"retriever": retriever, "curve": name, "start": step.start, "end": step.end}
                    rows.append(about | {"x": step.x} | _interval("y", step.y, plain=True) | {"n": step.n})
        return rows

    def intervals(self) -> list[Row]:
        """Return Table 2: utility in five intervals of disparity minus the deterministic baseline's; unpaired tests."""
        rows = [row for retriever in self._retrievers() for row in self._intervals(retriever)]
        return _adjusted(rows)

    def alphas(self) -> list[Row]:
        """Return tests of whether disparity differs between alphas, paired by query (fair_rag, 4)."""
        rows = [row for retriever in self._retrievers() for row in self._alphas(retriever)]
        return _adjusted(rows)

    def _retrievers(self) -> list[str]:
        return list(dict.fromkeys(point.retriever for point in self._points if point.rank == "sampled"))

    def _groups(self) -> Iterable[tuple[str, list[Point]]]:
        """Yield each retriever's points, then those of all retrievers together if there are several."""
        names = self._retrievers()
        for name in names:
            yield name, [point for point in self._points if point.retriever == name]
        if len(names) > 1:
            yield ALL, self._points

    def _mean(self, points: Sequence[Point], measure: str) -> Row:
        values = np.array([getattr(point, measure) for point in points], dtype=np.float64)
        is_known = ~np.isnan(values)
        n = int(is_known.sum())
        interval = bootstrap(weighted_mean(values, self._places(points), len(self._place)), self._weights)
        errors = np.array([getattr(point, f"{measure}_error", 0.0) for point in points], dtype=np.float64)[is_known]
        # Queries are generated independently, so the squares of their errors add up.
        error = float(np.sqrt((errors**2).sum()) / n) if n else float("nan")
        row = _interval("value", interval, plain=True) | {"error": number(error), "n": n}
        if n < 2:
            row |= {"low": None, "high": None}
        return row if n else row | {NOTE: UNDEFINED}

    def _metric(
        self, key: tuple[str, str, float | None, str], group: Sequence[Score], chosen: Mapping[str, str]
    ) -> Row:
        *way, metric = key
        values = np.array([score.value for score in group], dtype=np.float64)
        mean = weighted_mean(values, self._places(group), len(self._place))
        is_root = metric in ROOTS
        interval = bootstrap((lambda weights: np.sqrt(mean(weights))) if is_root else mean, self._weights)
        error = float(np.sqrt(sum(score.error**2 for score in group)) / len(group))
        if is_root and error:  # error of the root by the delta method
            error = error / (2 * interval.estimate) if interval.estimate else float("nan")
        row: Row = dict(zip(("retriever", "rank", "alpha"), way, strict=True)) | {"metric": ROOTS.get(metric, metric)}
        row |= {"is_utility": all(chosen[score.query] == metric for score in group)}
        row |= _interval("value", interval, plain=True) | {"error": number(error), "n": len(group)}
        return row | ({"low": None, "high": None} if len(group) < 2 else {})

    def _places(self, points: Sequence[Point | Score]) -> list[int]:
        return [self._place[point.query] for point in points]

    def _tradeoffs(self, retriever: str, points: Sequence[Point]) -> Iterable[Row]:
        for name in CURVES:
            runs = curve(name, points, self._place)
            slope_interval, under = slope(runs, self._weights), area(runs, self._weights)
            row: Row = (
                {"retriever": retriever, "curve": name} | _interval("slope", slope_interval) | _interval("area", under)
            )
            row |= {"n": int(runs.x.size), "left_out": runs.left_out}
            reasons = [
                reason
                for reason, interval in ((FLAT, slope_interval), (ONE_INTERVAL, under))
                if isnan(interval.estimate)
            ]
            yield row | ({NOTE: "; ".join(reasons)} if reasons else {})

    def _intervals(self, retriever: str) -> Iterable[Row]:
        points = [point for point in self._points if point.retriever == retriever]
        base = [point for point in points if point.rank == "deterministic"]
        baseline = np.array([point.utility_normalised for point in base])
        runs = curve("DU", points, self._place)
        if np.isnan(baseline).all():
            return
        intervals = tradeoff.by_interval(runs.x, runs.y, baseline)
        drawn_base = _statistic(baseline, self._places(base), self._weights)
        for bin_index in range(intervals.n.size):
            is_in_bin = runs.bins == bin_index
            differences = _statistic(runs.y[is_in_bin], runs.query[is_in_bin], self._weights) - drawn_base
            own_queries = int(np.unique(runs.query[is_in_bin]).size)
            difference = percentile_interval(float(intervals.difference[bin_index]), differences, clusters=own_queries)
            row: Row = {
                "retriever": retriever,
                "start": float(intervals.edges[bin_index]),
                "end": float(intervals.edges[bin_index + 1]),
            }
            row |= {"baseline": number(intervals.baseline), "utility": number(intervals.mean[bin_index])}
            row |= _interval("difference", difference, plain=True) | {"p": number(intervals.p[bin_index])}
            row |= {"n": int(intervals.n[bin_index]), "left_out": intervals.left_out}
            note = "" if row["p"] is not None else FEW_RUNS if intervals.n[bin_index] else NO_RUN
            yield row | ({NOTE: note} if note else {})

    def _alphas(self, retriever: str) -> Iterable[Row]:
        points = [point for point in self._points if point.retriever == retriever and point.rank == "sampled"]
        by_alpha: dict[float, Floats] = {}
        for point in points:
            row = by_alpha.setdefault(point.alpha or 0.0, np.full(len(self._place), np.nan))
            row[self._place[point.query]] = point.disparity_normalised
        for first, second in combinations(sorted(by_alpha), 2):
            gap = by_alpha[second] - by_alpha[first]
            statistic, p, n = tradeoff.paired(by_alpha[second], by_alpha[first])
            mean = bootstrap(weighted_mean(gap, range(gap.size), gap.size), self._weights)
            row_: Row = {"retriever": retriever, "alpha_1": first, "alpha_2": second}
            row_ |= _interval("difference", mean, plain=True) if n > 1 else _bare("difference", mean)
            row_ |= {"statistic": number(statistic), "p": number(p), "n": n}
            yield row_ | ({} if row_["p"] is not None else {NOTE: FEW_QUERIES})


def number(value: float) -> float | None:
    """Convert a number for a table: None for NaN; never -0.0."""
    return None if isnan(value) else float(value) + 0.0


def _interval(name: str, interval: Interval, *, plain: bool = False) -> Row:
    """Return an estimate with its bounds: `low` and `high`, or NAME_low and NAME_high in tables with several."""
    before = "" if plain else f"{name}_"
    is_known = not isnan(interval.estimate)
    low, high = (number(bound) if is_known else None for bound in (interval.low, interval.high))
    return {name: number(interval.estimate), f"{before}low": low, f"{before}high": high}


def _bare(name: str, interval: Interval) -> Row:
    return {name: number(interval.estimate), "low": None, "high": None}


def _statistic(values: Floats, query: Sequence[int] | Floats, weights: Floats) -> Floats:
    statistic: Callable[[Floats], Floats] = weighted_mean(values, query, weights.shape[1])
    return statistic(weights)


def _adjusted(rows: list[Row]) -> list[Row]:
    """Add p-values adjusted for multiple testing within the table (Benjamini, Hochberg 1995)."""
    p_values = np.array([np.nan if row["p"] is None else row["p"] for row in rows], dtype=np.float64)
    p_adjusted = adjusted(p_values) if p_values.size else p_values
    return [_after(row, "p", "p_adjusted", number(value)) for row, value in zip(rows, p_adjusted.tolist(), strict=True)]


def _after(row: Row, key: str, new_key: str, value: Any) -> Row:
    position = [*row].index(key) + 1
    items = [*row.items()]
    return dict([*items[:position], (new_key, value), *items[position:]])
