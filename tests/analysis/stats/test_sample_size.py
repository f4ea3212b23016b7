"""The number of pairs for the signed-rank test: by simulation, and against closed forms."""

import math

import numpy as np
import pytest
from scipy import stats

from analysis.stats import significance
from analysis.stats.sample_size import signed_rank_pairs


@pytest.mark.extended
@pytest.mark.parametrize("effect", [0.2, 0.4])
@pytest.mark.parametrize("draw", ["normal", "grades"])
def test_test_of_so_many_pairs_has_the_power(effect, draw):
    """Simulated: differences with this effect are found in 80 % of studies of the stated size."""
    rng = np.random.default_rng(20)
    n = round(signed_rank_pairs(effect))
    if draw == "normal":
        # The sum of two differences is normal with mean 2 d and variance 2.
        shift = stats.norm.ppf((1 + effect) / 2) / math.sqrt(2)
        differences = rng.normal(shift, 1.0, size=(600, n))
    else:
        # Differences in grade have few sizes; independent of the signs, they leave the effect at 2 q - 1.
        signs = np.where(rng.random((600, n)) < (1 + effect) / 2, 1.0, -1.0)
        differences = signs * rng.choice([1, 2, 3], (600, n))
    share = np.mean([significance.signed_rank(row).p <= 0.05 for row in differences])
    assert share == pytest.approx(0.8, abs=0.07)


def test_small_shifts_need_pi_thirds_of_the_pairs_of_a_t_test():
    """In closed form: the efficiency of the test against Student's is 3 / pi for normal differences."""
    shift = 0.01
    effect = 2 * stats.norm.cdf(math.sqrt(2) * shift) - 1
    of_t_test = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2 / shift**2
    assert signed_rank_pairs(effect) == pytest.approx(math.pi / 3 * of_t_test, rel=1e-3)


def test_half_the_effect_needs_four_times_the_pairs():
    assert signed_rank_pairs(0.15) == pytest.approx(4 * signed_rank_pairs(0.3))
    assert signed_rank_pairs(-0.3) == signed_rank_pairs(0.3)
    assert signed_rank_pairs(0.3, level=0.01) > signed_rank_pairs(0.3)
    assert signed_rank_pairs(0.3, power=0.9) > signed_rank_pairs(0.3)


def test_no_effect_is_never_found():
    assert math.isinf(signed_rank_pairs(0.0))
    for arguments in ({"effect": 1.1}, {"effect": 0.3, "level": 0.0}, {"effect": 0.3, "power": 1.0}):
        with pytest.raises(ValueError, match="between"):
            signed_rank_pairs(**arguments)
