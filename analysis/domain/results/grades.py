"""Grades of responses, their means, tests of differences, and the leaderboard (docs/methods/grades.md)."""

from collections.abc import Callable
from itertools import product

import numpy as np

from analysis.stats.bootstrap import Interval, percentile_interval, resample_weights, resampled_mean

from ..inputs import Inputs, Ints
from . import grade_tests, grading, leaderboard
from .agreement import ONE_TOPIC
from .family import Analysed, Tables
from .grading import Graded
from .schema import NOTE, Row, number
from .settings import VOTES, Settings, stream

ALL = "all"
NOT_CONVERGED = "the fit did not converge"
ONE_VOTE = "pairs with one vote each leave nothing to draw"


def family(analysed: Analysed) -> Tables:
    """Grades; and what follows from them."""
    inputs, settings, seed = analysed.inputs, analysed.settings, analysed.seed
    comparisons = grading.comparisons_of(analysed.main, settings.grades_from)
    if comparisons is None:
        return {name: [] for name in ("grades", "grade_means", "grade_tests", "leaderboard", "leaderboard_tests")}
    graded = grading.grade(analysed.main, comparisons)
    resampled = _resampled(analysed, graded)
    tables = {
        "grades": grade_rows(inputs, graded, settings=settings, seed=seed, step=analysed.step),
        "grade_means": mean_rows(inputs, graded, resampled),
        "grade_tests": grade_tests.rows(inputs, graded, resampled),
    }
    return tables | leaderboard.tables(analysed, graded, resampled)


def _resampled(analysed: Analysed, graded: Graded) -> grading.Resampled:
    """How often each topic was drawn in each resample, and the grades then, where they are others."""
    settings, seed = analysed.settings, analysed.seed
    topics, topic = np.unique(graded.topic, return_inverse=True)
    redrawn = analysed.redrawn.get(analysed.inputs.pool)
    if redrawn is None:
        weights = resample_weights(len(topics), settings.resamples, stream(seed, "topics of grades"))
        return grading.Resampled(topics, topic, weights, None, None)
    drawn = np.searchsorted(np.unique(analysed.main.pool.topic), topics)
    draw = grading.of_redrawn(graded.comparisons, analysed.main, redrawn)
    found = grading.resampled_grades(graded, draw, settings.resamples, analysed.step)
    return grading.Resampled(topics, topic, redrawn.topics[:, drawn], found, draw)


def grade_rows(
    inputs: Inputs, graded: Graded, *, settings: Settings, seed: int, step: Callable[[str], None]
) -> list[Row]:
    """One row a response and dimension: merit, its standard error, and the grade within topic and dimension."""
    of_votes = settings.grades_from == VOTES
    rng = stream(seed, "votes of grades" if of_votes else "labels of grades")
    draw = (grading.of_votes_drawn if of_votes else grading.of_labels_left_open)(graded.comparisons, rng)
    low, high = grading.rank_intervals(graded, draw, settings.resamples, step)
    names = [fit.dimension.name for fit in graded.comparisons.fits]
    rows: list[Row] = []
    for i, (topic, response, d) in enumerate(zip(graded.topic, graded.response, graded.fit, strict=True)):
        row: Row = {
            "topic": inputs.topics[topic],
            "response": inputs.responses[response].name,
            "dimension": names[d],
            "merit": number(graded.merit[i]),
            "se": number(graded.se[i]),
            "grade": number(graded.grade[i]),
            "rank_low": number(low[i]),
            "rank_high": number(high[i]),
        }
        if not graded.converged[i]:
            row[NOTE] = NOT_CONVERGED
        elif row["rank_low"] is None:
            row[NOTE] = ONE_VOTE
        rows.append(row)
    return rows


def mean_rows(inputs: Inputs, graded: Graded, resampled: grading.Resampled) -> list[Row]:
    """Mean grade by dimension, style and origin, with "all" for the margins; `n` grades each."""
    names = [fit.dimension.name for fit in graded.comparisons.fits]
    styles, style = _coded([inputs.responses[response].style for response in graded.response.tolist()])
    origins, origin = _coded([inputs.responses[response].origin for response in graded.response.tolist()])
    found = []
    for d, s, o in product((*range(len(names)), -1), (*range(len(styles)), -1), (*range(len(origins)), -1)):
        chosen = np.flatnonzero(_is(graded.fit, d) & _is(style, s) & _is(origin, o))
        if not chosen.size:
            continue
        interval = _mean(graded, resampled, chosen)
        row: Row = {
            "dimension": names[d] if d >= 0 else ALL,
            "style": styles[s] if s >= 0 else ALL,
            "origin": origins[o] if o >= 0 else ALL,
            "mean": number(interval.estimate),
            "low": number(interval.low),
            "high": number(interval.high),
            "n": len(chosen),
        }
        found.append(row if row["low"] is not None else row | {NOTE: ONE_TOPIC})
    return found


def _mean(graded: Graded, resampled: grading.Resampled, chosen: Ints) -> Interval:
    values = graded.grade if resampled.grade is None else resampled.grade
    samples = resampled_mean(values[chosen], resampled.topic[chosen], resampled.weights)
    return percentile_interval(float(graded.grade[chosen].mean()), samples, clusters=len(resampled.topics))


def _coded(names: list[str]) -> tuple[list[str], Ints]:
    """The distinct names in order, and the place of each."""
    found, place = np.unique(names, return_inverse=True)
    return [str(name) for name in found], place


def _is(column: Ints, value: int) -> np.ndarray:
    return (column == value) | (value < 0)
