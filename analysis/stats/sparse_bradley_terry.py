"""Merits of participants compared on different topics: Bradley-Terry with ties for a large, sparse graph.

The model, including the dummy, is that of `analysis.stats.bradley_terry`; the difference is the size. Grades are many
problems with few responses, all of which are compared. Here there is one problem with many participants, but only few
pairs of them are compared. It is refitted in every resample of topics. Comparisons are therefore stored by pair of
participants, with one column per resample. Conjugate gradients solve Newton's equations for all columns at once,
without a matrix of participants by participants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.bradley_terry import BradleyTerrySettings, Ints, NoComparisonsError
from analysis.stats.judgments import canonical

_LONGEST_STEP = 4.0
_EQUAL = 1e-7


@dataclass(frozen=True, eq=False)
class Meetings:
    """Pairs of participants that were compared, and the comparisons of each pair.

    Attributes
    ----------
    low, high : ndarray of int, shape (n_pairs,)
        The two participants of each pair, ``low < high``.
    pair : ndarray of int, shape (n_comparisons,)
        The pair of each comparison; -1 if both sides are the same participant. Such comparisons carry no information
        and are ignored.
    flipped : ndarray of bool, shape (n_comparisons,)
        Whether the comparison was presented with the higher participant first.
    participants : int
    """

    low: Ints
    high: Ints
    pair: Ints
    flipped: NDArray[np.bool_]
    participants: int

    @property
    def met(self) -> NDArray[np.bool_]:
        """Whether each participant was compared with anybody, shape (n_participants,)."""
        has_met = np.zeros(self.participants, dtype=bool)
        has_met[self.low] = has_met[self.high] = True
        return has_met

    @property
    def group(self) -> Ints:
        """The connected component of each participant in the comparison graph, from 0; -1 without comparisons.

        Components are numbered by size, the largest first; equal sizes are in the order of their first participants.
        """
        n = self.participants
        graph = scipy.sparse.coo_array((np.ones(len(self.low)), (self.low, self.high)), shape=(n, n))
        _count, component = scipy.sparse.csgraph.connected_components(graph, directed=False)
        has_met = self.met
        names, first, sizes = np.unique(component[has_met], return_index=True, return_counts=True)
        rank = np.full(int(component.max(initial=0)) + 1, -1, dtype=np.int64)
        rank[names[np.lexsort((first, -sizes))]] = np.arange(len(names))
        return np.where(has_met, rank[component], -1)


@dataclass(frozen=True, eq=False)
class Strengths:
    """Fitted merits, one column per resample.

    Attributes
    ----------
    merit : ndarray of shape (n_participants, n_columns)
        On the log scale. NaN for participants without comparisons in a column.
    gradient_norm : ndarray of shape (n_columns,)
    converged : ndarray of bool, shape (n_columns,)
    iterations : int
        Newton steps of the slowest column.
    """

    merit: Floats
    gradient_norm: Floats
    converged: NDArray[np.bool_]
    iterations: int


def meetings(first: ArrayLike, second: ArrayLike, participants: int) -> Meetings:
    """Find the pairs of participants that were compared.

    Parameters
    ----------
    first, second : array_like of int, shape (n_comparisons,)
        The participants whose responses were shown left and right, from 0.
    participants : int
        The number of participants.

    Raises
    ------
    NoComparisonsError
        If no two different participants were compared.
    """
    first_side, second_side = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    differ = first_side != second_side
    if not differ.any():
        raise NoComparisonsError("no two participants were compared: judge pairs of different writers")
    sides = canonical(first_side[differ], second_side[differ])
    keys, index = np.unique(sides.low * participants + sides.high, return_inverse=True)
    pair = np.full(first_side.shape, -1, dtype=np.int64)
    pair[differ] = index
    flipped = np.zeros(first_side.shape, dtype=bool)
    flipped[differ] = sides.flipped
    return Meetings(keys // participants, keys % participants, pair, flipped, participants)


def add_up(pairs_met: Meetings, outcome: ArrayLike, weight: ArrayLike) -> tuple[Floats, Floats]:
    """Aggregate the comparisons of each pair; a tie counts as a win of each.

    Parameters
    ----------
    pairs_met : Meetings
    outcome : array_like, shape (n_comparisons,) or (n_comparisons, n_columns)
        -1: the first is better, 0: tie, 1: the second is better; as presented. NaN: not compared.
    weight : array_like, shape (n_comparisons,) or (n_comparisons, n_columns)
        For example how often the comparison's topic was drawn in each resample.

    Returns
    -------
    won, lost : ndarray of shape (n_pairs, n_columns)
        Total weight of the wins of `pairs_met.low` and of `pairs_met.high`.
    """
    used = pairs_met.pair >= 0
    y, w = (_columns(part)[used] for part in (outcome, weight))
    turned = np.where(pairs_met.flipped[used][:, None], 0.0 - y, y)
    count = int(used.sum())
    belongs = scipy.sparse.coo_array(
        (np.ones(count), (pairs_met.pair[used], np.arange(count))), shape=(len(pairs_met.low), count)
    ).tocsr()
    won, losses = (belongs @ (w * side) for side in (turned <= 0, turned >= 0))
    return np.asarray(won), np.asarray(losses)


def add_up_strata(
    pairs_met: Meetings, outcome: ArrayLike, weight: ArrayLike, stratum: ArrayLike, weights: Floats
) -> tuple[Floats, Floats]:
    """Aggregate the comparisons of each pair, with whole strata (topics) weighted by how often they were drawn.

    The result equals that of `add_up` with weights ``weight[:, None] * weights[:, stratum].T``, which would need memory
    for every comparison of every resample. Here comparisons are first aggregated within strata, once for all resamples.

    Parameters
    ----------
    pairs_met : Meetings
    outcome, weight : array_like, shape (n_comparisons,)
        As for `add_up`.
    stratum : array_like of int, shape (n_comparisons,)
        The stratum of each comparison, from 0.
    weights : ndarray of shape (n_columns, n_strata)
        How often each stratum was drawn in each resample.

    Returns
    -------
    won, lost : ndarray of shape (n_pairs, n_columns)
        Total weight of the wins of `pairs_met.low` and of `pairs_met.high`.
    """
    times = np.ascontiguousarray(weights.T, dtype=np.float64)
    sides = tally_strata(pairs_met, outcome, weight, stratum, weights.shape[1])
    won, losses = (np.asarray(side @ times) for side in sides)
    return won, losses


def tally_strata(
    pairs_met: Meetings, outcome: ArrayLike, weight: ArrayLike, stratum: ArrayLike, strata: int
) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Aggregate the comparisons of each pair within each stratum, as sparse arrays of shape (n_pairs, strata).

    The arguments are those of `add_up_strata`; `strata` is how many there are.
    """
    used = pairs_met.pair >= 0
    y, w = (np.asarray(part, dtype=np.float64)[used] for part in (outcome, weight))
    turned = np.where(pairs_met.flipped[used], 0.0 - y, y)
    cells = (pairs_met.pair[used], np.asarray(stratum, dtype=np.int64)[used])
    won, losses = (
        scipy.sparse.coo_array((w * side, cells), shape=(len(pairs_met.low), strata)).tocsr()
        for side in (turned <= 0, turned >= 0)
    )
    return won, losses


def influence(
    pairs_met: Meetings,
    won: scipy.sparse.csr_array,
    losses: scipy.sparse.csr_array,
    merit: Floats,
    *,
    settings: BradleyTerrySettings | None = None,
) -> Floats:
    """Compute the derivative of every merit by the weight of every stratum, where all weights are 1.

    The influence of a stratum is the solution of Newton's equations with the gradient of the stratum alone. The sum of
    squares of the influences around their mean is the variance of the merit over resampled strata, to first order.

    Parameters
    ----------
    pairs_met : Meetings
    won, losses : sparse arrays of shape (n_pairs, n_strata)
        From `tally_strata`.
    merit : ndarray of shape (n_participants,)
        The fitted merits; NaN for participants without comparisons.
    settings : analysis.stats.bradley_terry.BradleyTerrySettings, optional
        Those of the fit.

    Returns
    -------
    ndarray of shape (n_participants, n_strata)
        NaN for participants without comparisons.

    References
    ----------
    Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 21, on the infinitesimal jackknife.
    """
    options = settings if settings is not None else BradleyTerrySettings()
    has_merit = np.isfinite(merit)
    fitted = np.where(has_merit, merit, options.dummy_merit)
    pairs, n = len(pairs_met.low), pairs_met.participants
    columns = np.stack([pairs_met.low, pairs_met.high], axis=1).ravel()
    signs = (np.tile([1.0, -1.0], pairs), (np.repeat(np.arange(pairs), 2), columns))
    lead_of = scipy.sparse.coo_array(signs, shape=(pairs, n)).tocsr()
    lead = fitted[pairs_met.low] - fitted[pairs_met.high]
    upset, beaten = _logistic(lead - options.threshold)[1], _logistic(-lead - options.threshold)[1]
    gradient = lead_of.T @ (scipy.sparse.diags_array(upset) @ won - scipy.sparse.diags_array(beaten) @ losses)
    total_won, total_lost = (np.asarray(side.sum(axis=1)).ravel() for side in (won, losses))
    curve = total_won * _bend(lead - options.threshold) + total_lost * _bend(lead + options.threshold)
    curvature = (lead_of.T @ scipy.sparse.diags_array(curve) @ lead_of).toarray()
    curvature[np.diag_indices(n)] += 2.0 * options.dummy_weight * _bend(fitted - options.dummy_merit)
    influences: Floats = np.full((n, won.shape[1]), np.nan)
    influences[has_merit] = np.linalg.solve(curvature[np.ix_(has_merit, has_merit)], gradient.toarray()[has_merit])
    return influences


def fit(
    pairs_met: Meetings,
    won: Floats,
    losses: Floats,
    *,
    settings: BradleyTerrySettings | None = None,
    start: Floats | None = None,
) -> Strengths:
    """Fit the merits of every column by Newton's method, with conjugate gradients for its equations.

    Parameters
    ----------
    pairs_met : Meetings
    won, losses : ndarray of shape (n_pairs, n_columns)
        From `add_up`.
    settings : analysis.stats.bradley_terry.BradleyTerrySettings, optional
        Threshold, dummy, tolerance and maximum number of steps. Default: the published constants.
    start : ndarray of shape (n_participants,), optional
        Starting merits; NaN: start from the dummy's merit.

    Returns
    -------
    Strengths
        The penalised log likelihood is strictly concave and has a unique maximum for every graph. Participants in
        different components (`Meetings.group`) are compared only through the dummy.
    """
    options = settings if settings is not None else BradleyTerrySettings()
    problem = _Problem(pairs_met, won, losses, options)
    merit = np.full((pairs_met.participants, won.shape[1]), options.dummy_merit)
    if start is not None:
        merit = np.where(problem.has_met & np.isfinite(start)[:, None], start[:, None], merit)
    value, gradient = problem.slope(merit)
    norm = np.linalg.norm(gradient, axis=0)
    iterations = 0
    while iterations < options.max_iter and (active := np.flatnonzero(norm >= options.tolerance)).size:
        part = problem.take(active)
        step = part.newton_step(merit[:, active], gradient[:, active], norm[active])
        merit[:, active], value[active], gradient[:, active] = part.advance(merit[:, active], step, value[active])
        norm[active] = np.linalg.norm(gradient[:, active], axis=0)
        iterations += 1
    return Strengths(np.where(problem.has_met, merit, np.nan), norm, norm < options.tolerance, iterations)


def ranks(merit: ArrayLike) -> Floats:
    """Compute ranks within each column, 1 the best: one more than the number of higher merits.

    Parameters
    ----------
    merit : array_like, shape (n_participants,) or (n_participants, n_columns)
        NaN: not ranked and not counted. Merits within 1e-7 are equal and share the better rank.
    """
    m = np.asarray(merit, dtype=np.float64)
    columns = _columns(m)
    ranked = np.full(columns.shape, np.nan)
    for index in range(columns.shape[1]):
        column = columns[:, index]
        known_values = np.sort(column[~np.isnan(column)])
        above = known_values.size - np.searchsorted(known_values, column + _EQUAL, side="right")
        ranked[:, index] = np.where(np.isnan(column), np.nan, 1.0 + above)
    return ranked.reshape(m.shape)


class _Problem:
    """Log likelihood of all columns, its gradient, and Newton's equations."""

    def __init__(self, pairs_met: Meetings, won: Floats, losses: Floats, settings: BradleyTerrySettings) -> None:
        pairs, n = len(pairs_met.low), pairs_met.participants
        rows = np.repeat(np.arange(pairs), 2)
        columns = np.stack([pairs_met.low, pairs_met.high], axis=1).ravel()
        self.lead = scipy.sparse.coo_array((np.tile([1.0, -1.0], pairs), (rows, columns)), shape=(pairs, n)).tocsr()
        self.transposed = self.lead.T.tocsr()
        self.absolute = abs(self.transposed)
        self.won, self.losses, self.settings = won, losses, settings
        self.has_met = (self.absolute @ (won + losses)) > 0

    def take(self, columns: Ints) -> _Problem:
        """Return the same problem for a subset of the columns."""
        part = object.__new__(_Problem)
        part.lead, part.transposed, part.absolute, part.settings = (
            self.lead,
            self.transposed,
            self.absolute,
            self.settings,
        )
        part.won, part.losses, part.has_met = self.won[:, columns], self.losses[:, columns], self.has_met[:, columns]
        return part

    def slope(self, merit: Floats) -> tuple[Floats, Floats]:
        """Compute the log likelihood of each column (without the constant of ties) and its gradient."""
        t, dummy = self.settings.threshold, self.settings.dummy_weight
        lead = self.lead @ merit
        log_won, upset = _logistic(lead - t)
        log_lost, beaten = _logistic(-lead - t)
        lead_over_dummy = merit - self.settings.dummy_merit
        log_above, below = _logistic(lead_over_dummy)
        value = (self.won * log_won + self.losses * log_lost).sum(axis=0)
        value += dummy * np.where(self.has_met, 2.0 * log_above - lead_over_dummy, 0.0).sum(axis=0)
        pull = self.transposed @ (self.won * upset - self.losses * beaten)
        return value, np.where(self.has_met, pull + dummy * (2.0 * below - 1.0), 0.0)

    def newton_step(self, merit: Floats, gradient: Floats, norm: Floats) -> Floats:
        """Solve Newton's equations, more exactly near the maximum; the step length is limited."""
        lead = self.lead @ merit
        curve = self.won * _bend(lead - self.settings.threshold) + self.losses * _bend(lead + self.settings.threshold)
        dummy_curvature = 2.0 * self.settings.dummy_weight * _bend(merit - self.settings.dummy_merit)
        diagonal = self.absolute @ curve + dummy_curvature
        step = np.zeros_like(gradient)
        residual = gradient.copy()
        good = np.minimum(0.1, norm) * norm
        scaled = residual / diagonal
        direction, size = scaled.copy(), (residual * scaled).sum(axis=0)
        for _ in range(2 * len(merit) + 10):
            bent = self.transposed @ (curve * (self.lead @ direction)) + dummy_curvature * direction
            along = (direction * bent).sum(axis=0)
            length = np.divide(size, along, out=np.zeros_like(size), where=along > 0)
            step += length * direction
            residual -= length * bent
            if np.all(np.linalg.norm(residual, axis=0) <= good):
                break
            scaled = residual / diagonal
            before, size = size, (residual * scaled).sum(axis=0)
            direction = scaled + np.divide(size, before, out=np.zeros_like(size), where=before > 0) * direction
        step /= np.maximum(1.0, np.abs(step).max(axis=0) / _LONGEST_STEP)
        return step

    def advance(self, merit: Floats, step: Floats, value: Floats) -> tuple[Floats, Floats, Floats]:
        """Take the step, halved until the likelihood does not fall; return the new merits, likelihood and gradient."""
        step = step.copy()
        # Allow rounding errors: near the maximum the likelihood is flat, and the gradient decides.
        floor = value - 1e-12 * np.abs(value)
        log_likelihood, gradient = self.slope(merit + step)
        while (worse := np.flatnonzero(log_likelihood < floor)).size:  # ends: a step of 0 is not worse
            step[:, worse] /= 2
            log_likelihood[worse], gradient[:, worse] = self.take(worse).slope(merit[:, worse] + step[:, worse])
        return merit + step, log_likelihood, gradient


def _columns(array: ArrayLike) -> Floats:
    values = np.asarray(array, dtype=np.float64)
    return values[:, None] if values.ndim == 1 else values


def _logistic(lead: Floats) -> tuple[Floats, Floats]:
    """Return log(logistic(lead)) and logistic(-lead), without overflow."""
    small = np.exp(-np.abs(lead))
    total = 1.0 + small
    return np.minimum(lead, 0.0) - np.log(total), np.where(lead > 0.0, small, 1.0) / total


def _bend(lead: Floats) -> Floats:
    """Return the derivative of the logistic function."""
    small = np.exp(-np.abs(lead))
    return small / (1.0 + small) ** 2
