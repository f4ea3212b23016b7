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

from analysis.stats._mace_engine import Fits, Priors, State, Votes, iterate, random_starts
from analysis.stats._mace_search import concatenate, perturb
from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import Ints, Judgments, check

# Restarts are fitted beside each other, in blocks whose largest arrays stay below this.
_BLOCK_BYTES = 256 * 2**20
_REFINE_ITERATIONS = 20
_REFINE_PARENTS = 5


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
        Rounds of search after the restarts; 0, the default, is the published procedure. A round takes the five best
        fits so far, gives a quarter of the annotators new random parameters in four ways each, and runs 20 iterations;
        the best of all is then run to `max_iter`. Never worse than the restarts alone; on the CrowdRAG-25 sample six
        rounds find what 1,000 restarts find, at 2.5 times the cost of 20.
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
        M-steps that led from the start to the best fit.
    converged : bool
        Whether the likelihood of the best fit had settled. With the published 100 iterations it often has not.
    restart_log_likelihoods : ndarray of shape (n_starts,)
        Where each start ended (the warm start first, if there was one; refining is not in it). Their spread tells how
        rough the surface is.
    restart_agreement : ndarray of shape (n_items,)
        Share of the starts that give the item the same most probable label as the best fit does.
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
        Annotators with higher indices than it knows begin undecided.
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
    """
    chosen = settings if settings is not None else Settings()
    judged = check(item, annotator, label, units=items, coders=annotators, values=labels)
    known = _known(fixed, judged)
    used = np.flatnonzero(np.bincount(np.r_[judged.value, known[known >= 0]], minlength=judged.values))
    _refuse_hopeless(judged, known, len(used))
    position = np.full(judged.values + 1, -1)  # the last entry maps "unknown" (-1) to itself
    position[used] = np.arange(len(used))
    shape = (judged.units, judged.coders, len(used))
    votes = Votes(judged.unit, judged.coder, position[judged.value], shape=shape, fixed=position[known])
    smoothing = chosen.smoothing if chosen.smoothing is not None else 0.1 / len(used)
    priors = Priors(*chosen.spam_prior, chosen.strategy_prior, smoothing)
    starts = _starts(votes, start, used, rng, chosen)
    ends = _fit_blocks(votes, starts, priors, chosen.max_iter, chosen.tolerance)
    best = _best(votes, ends, priors, chosen, rng)
    posterior = votes.posterior(best.state)[0][:, :, 0]
    return Mace(
        posterior=_spread_labels(posterior.T, used, judged.values),
        parameters=Parameters(
            spam=best.state.spam[:, 0],
            know=best.state.know[:, 0],
            strategy=_spread_labels(best.state.strategy[:, :, 0].T, used, judged.values),
        ),
        judgments=np.bincount(judged.coder, minlength=judged.coders),
        log_likelihood=float(best.log_likelihood[0]),
        iterations=int(best.iterations[0]),
        converged=bool(best.converged[0]),
        restart_log_likelihoods=ends.log_likelihood,
        restart_agreement=_agreement(votes, ends.state, posterior.argmax(axis=0)),
        settings=chosen,
    )


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


def _starts(
    votes: Votes, start: Parameters | None, used: Ints, rng: np.random.Generator | None, settings: Settings
) -> State:
    parts = []
    if start is not None:
        parts.append(_warm_start(start, used, votes.annotators))
    if settings.restarts or settings.refine:
        if rng is None:
            raise ValueError("random starts need rng: pass numpy.random.default_rng(seed)")
        parts.append(random_starts((votes.labels, votes.annotators), settings.restarts, rng))
    if not parts or not sum(part.spam.shape[1] for part in parts):
        raise ValueError("there is nothing to start from: ask for restarts, or give a start")
    return concatenate(parts)


def _warm_start(start: Parameters, used: Ints, annotators: int) -> State:
    """Earlier parameters, for the labels in use now; people who are new begin undecided."""
    before = len(start.spam)
    if before > annotators or start.strategy.shape[1] <= used.max(initial=-1):
        msg = f"the start knows {before} annotators and {start.strategy.shape[1]} labels, these judgments fewer or more"
        raise ValueError(msg)
    spam, know = np.full((2, annotators, 1), 0.5)
    strategy = np.full((len(used), annotators, 1), 1.0 / len(used))
    spam[:before, 0], know[:before, 0] = start.spam, start.know
    earlier = start.strategy[:, used].T
    # A label that nobody had used has strategy 0, which EM could never leave.
    strategy[:, :before, 0] = np.where(np.all(earlier > 0, axis=0), earlier, 1.0 / len(used))
    return State(spam, know, strategy)


def _blocks(votes: Votes, restarts: int) -> list[Ints]:
    size = max(1, _BLOCK_BYTES // (8 * votes.labels * max(votes.items, votes.annotators)))
    return [np.arange(first, min(first + size, restarts)) for first in range(0, restarts, size)]


def _fit_blocks(votes: Votes, starts: State, priors: Priors, max_iter: int, tolerance: float) -> Fits:
    fits = [
        iterate(votes, starts.take(block), priors, max_iter=max_iter, tolerance=tolerance)
        for block in _blocks(votes, starts.spam.shape[1])
    ]
    return Fits(
        state=concatenate([part.state for part in fits]),
        log_likelihood=np.concatenate([part.log_likelihood for part in fits]),
        iterations=np.concatenate([part.iterations for part in fits]),
        converged=np.concatenate([part.converged for part in fits]),
    )


def _top(fits: Fits, count: int) -> Fits:
    order = np.argsort(-fits.log_likelihood, kind="stable")[:count]
    return Fits(fits.state.take(order), fits.log_likelihood[order], fits.iterations[order], fits.converged[order])


def _best(votes: Votes, ends: Fits, priors: Priors, settings: Settings, rng: np.random.Generator | None) -> Fits:
    """The best end, after the rounds of search that the settings ask for."""
    pool = _top(ends, _REFINE_PARENTS)
    for _ in range(settings.refine):
        assert rng is not None  # _starts has refused otherwise
        children = _fit_blocks(votes, perturb(pool.state, rng), priors, _REFINE_ITERATIONS, settings.tolerance)
        both = [pool, children]
        pool = _top(
            Fits(
                state=concatenate([fits.state for fits in both]),
                log_likelihood=np.concatenate([fits.log_likelihood for fits in both]),
                iterations=np.concatenate([fits.iterations for fits in both]),
                converged=np.concatenate([fits.converged for fits in both]),
            ),
            _REFINE_PARENTS,
        )
    best = _top(pool, 1)
    if best.log_likelihood[0] <= ends.log_likelihood.max():
        return best
    polished = iterate(votes, best.state, priors, max_iter=settings.max_iter, tolerance=settings.tolerance)
    return polished if polished.log_likelihood[0] >= best.log_likelihood[0] else best


def _agreement(votes: Votes, state: State, label: Ints) -> Floats:
    restarts = state.spam.shape[1]
    same = np.zeros(votes.items)
    for block in _blocks(votes, restarts):
        same += (votes.posterior(state.take(block))[0].argmax(axis=0) == label[:, None]).sum(axis=1)
    return np.asarray(same / restarts)


def _spread_labels(columns: Floats, used: NDArray[np.int64], labels: int) -> Floats:
    """Columns of the labels used, at their places among all labels; the others are 0."""
    full = np.zeros((len(columns), labels))
    full[:, used] = columns
    return full
