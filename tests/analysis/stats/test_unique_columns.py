"""Draws that say the same are found, and no others, whatever the numbers are mixed by."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.stats import unique_columns as module
from analysis.stats.unique_columns import unique_columns
from tests.examples import examples


def drawn(seed: int, sizes: list[int], columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    outcome = rng.integers(-1, 2, size=(sum(sizes), columns)).astype(float)
    return np.cumsum([0, *sizes[:-1]]), outcome, rng.choice([0.25, 0.75], size=outcome.shape)


def by_hand(begin: np.ndarray, *values: np.ndarray) -> list[list[int]]:
    """Which draw of its group each equals first, by comparing all."""
    ends = [*begin[1:].tolist(), len(values[0])]
    found = []
    for first, end in zip(begin.tolist(), ends, strict=True):
        columns = [tuple(part[first:end, c].tobytes() for part in values) for c in range(values[0].shape[1])]
        found.append([columns.index(each) for each in columns])
    return found


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=1, max_size=5), st.integers(1, 60))
@settings(max_examples=examples(60), deadline=None)
def test_draws_are_alike_where_all_their_rows_are(seed, sizes, columns):
    begin, *values = drawn(seed, sizes, columns)
    found = unique_columns(begin, *values)
    assert found.column[found.positions].tolist() == by_hand(begin, *values)
    assert (found.group[found.positions] == np.arange(len(sizes))[:, None]).all()
    assert len(found.group) == sum(len(set(row)) for row in by_hand(begin, *values))


@pytest.mark.parametrize("sizes", [[2, 1], [3]])
def test_sums_that_are_equal_by_chance_take_nothing_for_alike(monkeypatch, sizes):
    monkeypatch.setattr(module, "mixed", lambda words: np.ones_like(words))
    begin, *values = drawn(1, sizes, 30)
    found = unique_columns(begin, *values)
    assert len(found.group) == 30 * len(sizes)
    for number, part in enumerate(values):
        ends = np.r_[begin[1:], len(part)]
        for group, (first, end) in enumerate(zip(begin, ends, strict=True)):
            again = part[first:end, found.column[found.positions[group]]]
            assert (again == part[first:end]).all(), number
