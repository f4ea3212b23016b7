"""The three losses against loops after the paper's formulas, and their gradients against finite differences."""

import math

import numpy as np
import pytest

from analysis.rag.uplift_rag.training import Weights, losses
from tests.analysis.rag.neural import torch


def batch(rng: np.random.Generator, sizes=(4, 1, 7, 2)) -> tuple[np.ndarray, np.ndarray]:
    """Logits and uplift with ties, negative and zero values."""
    n = sum(sizes)
    return rng.normal(size=(n, 2)) * 2, rng.choice([-1.0, -0.4, 0.0, 0.0, 0.25, 2 / 3, 1.0], size=n)


def plainly(logits: np.ndarray, uplift: np.ndarray, sizes) -> tuple[float, float, float]:
    """Loops over queries, documents and pairs, as printed."""
    point = pair = listwise = 0.0
    start = 0
    for size in sizes:
        gain = uplift[start : start + size]
        p = [math.exp(b) / (math.exp(a) + math.exp(b)) for a, b in logits[start : start + size]]
        start += size
        for j in range(size):
            point -= math.log(p[j]) if gain[j] > 0 else math.log(1 - p[j])
            for m in range(j + 1, size):
                if gain[j] != gain[m]:
                    better, worse = (j, m) if gain[j] > gain[m] else (m, j)
                    pair -= math.log(1 / (1 + math.exp(-(p[better] - p[worse]))))
        ideal = [math.exp(each) / sum(math.exp(g) for g in gain) for each in gain]
        predicted = [math.exp(each) / sum(math.exp(q) for q in p) for each in p]
        listwise += sum(i * math.log(i / r) for i, r in zip(ideal, predicted, strict=True))
    return point, pair, listwise


def ours(logits, uplift, sizes):
    found = losses(torch.tensor(logits), torch.tensor(uplift), sizes)
    return [float(each) for each in (found.point, found.pair, found.list)]


@pytest.mark.parametrize("seed", range(5))
def test_losses_are_the_papers(seed):
    sizes = (4, 1, 7, 2)
    logits, uplift = batch(np.random.default_rng(seed), sizes)
    np.testing.assert_allclose(ours(logits, uplift, sizes), plainly(logits, uplift, sizes), rtol=1e-12)


def test_losses_by_hand():
    """Two documents, equal logits (p = 1/2 each), uplift 1 and 0.

    L_point = 2 ln 2; L_pair = -ln sigma(0) = ln 2; P_U = (e, 1) / (e + 1) against (1/2, 1/2).
    """
    e = math.e
    divergence = e / (e + 1) * math.log(2 * e / (e + 1)) + 1 / (e + 1) * math.log(2 / (e + 1))
    found = ours(np.zeros((2, 2)), np.array([1.0, 0.0]), [2])
    np.testing.assert_allclose(found, [2 * math.log(2), math.log(2), divergence], rtol=1e-12)


@pytest.mark.parametrize("weights", [Weights(1, 0, 0), Weights(0, 1, 0), Weights(0, 0, 1), Weights(0.7, 1.3, 1)])
def test_gradients_are_those_of_finite_differences(weights):
    sizes = (3, 1, 5)
    logits, uplift = batch(np.random.default_rng(7), sizes)

    def value(at: np.ndarray) -> float:
        point, pair, listwise = plainly(at, uplift, sizes)
        return weights.point * point + weights.pair * pair + weights.list * listwise

    tensor = torch.tensor(logits, requires_grad=True)
    losses(tensor, torch.tensor(uplift), sizes).total(weights).backward()
    step = 1e-6
    expected = np.zeros_like(logits)
    for place in np.ndindex(logits.shape):
        up, down = logits.copy(), logits.copy()
        up[place] += step
        down[place] -= step
        expected[place] = (value(up) - value(down)) / (2 * step)
    np.testing.assert_allclose(tensor.grad.numpy(), expected, atol=1e-8)


def test_equal_uplift_has_no_pairs_and_pulls_p_together():
    logits = np.array([[0.0, 1.0], [0.0, -1.0], [0.0, 0.3]])
    found = losses(torch.tensor(logits), torch.tensor([1 / 3, 1 - 2 / 3, 1 / 3]), [3])
    assert float(found.pair) == 0  # 1 - 2/3 is 1/3, whatever a float says
    assert float(found.list) > 0
    together = losses(torch.zeros(3, 2), torch.full((3,), 0.5), [3])
    assert float(together.list) == pytest.approx(0, abs=1e-6)


def test_logits_that_are_sure_give_finite_losses():
    """p is 1 or 0 to the last bit: from the logits' logarithms, nothing is infinite that is not so on paper."""
    found = losses(torch.tensor([[-200.0, 200.0], [200.0, -200.0]]), torch.tensor([0.0, 1.0]), [2])
    assert float(found.point) == pytest.approx(800)
    assert all(math.isfinite(float(each)) for each in (found.pair, found.list))


@pytest.mark.parametrize("sizes", [[], [2, 0], [3], [1, 2]])
def test_sizes_that_do_not_fit(sizes):
    with pytest.raises(ValueError, match=r"\S"):
        losses(torch.zeros(2, 2), torch.zeros(2), sizes)


@pytest.mark.parametrize("weights", [(0, 0, 0), (-1, 1, 1)])
def test_weights_that_learn_nothing(weights):
    with pytest.raises(ValueError, match=r"\S"):
        Weights(*weights)
