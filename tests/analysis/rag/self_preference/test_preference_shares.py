"""Means over resampled questions and their tests, against loops and scipy."""

import numpy as np
import pytest
from scipy import stats

from analysis.rag.self_preference import question_means
from analysis.rag.self_preference.question_means import ALIKE, TOO_FEW, Means, against, by_question, paired, welch
from analysis.stats.bootstrap import resample_weights
from analysis.stats.proportions import effective_wilson

QUESTIONS = [f"q{i}" for i in range(12)]


def trials(seed: int = 1):
    rng = np.random.default_rng(seed)
    return [(question, float(rng.integers(2))) for question in QUESTIONS for _ in range(rng.integers(1, 5))]


def test_the_interval_by_drawing_questions_one_by_one():
    values = trials()
    found = Means(QUESTIONS, np.random.default_rng(5), 300).of(values)
    weights = resample_weights(len(QUESTIONS), 300, np.random.default_rng(5)).astype(int)
    means = []
    for row in weights:
        drawn = [value for place, times in enumerate(row) for q, value in values * times if q == QUESTIONS[place]]
        means.append(np.mean(drawn))
    assert found.value == pytest.approx(np.mean([value for _q, value in values]))
    expected = effective_wilson(
        found.value, np.var(means) * found.questions / (found.questions - 1), found.questions - 1
    )
    assert (found.low, found.high) == pytest.approx(expected)
    assert (found.questions, found.trials) == (12, len(values))


def test_trials_of_a_question_are_not_independent():
    values = trials()
    # Ten times the trials of the same questions: nothing more is known.
    once, often = (Means(QUESTIONS, np.random.default_rng(5), 300).of(values * n) for n in (1, 10))
    assert (once.low, once.high) == pytest.approx((often.low, often.high))
    assert against(values).p == pytest.approx(against(values * 10).p)


def test_what_is_missing_is_left_out_and_nothing_is_nothing():
    average = Means(QUESTIONS, np.random.default_rng(0), 100)
    assert average.of([("q0", 1.0), ("q1", float("nan")), ("q2", 0.0)]).questions == 2
    one = average.of([("q0", 1.0)])
    assert one.value == 1.0
    assert np.isnan(one.low)
    assert np.isnan(average.of([]).value)
    assert average.of([]).trials == 0


def test_tests_are_those_of_scipy():
    values = trials(3)
    means = list(by_question(values).values())
    expected = stats.ttest_1samp(means, 0.5)
    assert (against(values).statistic, against(values).p) == pytest.approx((expected.statistic, expected.pvalue))
    rng = np.random.default_rng(2)
    first, second = rng.normal(3, 1, 30), rng.normal(3.4, 2, 30)
    assert paired(first - second).p == pytest.approx(stats.ttest_rel(first, second).pvalue)
    assert welch(first, second).p == pytest.approx(stats.ttest_ind(first, second, equal_var=False).pvalue)
    assert welch(first, second).statistic == pytest.approx(stats.ttest_ind(first, second, equal_var=False).statistic)


def test_where_a_test_says_nothing_it_says_why():
    assert paired([1.0]).problem == against([("q0", 1.0), ("q0", 0.0)]).problem == welch([1.0], [2.0, 3.0]).problem
    assert paired([1.0]).problem == TOO_FEW
    assert paired([0.1 + 0.2, 0.3]).problem == ALIKE  # they differ by rounding alone
    assert welch([4.0] * 5, [4.0] * 5).problem == ALIKE
    assert np.isnan(question_means.paired([1.0, 1.0]).p)
