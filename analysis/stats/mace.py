"""MACE: who can be trusted, and which label holds (Hovy et al. 2013; design 7.2).

The model, for one dimension. Each item has a true label, all labels equally likely. An annotator spams an item with
probability e0 and then draws a label from a strategy of their own; otherwise they give the true label. Fitted by
variational EM with a Beta prior on spamming and a Dirichlet prior on strategies. Competence is ``1 - e0``.

Reference: Hovy, Berg-Kirkpatrick, Vaswani, Hovy, Learning Whom to Trust with MACE, NAACL-HLT 2013, section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats._mace_engine import Fits, Priors, State, Votes
from analysis.stats._mace_parts import connected, whole
from analysis.stats._mace_search import Effort, agreement, search
from analysis.stats.bootstrap import Floats
from analysis.stats.draws import Draws
from analysis.stats.judgments import Ints, Judgments, check


class NoJudgmentsError(ValueError):
    """There is nothing to fit."""


class SingleLabelError(ValueError):
    """All judgments are equal: competence cannot be told from always giving that answer."""


class NoOverlapError(ValueError):
    """No item was judged by two annotators, and no item is known: nobody can be compared with anybody."""


@dataclass(frozen=True)
class Settings:
    """How MACE is fitted; the defaults are the published ones.

    Attributes
    ----------
    restarts : int
        Random starts, the best of which (by the likelihood of the data) is the result.
    max_iter : int
        At most so many M-steps from each start.
    tolerance : float
        A start has converged when its log likelihood moves by less than this in one iteration.
    spam_prior : tuple of float
        The Beta prior's counts of spamming and of knowing.
    strategy_prior : float
        The Dirichlet prior's count of each label.
    smoothing : float or None
        Added to every count; None: 0.1 over the number of labels used.
    refine : int
        Rounds of search after the restarts; 0, the default, is the published procedure, whose result is the best
        restart. Otherwise the result is put together of the best fit of each part of the judgments that has nothing to
        do with the others (docs/methods/competence.md). A round takes the five best fits of each part so far, gives a
        quarter of its annotators new random parameters in four ways each, and runs 20 iterations; the best of all is
        then run for up to `max_iter` more. Never worse than the restarts alone.
    """

    restarts: int = 20
    max_iter: int = 100
    tolerance: float = 1e-6
    spam_prior: tuple[float, float] = (0.5, 0.5)
    strategy_prior: float = 10.0
    smoothing: float | None = None
    refine: int = 0


@dataclass(frozen=True, eq=False)
class Parameters:
    """What MACE knows of the annotators: a fit's outcome, and the start of a later one.

    Attributes
    ----------
    spam : ndarray of shape (n_annotators,)
        e0. With `know` it sums to slightly less than 1: both are exp of expected logarithms.
    know : ndarray of shape (n_annotators,)
        e1.
    strategy : ndarray of shape (n_annotators, n_labels)
        What the annotator answers when spamming; 0 for labels that nobody used.
    """

    spam: Floats
    know: Floats
    strategy: Floats


@dataclass(frozen=True, eq=False)
class Mace:
    """A fitted model of one dimension's judgments.

    Attributes
    ----------
    posterior : ndarray of shape (n_items, n_labels)
        Probability of each label of each item given all judgments; 0 for labels that nobody used. Items without
        judgments have equal probabilities for all labels used.
    parameters : Parameters
        Of the best fit. Annotators without judgments keep what the priors say.
    judgments : ndarray of int, shape (n_annotators,)
        How many judgments of each annotator there were.
    log_likelihood : float
        Of the judgments under the parameters.
    iterations : int
        M-steps that led from the start to the best fit (the last of them, if it was refined); of several parts the
        most.
    converged : bool
        Whether the likelihood of the best fit had settled, in all parts that were searched. With the published 100
        iterations it often has not.
    restart_log_likelihoods : ndarray of shape (n_starts,)
        Where each start ended (the warm start first, if there was one; refining is not in it). Their spread tells how
        rough the surface is. Empty where a part of the parameters stood already.
    restart_agreement : ndarray of shape (n_items,)
        Share of the starts that give the item the same most probable label as the best fit does; NaN where a part of
        the parameters stood already.
    settings : Settings
        What made it.
    """

    posterior: Floats
    parameters: Parameters
    judgments: Ints
    log_likelihood: float
    iterations: int
    converged: bool
    restart_log_likelihoods: Floats
    restart_agreement: Floats
    settings: Settings = field(default_factory=Settings)

    @property
    def spam_probability(self) -> Floats:
        """e0 of each annotator, shape (n_annotators,)."""
        return self.parameters.spam

    @property
    def competence(self) -> Floats:
        """1 - e0 of each annotator, shape (n_annotators,)."""
        return 1.0 - self.parameters.spam

    @property
    def entropy(self) -> Floats:
        """Uncertainty of each item's label in nats, shape (n_items,): 0 is certain."""
        p = self.posterior
        terms: Floats = p * np.log(p, out=np.zeros_like(p), where=p > 0)
        return np.asarray(-terms.sum(axis=1))

    @property
    def spread(self) -> float:
        """Standard deviation of the starts' log likelihoods; NaN if there was only one."""
        ends = self.restart_log_likelihoods
        return float(ends.std(ddof=1)) if len(ends) > 1 else float("nan")


def fit(
    item: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    *,
    rng: np.random.Generator | None = None,
    items: int | None = None,
    annotators: int | None = None,
    labels: int | None = None,
    fixed: ArrayLike | None = None,
    start: Parameters | None = None,
    settled: Parameters | None = None,
    keys: ArrayLike | None = None,
    settings: Settings | None = None,
) -> Mace:
    """Fit MACE to the judgments of one dimension.

    Parameters
    ----------
    item, annotator, label : array_like of int, shape (n_judgments,)
        One judgment an entry, in any order: the presented pair, who judged it, the label's position in its domain,
        all from 0. A negative label is missing and left out. Labels of the domain that nobody used take no part.
    rng : numpy.random.Generator, optional
        Source of the random starts; needed unless ``settings.restarts`` and ``settings.refine`` are 0.
    items, annotators, labels : int, optional
        How many there are of each; by default the largest index plus one.
    fixed : array_like of int, shape (n_items,), optional
        Labels known beforehand (gold items), -1 where unknown. The posterior of a known item is certain.
    start : Parameters, optional
        Parameters to start from, beside the random starts: of an earlier fit, when judgments came in since.
        Annotators with higher indices than it knows begin undecided, and so do those whose `spam` is NaN in it.
    settled : Parameters, optional
        Parameters that stand, of all annotators; NaN in `spam` where they do not. A part of the judgments (annotators
        who judged the same items, directly or through others) keeps them if it has those of all its annotators; only
        the others are fitted. With what a fit with `refine` found for parts whose judgments are the same since, equal
        `keys` and an `rng` of the same seed, the outcome is that of fitting everything.
    keys : array_like of int, shape (n_annotators,), optional
        A number for each annotator from which their random parameters follow, beside `rng`; by default their index.
        Numbers that follow from who they are keep a search the same while others come and go.
    settings : Settings, optional
        The published ones by default.

    Returns
    -------
    Mace

    Raises
    ------
    NoJudgmentsError, SingleLabelError, NoOverlapError
        If the judgments cannot tell who is competent; each says the cure.
    analysis.stats.judgments.RepeatedJudgmentError
        If an annotator judged an item more than once.
    ValueError
        If there is no start at all, or shapes do not fit.

    Examples
    --------
    >>> item, person = [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3
    >>> model = fit(item, person, [0, 0, 2, 2, 2, 0, 1, 1, 2], rng=np.random.default_rng(0))
    >>> model.posterior.argmax(axis=1).tolist()
    [0, 2, 1]
    >>> bool(model.competence[2] < model.competence[:2].min())
    True
    """
    chosen = settings if settings is not None else Settings()
    judged = check(item, annotator, label, units=items, coders=annotators, values=labels)
    known = _known(fixed, judged)
    used = np.flatnonzero(np.bincount(np.r_[judged.value, known[known >= 0]], minlength=judged.values))
    _refuse_hopeless(judged, known, len(used))
    position = np.full(judged.values + 1, -1)  # the last entry maps "unknown" (-1) to itself
    position[used] = np.arange(len(used))
    problem = _Problem(
        unit=judged.unit,
        coder=judged.coder,
        value=position[judged.value],
        shape=(judged.units, judged.coders, len(used)),
        fixed=position[known],
        keys=_keys(keys, judged.coders),
        start=None if start is None else _state(start, used, judged.coders),
    )
    smoothing = chosen.smoothing if chosen.smoothing is not None else 0.1 / len(used)
    priors = Priors(*chosen.spam_prior, chosen.strategy_prior, smoothing)
    best, ends, votes = _found(problem, settled, used, priors, chosen, rng)
    posterior, by_part, _ = votes.posterior(best.state)
    # Of a fit that was searched the likelihood is the one that it was chosen by, to the last digit.
    log_likelihood = by_part if settled is not None else best.log_likelihood
    return Mace(
        posterior=_spread_labels(posterior[:, :, 0].T, used, judged.values),
        parameters=Parameters(
            spam=best.state.spam[:, 0],
            know=best.state.know[:, 0],
            strategy=_spread_labels(best.state.strategy[:, :, 0].T, used, judged.values),
        ),
        judgments=np.bincount(judged.coder, minlength=judged.coders),
        log_likelihood=float(log_likelihood.sum()),
        iterations=int(best.iterations.max(initial=0)),
        converged=bool(best.converged.all()),
        restart_log_likelihoods=np.zeros(0) if ends is None else ends.log_likelihood.sum(axis=0),
        restart_agreement=agreement(votes, ends, posterior[:, :, 0].argmax(axis=0)),
        settings=chosen,
    )


def linked(item: ArrayLike, annotator: ArrayLike, who: ArrayLike, *, items: int) -> NDArray[np.bool_]:
    """Who is fitted anew if some annotators are: those who judged an item with them, directly or through others.

    Parameters
    ----------
    item, annotator : array_like of int, shape (n_judgments,)
        What was judged by whom.
    who : array_like of bool, shape (n_annotators,)
        The annotators to begin with.
    items : int
        How many items there are.

    Returns
    -------
    ndarray of bool, shape (n_annotators,)
    """
    begun = np.asarray(who, dtype=bool)
    judged = check(item, annotator, np.zeros(np.size(item), dtype=np.int64), units=items, coders=len(begun))
    part = connected(judged.unit, judged.coder, items=items, annotators=len(begun)).of_annotator
    return np.isin(part, part[begun])


@dataclass(frozen=True, eq=False)
class _Problem:
    """What is fitted: checked judgments with the labels in use from 0, known labels, keys, and the start."""

    unit: Ints
    coder: Ints
    value: Ints
    shape: tuple[int, int, int]
    fixed: Ints
    keys: NDArray[np.uint64]
    start: State | None

    def votes(self, *, parted: bool) -> Votes:
        items, annotators, _labels = self.shape
        parts = (
            connected(self.unit, self.coder, items=items, annotators=annotators) if parted else whole(items, annotators)
        )
        return Votes(self.unit, self.coder, self.value, shape=self.shape, fixed=self.fixed, parts=parts)

    def of(self, who: NDArray[np.bool_]) -> _Problem:
        """The part of it that some annotators make up, who judged nothing together with the others."""
        mine = who[self.coder]
        items, unit = np.unique(self.unit[mine], return_inverse=True)
        place = np.cumsum(who) - 1
        start = self.start
        return _Problem(
            unit=unit,
            coder=place[self.coder[mine]],
            value=self.value[mine],
            shape=(len(items), int(who.sum()), self.shape[2]),
            fixed=self.fixed[items],
            keys=self.keys[who],
            start=None if start is None else State(start.spam[who], start.know[who], start.strategy[:, who]),
        )


def _found(
    problem: _Problem,
    settled: Parameters | None,
    used: Ints,
    priors: Priors,
    settings: Settings,
    rng: np.random.Generator | None,
) -> tuple[Fits, Fits | None, Votes]:
    """The best fit, where the starts ended (None if a part stood already), and the judgments as EM sees them."""
    votes = problem.votes(parted=settings.refine > 0 or settled is not None)
    effort = Effort(settings.restarts, settings.max_iter, settings.tolerance, settings.refine)
    if settled is None:
        return *search(votes, priors, effort, _draws(problem.keys, rng, settings), problem.start), votes
    state = _state(settled, used, problem.shape[1])
    part = votes.parts.of_annotator
    open_parts = np.zeros(votes.parts.count, dtype=bool)
    open_parts[part[np.isnan(settled.spam)]] = True
    who = open_parts[part]
    if not who.any():
        nothing = np.zeros((1, 0))
        return Fits(state, nothing, nothing.astype(np.int64), nothing.astype(bool)), None, votes
    rest = problem.of(who)
    found, _ends = search(rest.votes(parted=True), priors, effort, _draws(rest.keys, rng, settings), rest.start)
    state.spam[who], state.know[who], state.strategy[:, who] = found.state.spam, found.state.know, found.state.strategy
    return Fits(state, found.log_likelihood, found.iterations, found.converged), None, votes


def _draws(keys: NDArray[np.uint64], rng: np.random.Generator | None, settings: Settings) -> Draws | None:
    if not settings.restarts and not settings.refine:
        return None
    if rng is None:
        raise ValueError("random starts need rng: pass numpy.random.default_rng(seed)")
    return Draws(keys, rng)


def _keys(keys: ArrayLike | None, annotators: int) -> NDArray[np.uint64]:
    found = np.arange(annotators, dtype=np.uint64) if keys is None else np.asarray(keys, dtype=np.uint64)
    if found.shape != (annotators,):
        msg = f"keys must hold a number for each of the {annotators} annotators, its shape is {found.shape}"
        raise ValueError(msg)
    return found


def _known(fixed: ArrayLike | None, judged: Judgments) -> Ints:
    known = np.full(judged.units, -1) if fixed is None else np.asarray(fixed, dtype=np.int64)
    if known.shape != (judged.units,) or np.any(known >= judged.values) or np.any(known < -1):
        msg = f"fixed must hold a label from 0 to {judged.values - 1}, or -1, for each of the {judged.units} items"
        raise ValueError(msg)
    return known


def _refuse_hopeless(judged: Judgments, known: Ints, labels_used: int) -> None:
    if not judged.unit.size:
        raise NoJudgmentsError("there are no judgments: collect some, or widen the pool")
    if labels_used < 2:
        raise SingleLabelError("all judgments are the same label: MACE needs at least two labels in use")
    if not np.any(known >= 0) and np.bincount(judged.unit).max() < 2:
        raise NoOverlapError("no item has two judgments: let several people judge the same items, or fix known labels")


def _state(earlier: Parameters, used: Ints, annotators: int) -> State:
    """Earlier parameters, for the labels in use now; people who are new, or NaN, are undecided."""
    before = len(earlier.spam)
    if before > annotators or earlier.strategy.shape[1] <= used.max(initial=-1):
        msg = (
            f"the start knows {before} annotators and {earlier.strategy.shape[1]} labels, these judgments fewer or more"
        )
        raise ValueError(msg)
    spam, know = np.full((2, annotators, 1), 0.5)
    strategy = np.full((len(used), annotators, 1), 1.0 / len(used))
    there = np.flatnonzero(~np.isnan(earlier.spam))
    spam[there, 0], know[there, 0] = earlier.spam[there], earlier.know[there]
    shares = earlier.strategy[there][:, used].T
    # A label that nobody had used has strategy 0, which EM could never leave.
    strategy[:, there, 0] = np.where(np.all(shares > 0, axis=0), shares, 1.0 / len(used))
    return State(spam, know, strategy)


def _spread_labels(columns: Floats, used: NDArray[np.int64], labels: int) -> Floats:
    """Columns of the labels used, at their places among all labels; the others are 0."""
    full = np.zeros((len(columns), labels))
    full[:, used] = columns
    return full
