"""Position bias: the preference for the response shown first, and its test.

The front preference is the share of choices (without neutral judgments) for the response shown first. Alone it is not
conclusive, because the better response may have been shown first more often. The test therefore uses pairs that were
shown in both orders, where each response was first equally often. It asks what the choices would have been if the
judges of the two orders had been exchanged.

Reference: Fisher, The Design of Experiments (1935), section 21: the randomisation test of paired differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

# Up to this number of choices the distribution is enumerated. Beyond it, the normal approximation is accurate enough.
COUNTED_OUT = 10_000


@dataclass(frozen=True)
class SideTest:
    """Result of the position bias test.

    Attributes
    ----------
    p : float
        Two-sided p-value. NaN if there are no choices, or if no pair has an excess (`pairs` is 0).
    excess : int
        Choices of the first response minus choices of the second.
    pairs : int
        Pairs with a nonzero excess.
    exact : bool
        Whether p was enumerated; otherwise it comes from the normal distribution.
    """

    p: float
    excess: int
    pairs: int
    exact: bool


def side_test(excess: ArrayLike) -> SideTest:
    """Test the null hypothesis that the position does not matter, by flipping the sign of each pair.

    Under the null hypothesis, judges choose the same response in either position. Exchanging the judges of a pair's
    orders then flips the sign of its excess of choices for the response shown first. Judges were assigned to orders at
    random, so all combinations of signs are equally probable. p is the share of combinations with a total at least as
    large in absolute value.

    Parameters
    ----------
    excess : array_like of int, shape (n_pairs,)
        The excess of each pair of responses, both orders together: choices of the response shown first minus choices of
        the other one. All votes on a pair flip together, because they are not independent of each other.

    Returns
    -------
    SideTest

    Raises
    ------
    ValueError
        If the values are not integers.

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
    """Compute the probabilities of the sum of sizes with a positive sign, from 0 to their total, with random signs."""
    distribution = np.ones(1)
    for size, pairs in zip(*np.unique(sizes, return_counts=True), strict=True):
        with_sign = np.zeros(int(size * pairs) + 1)
        with_sign[:: int(size)] = scipy.stats.binom.pmf(np.arange(pairs + 1), pairs, 0.5)
        # Not by Fourier transform: its rounding error exceeds small probabilities.
        distribution = scipy.signal.convolve(distribution, with_sign, method="direct")
    return distribution
