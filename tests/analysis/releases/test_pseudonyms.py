"""Keys are the set that they stand for."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.releases.contents.selection import Keys

KEYS = st.sets(st.integers(0, 2**63 - 1))


@given(KEYS, KEYS)
def test_they_hold_what_was_given_and_nothing_else(keys: set[int], others: set[int]) -> None:
    found = Keys(sorted(keys))
    assert list(found) == sorted(keys)
    assert len(found) == len(keys)
    assert {key for key in keys | others if key in found} == keys
    assert None not in found


def test_they_are_one_parameter_of_a_query() -> None:
    assert Keys([1, 20, 300]).as_array() == "{1,20,300}"
    assert Keys([]).as_array() == "{}"
