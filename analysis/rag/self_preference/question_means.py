"""Means over questions with intervals, and tests of whether a preference differs from chance.

A question has several trials (both orders, several pairs), so resampling is by question, not by trial.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from analysis.stats.bootstrap import percentile_interval, resample_weights, weighted_mean

Row = dict[str, object]

#: Labels in tables: whether an author is the evaluator itself.
OWN, OTHERS = "own", "others"
#: The id of a question and the value of one trial.
Valued = tuple[str, float]


@dataclass(frozen=True)
class Mean:
    """A mean of trials.

    Attributes
    ----------
    value, low, high : float
        With a 95 % interval over questions. All are NaN without trials; `low` and `high` also with fewer than two
        questions.
    questions, trials : int
        Numbers of questions and of trials.
    """

    value: float
    low: float
    high: float
    questions: int
    trials: int


@dataclass(frozen=True)
class Test:
    """A t-test over questions.

    Attributes
    ----------
    statistic, p : float
        Two-sided; NaN if the test is not possible.
    problem : str
        Why the test is not possible: fewer than two questions, or no variation; "" if it is possible.
    """

    statistic: float
    p: float
    problem: str = ""


class Means:
    """Means over the same resamples of questions, so that means in one table can be compared.

    Parameters
    ----------
    questions : sequence of str
        All questions, each once.
    rng : numpy.random.Generator
    resamples : int
    """

    def __init__(self, questions: Sequence[str], rng: np.random.Generator, resamples: int = 2000):
        self._place = {question: i for i, question in enumerate(questions)}
        self._weights = resample_weights(len(questions), resamples, rng)

    def of(self, values: Iterable[Valued]) -> Mean:
        """Return the mean of all trials, ignoring NaN."""
        known = [(question, value) for question, value in values if not np.isnan(value)]
        if not known:
            return Mean(np.nan, np.nan, np.nan, 0, 0)
        places = np.array([self._place[question] for question, _value in known])
        statistic = weighted_mean([value for _question, value in known], places, len(self._place))
        questions = len(np.unique(places))
        point = float(statistic(np.ones((1, len(self._place))))[0])
        is_share = all(value in {0.0, 1.0} for _question, value in known)
        interval = percentile_interval(point, statistic(self._weights), clusters=questions, share=is_share)
        return Mean(point, interval.low, interval.high, questions, len(known))


def by_question(values: Iterable[Valued]) -> dict[str, float]:
    """Return the mean of each question's trials."""
    values_by_question: dict[str, list[float]] = defaultdict(list)
    for question, value in values:
        values_by_question[question].append(value)
    return {question: float(np.mean(question_values)) for question, question_values in values_by_question.items()}


def against(values: Iterable[Valued], none: float = 0.5) -> Test:
    """Test whether the mean over questions differs from no preference (one-sample t-test over questions).

    Parameters
    ----------
    values : iterable of (str, float)
        Trials. Those of a question are averaged first, since they are not independent.
    none : float
        The value for no preference.

    Returns
    -------
    Test
    """
    means = np.array(list(by_question(values).values()))
    return _tested(means - none)


def paired(difference: Sequence[float]) -> Test:
    """Run Student's t-test paired by question: is the mean of the differences 0?"""
    return _tested(np.asarray(difference, dtype=np.float64))


def welch(first: Sequence[float], second: Sequence[float]) -> Test:
    """Run Welch's t-test, which treats the two samples as independent with different variances."""
    if min(len(first), len(second)) < 2:
        return Test(np.nan, np.nan, TOO_FEW)
    if max(np.ptp(first), np.ptp(second)) < _EQUAL:
        return Test(np.nan, np.nan, ALIKE)
    # From means and deviations, because scipy's test on samples warns if one of them is constant.
    sides = [(float(np.mean(values)), float(np.std(values, ddof=1)), len(values)) for values in (first, second)]
    test = scipy.stats.ttest_ind_from_stats(*sides[0], *sides[1], equal_var=False)
    return Test(float(test.statistic), float(test.pvalue))


TOO_FEW = "no test: fewer than two questions"
ALIKE = "no test: the value is the same in all questions"
# Tolerance: means of the same trials in another order may differ by rounding.
_EQUAL = 1e-9


def _tested(difference: np.ndarray) -> Test:
    if len(difference) < 2:
        return Test(np.nan, np.nan, TOO_FEW)
    if np.ptp(difference) < _EQUAL:
        return Test(np.nan, np.nan, ALIKE)
    test = scipy.stats.ttest_1samp(difference, 0.0)
    return Test(float(test.statistic), float(test.pvalue))
