"""What fairness costs: by hand, and against other libraries."""

import doctest
from typing import Any

import numpy as np
import pytest
from scipy import stats

from analysis.ranking import tradeoff
from analysis.ranking.tradeoff import area, by_interval, curve, line, paired


def runs(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    x = rng.random(n)
    return x, 0.3 + 0.2 * x + rng.normal(scale=0.05, size=n)


def test_examples() -> None:
    assert doctest.testmod(tradeoff).failed == 0


def test_the_line_is_that_of_least_squares() -> None:
    x, y = runs()
    found = line([*x, np.nan, 0.3], [*y, 0.1, np.nan])
    design = np.stack([np.ones(x.size), x], axis=1)
    solved, squares, *_ = np.linalg.lstsq(design, y, rcond=None)
    assert found.slope == pytest.approx(solved[1])
    error = np.sqrt(squares[0] / (x.size - 2) / ((x - x.mean()) ** 2).sum())
    assert found.standard_error == pytest.approx(error)
    assert (found.n, found.left_out) == (60, 2)


def test_the_area_by_hand() -> None:
    # Means 0.2 at 0.1, and 0.6 at 0.9: level to 0.1, a straight line, level from 0.9.
    assert area([0.05, 0.15, 0.9], [0.1, 0.3, 0.6]) == pytest.approx(0.1 * 0.2 + 0.8 * 0.4 + 0.1 * 0.6)
    at, mean = curve([0.05, 0.15, 0.9], [0.1, 0.3, 0.6])
    assert (at.tolist(), mean.tolist()) == (pytest.approx([0.1, 0.9]), pytest.approx([0.2, 0.6]))


def test_the_area_under_a_straight_line_is_what_calculus_says() -> None:
    x = np.linspace(0, 1, 2001)
    assert area(x, 0.2 + 0.5 * x, edges=np.linspace(0, 1, 101)) == pytest.approx(0.45, abs=1e-3)


def test_intervals_by_a_loop() -> None:
    x, y = runs()
    base = np.append(np.random.default_rng(3).normal(0.45, 0.05, 40), np.nan)
    x[0], x[1] = 0.0, 1.0  # the ends belong to the first and the last
    found = by_interval(x, y, base)
    for place in range(5):
        low, high = found.edges[place], found.edges[place + 1]
        group = y[(x >= low) & ((x < high) | (place == 4))]
        assert found.n[place] == group.size
        assert found.mean[place] == pytest.approx(group.mean())
        assert found.difference[place] == pytest.approx(group.mean() - np.nanmean(base))
        pooled = np.r_[group, base[:-1]]
        is_group = np.r_[np.ones(group.size), np.zeros(40)]
        # Student's test is the regression on which side one is on.
        assert found.p[place] == pytest.approx(stats.linregress(is_group, pooled).pvalue)
    assert found.n.sum() == 60


def test_paired_by_its_definition() -> None:
    a, b = runs()
    statistic, p, n = paired([*a, np.nan], [*b, 1.0])
    assert statistic == pytest.approx((a - b).mean() / ((a - b).std(ddof=1) / np.sqrt(60)))
    assert (n, p) == (60, pytest.approx(stats.ttest_rel(a, b).pvalue))


def test_what_cannot_be_said_is_nan() -> None:
    assert np.isnan(line([0.5, 0.5], [1.0, 2.0]).slope)
    assert np.isnan(area([0.1, 0.15], [1.0, 2.0]))
    assert np.isnan(paired([1.0, 2.0], [0.0, 1.0])[1])
    found = by_interval([0.1, 0.1], [0.5, 0.5], [0.5, 0.5])
    assert np.isnan(found.p).all()
    assert found.n.tolist() == [2, 0, 0, 0, 0]


def test_a_side_whose_values_are_all_alike_is_tested_without_a_warning() -> None:
    alike = [0.1 + 0.2, 0.3, 0.3]  # the first differs by rounding
    base = [0.1, 0.4, 0.6]
    found = by_interval([0.1, 0.1, 0.1], alike, base).p[0]
    t = (0.3 - np.mean(base)) / np.sqrt(np.var(base, ddof=1) / 3)  # pooled, sizes being equal
    assert found == pytest.approx(2 * stats.t.sf(abs(t), 4))
    assert np.isnan(by_interval([0.1, 0.1, 0.1], alike, alike).p[0])
    assert np.isnan(paired(alike, [0.3, 0.3, 0.3])[1])


@pytest.mark.parametrize(
    "act",
    [
        lambda: line([0.1], [0.1, 0.2]),
        lambda: by_interval([0.1], [0.1], [np.nan]),
        lambda: paired([0.1], [0.1, 0.2]),
    ],
    ids=["lengths of a line", "no baseline", "lengths of pairs"],
)
def test_bad_input_is_refused(act: Any) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        act()
