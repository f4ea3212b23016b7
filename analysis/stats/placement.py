"""Placement of a new system on a leaderboard from a few votes against anchors (docs/methods/placement.md).

Anchors are the systems of the leaderboard. Their merits m are known with uncertainty. The new system has the merit u. A
vote compares one of its responses with an anchor's response to the same topic; the lead is d = u - m. Votes follow from
leads as in `analysis.stats.vote_model`. The likelihood of all votes of a judge is averaged over the kinds of judges in
the study, so that votes of one judge depend on each other. Votes on the same topic share the new response: the
likelihood is raised to the power of the inverse of their design effect, estimated from the scores of topics.

The posterior of u given the anchors' merits is computed on a grid. Anchors' uncertainty is added by draws of their
merits: to first order, u follows the weighted mean of the anchors that it was compared with.

References
----------
Pauli, Racugno and Ventura, Bayesian composite marginal likelihoods, Statistica Sinica 21 (2011), on raising a composite
likelihood to a power. Chaloner and Verdinelli, Bayesian Experimental Design, Statistical Science 10 (1995).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.vote_model import A, B, Crowd, N, Scale, label_chances, vote_information

Ints = NDArray[np.int64]

#: Half the width of the grid around the anchors, in standard deviations of the prior, and its size.
_REACH: Final = 4.0
_COARSE: Final = 81
_FINE: Final = 161
#: The least standard deviation of the prior, on the log scale of merits.
_LEAST_SPREAD: Final = 1.0
_LEVEL: Final = 0.95
#: The judges' design effect is estimated from this many judges on, and is at most this.
_ENOUGH_JUDGES: Final = 5
_MOST_EFFECT: Final = 3.0
#: What a vote says about its judge, against a vote on a pair whose label is known.
_VOTE_WORTH: Final = 0.25


class TooFewAnchorsError(ValueError):
    """There are fewer than two anchors, so that there is no scale to place a system on."""


@dataclass(frozen=True, eq=False)
class Anchors:
    """The merits of the systems on a leaderboard, with their uncertainty.

    Attributes
    ----------
    merit : ndarray of shape (n_anchors,)
        On the log scale of the leaderboard, finite.
    draws : ndarray of shape (n_draws, n_anchors)
        Draws of the merits, for example of a bootstrap over topics.

    Raises
    ------
    TooFewAnchorsError
        If there are fewer than two.
    ValueError
        If a number is not finite or shapes do not fit.
    """

    merit: Floats
    draws: Floats

    def __post_init__(self) -> None:
        """Check the arrays."""
        if self.merit.size < 2:
            raise TooFewAnchorsError(f"a placement needs at least two anchors, there are {self.merit.size}")
        if self.draws.ndim != 2 or self.draws.shape[1:] != self.merit.shape or not len(self.draws):
            raise ValueError("draws must have a column for each anchor, and at least one row")
        if not (np.isfinite(self.merit).all() and np.isfinite(self.draws).all()):
            raise ValueError("merits of anchors must be finite")

    @classmethod
    def of_intervals(
        cls, merit: ArrayLike, low: ArrayLike, high: ArrayLike, *, rng: np.random.Generator, draws: int = 2000
    ) -> Anchors:
        """Return anchors with independent normal draws from 95 % intervals; NaN in an interval: no uncertainty known.

        An anchor without an interval gets the widest of the others, or none if nobody has one.
        """
        centre = np.asarray(merit, dtype=np.float64)
        width = np.asarray(high, dtype=np.float64) - np.asarray(low, dtype=np.float64)
        has_width = np.isfinite(width)
        width = np.where(has_width, width, width[has_width].max(initial=0.0))
        error = width / (2 * scipy.stats.norm.ppf(0.5 + _LEVEL / 2))
        return cls(centre, centre + error * rng.normal(size=(draws, centre.size)))


@dataclass(frozen=True, eq=False)
class NewVotes:
    """Votes on pairs of a new response and an anchor's response to the same topic, on one dimension.

    Attributes
    ----------
    anchor : ndarray of int, shape (n_votes,)
        Index of the anchor.
    new_is_left : ndarray of bool, shape (n_votes,)
    label : ndarray of int, shape (n_votes,)
        0 the left response is better (a), 1 neither (n), 2 the right one (b).
    judge, topic : ndarray of int, shape (n_votes,)
        From 0.
    spam, experience : ndarray of shape (n_judges,), or None
        Spam probabilities of judges that are known from the study, and the numbers of judgments on which they rest; NaN
        and 0 for others. None: nobody is known.
    """

    anchor: Ints
    new_is_left: NDArray[np.bool_]
    label: Ints
    judge: Ints
    topic: Ints
    spam: Floats | None = None
    experience: Floats | None = None

    def __len__(self) -> int:
        return len(self.anchor)

    @property
    def sign(self) -> Floats:
        """1 where the new response stands left, else -1: the lead as presented is this times u - m."""
        return np.where(self.new_is_left, 1.0, -1.0)


@dataclass(frozen=True, eq=False)
class Prior:
    """What is believed of the new system's merit before people have judged it: a Student t distribution.

    Attributes
    ----------
    centre, scale, freedom : float
    """

    centre: float
    scale: float
    freedom: float

    @classmethod
    def of_anchors(cls, merit: Floats) -> Prior:
        """Return a weak prior: around the anchors, with twice their spread."""
        spread = float(merit.std(ddof=1)) if merit.size > 1 else 0.0
        return cls(float(merit.mean()), max(2.0 * spread, _LEAST_SPREAD), 30.0)

    @classmethod
    def of_model(cls, merit: ArrayLike, model_merit: ArrayLike, new_merit: float) -> Prior | None:
        """Predict the merit by people from the merit by a model's votes, by regression over the anchors.

        Parameters
        ----------
        merit, model_merit : array_like, shape (n_anchors,)
            Merits of the anchors by people's labels, and by the model's votes. NaN: left out.
        new_merit : float
            Merit of the new system by the model's votes, fitted together with `model_merit`.

        Returns
        -------
        Prior or None
            The predictive distribution of the regression. It is as wide as the model errs on the anchors, and wider for
            a system outside their range. None with fewer than four anchors, or if the model sees no difference.
        """
        y, x = np.asarray(merit, dtype=np.float64), np.asarray(model_merit, dtype=np.float64)
        used = np.isfinite(x) & np.isfinite(y)
        x, y, n = x[used], y[used], int(used.sum())
        if n < 4 or not np.isfinite(new_merit) or np.ptp(x) < 1e-6:
            return None
        centred = x - x.mean()
        slope = float(centred @ y / (centred @ centred))
        residual = y - y.mean() - slope * centred
        error = float(residual @ residual) / (n - 2)
        leverage = 1.0 + 1.0 / n + (new_merit - x.mean()) ** 2 / float(centred @ centred)
        scale = max(float(np.sqrt(error * leverage)), 0.05)
        return cls(float(y.mean() + slope * (new_merit - x.mean())), scale, float(n - 2))

    def log_density(self, merit: Floats) -> Floats:
        """Return the log density, up to a constant."""
        z = (merit - self.centre) / self.scale
        return np.asarray(-(self.freedom + 1.0) / 2.0 * np.log1p(z**2 / self.freedom))


@dataclass(frozen=True, eq=False)
class Placement:
    """Where a new system stands.

    Attributes
    ----------
    merit, low, high : float
        Posterior mean and 95 % interval on the leaderboard's scale.
    rank, rank_low, rank_high : int
        1 is the best, of the anchors and the new system; the most probable rank of its merit, and the interval.
    grade, grade_low, grade_high : float
        Expected grade of a response among one of each anchor: 1 (worst) to n_anchors + 1; a tie counts half.
    draws : ndarray of shape (n_draws,)
        Of the new system's merit, and `anchor_draws`, shape (n_draws, n_anchors), of the anchors' in the same draws.
    votes : int
    design_effect : float
        By how much the variance is increased by votes on the same topic; at least 1.
    information : float
        Of all votes about the merit given the anchors: the inverse of its variance without the prior.
    anchor_share : float
        Share of the variance that comes from the anchors' uncertainty, 0 to 1.
    """

    merit: float
    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    grade: float
    grade_low: float
    grade_high: float
    draws: Floats
    anchor_draws: Floats
    votes: int
    design_effect: float
    information: float
    anchor_share: float


def place(
    votes: NewVotes,
    anchors: Anchors,
    crowd: Crowd,
    *,
    scale: Scale,
    rng: np.random.Generator,
    prior: Prior | None = None,
) -> Placement:
    """Place a new system by votes against anchors.

    Parameters
    ----------
    votes : NewVotes
        There may be none; the placement then shows the prior.
    anchors : Anchors
    crowd : Crowd
    scale : Scale
        From `calibrate`.
    rng : numpy.random.Generator
        Source of the posterior draws.
    prior : Prior, optional
        For example from a model's votes (`Prior.of_model`). Default: the weak one of `Prior.of_anchors`.

    Returns
    -------
    Placement

    Raises
    ------
    ValueError
        If a vote names an anchor or a label that does not exist.

    Examples
    --------
    Two anchors, and ten votes of reliable judges who prefer the new system to both.

    >>> anchors = Anchors(np.array([0.0, 1.0]), np.array([[0.0, 1.0]]))
    >>> crowd = Crowd(np.array([0.1]), np.full((1, 3), 1 / 3), np.ones(1))
    >>> ten = np.arange(10)
    >>> votes = NewVotes(ten % 2, np.ones(10, bool), np.zeros(10, int), ten, ten)
    >>> place(votes, anchors, crowd, scale=Scale(0.05), rng=np.random.default_rng(0)).rank
    1
    """
    _check(votes, anchors)
    weak = Prior.of_anchors(anchors.merit)
    belief = prior or weak
    reach = _REACH * max(weak.scale, 2.0 * _LEAST_SPREAD)
    middle = float(np.clip(belief.centre, weak.centre - reach, weak.centre + reach))
    grid = np.linspace(min(middle, weak.centre) - reach, max(middle, weak.centre) + reach, _COARSE)
    # Anchors' uncertainty, of draws that are centred on their merits.
    rows = rng.permutation(len(anchors.draws))
    size = max(len(rows), 2000)
    drawn = anchors.draws[np.resize(rows, size)]
    effect, information, follows = 1.0, 0.0, np.full(anchors.merit.size, 1.0 / anchors.merit.size)

    def log_prior(points: Floats) -> Floats:
        return belief.log_density(points) + (0.0 if prior is None else weak.log_density(points))

    log_posterior = log_prior
    if len(votes):
        likelihood = _Likelihood(votes, crowd, scale)
        effect, information, follows = likelihood.sensitivity(
            _mode(grid, likelihood, anchors, log_prior), anchors.merit
        )

        def log_posterior(points: Floats) -> Floats:
            return likelihood.of(points, anchors.merit) / effect + log_prior(points)

    mean, error = _moments(grid, log_posterior(grid))
    grid = mean + max(error, (grid[1] - grid[0]) / 2) * np.linspace(-6.0, 6.0, _FINE)
    heights = log_posterior(grid)
    mean, error = _moments(grid, heights)
    mass = np.exp(heights - heights.max())
    mass /= mass.sum()
    # Where votes say little, the prior holds the merit in place, and it follows the anchors less.
    pull = min(1.0, error**2 * information / effect)
    step = grid[1] - grid[0]
    conditional = np.interp(rng.random(size), np.cumsum(mass), grid) + step * (rng.random(size) - 1.0)
    deviation = drawn - anchors.draws.mean(axis=0)
    moved = pull * (deviation @ follows) + (1.0 - pull) * deviation.mean(axis=1)
    merit = conditional + moved
    low, high = np.quantile(merit, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    board = anchors.merit + deviation
    ranks = 1 + (board > merit[:, None]).sum(axis=1)
    rank_low, rank_high = np.quantile(ranks, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], method="nearest")
    grades = expected_grade(merit, board, scale)
    grade_low, grade_high = np.quantile(grades, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    return Placement(
        merit=mean,
        low=float(low),
        high=float(high),
        rank=int(1 + (anchors.merit > np.median(merit)).sum()),
        rank_low=int(rank_low),
        rank_high=int(rank_high),
        grade=float(grades.mean()),
        grade_low=float(grade_low),
        grade_high=float(grade_high),
        draws=merit,
        anchor_draws=board,
        votes=len(votes),
        design_effect=effect,
        information=information / effect,
        anchor_share=float(moved.var() / max(merit.var(), 1e-12)),
    )


def _moments(grid: Floats, log_density: Floats) -> tuple[float, float]:
    """Return the mean and the standard deviation of a density on a grid."""
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    mean = float(mass @ grid)
    return mean, float(np.sqrt(mass @ (grid - mean) ** 2))


def _mode(grid: Floats, likelihood: _Likelihood, anchors: Anchors, log_prior: Callable[[Floats], Floats]) -> float:
    return float(grid[np.argmax(likelihood.of(grid, anchors.merit) + log_prior(grid))])


def expected_grade(merit: Floats, anchors: Floats, scale: Scale) -> Floats:
    """Return the expected grade among one response of each anchor: 1, plus 1 for each it beats, half for each tie.

    Parameters
    ----------
    merit : ndarray of shape (n,)
    anchors : ndarray of shape (n, n_anchors)
    scale : Scale
    """
    chances = label_chances(merit[:, None] - anchors, scale)
    return np.asarray(1.0 + (chances[..., A] + chances[..., N] / 2.0).sum(axis=1))


def anchor_chances(
    belief: Floats, anchors: Anchors, crowd: Crowd, scale: Scale, *, random_share: float = 0.1
) -> Floats:
    """Return the probability with which the next judgment is asked against each anchor.

    It is proportional to the information that a vote is expected to give, averaged over the belief about the new
    system's merit; a share is random, as a control arm, so that each anchor has a positive probability.

    Parameters
    ----------
    belief : ndarray of shape (n_draws,)
        Draws of the new system's merit (`Placement.draws`).
    anchors, crowd, scale
        As for `place`.
    random_share : float
        Share of the judgments whose anchor is drawn with equal probabilities.

    Returns
    -------
    ndarray of shape (n_anchors,)
        They add up to 1.
    """
    some = belief[:: max(1, len(belief) // 400)]
    expected = vote_information(some[:, None] - anchors.merit, crowd, scale).mean(axis=0)
    chances: Floats = (1.0 - random_share) * expected / expected.sum() + random_share / anchors.merit.size
    return chances


def widths(placement: Placement, more: ArrayLike) -> Floats:
    """Predict the full width of the merit's interval after further votes like the present ones.

    Parameters
    ----------
    placement : Placement
        With at least one vote.
    more : array_like, shape (n,)
        Numbers of further votes.

    Returns
    -------
    ndarray of shape (n,)
        The variance given the anchors falls with the number of votes; that from the anchors stays. NaN without votes.
    """
    further = np.asarray(more, dtype=np.float64)
    if not placement.votes or placement.information <= 0:
        return np.full(further.shape, np.nan)
    now = placement.high - placement.low
    remaining = (1.0 - placement.anchor_share) * (placement.votes / (placement.votes + further))
    return np.asarray(now * np.sqrt(remaining + placement.anchor_share))


class _Likelihood:
    """The log likelihood of votes about the new system's merit, given the anchors'."""

    def __init__(self, votes: NewVotes, crowd: Crowd, scale: Scale) -> None:
        self.votes, self.scale = votes, scale
        self.judges = int(votes.judge.max()) + 1
        self.spammed, self.reads = crowd.chances(votes.label)
        self.log_weight = np.tile(np.log(crowd.weight), (self.judges, 1))
        if votes.spam is not None and votes.experience is not None:
            for judge in np.flatnonzero(np.isfinite(votes.spam)).tolist():
                e, n = votes.spam[judge], _VOTE_WORTH * votes.experience[judge]
                self.log_weight[judge] += n * (e * np.log(crowd.spam) + (1.0 - e) * np.log1p(-crowd.spam))
            self.log_weight -= scipy.special.logsumexp(self.log_weight, axis=1, keepdims=True)
        self.order = np.argsort(votes.judge, kind="stable")
        judged, self.starts = np.unique(votes.judge[self.order], return_index=True)
        self.judged: Ints = judged

    def chances(self, lead: Floats) -> Floats:
        """Return the probability of each vote for each kind of judge, shape (n_kinds, n_votes, n_points)."""
        of_label = label_chances(self.votes.sign[:, None] * lead, self.scale)
        honest = np.take_along_axis(of_label, self.votes.label[:, None, None], axis=2)[:, :, 0]
        return np.asarray(self.reads[:, None, None] * honest + self.spammed[:, :, None])

    def by_judge(self, chances: Floats) -> Floats:
        """Return the weighted log likelihood of each judge's votes, shape (n_kinds, n_judged, n_points)."""
        sums = np.add.reduceat(np.log(chances)[:, self.order], self.starts, axis=1)
        return np.asarray(sums + self.log_weight[self.judged].T[:, :, None])

    def of(self, grid: Floats, merit: Floats) -> Floats:
        """Return the log likelihood at the points of a grid."""
        lead = grid[None, :] - merit[self.votes.anchor][:, None]
        return np.asarray(scipy.special.logsumexp(self.by_judge(self.chances(lead)), axis=0).sum(axis=0))

    def scores(self, at: float, merit: Floats) -> Floats:
        """Return the derivative of the log likelihood by the lead of each vote, shape (n_votes,)."""
        step = 1e-4
        lead = (at - merit[self.votes.anchor])[:, None] + np.array([-step, 0.0, step])
        chances = self.chances(lead)
        kinds = self.by_judge(chances[:, :, 1:2])[:, :, 0]
        responsible = scipy.special.softmax(kinds, axis=0)
        number = np.searchsorted(self.judged, self.votes.judge)
        slope = (np.log(chances[:, :, 2]) - np.log(chances[:, :, 0])) / (2 * step)
        return np.asarray((responsible[:, number] * slope).sum(axis=0))

    def sensitivity(self, at: float, merit: Floats) -> tuple[float, float, Floats]:
        """Return the design effect of topics, the information, and how the merit follows each anchor's merit."""
        step = 1e-3
        upper, lower = self.scores(at + step, merit), self.scores(at - step, merit)
        curve = (lower - upper) / (2 * step)
        information = max(float(curve.sum()), 1e-6)
        share = np.bincount(self.votes.anchor, weights=curve, minlength=merit.size) / information
        # Votes whose curvature is negative at this point would make an anchor's share negative.
        share = np.maximum(share, 0.0)
        share = share / share.sum() if share.sum() > 0 else np.full(merit.size, 1.0 / merit.size)
        score = self.scores(at, merit)
        score = score - score.mean()
        by_topic, by_judge = (np.bincount(part, weights=score) for part in (self.votes.topic, self.votes.judge))
        alone = float(score @ score)
        effect = float(by_topic @ by_topic) / alone if alone > 0 else 1.0
        if len(self.judged) >= _ENOUGH_JUDGES:
            # The likelihood knows that votes of a judge depend on each other; here is what it has missed.
            effect += min(float(by_judge @ by_judge) / information, _MOST_EFFECT) - 1.0
        return max(1.0, effect), information, share


def _check(votes: NewVotes, anchors: Anchors) -> None:
    sizes = {len(part) for part in (votes.anchor, votes.new_is_left, votes.label, votes.judge, votes.topic)}
    if len(sizes) != 1:
        raise ValueError("anchor, new_is_left, label, judge and topic must be equally long")
    if len(votes) and not (votes.anchor.min() >= 0 and votes.anchor.max() < anchors.merit.size):
        raise ValueError("a vote names an anchor that does not exist")
    if len(votes) and not (votes.label.min() >= 0 and votes.label.max() <= B):
        raise ValueError("a label must be 0 (a), 1 (n) or 2 (b)")
