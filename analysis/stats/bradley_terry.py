"""Grades from preferences: Bradley-Terry with ties (Rao and Kupper 1967; Gienapp et al. 2020; design 7.3).

There is one small problem for each topic and dimension; all are fitted at once. With merits m on the log scale and
threshold t,

    P(i beats j) = e^mi / (e^mi + e^(mj + t)),
    P(tie)       = e^(mi + mj) (e^(2t) - 1) / ((e^mi + e^(mj + t)) (e^(mi + t) + e^mj))
                 = (e^(2t) - 1) P(i beats j) P(j beats i),

A tie therefore counts as one win of each item, and the log likelihood is a sum of log P(i beats j) over wins. Each item
also wins and loses once against a dummy of merit 1 with threshold 0, and each outcome has weight 0.2. The dummy keeps
merits finite for items that always win, and connects items that were never compared. The maximum therefore exists and
is unique for every comparison graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]

# Smaller differences of merits are rounding errors and must not affect grades.
_EQUAL = 1e-7
_FAR = 20.0
_LONGEST_STEP = 4.0


class NoComparisonsError(ValueError):
    """There are no comparisons to fit."""


class UnusableComparisonError(ValueError):
    """A comparison has a NaN, an unknown outcome, a negative weight, or the same item twice."""


@dataclass(frozen=True)
class BradleyTerrySettings:
    """Constants of the model; the defaults are the published ones.

    Attributes
    ----------
    threshold : float
        t: the lead, on the log scale, at which a response is recognised as better. It may be 0 if there are no ties.
    dummy_weight : float
        Weight of each outcome against the dummy, above 0. Without the dummy the maximum is never unique (all merits can
        be shifted) and often does not exist.
    dummy_merit : float
        The dummy's merit on the log scale. It only shifts all merits.
    tolerance : float
        A fit has converged when the norm of its gradient is below this.
    max_iter : int
        Maximum number of Newton steps.
    """

    threshold: float = 0.05
    dummy_weight: float = 0.2
    dummy_merit: float = 1.0
    tolerance: float = 1e-9
    max_iter: int = 100


@dataclass(frozen=True, eq=False)
class Grades:
    """Fitted merits and grades of many problems.

    Attributes
    ----------
    merit : ndarray of shape (n_problems, n_items)
        Merits on the log scale, comparable only within a problem. NaN for items without comparisons.
    standard_error : ndarray of shape (n_problems, n_items)
        From the inverse Hessian of the penalised log likelihood; NaN if the merit is NaN.
    grade : ndarray of shape (n_problems, n_items)
        1 (worst) to n (best) by ascending merit; equal merits share the mean of their grades. NaN if the merit is NaN.
    log_likelihood : ndarray of shape (n_problems,)
        Penalised log likelihood, including the dummy's outcomes.
    gradient_norm : ndarray of shape (n_problems,)
    converged : ndarray of bool, shape (n_problems,)
    iterations : int
        Newton steps of the slowest problem.
    settings : BradleyTerrySettings
    """

    merit: Floats
    standard_error: Floats
    grade: Floats
    log_likelihood: Floats
    gradient_norm: Floats
    converged: NDArray[np.bool_]
    iterations: int
    settings: BradleyTerrySettings = field(default_factory=BradleyTerrySettings)


@dataclass(frozen=True, eq=False)
class Tallies:
    """Aggregated comparisons: the sufficient statistics of the fit.

    Attributes
    ----------
    wins : ndarray of shape (n_problems, n_items, n_items)
        Total weight of the wins of i over j; a tie counts as a win of each.
    ties : ndarray of shape (n_problems,)
        Total weight of the ties.
    present : ndarray of bool, shape (n_problems, n_items)
        Items with at least one comparison, even of weight 0. Other items are not graded.
    """

    wins: Floats
    ties: Floats
    present: NDArray[np.bool_]


def tally(
    problem: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    outcome: ArrayLike,
    *,
    weight: ArrayLike | None = None,
    problems: int | None = None,
    items: int | None = None,
) -> Tallies:
    """Aggregate comparisons.

    Parameters
    ----------
    problem : array_like of int, shape (n_comparisons,)
        The problem (topic and dimension) of each comparison, from 0.
    first, second : array_like of int, shape (n_comparisons,)
        Indices of the compared items within their problem, from 0.
    outcome : array_like, shape (n_comparisons,)
        -1: the first is better (label a), 0: tie (n), 1: the second is better (b).
    weight : array_like, shape (n_comparisons,), optional
        For example the judge's competence. Default: 1.
    problems, items : int, optional
        Number of problems, and of items in the largest. Default: the largest index plus one.

    Returns
    -------
    Tallies

    Raises
    ------
    NoComparisonsError
        If there are no comparisons.
    UnusableComparisonError
        If an outcome is not -1, 0 or 1 (NaN included), a weight is negative or not finite, or an item is compared with
        itself.
    """
    p, i, j = (np.asarray(index, dtype=np.int64) for index in (problem, first, second))
    y = np.asarray(outcome, dtype=np.float64)
    w = np.ones(y.shape) if weight is None else np.asarray(weight, dtype=np.float64)
    if not p.size:
        raise NoComparisonsError("there are no comparisons: judge some pairs first")
    if not p.shape == i.shape == j.shape == y.shape == w.shape:
        raise ValueError("problem, first, second, outcome and weight must be equally long")
    _refuse((y != -1.0) & (y != 0.0) & (y != 1.0), "an outcome that is not -1, 0 or 1")
    _refuse(~((w >= 0) & np.isfinite(w)), "a weight that is negative or not finite")
    _refuse(i == j, "an item compared with itself")
    n_problems = problems if problems is not None else int(p.max()) + 1
    n_items = items if items is not None else int(max(i.max(), j.max())) + 1
    _refuse((p < 0) | (p >= n_problems), "a problem that does not exist")
    _refuse((np.minimum(i, j) < 0) | (np.maximum(i, j) >= n_items), "an item that does not exist")
    shape = (n_problems, n_items, n_items)
    wins = np.zeros(n_problems * n_items * n_items)
    for winner, loser, won in ((i, j, y <= 0), (j, i, y >= 0)):
        wins += np.bincount((p * n_items + winner) * n_items + loser, weights=w * won, minlength=wins.size)
    ties = np.bincount(p, weights=w * (y == 0), minlength=n_problems)
    present = np.zeros(shape[:2], dtype=bool)
    present[p, i] = present[p, j] = True
    return Tallies(wins.reshape(shape), ties.astype(np.float64), present)


def fit(
    tallies: Tallies, *, settings: BradleyTerrySettings | None = None, start: Floats | None = None, errors: bool = True
) -> Grades:
    """Fit all problems at once by Newton's method with a line search.

    Parameters
    ----------
    tallies : Tallies
        From `tally`.
    settings : BradleyTerrySettings, optional
        Default: the published constants.
    start : ndarray of shape (n_problems, n_items), optional
        Starting values, for example merits of similar comparisons. NaN: start from the dummy's merit.
    errors : bool
        Whether to compute standard errors; if false, they are NaN. Resamples do not need them.

    Returns
    -------
    Grades
        The log likelihood is concave and has a unique maximum because of the dummy. `converged` shows for each problem
        whether the gradient norm is below the tolerance.

    Raises
    ------
    ValueError
        If the dummy's weight is not positive, the threshold is negative, or there are ties although a threshold of 0
        makes them impossible.

    Examples
    --------
    There are three responses to one topic: 0 is better than 1, 1 is better than 2, and 0 and 2 are tied.

    >>> grades = fit(tally([0, 0, 0], [0, 1, 0], [1, 2, 2], [-1, -1, 0]))
    >>> grades.grade[0].tolist(), bool(grades.converged[0])
    ([3.0, 2.0, 1.0], True)
    """
    options = settings if settings is not None else BradleyTerrySettings()
    if options.dummy_weight <= 0 or options.threshold < 0:
        msg = f"the dummy's weight must be above 0 and the threshold not below 0: {options}"
        raise ValueError(msg)
    if options.threshold == 0 and np.any(tallies.ties > 0):
        msg = f"there are ties, which a threshold of {options.threshold} makes impossible: take one above 0"
        raise ValueError(msg)
    present = tallies.present
    merit = np.full(present.shape, options.dummy_merit)
    if start is not None:
        # Far from the dummy the likelihood is flat, and Newton's method has no direction.
        clipped_start = np.clip(start, options.dummy_merit - _FAR, options.dummy_merit + _FAR)
        merit = np.where(present & np.isfinite(clipped_start), clipped_start, merit)
    problems = _Problems.of(tallies, options)
    fitted, slope, iterations = problems.maximum(np.ascontiguousarray(merit.T) - options.dummy_merit)
    merit = fitted.T + options.dummy_merit
    variance = np.full(merit.shape, np.nan)
    if errors:
        hessian = np.ascontiguousarray(np.moveaxis(problems.hessian(slope), 2, 0))
        variance = np.diagonal(np.linalg.inv(hessian), axis1=1, axis2=2)
    ties_constant = tallies.ties * np.log(np.expm1(2 * options.threshold)) if options.threshold > 0 else 0.0
    absent = ~present
    return Grades(
        merit=np.where(absent, np.nan, merit),
        standard_error=np.where(absent, np.nan, np.sqrt(variance)),
        grade=grade(np.where(absent, np.nan, merit)),
        log_likelihood=slope.value + ties_constant,
        gradient_norm=slope.norm,
        converged=np.asarray(slope.norm < options.tolerance),
        iterations=iterations,
        settings=options,
    )


def influence_on_differences(
    tallies: Tallies,
    merit: Floats,
    first: ArrayLike,
    second: ArrayLike,
    *,
    settings: BradleyTerrySettings | None = None,
) -> Floats:
    """Compute the derivatives of differences between two merits by the weight of a win, in one problem.

    Parameters
    ----------
    tallies : Tallies
        Of one problem.
    merit : ndarray of shape (n_items,)
        The fitted merits; NaN for items without comparisons.
    first, second : array_like of int, shape (n_differences,)
        The items whose merits are compared: first minus second.
    settings : BradleyTerrySettings, optional
        Those of the fit.

    Returns
    -------
    ndarray of shape (n_differences, n_items, n_items)
        Change of the difference for each unit of weight that wins of i over j gain. A tie is a win of each.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 21, on the infinitesimal jackknife.
    """
    options = settings if settings is not None else BradleyTerrySettings()
    above_dummy = np.where(np.isfinite(merit), merit, options.dummy_merit) - options.dummy_merit
    problems = _Problems.of(tallies, options)
    hessian = problems.hessian(problems.slope(above_dummy[:, None]))[:, :, 0]
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    contrast = np.zeros((len(above_dummy), len(one)))
    np.add.at(contrast, (one, np.arange(len(one))), 1.0)
    np.add.at(contrast, (other, np.arange(len(one))), -1.0)
    effect = np.linalg.solve(hessian, contrast).T
    # How much a win is unexpected: the chance of the other outcomes.
    unexpected = scipy.special.expit(options.threshold - above_dummy[:, None] + above_dummy[None, :])
    change: Floats = (effect[:, :, None] - effect[:, None, :]) * unexpected
    return change


def grade(merit: ArrayLike) -> Floats:
    """Compute grades 1 (worst) to n (best) by ascending merit within each row.

    Parameters
    ----------
    merit : array_like, shape (n_problems, n_items)
        NaN: not graded and not counted.

    Returns
    -------
    ndarray of shape (n_problems, n_items)
        Items with equal merits (within 1e-7) share the mean of their grades, so the grades of a topic always have the
        same sum. NaN if the merit is NaN.
    """
    m = np.asarray(merit, dtype=np.float64)
    lead = m[..., :, None] - m[..., None, :]
    # NaN is neither greater than nor equal to anything; every graded item equals itself.
    above = (lead > _EQUAL).sum(axis=-1)
    equal = (np.abs(lead) <= _EQUAL).sum(axis=-1)
    return np.where(np.isnan(m), np.nan, above + (equal + 1) / 2)


@dataclass
class _Slope:
    """The log likelihood (without the constant of ties) at some merits: problems along the last axis.

    Attributes
    ----------
    value, norm : ndarray of shape (n_problems,)
        The log likelihood, and the norm of its gradient.
    gradient : ndarray of shape (n_items, n_problems)
    curve, dummy_curve : ndarray of shape (n_pairs, n_problems) and (n_items, n_problems)
        Negative second derivative of the comparisons of each pair by the pair's lead, and of those with the dummy.
    """

    value: Floats
    norm: Floats
    gradient: Floats
    curve: Floats
    dummy_curve: Floats

    def take(self, problems: NDArray[np.bool_] | Ints) -> _Slope:
        return _Slope(*(part[..., problems] for part in vars(self).values()))

    def put(self, problems: Ints, other: _Slope) -> None:
        for name, part in vars(self).items():
            part[..., problems] = getattr(other, name)


def _refuse(is_wrong: NDArray[np.bool_], problem: str) -> None:
    if is_wrong.any():
        first_cells = np.flatnonzero(is_wrong)[:5].tolist()
        msg = f"{problem}, {is_wrong.sum()} times, first at {first_cells}: leave such comparisons out"
        raise UnusableComparisonError(msg)


def _eliminate(matrix: Floats, right: Floats) -> None:
    """Solve positive definite equations along the last axis; `right` becomes the solution, `matrix` is used up."""
    last = len(right) - 1
    for k in range(last):
        column = matrix[k + 1 :, k]
        share = column / matrix[k, k]
        right[k + 1 :] -= share * right[k]
        matrix[k + 1 :, k + 1 :] -= share[:, None] * column
    for k in range(last, -1, -1):
        if k < last:
            right[k] -= np.einsum("ip,ip->p", matrix[k + 1 :, k], right[k + 1 :])
        right[k] /= matrix[k, k]


@dataclass(frozen=True, eq=False)
class _Problems:
    """Comparisons of many problems, which are the last axis of all arrays: few operations then do for all problems.

    Merits are those above the dummy's merit.

    Attributes
    ----------
    low, high : ndarray of int, shape (n_pairs,)
        The items of each pair that was compared in any problem, `low` < `high`.
    signs, members : sparse arrays of shape (n_items, n_pairs)
        1 for the lower and -1 (`members`: 1) for the higher item of each pair: their products sum over an item's pairs.
    won, lost : ndarray of shape (n_pairs, n_problems)
        Total weight of the wins of `low` and of `high`; a tie counts as a win of each.
    dummy : ndarray of shape (n_items, n_problems)
        Weight of each outcome against the dummy; 0 for absent items.
    """

    low: Ints
    high: Ints
    signs: scipy.sparse.csr_array
    members: scipy.sparse.csr_array
    won: Floats
    lost: Floats
    dummy: Floats
    settings: BradleyTerrySettings

    @classmethod
    def of(cls, tallies: Tallies, settings: BradleyTerrySettings) -> _Problems:
        wins = tallies.wins
        is_compared = (wins > 0).any(axis=0)
        low, high = np.nonzero(np.triu(is_compared | is_compared.T, 1))
        cells = (np.r_[low, high], np.tile(np.arange(len(low)), 2))
        signs = scipy.sparse.coo_array(
            (np.repeat([1.0, -1.0], len(low)), cells), shape=(wins.shape[1], len(low))
        ).tocsr()
        won, lost = (np.ascontiguousarray(wins[:, winner, loser].T) for winner, loser in ((low, high), (high, low)))
        dummy = np.where(tallies.present.T, settings.dummy_weight, 0.0)
        return cls(low, high, signs, abs(signs), won, lost, dummy, settings)

    def take(self, problems: NDArray[np.bool_] | Ints) -> _Problems:
        """Return some of the problems."""
        won, lost, dummy = (part[:, problems] for part in (self.won, self.lost, self.dummy))
        return replace(self, won=won, lost=lost, dummy=dummy)

    def slope(self, merit: Floats) -> _Slope:
        """Compute the log likelihood and its derivatives at merits of shape (n_items, n_problems)."""
        strength, threshold = np.exp(merit), np.exp(self.settings.threshold)
        low, high = strength[self.low], strength[self.high]
        # Chances of `high` to win or tie, and of `low`: an item loses to a rival that is stronger by the threshold.
        upset, beaten = high * threshold, low * threshold
        total_low, total_high = low + upset, high + beaten
        upset /= total_low
        beaten /= total_high
        against_dummy = 1.0 + strength
        value = np.einsum("ip,ip->p", self.dummy, merit - 2.0 * np.log(against_dummy))
        value += np.einsum("kp,kp->p", self.won, merit[self.low] - np.log(total_low))
        value += np.einsum("kp,kp->p", self.lost, merit[self.high] - np.log(total_high))
        pull, push = self.won * upset, self.lost * beaten
        gradient = self.signs @ (pull - push)
        gradient += self.dummy * (2.0 / against_dummy - 1.0)
        curve = pull * (1.0 - upset)
        curve += push * (1.0 - beaten)
        # Absent items get a curvature of 1, so that there is a solution; their gradient is 0 and they do not move.
        dummy_curve = np.where(self.dummy > 0, 2.0 * self.dummy * strength / against_dummy**2, 1.0)
        return _Slope(value, np.sqrt(np.einsum("ip,ip->p", gradient, gradient)), gradient, curve, dummy_curve)

    def hessian(self, slope: _Slope) -> Floats:
        """Return the negative second derivatives of the log likelihood, shape (n_items, n_items, n_problems)."""
        items = np.arange(len(slope.gradient))
        hessian = np.zeros((len(items), *slope.gradient.shape))
        hessian[self.low, self.high] = hessian[self.high, self.low] = -slope.curve
        hessian[items, items] = self.members @ slope.curve + slope.dummy_curve
        return hessian

    def newton_step(self, slope: _Slope) -> Floats:
        """Solve Newton's equations, those of many problems by elimination; the step length is limited."""
        matrix, step = self.hessian(slope), slope.gradient.copy()
        if matrix.shape[2] == 1:
            step[:, 0] = np.linalg.solve(matrix[:, :, 0], step[:, 0])
        else:
            _eliminate(matrix, step)
        # Where the likelihood is flat, a full step would go to an even flatter region.
        longest = np.abs(step).max(axis=0)
        if longest.max() > _LONGEST_STEP:
            step /= np.maximum(1.0, longest / _LONGEST_STEP)
        return step

    def maximum(self, merit: Floats) -> tuple[Floats, _Slope, int]:
        """Run Newton's method until each problem has converged; halve steps that would lower the likelihood."""
        final_merit, final_slope = merit.copy(), self.slope(merit)
        running, part, slope = np.arange(merit.shape[1]), self, replace(final_slope)
        for iteration in range(self.settings.max_iter + 1):
            is_done = slope.norm < self.settings.tolerance
            if is_done.any() or iteration == self.settings.max_iter:
                ended = is_done | (iteration == self.settings.max_iter)
                final_merit[:, running[ended]] = merit[:, ended]
                final_slope.put(running[ended], slope.take(ended))
                if ended.all():
                    break
                running, merit = running[~ended], merit[:, ~ended]
                part, slope = part.take(~ended), slope.take(~ended)
            step = part.newton_step(slope)
            # Allow rounding errors: near the maximum the likelihood is flat, and the gradient decides.
            floor = slope.value - 1e-12 * np.abs(slope.value)
            slope = part.slope(merit + step)
            while (worse := np.flatnonzero(slope.value < floor)).size:  # ends: a step of 0 is not worse
                step[:, worse] /= 2
                slope.put(worse, part.take(worse).slope(merit[:, worse] + step[:, worse]))
            merit = merit + step
        return final_merit, final_slope, iteration
