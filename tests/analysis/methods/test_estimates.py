"""Means and differences of statistics, with their values in the same resamples."""

import numpy as np
import pytest

from analysis.methods import estimates, response_groups
from analysis.methods.agreement import compute as agreement_compute
from analysis.methods.estimates import Estimate, difference, largest, mean, noted, undefined
from analysis.stats.cluster_variance import Terms


def made(point: float, samples: list[float], *, topics: int = 3, n: int = 5) -> Estimate:
    return Estimate(point, np.array(samples), topics, n)


def test_the_largest_difference_is_that_furthest_from_0_whichever_its_sign():
    found = largest([made(-0.4, [-0.5, 0.1, -0.2]), made(0.1, [0.3, -0.3, 0.0])])
    assert found.point == 0.4
    assert found.interval == (None, None)
    assert not found.note


def test_a_difference_is_paired_in_each_resample():
    found = difference(made(0.5, [0.6, 0.4, 0.5], n=9), made(0.2, [0.3, 0.1, 0.2], n=4))
    assert (found.point, found.n) == (pytest.approx(0.3), 4)
    assert found.samples == pytest.approx([0.3, 0.3, 0.3])


def test_a_mean_is_of_those_that_are_defined():
    found = mean([made(0.2, [0.1, 0.3]), undefined("nobody judged"), made(0.4, [0.3, 0.5], n=8)])
    assert (found.point, found.n) == (pytest.approx(0.3), 8)
    assert found.samples == pytest.approx([0.2, 0.4])
    assert mean([undefined("nobody judged"), undefined("other")]).problem == "nobody judged"
    assert mean([]).problem == estimates.NOTHING


def test_what_is_undefined_stays_so_with_its_reason():
    nothing = undefined("nobody judged")
    for found in (difference(made(1, [1]), nothing), largest([made(1, [1]), nothing])):
        assert found.columns("alpha") == {"alpha": None, "low": None, "high": None}
        assert found.note == "nobody judged"


def test_one_topic_has_no_interval_and_each_reason_is_said_once():
    alone = made(0.2, [0.2, 0.2], topics=1)
    assert alone.columns("tau") == {"tau": 0.2, "low": None, "high": None}
    row = noted({"tau": 0.2}, [alone.note, alone.note, "", "too few"])
    assert row["note"] == f"{alone.note}; too few"
    assert "note" not in noted({}, ["", ""])


@pytest.mark.parametrize(
    ("judges", "is_share", "reason"),
    [
        (None, False, response_groups.ONE_TOPIC),
        ([0, 0], False, agreement_compute.ONE_TOPIC),
        ([0, 0], True, estimates.FEW_JUDGES),
    ],
)
def test_only_estimates_over_drawn_judges_lack_an_interval_for_want_of_judges(judges, is_share, reason):
    coder = None if judges is None else np.array(judges)
    terms = Terms.of(np.array([0, 0]), coder, None, np.array([0.1, -0.1]))
    found = Estimate(0.5, np.zeros(0), 1, 2, terms=terms, is_share=is_share)
    assert (found.interval, found.note) == ((None, None), reason)
    assert made(0.2, [0.2, 0.2], topics=1).note == response_groups.ONE_TOPIC
