"""The checks of judgments as arrays."""

import numpy as np
import pytest

from analysis.stats.judgments import RepeatedJudgmentError, check


def test_missing_judgments_are_left_out_and_sizes_found():
    judged = check([0, 1, 4], [2, 0, 1], [1, -1, 0])
    assert (judged.unit.tolist(), judged.coder.tolist(), judged.value.tolist()) == ([0, 4], [2, 1], [1, 0])
    assert (judged.units, judged.coders, judged.values) == (5, 3, 2)


def test_nothing_is_fine():
    judged = check([], [], [], units=3, values=2)
    assert (judged.units, judged.coders, judged.values) == (3, 0, 2)


@pytest.mark.parametrize(
    ("unit", "coder", "value", "sizes", "named"),
    [
        ([0, 1], [0], [0, 1], {}, r"\S"),
        ([0.5], [0], [0], {}, r"\S"),
        ([0], [0], [np.nan], {}, r"\S"),
        ([[0]], [[0]], [[0]], {}, r"\S"),
        ([-1], [0], [0], {}, "unit"),
        ([3], [0], [0], {"units": 3}, "unit.*2"),
        ([0], [3], [0], {"coders": 3}, "coder"),
        ([0], [0], [3], {"values": 3}, "value"),
    ],
)
def test_bad_judgments_are_refused(unit, coder, value, sizes, named):
    with pytest.raises(ValueError, match=named):
        check(unit, coder, value, **sizes)


def test_repeated_judgments_are_refused_with_their_number():
    with pytest.raises(RepeatedJudgmentError, match=r"1 .*2 .*2"):
        check([2, 0, 2, 2], [1, 0, 1, 1], [0, 0, 1, 1])
