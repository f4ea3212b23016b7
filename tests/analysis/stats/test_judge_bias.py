"""Biases of judges: least squares where people have no errors, planted biases, and rates of false alarms."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats.judge_bias import FEWEST_CLUSTERS, BiasUndefinedError, bias

TOPICS, PAIRS, VOTES = 40, 6, 5


def study(rng, *, planted=0.0, sharp=2.0, better=0.5, topics=TOPICS):
    """A judge `sharp` times as reliable as people, who follows the attribute alone on the share `planted` of pairs.

    Responses with the attribute are better by `better`, which is no bias, and by more in some topics than in others.
    """
    n = topics * PAIRS
    topic = np.repeat(np.arange(topics), PAIRS)
    attribute = rng.choice([-1, 1], n)
    lead = rng.normal(0, 0.8, n) + (better + rng.normal(0, 0.4, topics)[topic]) * attribute

    def choices(strength, shape):
        noisy = strength * np.broadcast_to(lead[:, None], shape) + rng.logistic(size=shape)
        return np.sign(noisy) * (np.abs(noisy) > 0.3)

    judge = choices(sharp, (n, 1))[:, 0]
    return np.where(rng.random(n) < planted, attribute, judge), choices(1.0, (n, VOTES)), attribute, topic


def rejected(studies, seed, **planted):
    rng = np.random.default_rng(seed)
    return sum(bias(*study(rng, **planted)).p <= 0.05 for _study in range(studies))


@pytest.mark.parametrize(("sharp", "better"), [(0.5, 0.5), (1.0, 0.0), (3.0, 0.5)])
def test_false_alarms_are_rare_however_reliable_the_judge_and_though_long_responses_are_better(sharp, better):
    studies = 300
    low, high = stats.binom.ppf([0.001, 0.999], studies, 0.05)
    assert low <= rejected(studies, 1, sharp=sharp, better=better) <= high


def test_the_share_of_choices_alone_would_accuse_a_judge_who_is_only_more_reliable():
    judge, votes, attribute, topic = study(np.random.default_rng(3), sharp=4.0, better=0.5, topics=1000)
    naive = np.mean(attribute * (judge - votes.mean(axis=1))) / 2
    assert naive > 0.05
    result = bias(judge, votes, attribute, topic)
    assert abs(result.estimate) < 0.03
    assert result.reliability > 1.2


def test_a_planted_bias_is_found_and_its_size_estimated():
    studies = 100
    found = rejected(studies, 2, planted=0.3)
    assert found >= stats.binom.ppf(0.001, studies, 0.9)
    # The judge follows the attribute on 30 % of pairs. Otherwise it is right or wrong without regard to it.
    large = bias(*study(np.random.default_rng(4), planted=0.3, better=0.0, topics=2000))
    assert large.estimate == pytest.approx(0.15, abs=0.02)
    assert large.low < 0.15 < large.high


def test_people_without_errors_give_least_squares():
    rng = np.random.default_rng(6)
    n = 60
    people, attribute = rng.choice([-1, 0, 1], n), rng.choice([-1, 0, 1], n)
    judge, topic = rng.choice([-1, 0, 1], n).astype(float), np.repeat(np.arange(n // 3), 3)
    votes = np.repeat(people[:, None], 3, axis=1).astype(float)
    votes[0, 1:] = np.nan  # one vote only
    judge[1] = np.nan
    result = bias(judge, votes, attribute, topic)
    design = np.column_stack([people, attribute, np.ones(n)])[2:]
    coefficients, *_rest = np.linalg.lstsq(design, judge[2:], rcond=None)
    assert (result.reliability, 2 * result.estimate) == pytest.approx(tuple(coefficients[:2]))
    # The sandwich variance with the clusters' sums of scores, by its definition.
    scores = design * (judge[2:] - design @ coefficients)[:, None]
    sums = np.array([scores[topic[2:] == t].sum(axis=0) for t in np.unique(topic[2:])])
    inverse = np.linalg.inv(design.T @ design)
    variance = (inverse @ sums.T @ sums @ inverse)[1, 1] * len(sums) / (len(sums) - 1)
    t = coefficients[1] / np.sqrt(variance)
    assert result.p == pytest.approx(2 * stats.t.sf(abs(t), len(sums) - 1))
    assert (result.pairs, result.clusters) == (np.count_nonzero(attribute[2:]), len(sums))


def test_what_cannot_be_told_has_a_reason():
    judge, votes, attribute, topic = study(np.random.default_rng(0))
    rng = np.random.default_rng(1)
    reasons = set()
    for wrong in (
        (judge, votes, attribute * 0, topic),
        (judge * np.nan, votes, attribute, topic),
        (judge, votes, attribute, topic % (FEWEST_CLUSTERS - 1)),
        (judge, rng.permuted(np.tile([1.0, -1.0], (len(judge), 1)), axis=1), attribute, topic),
    ):
        with pytest.raises(BiasUndefinedError) as refused:
            bias(*wrong)
        reasons.add(str(refused.value))
    assert len(reasons) == 3
    assert not any("; " in reason for reason in reasons)
    with pytest.raises(ValueError, match="pair"):
        bias(judge[1:], votes, attribute, topic)
