"""Whether the side on which a response stands sways those who judge it: the front preference and its test.

The front preference is the share of choices (neutral judgments left out) that fall on the response shown first. It
says little by itself: the better response may have stood first more often. The test therefore takes pairs that were
shown in both orders, where each response stood first as often, and asks what the choices would have been had those
who judged one order judged the other.

Reference: Fisher, The Design of Experiments (1935), section 21: the randomisation test of paired differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

# Up to so many choices the distribution is counted out; beyond, it is normal to more digits than anybody reads.
COUNTED_OUT = 10_000


@dataclass(frozen=True)
class SideTest:
    """Whether choices lean to one side.

    Attributes
    ----------
    p : float
        Two-sided; NaN where nobody chose, or nothing could lean (`pairs` is 0).
    excess : int
        Choices of the first response less choices of the second.
    pairs : int
        Pairs whose choices lean to one side at all.
    exact : bool
        Whether p was counted out; else it is from the normal distribution.
    """

    p: float
    excess: int
    pairs: int
    exact: bool


def side_test(excess: ArrayLike) -> SideTest:
    """Test whether the side does not matter, by changing the sides of each pair.

    If it does not, whoever judges a pair would have chosen the same response on the other side, and each pair's excess
    of choices for the first response would have come out with the other sign. Who judged which order was chance, so
    that every combination of signs is as probable; p is the share of combinations with at least as large a total.

    Parameters
    ----------
    excess : array_like of int, shape (n_pairs,)
        For each two responses (both orders together), choices of the response shown first less choices of that shown
        second. All votes on a pair turn together: they are not taken for independent of each other.

    Returns
    -------
    SideTest

    Raises
    ------
    ValueError
        If the numbers are not whole.

    Examples
    --------
    >>> side_test([1, 1, 1, 1]).p  # 2 of 16 combinations
    0.125
    """
    values = np.asarray(excess)
    if values.size == 0:
        values = values.astype(np.int64)
    if values.ndim != 1 or not np.issubdtype(values.dtype, np.integer):
        msg = (
            f"the excess of choices must be whole numbers, one a pair; it has shape {values.shape}, type {values.dtype}"
        )
        raise ValueError(msg)
    sizes = np.abs(values[values != 0]).astype(np.int64)
    total = int(values.sum())
    if not sizes.size:
        return SideTest(float("nan"), total, 0, True)
    if sizes.sum() > COUNTED_OUT:
        z = abs(total) / float(np.sqrt(np.sum(sizes.astype(np.float64) ** 2)))
        return SideTest(float(2 * scipy.stats.norm.sf(z)), total, sizes.size, False)
    probability = _distribution(sizes)
    totals = 2 * np.arange(len(probability)) - int(sizes.sum())
    return SideTest(min(1.0, float(probability[np.abs(totals) >= abs(total)].sum())), total, sizes.size, True)


def _distribution(sizes: NDArray[np.int64]) -> NDArray[np.float64]:
    """How probable each sum of the sizes with a positive sign is, 0 to their total, signs being fair coins."""
    distribution = np.ones(1)
    for size, pairs in zip(*np.unique(sizes, return_counts=True), strict=True):
        with_sign = np.zeros(int(size * pairs) + 1)
        with_sign[:: int(size)] = scipy.stats.binom.pmf(np.arange(pairs + 1), pairs, 0.5)
        # Not by Fourier transform: it would drown small probabilities in rounding.
        distribution = scipy.signal.convolve(distribution, with_sign, method="direct")
    return distribution
