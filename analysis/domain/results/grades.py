"""Grades of responses from the gold labels, and their means by style and origin (docs/methods/grades.md)."""

from itertools import product

import numpy as np

from analysis.stats import bradley_terry
from analysis.stats.bootstrap import bootstrap, resample_weights, weighted_mean
from analysis.stats.labels import gold

from ..inputs import Inputs
from .agreement import ONE_TOPIC
from .family import Analysed, Tables
from .fitting import Fitted
from .schema import NOTE, Row, number
from .settings import Settings, stream

ALL = "all"
NOT_CONVERGED = "the fit did not converge"


def family(analysed: Analysed) -> Tables:
    """Grades, and their means."""
    rows = grade_rows(analysed.inputs, analysed.main)
    means = mean_rows(analysed.inputs, rows, settings=analysed.settings, seed=analysed.seed)
    return {"grades": rows, "grade_means": means}


def grade_rows(inputs: Inputs, fitted: Fitted) -> list[Row]:
    """One row a response and dimension: merit, its standard error, and the grade within topic and dimension."""
    fits = [fit for fit in fitted.fits if fit.dimension.is_preference and fit.model is not None]
    problem, first, second, outcome = [], [], [], []
    place = _places(fitted)
    pool = fitted.pool
    for d, fit in enumerate(fits):
        assert fit.model is not None
        judged = np.flatnonzero(fit.counts.sum(axis=1))
        problem.append(pool.topic[judged] * len(fits) + d)
        first.append(place[pool.left[judged]])
        second.append(place[pool.right[judged]])
        outcome.append(gold(fit.model.posterior)[judged] - 1)
    if not problem:
        return []
    columns = [np.concatenate(parts) for parts in (problem, first, second, outcome)]
    used, compact = np.unique(columns[0], return_inverse=True)
    fitted_grades = bradley_terry.fit(bradley_terry.tally(compact, *columns[1:]))
    members = _members(fitted)
    rows = []
    for index, which in enumerate(used.tolist()):
        topic, d = divmod(which, len(fits))
        for item, response in enumerate(members[topic]):
            if np.isnan(fitted_grades.merit[index, item]):
                continue  # judged, but not on this dimension
            row: Row = {
                "topic": inputs.topics[topic],
                "response": inputs.responses[response].name,
                "dimension": fits[d].dimension.name,
                "merit": number(fitted_grades.merit[index, item]),
                "se": number(fitted_grades.standard_error[index, item]),
                "grade": number(fitted_grades.grade[index, item]),
            }
            rows.append(row if fitted_grades.converged[index] else row | {NOTE: NOT_CONVERGED})
    return rows


def mean_rows(inputs: Inputs, rows: list[Row], *, settings: Settings, seed: int) -> list[Row]:
    """Mean grade by dimension, style and origin, with "all" for the margins; `n` grades each."""
    if not rows:
        return []
    about = {response.name: response for response in inputs.responses}
    topics, topic = np.unique([row["topic"] for row in rows], return_inverse=True)
    weights = resample_weights(len(topics), settings.resamples, stream(seed, "topics of grades"))
    grade = np.array([row["grade"] for row in rows])
    columns = {
        "dimension": np.array([row["dimension"] for row in rows]),
        "style": np.array([about[row["response"]].style for row in rows]),
        "origin": np.array([about[row["response"]].origin for row in rows]),
    }
    names = {name: [*sorted(set(column.tolist())), ALL] for name, column in columns.items()}
    # Dimensions in the order of the questionnaires, in which they stand in the rows of a topic.
    names["dimension"] = [*dict.fromkeys(columns["dimension"].tolist()), ALL]
    found = []
    for key in product(*names.values()):
        chosen = np.ones(len(grade), dtype=bool)
        for column, value in zip(columns.values(), key, strict=True):
            chosen &= (column == value) | (value == ALL)
        if not chosen.any():
            continue
        interval = bootstrap(weighted_mean(grade[chosen], topic[chosen], len(topics)), weights)
        row: Row = dict(zip(columns, key, strict=True)) | {
            "mean": number(interval.estimate),
            "low": number(interval.low),
            "high": number(interval.high),
            "n": int(chosen.sum()),
        }
        found.append(row if row["low"] is not None else row | {NOTE: ONE_TOPIC})
    return found


def _members(fitted: Fitted) -> dict[int, list[int]]:
    """Responses judged in each topic, in the order of their names."""
    members: dict[int, set[int]] = {}
    for left, right, topic, _name in fitted.pool.units:
        members.setdefault(topic, set()).update((left, right))
    return {topic: sorted(responses) for topic, responses in members.items()}


def _places(fitted: Fitted) -> np.ndarray:
    """The place of each response within its topic."""
    members = _members(fitted)
    size = 1 + max(response for responses in members.values() for response in responses)
    place = np.full(size, -1, dtype=np.int64)
    for responses in members.values():
        place[responses] = np.arange(len(responses))
    return place
