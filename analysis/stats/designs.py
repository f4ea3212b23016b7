"""Designs of studies and expectations about their true values, from which simulations are drawn (methods/planning)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]
A, N, B = range(3)
LABELS = 3
HUMAN, MODEL = range(2)
_QUADRATURE = np.polynomial.hermite_e.hermegauss(41)
_FAR = 60.0  # on the log scale: beyond it, a probability is 0 or 1


class BadDesignError(ValueError):
    """The design is not feasible, or the expectation is impossible."""


@dataclass(frozen=True)
class Design:
    """The size and structure of a study.

    Attributes
    ----------
    topics, responses : int
        Number of topics, and of responses to each. Humans and models alternate: every second response is a model's.
    styles : int
        Number of styles. Pairs of one human's and one model's response take the styles in turn.
    dimensions, forced : int
        Number of dimensions, and how many of them (the last ones) allow only a or b.
    k : int
        Number of judges of each presented pair.
    both_orders : float
        Share of the pairs that are presented in both orders.
    pairs : int or None
        Number of judged pairs of each topic; None: all.
    items : int
        Maximum number of presented pairs in a questionnaire.
    questionnaires_per_person : int
        Maximum number of questionnaires that one person answers.
    """

    topics: int
    responses: int
    styles: int = 1
    dimensions: int = 7
    forced: int = 1
    k: int = 5
    both_orders: float = 1 / 3
    pairs: int | None = None
    items: int = 15
    questionnaires_per_person: int = 1

    def __post_init__(self) -> None:
        least = {"topics": 1, "responses": 2, "styles": 1, "dimensions": 1, "k": 1, "items": 1}
        for name, low in (least | {"questionnaires_per_person": 1}).items():
            if getattr(self, name) < low:
                raise BadDesignError(f"{name} must be at least {low}, it is {getattr(self, name)}")
        if not 0 <= self.both_orders <= 1 or not 0 <= self.forced <= self.dimensions:
            raise BadDesignError("both_orders lies between 0 and 1, and forced between 0 and the number of dimensions")
        if self.pairs is not None and self.pairs < 1:
            raise BadDesignError(f"at least one pair of each topic must be judged, not {self.pairs}")

    @property
    def pairs_per_topic(self) -> int:
        """Number of judged pairs of each topic; both orders count once."""
        every = self.responses * (self.responses - 1) // 2
        return every if self.pairs is None else min(self.pairs, every)

    @property
    def pairs_shown(self) -> int:
        """Number of presented pairs; both orders count."""
        shown_once = self.topics * self.pairs_per_topic
        return shown_once + int(np.floor(shown_once * self.both_orders + 0.5))

    @property
    def questionnaires(self) -> int:
        """Number of questionnaires for the presented pairs."""
        return -(-self.pairs_shown // self.items)

    @property
    def people(self) -> int:
        """Minimum number of judges."""
        return max(self.k, -(-self.questionnaires * self.k // self.questionnaires_per_person))

    @property
    def origin(self) -> Ints:
        """The author of each response of a topic: `HUMAN` or `MODEL`, shape (responses,)."""
        return np.arange(self.responses) % 2

    @property
    def style(self) -> Ints:
        """The style of each response of a topic, shape (responses,)."""
        return np.arange(self.responses) // 2 % self.styles


@dataclass(frozen=True, eq=False)
class Competence:
    """Judges' MACE parameters, from which simulated judges are drawn.

    Attributes
    ----------
    spam : ndarray of shape (n_people, n_dimensions)
        Probability that each person spams a pair on each dimension.
    strategy : ndarray of shape (n_people, n_dimensions, 3)
        Label probabilities of a, n and b when spamming.
    """

    spam: Floats
    strategy: Floats

    def __post_init__(self) -> None:
        is_misshapen = self.spam.ndim != 2 or not self.spam.size or self.strategy.shape != (*self.spam.shape, LABELS)
        if is_misshapen or not np.all((self.spam >= 0) & (self.spam <= 1)) or not np.all(self.strategy >= 0):
            raise BadDesignError(
                "competences are probabilities, one a person and dimension, with strategies over a, n, b"
            )
        if not np.allclose(self.strategy.sum(axis=2), 1.0):
            raise BadDesignError("the probabilities of a strategy add up to 1")

    def draw(self, people: int, design: Design, rng: np.random.Generator) -> Competence:
        """Draw people with replacement, each with all dimensions; known dimensions are repeated if the design has more.

        If a dimension allows only a or b, the strategy's probability of n is divided equally between them.
        """
        annotator = rng.integers(len(self.spam), size=people)
        dimension = np.arange(design.dimensions) % self.spam.shape[1]
        strategy = self.strategy[annotator][:, dimension]
        forced = slice(design.dimensions - design.forced, None)
        strategy[:, forced, (A, B)] += strategy[:, forced, N, None] / 2
        strategy[:, forced, N] = 0
        return Competence(self.spam[annotator][:, dimension], strategy)


def shifted(people: Competence, by: float) -> Competence:
    """Return the same people with their log odds of spamming shifted."""
    return Competence(harder(people.spam, by), people.strategy)


def harder(spam: Floats, by: float | Floats) -> Floats:
    """Shift the log odds of spam probabilities; probabilities of 0 and 1 do not change."""
    moved: Floats = scipy.special.expit(scipy.special.logit(spam) + by)
    return moved


def competence(
    mean: float, spread: float, *, dimensions: int, rng: np.random.Generator, people: int = 1000
) -> Competence:
    """Draw people whose competence (1 - spam probability) has a Beta distribution and is equal on all dimensions.

    Parameters
    ----------
    mean, spread : float
        Mean and standard deviation of competence between people. The published crowd had about 0.45 and 0.3.
    dimensions : int
        Number of dimensions.
    rng : numpy.random.Generator
        Source of random draws.
    people : int
        Number of people.

    Returns
    -------
    Competence
        With strategies from a Dirichlet distribution with 0.7 for each label: some prefer a side, others rarely choose.

    Raises
    ------
    BadDesignError
        If no distribution between 0 and 1 has this mean and spread.
    """
    if not 0 < mean < 1 or not 0 <= spread**2 < mean * (1 - mean):
        msg = f"no competences between 0 and 1 have the mean {mean} and the standard deviation {spread}"
        raise BadDesignError(msg)
    if spread == 0:
        able = np.full(people, mean)
    else:
        concentration = mean * (1 - mean) / spread**2 - 1
        able = rng.beta(mean * concentration, (1 - mean) * concentration, people)
    strategy = rng.dirichlet([0.7] * LABELS, (people, dimensions))
    return Competence(np.repeat(1 - able[:, None], dimensions, axis=1), strategy)


@dataclass(frozen=True, eq=False)
class Expectation:
    """Expectations about the true values of a study.

    Attributes
    ----------
    competence : Competence
        The people to draw judges from.
    effect : float
        Mean merit of the model's responses minus that of humans' responses, on the log scale. For two average
        responses, one of which is better, the odds that the model's is better are e^effect.
    spread : float
        Standard deviation of merits between responses to a topic by writers of one origin, on the log scale.
    neutral : float
        Share of pairs in which neither is better, on dimensions that allow this answer.
    correlation : float
        Correlation between dimensions of a response's merits, and of the noise in judgments of a pair, 0 to 1.
    difficulty : float
        Variation of difficulty between topics: standard deviation of the log odds with which their pairs are spammed.
    topic_effect, own_topic_effect : float
        Variation of the effect between topics, as standard deviations: common to all dimensions, and specific to each
        dimension.
    style_effect : float
        Standard deviation of the effect between styles and dimensions, equal on all topics. Drawn anew for each study.
    style_pattern : ndarray of shape (n_styles, n_dimensions), or None
        Known deviations of the effect by style and dimension, with mean 0. They replace `style_effect` if the design
        has the same number of styles and dimensions.
    merit_correlation : float or None
        Correlation of merits between dimensions; None: equal to `correlation`.
    """

    competence: Competence
    effect: float = 0.0
    spread: float = 1.0
    neutral: float = 0.3
    correlation: float = 0.6
    difficulty: float = 0.0
    topic_effect: float = 0.0
    own_topic_effect: float = 0.0
    style_effect: float = 0.0
    style_pattern: Floats | None = None
    merit_correlation: float | None = None

    def __post_init__(self) -> None:
        spreads = (self.spread, self.difficulty, self.topic_effect, self.own_topic_effect, self.style_effect)
        if not np.isfinite([self.effect, *spreads]).all() or min(spreads) < 0:
            raise BadDesignError("effect is a number; spread, difficulty and variations of the effect are at least 0")
        if not 0 <= self.neutral < 1 or not all(0 <= share <= 1 for share in (self.correlation, self.of_merits)):
            raise BadDesignError("neutral is a share below 1, and correlations lie between 0 and 1")

    @property
    def of_merits(self) -> float:
        """Correlation of merits between dimensions."""
        return self.correlation if self.merit_correlation is None else self.merit_correlation


def across(expected: Expectation) -> float:
    """Compute the standard deviation of merits in pairs of a human's and a model's response, equal for both."""
    pattern = expected.style_pattern
    styles = expected.style_effect if pattern is None else float(pattern.std(ddof=1))
    varied = expected.topic_effect**2 + expected.own_topic_effect**2 + styles**2
    return float(np.sqrt(expected.spread**2 + varied / 2))


def threshold(design: Design, expected: Expectation) -> float:
    """Compute the threshold, on the log scale, at which the expected share of pairs is neutral.

    The difference in merit of a pair is normal, around 0 within an origin and around the effect between origins. It is
    integrated by Gauss-Hermite quadrature.
    """
    if expected.neutral == 0:
        return 0.0
    models = int(design.origin.sum())
    mixed = 2 * models * (design.responses - models) / (design.responses * (design.responses - 1))

    def excess(t: float) -> float:
        within = _better(0.0, expected.spread, -t) - _better(0.0, expected.spread, t)
        between = _better(expected.effect, across(expected), -t) - _better(expected.effect, across(expected), t)
        return (1 - mixed) * within + mixed * between - expected.neutral

    return float(scipy.optimize.brentq(excess, 0.0, _FAR + abs(expected.effect) + 12 * across(expected)))


def preferred(design: Design, expected: Expectation) -> float:
    """Compute the share of human-model pairs with a better response in which the model's response is better.

    Examples
    --------
    >>> people = competence(0.5, 0.2, dimensions=1, rng=np.random.default_rng(0))
    >>> round(preferred(Design(topics=1, responses=2), Expectation(people, effect=0.0)), 3)
    0.5
    """
    t = threshold(design, expected)
    spread = across(expected)
    model, human = _better(expected.effect, spread, t), _better(-expected.effect, spread, t)
    return model / (model + human)


def win_share(design: Design, expected: Expectation) -> float:
    """Return how often a model's response wins against a person's by the true labels; a tie is half a win."""
    t, spread = threshold(design, expected), across(expected)
    return (1 + _better(expected.effect, spread, t) - _better(-expected.effect, spread, t)) / 2


def with_grade_difference(design: Design, expected: Expectation, difference: float) -> Expectation:
    """Return the expectation with the effect at which mean grades differ this much by the true labels.

    Grades are those of `analysis.stats.sequential`: responses times the share of wins between two systems.

    Raises
    ------
    BadDesignError
        If the difference is as large as grades allow, or larger.
    """
    bound = _FAR + 12 * across(expected)

    def excess(effect: float) -> float:
        return design.responses * (win_share(design, replace(expected, effect=effect)) - 0.5) - difference

    if not excess(-bound) < 0 < excess(bound):
        raise BadDesignError(f"mean grades of {design.responses} responses cannot differ by {difference}")
    return replace(expected, effect=float(scipy.optimize.brentq(excess, -bound, bound)))


def with_preferred(design: Design, expected: Expectation, share: float) -> Expectation:
    """Return the expectation with the effect at which `preferred` equals this share.

    Raises
    ------
    BadDesignError
        If the share is not between 0 and 1, or too close to 0 or 1 for any effect.
    """
    bound = _FAR + 12 * across(expected)

    def excess(effect: float) -> float:
        return preferred(design, replace(expected, effect=effect)) - share

    if not 0 < share < 1 or excess(-bound) > 0 or excess(bound) < 0:
        raise BadDesignError(f"preferred lies between 0 and 1, and not at either end, it is {share}")
    return replace(expected, effect=float(scipy.optimize.brentq(excess, -bound, bound)))


def _better(lead: float, spread: float, by: float) -> float:
    """Compute how often a lead with logistic noise exceeds `by`, averaged over varying merits."""
    nodes, weights = _QUADRATURE
    return float(weights @ scipy.special.expit(lead + np.sqrt(2) * spread * nodes - by)) / float(weights.sum())
