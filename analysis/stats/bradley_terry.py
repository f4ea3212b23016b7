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

from dataclasses import dataclass, field

import numpy as np
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
    _refuse(~np.isin(y, (-1.0, 0.0, 1.0)), "an outcome that is not -1, 0 or 1")
    _refuse(~((w >= 0) & np.isfinite(w)), "a weight that is negative or not finite")
    _refuse(i == j, "an item compared with itself")
    n_problems = problems if problems is not None else int(p.max()) + 1
    n_items = items if items is not None else int(max(i.max(), j.max())) + 1
    shape = (n_problems, n_items, n_items)
    wins = np.zeros(n_problems * n_items * n_items)
    for winner, loser, won in ((i, j, y <= 0), (j, i, y >= 0)):
        cell = np.ravel_multi_index((p[won], winner[won], loser[won]), shape)
        wins += np.bincount(cell, weights=w[won], minlength=wins.size)
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
    wins, present = tallies.wins, tallies.present
    merit = np.full(present.shape, options.dummy_merit)
    if start is not None:
        # Far from the dummy the likelihood is flat, and Newton's method has no direction.
        clipped_start = np.clip(start, options.dummy_merit - _FAR, options.dummy_merit + _FAR)
        merit = np.where(present & np.isfinite(clipped_start), clipped_start, merit)
    merit, derivatives, iterations = _newton(wins, present, merit, options)
    variance = (
        np.diagonal(np.linalg.inv(derivatives.hessian), axis1=1, axis2=2) if errors else np.full(merit.shape, np.nan)
    )
    ties_constant = tallies.ties * np.log(np.expm1(2 * options.threshold)) if options.threshold > 0 else 0.0
    absent = ~present
    return Grades(
        merit=np.where(absent, np.nan, merit),
        standard_error=np.where(absent, np.nan, np.sqrt(variance)),
        grade=grade(np.where(absent, np.nan, merit)),
        log_likelihood=derivatives.value + ties_constant,
        gradient_norm=derivatives.norm,
        converged=np.asarray(derivatives.norm < options.tolerance),
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
    fitted = np.where(np.isfinite(merit), merit, options.dummy_merit)
    hessian = _derivatives(tallies.wins, tallies.present, fitted[None], options).hessian[0]
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    contrast = np.zeros((len(fitted), len(one)))
    np.add.at(contrast, (one, np.arange(len(one))), 1.0)
    np.add.at(contrast, (other, np.arange(len(one))), -1.0)
    effect = np.linalg.solve(hessian, contrast).T
    _log_won, loss = _won_and_lost(fitted[:, None] - fitted[None, :] - options.threshold)
    change: Floats = (effect[:, :, None] - effect[:, None, :]) * loss
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
class _Derivatives:
    """Log likelihood (without the constant of ties), gradient, negative Hessian and gradient norm of each problem."""

    value: Floats
    gradient: Floats
    hessian: Floats
    norm: Floats

    def take(self, index: Ints) -> _Derivatives:
        return _Derivatives(self.value[index], self.gradient[index], self.hessian[index], self.norm[index])

    def put(self, index: Ints, other: _Derivatives) -> None:
        self.value[index], self.gradient[index] = other.value, other.gradient
        self.hessian[index], self.norm[index] = other.hessian, other.norm


def _refuse(is_wrong: NDArray[np.bool_], problem: str) -> None:
    if is_wrong.any():
        first_cells = np.flatnonzero(is_wrong)[:5].tolist()
        msg = f"{problem}, {is_wrong.sum()} times, first at {first_cells}: leave such comparisons out"
        raise UnusableComparisonError(msg)


def _newton(
    wins: Floats, present: NDArray[np.bool_], merit: Floats, settings: BradleyTerrySettings
) -> tuple[Floats, _Derivatives, int]:
    """Run Newton's method on problems that have not converged; halve steps that would lower the likelihood."""
    merit = merit.copy()
    derivatives = _derivatives(wins, present, merit, settings)
    for iteration in range(settings.max_iter):
        active = np.flatnonzero(derivatives.norm >= settings.tolerance)
        if not active.size:
            return merit, derivatives, iteration
        active_derivatives = derivatives.take(active)
        step = np.linalg.solve(active_derivatives.hessian, active_derivatives.gradient[:, :, None])[:, :, 0]
        # Where the likelihood is flat, a full step would go to an even flatter region.
        step /= np.maximum(1.0, np.abs(step).max(axis=1, keepdims=True) / _LONGEST_STEP)
        # Allow rounding errors: near the maximum the likelihood is flat, and the gradient decides.
        floor = active_derivatives.value - 1e-12 * np.abs(active_derivatives.value)
        trial_derivatives = _derivatives(wins[active], present[active], merit[active] + step, settings)
        while (worse := np.flatnonzero(trial_derivatives.value < floor)).size:  # ends: a step of 0 is not worse
            step[worse] /= 2
            trial, worse_rows = merit[active[worse]] + step[worse], active[worse]
            trial_derivatives.put(worse, _derivatives(wins[worse_rows], present[worse_rows], trial, settings))
        merit[active] += step
        derivatives.put(active, trial_derivatives)
    return merit, derivatives, settings.max_iter


def _derivatives(
    wins: Floats, present: NDArray[np.bool_], merit: Floats, settings: BradleyTerrySettings
) -> _Derivatives:
    log_won, loss = _won_and_lost(merit[:, :, None] - merit[:, None, :] - settings.threshold)
    pull = wins * loss
    curve = pull - pull * loss
    lead_over_dummy = merit - settings.dummy_merit
    log_above, log_below = _won_and_lost(lead_over_dummy)
    dummy = np.where(present, settings.dummy_weight, 0.0)
    # log P(dummy wins) equals log P(item wins) minus the item's lead
    value = np.einsum("pij,pij->p", wins, log_won) + (dummy * (2.0 * log_above - lead_over_dummy)).sum(axis=1)
    # For sums over few entries, einsum is four times as fast as a reduction.
    gradient = np.einsum("pij->pi", pull) - np.einsum("pij->pj", pull) + dummy * (2.0 * log_below - 1.0)
    hessian = -(curve + curve.transpose(0, 2, 1))
    # Absent items get a curvature of 1, so that the matrix is invertible; their gradient is 0 and they do not move.
    dummy_curvature = np.where(present, 2.0 * dummy * log_below * (1.0 - log_below), 1.0)
    diagonal = np.arange(merit.shape[1])
    hessian[:, diagonal, diagonal] += dummy_curvature - np.einsum("pij->pi", hessian)
    return _Derivatives(value, gradient, hessian, np.linalg.norm(gradient, axis=1))


def _won_and_lost(lead: Floats) -> tuple[Floats, Floats]:
    """Return log(logistic(lead)) and logistic(-lead), without overflow."""
    small = np.exp(-np.abs(lead))
    total = 1.0 + small
    return np.minimum(lead, 0.0) - np.log(total), np.where(lead > 0.0, small, 1.0) / total
