"""Drawn labels and grades are stored as text and read back, also as earlier analyses stored them."""

import base64
import zlib

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.methods.reusable_fits import packed, unpacked


@given(st.lists(st.integers(0, 2**15 - 1)))
@example([])
@example([127, 0])
@example([128, 2**15 - 1])
def test_numbers_come_back_as_they_were(values: list[int]) -> None:
    stored = np.array(values, dtype=np.int64)
    earlier = base64.b85encode(zlib.compress(stored.astype("<i2").tobytes())).decode()
    for text in (packed(stored), earlier):
        assert unpacked(text).tolist() == values
        assert unpacked(text).dtype == np.int16
