"""Simulated crowd judgments with known merits, labels and competences (docs/methods/planning.md).

Simulation uses the models of the analysis. Merits give true labels as in Rao and Kupper's model (`bradley_terry`), and
labels give judgments as in MACE's generative model (`mace`). The correct result of an analysis is therefore known, and
its uncertainty can be measured by running it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.designs import MODEL, A, B, Competence, Design, Expectation, Ints, N, harder, threshold


@dataclass(frozen=True, eq=False)
class Simulated:
    """A simulated study: its true parameters and its judgments.

    Attributes
    ----------
    design : Design
    topic, first, second : ndarray of int, shape (n_items,)
        The presented pairs: the topic, and the indices within the topic of the left and the right response.
    merit : ndarray of shape (n_topics, n_responses, n_dimensions)
    truth : ndarray of int, shape (n_items, n_dimensions)
        The true labels: 0 a, 1 n, 2 b.
    competence : Competence
        The simulated judges.
    item, coder : ndarray of int, shape (n_votes,)
    label : ndarray of int, shape (n_votes, n_dimensions)
        The judged labels. `spammed`, of the same shape, marks judgments given without reading.
    """

    design: Design
    topic: Ints
    first: Ints
    second: Ints
    merit: Floats
    truth: Ints
    competence: Competence
    item: Ints
    coder: Ints
    label: Ints
    spammed: NDArray[np.bool_] = field(repr=False)


def simulate(design: Design, expected: Expectation, rng: np.random.Generator) -> Simulated:
    """Draw a study's merits, true labels, people and judgments.

    Each presented pair has its own true label, also the two orders of the same pair, as MACE and the grades assume.

    Parameters
    ----------
    design : Design
    expected : Expectation
    rng : numpy.random.Generator
        Source of all random draws.

    Returns
    -------
    Simulated

    Examples
    --------
    >>> from analysis.stats import designs
    >>> rng = np.random.default_rng(0)
    >>> people = designs.competence(0.8, 0.1, dimensions=2, rng=rng)
    >>> study = simulate(Design(topics=3, responses=4, dimensions=2, k=3), Expectation(people), rng)
    >>> study.label.shape  # 3 topics, 6 pairs each, a third of them in both orders, 3 judges, 2 dimensions
    (72, 2)
    """
    merit = _merits(design, expected, rng)
    topic, first, second = _pairs(design, rng)
    thresholds = np.full(design.dimensions, threshold(design, expected))
    thresholds[design.dimensions - design.forced :] = 0.0
    lead = merit[topic, first] - merit[topic, second]
    truth = verdict(lead + _correlated(lead.shape, expected.correlation, rng), thresholds)
    item, coder = _staff(design, len(topic), rng)
    people = expected.competence.draw(design.people, design, rng)
    trouble = _shared((design.topics, design.dimensions), expected.correlation, rng) * expected.difficulty
    spam = harder(people.spam[coder], trouble[topic[item]])
    label, spammed = answers(truth[item], spam, people.strategy[coder], rng)
    return Simulated(design, topic, first, second, merit, truth, people, item, coder, label, spammed)


def verdict(lead: ArrayLike, threshold: ArrayLike) -> Ints:
    """Return the label of a perceived lead of the left response.

    0 (a) above the threshold, 2 (b) below its negative, else 1 (n). If the lead is the difference of merits plus a
    standard logistic draw, labels have exactly the probabilities of Rao and Kupper's model.
    """
    x, t = np.asarray(lead, dtype=np.float64), np.asarray(threshold, dtype=np.float64)
    return np.where(x > t, A, np.where(x < -t, B, N))


def answers(
    honest: Ints, spam_probability: ArrayLike, strategy: ArrayLike, rng: np.random.Generator
) -> tuple[Ints, NDArray[np.bool_]]:
    """Simulate the labels of judges who sometimes spam (MACE's generative model).

    Parameters
    ----------
    honest : ndarray of int, shape (...)
        The label of a judge who reads the responses: 0, 1 or 2.
    spam_probability : array_like, broadcast to (...)
    strategy : array_like, broadcast to (..., 3)
        The label probabilities of a judge who does not read them.
    rng : numpy.random.Generator

    Returns
    -------
    label, spammed : ndarray of shape (...)
        The judged label, and whether it is spam.
    """
    upto = np.cumsum(np.asarray(strategy, dtype=np.float64)[..., :B], axis=-1)
    draw = rng.uniform(size=honest.shape)
    spam_answer = np.where(draw < upto[..., A], A, np.where(draw < upto[..., N], N, B))
    spammed = rng.uniform(size=honest.shape) < np.asarray(spam_probability, dtype=np.float64)
    return np.where(spammed, spam_answer, honest), spammed


def _merits(design: Design, expected: Expectation, rng: np.random.Generator) -> Floats:
    shape = (design.topics, design.responses, design.dimensions)
    merit = expected.spread * _shared(shape, expected.of_merits, rng)
    lead = expected.effect + expected.topic_effect * rng.normal(size=(design.topics, 1, 1))
    lead = lead + expected.own_topic_effect * rng.normal(size=(design.topics, 1, design.dimensions))
    styles, pattern = (
        expected.style_effect * rng.normal(size=(design.styles, design.dimensions)),
        expected.style_pattern,
    )
    if pattern is not None and pattern.shape == styles.shape:
        styles = pattern
    # Centred: the effect is the mean over all styles and dimensions.
    lead = lead + (styles - styles.mean())[design.style]
    return np.asarray(merit + lead * (design.origin == MODEL)[:, None])


def _correlated(shape: tuple[int, ...], correlation: float, rng: np.random.Generator) -> Floats:
    """Draw logistic noise that is correlated between dimensions (a Gaussian copula)."""
    noise: Floats = scipy.special.logit(np.clip(scipy.special.ndtr(_shared(shape, correlation, rng)), 1e-15, 1 - 1e-15))
    return noise


def _shared(shape: tuple[int, ...], correlation: float, rng: np.random.Generator) -> Floats:
    """Draw standard normal numbers that are correlated along the last axis, the dimensions."""
    common, independent = rng.normal(size=(*shape[:-1], 1)), rng.normal(size=shape)
    return np.asarray(np.sqrt(correlation) * common + np.sqrt(1 - correlation) * independent)


def _pairs(design: Design, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Draw the presented pairs: random sides, and the pairs shown in both orders spread evenly over topics.

    In a sample of pairs, each response appears about equally often: neighbours on a ring come first, then responses at
    distance two, and so on.
    """
    edges = np.array(
        sorted(combinations(range(design.responses), 2), key=lambda edge: ring_distance(edge, design.responses))
    )
    kept_edges = edges[: design.pairs_per_topic]
    order = np.argsort(rng.random((design.topics, design.responses)), axis=1)
    first = order[:, kept_edges[:, 0]].ravel()
    second = order[:, kept_edges[:, 1]].ravel()
    turned = rng.random(len(first)) < 0.5
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    topic = np.repeat(np.arange(design.topics), len(kept_edges))
    number = design.pairs_shown - len(topic)
    shuffled = np.lexsort((rng.random(len(topic)), topic))
    marks = np.floor((np.arange(len(topic) + 1) * number + rng.uniform() * len(topic)) / len(topic))
    twice = shuffled[np.diff(marks) > 0][:number]
    return np.r_[topic, topic[twice]], np.r_[first, second[twice]], np.r_[second, first[twice]]


def ring_distance(edge: tuple[int, int], responses: int) -> tuple[int, int]:
    """Return the distance of two responses on a ring, by which pairs are chosen, and the first of them."""
    distance = edge[1] - edge[0]
    return min(distance, responses - distance), edge[0]


def _staff(design: Design, items: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Assign judges: pairs are dealt to questionnaires, each with k judges."""
    sheet = np.empty(items, dtype=np.int64)
    for number, assigned_items in enumerate(np.array_split(rng.permutation(items), design.questionnaires)):
        sheet[assigned_items] = number
    seats = np.arange(design.questionnaires * design.k) % design.people
    item = np.repeat(np.arange(items), design.k)
    return item, seats.reshape(design.questionnaires, design.k)[sheet].ravel()
