"""How many pairs Wilcoxon's signed-rank test needs to detect an effect of a given size."""

from __future__ import annotations

from statistics import NormalDist


def signed_rank_pairs(effect: float, *, level: float = 0.05, power: float = 0.8) -> float:
    """Compute the number of nonzero paired differences at which the two-sided test has a given power.

    Noether's formula is n = (z_1 + z_2)^2 / (3 (p - 1/2)^2). Here p is the probability that the sum of two
    differences is positive, which is (1 + effect) / 2 for many pairs: the rank-biserial correlation says how much more
    often such sums are positive than negative. z_1 and z_2 are the normal quantiles of 1 - level / 2 and of the power.

    Parameters
    ----------
    effect : float
        The matched-pairs rank-biserial correlation, between -1 and 1 (`significance.rank_biserial`).
    level : float
        The largest p-value that counts as significant.
    power : float
        The probability of a significant result if the effect is as large as stated.

    Returns
    -------
    float
        Not rounded. Infinite for an effect of 0. The formula is for many pairs and small effects: for effects above
        about 0.8 it states more pairs than the test needs.

    Raises
    ------
    ValueError
        If the effect is not between -1 and 1, or level or power are not between 0 and 1.

    References
    ----------
    Noether, Sample size determination for some common nonparametric tests (1987). JASA 82, 645-647.

    Examples
    --------
    >>> round(signed_rank_pairs(0.3))
    116
    """
    if not -1.0 <= effect <= 1.0:
        raise ValueError(f"an effect lies between -1 and 1, it is {effect}")
    if not (0.0 < level < 1.0 and 0.0 < power < 1.0):
        raise ValueError(f"level and power lie between 0 and 1, they are {level} and {power}")
    if effect == 0.0:
        return float("inf")
    quantiles = NormalDist().inv_cdf(1.0 - level / 2.0) + NormalDist().inv_cdf(power)
    return 4.0 * quantiles**2 / (3.0 * effect**2)
