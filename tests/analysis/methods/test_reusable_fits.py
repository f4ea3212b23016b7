"""Arrays of fits and grades are stored as text and read back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from analysis.methods.reusable_fits import are_readable, packed, unpacked

TYPES = st.sampled_from([np.int8, np.int16, np.int32, np.float32, np.float64])


@given(arrays.arrays(TYPES, arrays.array_shapes(min_dims=1, max_dims=2, min_side=0)))
def test_arrays_come_back_as_they_were(stored: np.ndarray) -> None:
    back = unpacked(packed(stored))
    assert (back.dtype, back.shape, back.tobytes()) == (stored.dtype, stored.shape, stored.tobytes())


def test_fits_of_earlier_versions_are_not_read() -> None:
    assert not are_readable([])
    assert not are_readable([{"pool": "crowd", "dimension": "d", "participant": "w1", "spam": 0.1}])
    assert are_readable([{"pool": "crowd", "dimension": "d", "arrays": {}}])
