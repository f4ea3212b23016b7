"""MACE as the paper writes it, in plain loops: the oracle of the fast implementation, for tests and benchmarks."""

from __future__ import annotations

import math

from scipy.special import digamma


def e_step(votes, spam, know, strategy, labels, fixed=()):
    """`votes`: item -> list of (annotator, label). Returns likelihood, posteriors and expected counts."""
    fixed = dict(fixed)
    annotators = len(spam)
    log_likelihood = 0.0
    posteriors = {}
    spam_count = [0.0] * annotators
    know_count = [0.0] * annotators
    strategy_count = [[0.0] * labels for _ in range(annotators)]
    for item, given in votes.items():
        joint = []
        for true in range(labels):
            probability = 1.0 / labels
            for annotator, label in given:
                vote = spam[annotator] * strategy[annotator][label]
                if label == true:
                    vote += know[annotator]
                probability *= vote
            joint.append(probability if fixed.get(item, true) == true else 0.0)
        total = sum(joint)
        log_likelihood += math.log(total)
        posteriors[item] = [p / total for p in joint]
        for annotator, label in given:
            for true in range(labels):
                p = posteriors[item][true]
                spammed = spam[annotator] * strategy[annotator][label]
                if label == true:
                    share = know[annotator] / (spammed + know[annotator])
                    know_count[annotator] += p * share
                    spam_count[annotator] += p * (1 - share)
                    strategy_count[annotator][label] += p * (1 - share)
                else:
                    spam_count[annotator] += p
                    strategy_count[annotator][label] += p
    return log_likelihood, posteriors, (spam_count, know_count, strategy_count)


def m_step(counts, labels, priors=(0.5, 0.5, 10.0)):
    spam_count, know_count, strategy_count = counts
    smoothing = 0.1 / labels
    spam, know, strategy = [], [], []
    for s, k, t in zip(spam_count, know_count, strategy_count, strict=True):
        s, k = s + priors[0] + smoothing, k + priors[1] + smoothing
        spam.append(math.exp(digamma(s) - digamma(s + k)))
        know.append(math.exp(digamma(k) - digamma(s + k)))
        t = [x + priors[2] + smoothing for x in t]
        strategy.append([math.exp(digamma(x) - digamma(sum(t))) for x in t])
    return spam, know, strategy


def fit(votes, spam, know, strategy, labels, iterations, fixed=()):
    """EM for a number of iterations from given parameters; the likelihood is that of the parameters returned."""
    for _ in range(iterations):
        _, _, counts = e_step(votes, spam, know, strategy, labels, fixed)
        spam, know, strategy = m_step(counts, labels)
    log_likelihood, posteriors, _ = e_step(votes, spam, know, strategy, labels, fixed)
    return log_likelihood, posteriors, (spam, know, strategy)
