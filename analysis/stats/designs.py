"""What a study is to be, and what one expects to be true of it: simulations are drawn from both (methods/planning)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import expit, logit

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]
A, N, B = range(3)
LABELS = 3
HUMAN, MODEL = range(2)
_QUADRATURE = np.polynomial.hermite_e.hermegauss(41)
_FAR = 60.0  # on the log scale: beyond it a probability is 0 or 1


class BadDesignError(ValueError):
    """A design that nobody could carry out, or an expectation that cannot be."""


@dataclass(frozen=True)
class Design:
    """What is judged, and by how many.

    Attributes
    ----------
    topics, responses : int
        How many topics, and responses to each. Every second response is a human's, the others a model's.
    styles : int
        In how many styles; one human's and one model's response after the other take them in turn.
    dimensions, forced : int
        How many dimensions are asked, and how many of them (the last ones) leave no choice but a or b.
    k : int
        By how many people each presented pair is judged.
    both_orders : float
        Share of the pairs that are presented in both orders.
    pairs : int or None
        How many pairs of each topic are judged; None: all.
    items : int
        How many presented pairs a questionnaire holds at most.
    questionnaires_per_person : int
        How many questionnaires one person answers at most.
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
        """How many pairs of each topic are judged, each counted once."""
        every = self.responses * (self.responses - 1) // 2
        return every if self.pairs is None else min(self.pairs, every)

    @property
    def pairs_shown(self) -> int:
        """How many pairs are presented, each order counted."""
        shown_once = self.topics * self.pairs_per_topic
        return shown_once + int(np.floor(shown_once * self.both_orders + 0.5))

    @property
    def questionnaires(self) -> int:
        """How many questionnaires hold them."""
        return -(-self.pairs_shown // self.items)

    @property
    def people(self) -> int:
        """How many people it takes at least."""
        return max(self.k, -(-self.questionnaires * self.k // self.questionnaires_per_person))

    @property
    def origin(self) -> Ints:
        """Who wrote each response of a topic: `HUMAN` or `MODEL`, shape (responses,)."""
        return np.arange(self.responses) % 2

    @property
    def style(self) -> Ints:
        """The style of each response of a topic, shape (responses,)."""
        return np.arange(self.responses) // 2 % self.styles


@dataclass(frozen=True, eq=False)
class Competence:
    """People as MACE describes them, to draw from.

    Attributes
    ----------
    spam : ndarray of shape (n_people, n_dimensions)
        How probably each spams a pair on each dimension.
    strategy : ndarray of shape (n_people, n_dimensions, 3)
        What each then answers: probabilities of a, n and b.
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
        """Draw people with replacement, each with all their dimensions; known dimensions stand in for further ones.

        Where a dimension leaves no choice but a or b, half of what a strategy gives to n goes to either.
        """
        annotator = rng.integers(len(self.spam), size=people)
        dimension = np.arange(design.dimensions) % self.spam.shape[1]
        strategy = self.strategy[annotator][:, dimension]
        forced = slice(design.dimensions - design.forced, None)
        strategy[:, forced, (A, B)] += strategy[:, forced, N, None] / 2
        strategy[:, forced, N] = 0
        return Competence(self.spam[annotator][:, dimension], strategy)


def shifted(people: Competence, by: float) -> Competence:
    """The same people with the log odds of spamming moved by so much."""
    return Competence(harder(people.spam, by), people.strategy)


def harder(spam: Floats, by: float | Floats) -> Floats:
    """Spam probabilities with their log odds moved by so much; certain ones stay certain."""
    moved: Floats = expit(logit(spam) + by)
    return moved


def competence(
    mean: float, spread: float, *, dimensions: int, rng: np.random.Generator, people: int = 1000
) -> Competence:
    """People whose competence (1 - spam probability) follows a Beta distribution, the same on all dimensions.

    Parameters
    ----------
    mean, spread : float
        Mean and standard deviation of competence between people. The published crowd had about 0.45 and 0.3.
    dimensions : int
        How many dimensions.
    rng : numpy.random.Generator
        Source of the draws.
    people : int
        How many people to draw from.

    Returns
    -------
    Competence
        With strategies from a Dirichlet distribution with 0.7 for each label: some prefer a side, some avoid to choose.

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
    """What one expects to be true.

    Attributes
    ----------
    competence : Competence
        The people to draw judges from.
    effect : float
        By how much the mean merit of the model's responses exceeds that of humans', on the log scale: of two average
        responses of which one is better, the model's is so with the odds e^effect.
    spread : float
        Standard deviation of merits between responses to a topic by writers of one origin, on the log scale.
    neutral : float
        Share of the pairs of which neither is better, on dimensions where that may be said.
    correlation : float
        How far a response's merits, and what else decides over a pair, go together between dimensions, 0 to 1.
    difficulty : float
        How much harder some topics are to judge than others: standard deviation between topics of the log odds with
        which their pairs are spammed.
    topic_effect, own_topic_effect : float
        How much the effect differs between topics, as standard deviations: on all dimensions alike, and on each by
        itself.
    style_effect : float
        How much the effect differs between styles and dimensions, the same on all topics: a standard deviation. Drawn
        anew for each study.
    style_pattern : ndarray of shape (n_styles, n_dimensions), or None
        By how much, where it is known and the design has as many of them: in place of `style_effect`. Mean 0.
    merit_correlation : float or None
        How far merits alone go together between dimensions; None: as `correlation` says.
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
        """How far merits go together between dimensions."""
        return self.correlation if self.merit_correlation is None else self.merit_correlation


def across(expected: Expectation) -> float:
    """The standard deviation of merits in pairs of a person's and a model's response, the same for both."""
    pattern = expected.style_pattern
    styles = expected.style_effect if pattern is None else float(pattern.std(ddof=1))
    varied = expected.topic_effect**2 + expected.own_topic_effect**2 + styles**2
    return float(np.sqrt(expected.spread**2 + varied / 2))


def threshold(design: Design, expected: Expectation) -> float:
    """The threshold at which the expected share of pairs is neutral, on the log scale.

    Found on the distribution of a pair's difference in merit, normal around 0 within an origin and around the effect
    between origins, by Gauss-Hermite quadrature.
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
    """How often the model's response is better, of pairs of a human's and a model's in which one is better.

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


def with_preferred(design: Design, expected: Expectation, share: float) -> Expectation:
    """The expectation with the effect under which `preferred` is this share.

    Raises
    ------
    BadDesignError
        If the share is not between 0 and 1, or so close to either that no effect gives it.
    """
    bound = _FAR + 12 * across(expected)

    def excess(effect: float) -> float:
        return preferred(design, replace(expected, effect=effect)) - share

    if not 0 < share < 1 or excess(-bound) > 0 or excess(bound) < 0:
        raise BadDesignError(f"preferred lies between 0 and 1, and not at either end, it is {share}")
    return replace(expected, effect=float(scipy.optimize.brentq(excess, -bound, bound)))


def _better(lead: float, spread: float, by: float) -> float:
    """How often a response perceived with logistic noise is better by more than this, over merits that vary."""
    nodes, weights = _QUADRATURE
    return float(weights @ expit(lead + np.sqrt(2) * spread * nodes - by)) / float(weights.sum())
