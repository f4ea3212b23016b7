"""Input of MACE: checked judgments, labels in use, known labels, random numbers and starting values.

The public interface is `analysis.stats.mace`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats._mace_engine import Fits, Parts, Priors, State, Votes, connected, whole
from analysis.stats._mace_search import Effort, search
from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import Ints, Judgments, check
from analysis.stats.random_streams import ConcatenatedRng, KeyedRng
from analysis.stats.threads import map_in_threads


class UnfitError(ValueError):
    """The judgments cannot show who is competent. The subclasses give the reason, and their messages the remedy."""


class NoJudgmentsError(UnfitError):
    """There are no judgments."""


class SingleLabelError(UnfitError):
    """All judgments are equal: competence is indistinguishable from always giving the same answer."""


class NoOverlapError(UnfitError):
    """No item has two annotators or a known label, so annotators cannot be compared."""


@dataclass(frozen=True)
class MaceSettings:
    """Settings of the MACE fit; the defaults are the published ones.

    Attributes
    ----------
    restarts : int
        Random starts. The result is the one with the highest likelihood of the data.
    max_iter : int
        Maximum number of M-steps from each start.
    tolerance : float
        A start has converged when its log likelihood changes by less than this in one iteration.
    spam_prior : tuple of float
        Pseudo-counts of the Beta prior for spamming and for knowing.
    strategy_prior : float
        Pseudo-count of the Dirichlet prior for each label.
    smoothing : float or None
        Added to every count. None: 0.1 divided by the number of labels in use.
    refine : int
        Rounds of search after the restarts. 0, the default, is the published procedure: the result is the best restart.
        Otherwise the result combines the best fits of each connected component of the judgments
        (docs/methods/competence.md). A round takes the five best fits of each component so far. It makes four copies of
        each, gives a quarter of the annotators new random parameters, and runs 20 iterations. The best fit of all is
        then run for up to `max_iter` more iterations. The result is never worse than that of the restarts alone.
    """

    restarts: int = 20
    max_iter: int = 100
    tolerance: float = 1e-6
    spam_prior: tuple[float, float] = (0.5, 0.5)
    strategy_prior: float = 10.0
    smoothing: float | None = None
    refine: int = 0


@dataclass(frozen=True, eq=False)
class MaceParameters:
    """Annotator parameters of MACE: the result of a fit, or the start of a later one.

    Attributes
    ----------
    spam : ndarray of shape (n_annotators,)
        e0. `spam` plus `know` is slightly less than 1, because both are exponentials of expected logarithms.
    know : ndarray of shape (n_annotators,)
        e1.
    strategy : ndarray of shape (n_annotators, n_labels)
        Label probabilities when the annotator spams; 0 for labels that nobody used.
    """

    spam: Floats
    know: Floats
    strategy: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class MaceInput:
    """Input of one fit: the parameters of `analysis.stats.mace.fit`."""

    item: ArrayLike
    annotator: ArrayLike
    label: ArrayLike
    rng: np.random.Generator | None = None
    items: int | None = None
    annotators: int | None = None
    labels: int | None = None
    fixed: ArrayLike | None = None
    start: MaceParameters | None = None
    settled: MaceParameters | None = None
    keys: ArrayLike | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """The problem to fit: checked judgments with labels in use from 0, known labels, keys and the start."""

    unit: Ints
    coder: Ints
    value: Ints
    shape: tuple[int, int, int]
    fixed: Ints
    keys: NDArray[np.uint64]
    start: State | None

    def votes(self, *, parted: bool) -> Votes:
        """Return the judgments in the form EM needs, split into connected components if `parted` is true."""
        items, annotators, _labels = self.shape
        parts = (
            connected(self.unit, self.coder, items=items, annotators=annotators) if parted else whole(items, annotators)
        )
        return Votes(self.unit, self.coder, self.value, shape=self.shape, fixed=self.fixed, parts=parts)

    def of(self, is_chosen: NDArray[np.bool_]) -> Problem:
        """Return the subproblem of some annotators, who share no items with the other annotators."""
        is_selected = is_chosen[self.coder]
        items, unit = np.unique(self.unit[is_selected], return_inverse=True)
        new_index = np.cumsum(is_chosen) - 1
        start = self.start
        return Problem(
            unit=unit,
            coder=new_index[self.coder[is_selected]],
            value=self.value[is_selected],
            shape=(len(items), int(is_chosen.sum()), self.shape[2]),
            fixed=self.fixed[items],
            keys=self.keys[is_chosen],
            start=None
            if start is None
            else State(start.spam[is_chosen], start.know[is_chosen], start.strategy[:, is_chosen]),
        )


@dataclass(frozen=True, eq=False)
class Prepared:
    """A problem with the data that its result needs.

    Attributes
    ----------
    problem : Problem
    used : ndarray of int
        The labels in use, in order.
    values : int
        The number of labels in the domain.
    judgments : ndarray of int, shape (n_annotators,)
        The number of judgments of each annotator.
    settled : State or None
        Parameters that were fitted before; undecided for the other annotators.
    anew : ndarray of bool, shape (n_annotators,)
        Annotators whose parameters must be fitted: all annotators of a component in which one has no fitted parameters.
    votes : Votes
        The judgments in the form EM needs.
    rng : numpy.random.Generator or None
        Source of random numbers.
    """

    problem: Problem
    used: Ints
    values: int
    judgments: Ints
    settled: State | None
    anew: NDArray[np.bool_]
    votes: Votes
    rng: np.random.Generator | None


def prepare(data: MaceInput, settings: MaceSettings) -> Prepared:
    """Check the input and prepare the problem.

    Raises
    ------
    UnfitError, analysis.stats.judgments.RepeatedJudgmentError, ValueError
        See `analysis.stats.mace.fit`.
    """
    judged = check(data.item, data.annotator, data.label, units=data.items, coders=data.annotators,
                   values=data.labels)  # fmt: skip
    fixed_labels = _known(data.fixed, judged)
    used = np.flatnonzero(np.bincount(np.r_[judged.value, fixed_labels[fixed_labels >= 0]], minlength=judged.values))
    _refuse_hopeless(judged, fixed_labels, len(used))
    position = np.full(judged.values + 1, -1)  # the last entry maps "unknown" (-1) to itself
    position[used] = np.arange(len(used))
    problem = Problem(
        unit=judged.unit,
        coder=judged.coder,
        value=position[judged.value],
        shape=(judged.units, judged.coders, len(used)),
        fixed=position[fixed_labels],
        keys=_keys(data.keys, judged.coders),
        start=None if data.start is None else _state(data.start, used, judged.coders),
    )
    votes = problem.votes(parted=settings.refine > 0 or data.settled is not None)
    anew, settled = np.ones(judged.coders, dtype=bool), None
    if data.settled is not None:
        settled = _state(data.settled, used, judged.coders)
        part = votes.parts.of_annotator
        is_open = np.zeros(votes.parts.count, dtype=bool)
        is_open[part[np.isnan(data.settled.spam)]] = True
        anew = is_open[part]
    judgments = np.bincount(judged.coder, minlength=judged.coders)
    return Prepared(problem, used, judged.values, judgments, settled, anew, votes, data.rng)


def solve(prepared: Sequence[Prepared], settings: MaceSettings) -> list[tuple[Fits, Fits | None]]:
    """Return the best fit of each problem, and the results of its starts (None if some parameters were settled).

    With settled parameters, the remaining components are a small part of each problem. Those of all problems with the
    same number of labels are therefore searched in one batch, each component independently.
    """
    effort = Effort(settings.restarts, settings.max_iter, settings.tolerance, settings.refine)
    fits_by_index: list[tuple[Fits, Fits | None] | None] = [None] * len(prepared)
    unsettled: dict[int, list[int]] = {}
    for index, problem_fit in enumerate(prepared):
        if problem_fit.settled is None:
            fits_by_index[index] = _in_groups(problem_fit, _priors(settings, len(problem_fit.used)), effort, settings)
        elif problem_fit.anew.any():
            unsettled.setdefault(len(problem_fit.used), []).append(index)
        else:
            nothing = np.zeros((1, 0))
            fits_by_index[index] = (
                Fits(problem_fit.settled, nothing, nothing.astype(np.int64), nothing.astype(bool)),
                None,
            )
    for labels, places in unsettled.items():
        batch = [prepared[index] for index in places]
        for index, fits in zip(places, _together(batch, _priors(settings, labels), effort, settings), strict=True):
            fits_by_index[index] = fits, None
    return [problem_fit for problem_fit in fits_by_index if problem_fit is not None]


def _in_groups(prepared: Prepared, priors: Priors, effort: Effort, settings: MaceSettings) -> tuple[Fits, Fits]:
    """Search all components, in groups that fit into the processor's cache, on all processors.

    Components are independent, so the results do not depend on the groups. A group ends when its own components have
    converged.
    """
    problem, votes, parts = prepared.problem, prepared.votes, prepared.votes.parts
    draws = _draws(problem.keys, prepared.rng, settings)
    cells = np.bincount(parts.of_item, minlength=parts.count) + np.bincount(parts.of_annotator, minlength=parts.count)
    group = np.cumsum(cells) // _GROUP
    if group[-1] == 0 or parts.count == 1:
        return search(votes, priors, effort, draws, problem.start)
    members = [np.flatnonzero(group == number) for number in np.unique(group).tolist()]
    items, annotators = (_grouped(group[of]) for of in (parts.of_item, parts.of_annotator))
    judgments = _grouped(group[parts.of_item[problem.unit]])

    def searched(number: int) -> tuple[Fits, Fits]:
        chosen = _Group(members[number], *(part.get(int(group[members[number][0]]), _NONE) for part in
                        (items, annotators, judgments)))  # fmt: skip
        start = None if problem.start is None else chosen.state(problem.start)
        rng = None if draws is None else draws.some(chosen.annotators)
        return search(chosen.votes(problem, parts), priors, effort, rng, start)

    results = map_in_threads(searched, range(len(members)))
    of_annotators = [annotators.get(int(group[part[0]]), _NONE) for part in members]
    best, ends = (_scattered([pair[which] for pair in results], members, of_annotators, votes) for which in (0, 1))
    return best, ends


#: Items and annotators of a group of components: with twenty restarts, their arrays fit into a processor's cache.
_GROUP = 2_000
_NONE = np.zeros(0, dtype=np.int64)


def _grouped(group: Ints) -> dict[int, Ints]:
    """Return the indices of each group, ascending."""
    order = np.argsort(group, kind="stable")
    numbers, begins = np.unique(group[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, begins[1:]), strict=True))


@dataclass(frozen=True, eq=False)
class _Group:
    """Some components: their numbers, and the indices of their items, annotators and judgments; all ascending."""

    parts: Ints
    items: Ints
    annotators: Ints
    judgments: Ints

    def votes(self, problem: Problem, parts: Parts) -> Votes:
        """Return their judgments in the form EM needs."""
        return Votes(
            np.searchsorted(self.items, problem.unit[self.judgments]),
            np.searchsorted(self.annotators, problem.coder[self.judgments]),
            problem.value[self.judgments],
            shape=(len(self.items), len(self.annotators), problem.shape[2]),
            fixed=problem.fixed[self.items],
            parts=Parts(
                len(self.parts),
                np.searchsorted(self.parts, parts.of_item[self.items]),
                np.searchsorted(self.parts, parts.of_annotator[self.annotators]),
            ),
        )

    def state(self, whole: State) -> State:
        """Return their part of a state."""
        return State(whole.spam[self.annotators], whole.know[self.annotators], whole.strategy[:, self.annotators])


def _scattered(fits: Sequence[Fits], parts: Sequence[Ints], annotators: Sequence[Ints], votes: Votes) -> Fits:
    """Join the results of groups of components."""
    count = fits[0].state.spam.shape[1]
    state = State(
        np.empty((votes.annotators, count)),
        np.empty((votes.annotators, count)),
        np.empty((votes.labels, votes.annotators, count)),
    )
    joined = Fits(
        state,
        np.empty((votes.parts.count, count)),
        np.empty((votes.parts.count, count), dtype=np.int64),
        np.empty((votes.parts.count, count), dtype=bool),
    )
    for fit, part, annotator in zip(fits, parts, annotators, strict=True):
        state.spam[annotator], state.know[annotator] = fit.state.spam, fit.state.know
        state.strategy[:, annotator] = fit.state.strategy
        joined.log_likelihood[part], joined.iterations[part] = fit.log_likelihood, fit.iterations
        joined.converged[part] = fit.converged
    return joined


def _priors(settings: MaceSettings, labels: int) -> Priors:
    smoothing = settings.smoothing if settings.smoothing is not None else 0.1 / labels
    return Priors(*settings.spam_prior, settings.strategy_prior, smoothing)


def _together(prepared: Sequence[Prepared], priors: Priors, effort: Effort, settings: MaceSettings) -> list[Fits]:
    """Search the unsettled components of several problems, and merge the results with the settled parameters."""
    parts = [prepared_problem.problem.of(prepared_problem.anew) for prepared_problem in prepared]
    draws = [
        _draws(part.keys, prepared_problem.rng, settings)
        for part, prepared_problem in zip(parts, prepared, strict=True)
    ]
    joined = _joined(parts)
    votes = joined.votes(parted=True)
    known_draws = [prepared_problem for prepared_problem in draws if prepared_problem is not None]
    best, _ends = search(votes, priors, effort, ConcatenatedRng(known_draws) if known_draws else None, joined.start)
    fits, end = [], 0
    for part, prepared_problem in zip(parts, prepared, strict=True):
        begin, end = end, end + part.shape[1]
        state, annotators = prepared_problem.settled, slice(begin, end)
        assert state is not None
        state.spam[prepared_problem.anew], state.know[prepared_problem.anew] = (
            best.state.spam[annotators],
            best.state.know[annotators],
        )
        state.strategy[:, prepared_problem.anew] = best.state.strategy[:, annotators]
        of = np.unique(votes.parts.of_annotator[annotators])
        fits.append(Fits(state, best.log_likelihood[of], best.iterations[of], best.converged[of]))
    return fits


def _joined(problems: Sequence[Problem]) -> Problem:
    """Join several problems into one whose components they are; either all have a start, or none has."""
    shapes = np.array([problem.shape for problem in problems])
    item, annotator = (np.cumsum(shapes[:, axis]) - shapes[:, axis] for axis in (0, 1))
    starts = [problem.start for problem in problems if problem.start is not None]
    if starts and len(starts) < len(problems):
        raise ValueError("either all fits together have a start, or none has")
    start = None
    if starts:
        spam, know = (np.concatenate([getattr(problem, name) for problem in starts]) for name in ("spam", "know"))
        start = State(spam, know, np.concatenate([problem.strategy for problem in starts], axis=1))
    return Problem(
        unit=np.concatenate([problem.unit + first for problem, first in zip(problems, item, strict=True)]),
        coder=np.concatenate([problem.coder + first for problem, first in zip(problems, annotator, strict=True)]),
        value=np.concatenate([problem.value for problem in problems]),
        shape=(int(shapes[:, 0].sum()), int(shapes[:, 1].sum()), problems[0].shape[2]),
        fixed=np.concatenate([problem.fixed for problem in problems]),
        keys=np.concatenate([problem.keys for problem in problems]),
        start=start,
    )


def _draws(keys: NDArray[np.uint64], rng: np.random.Generator | None, settings: MaceSettings) -> KeyedRng | None:
    if not settings.restarts and not settings.refine:
        return None
    if rng is None:
        raise ValueError("random starts need rng: pass numpy.random.default_rng(seed)")
    return KeyedRng(keys, rng)


def _keys(keys: ArrayLike | None, annotators: int) -> NDArray[np.uint64]:
    keys_array = np.arange(annotators, dtype=np.uint64) if keys is None else np.asarray(keys, dtype=np.uint64)
    if keys_array.shape != (annotators,):
        msg = f"keys must hold a number for each of the {annotators} annotators, its shape is {keys_array.shape}"
        raise ValueError(msg)
    return keys_array


def _known(fixed: ArrayLike | None, judged: Judgments) -> Ints:
    labels = np.full(judged.units, -1) if fixed is None else np.asarray(fixed, dtype=np.int64)
    if labels.shape != (judged.units,) or np.any(labels >= judged.values) or np.any(labels < -1):
        msg = f"fixed must hold a label from 0 to {judged.values - 1}, or -1, for each of the {judged.units} items"
        raise ValueError(msg)
    return labels


def _refuse_hopeless(judged: Judgments, fixed_labels: Ints, labels_used: int) -> None:
    if not judged.unit.size:
        raise NoJudgmentsError("there are no judgments: collect some, or include other judges")
    if labels_used < 2:
        raise SingleLabelError("all judgments are the same label: MACE needs at least two labels in use")
    if not np.any(fixed_labels >= 0) and np.bincount(judged.unit).max() < 2:
        raise NoOverlapError("no item has two judgments: let several people judge the same items, or use known labels")


def _state(earlier: MaceParameters, used: Ints, annotators: int) -> State:
    """Return earlier parameters for the labels in use now; annotators who are new, or NaN, are undecided."""
    before = len(earlier.spam)
    if before > annotators or earlier.strategy.shape[1] <= used.max(initial=-1):
        msg = (
            f"the start knows {before} annotators and {earlier.strategy.shape[1]} labels, these judgments fewer or more"
        )
        raise ValueError(msg)
    spam, know = np.full((2, annotators, 1), 0.5)
    strategy = np.full((len(used), annotators, 1), 1.0 / len(used))
    fitted = np.flatnonzero(~np.isnan(earlier.spam))
    spam[fitted, 0], know[fitted, 0] = earlier.spam[fitted], earlier.know[fitted]
    shares = earlier.strategy[fitted][:, used].T
    # A label that was unused before has strategy 0, which EM can never change.
    strategy[:, fitted, 0] = np.where(np.all(shares > 0, axis=0), shares, 1.0 / len(used))
    return State(spam, know, strategy)
