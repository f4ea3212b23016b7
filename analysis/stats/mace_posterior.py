"""The posterior of MACE: labels averaged over all optima by their evidence, and joint label draws.

The likelihood of MACE has many optima, often equally good, that label the same items differently. A fit is one of them.
This module draws labels with their posterior probability under the model and its priors; spam probabilities and
strategies are integrated out (`_mace_chains`). Draws are joint: they keep the dependence between the labels of
different items.

Reference: Hovy, Berg-Kirkpatrick, Vaswani, Hovy, Learning Whom to Trust with MACE (2013), section 3; Paun et al.,
Comparing Bayesian Models of Annotation, TACL 6 (2018); Del Moral, Doucet, Jasra, JRSS B 68 (2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats._mace_chains import Chains
from analysis.stats._mace_engine import Parts, connected
from analysis.stats._mace_problem import MaceInput, MaceSettings, Problem, prepare
from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import Ints

# Limit of chains times judgments, and the minimum and maximum number of chains.
_WORK, _FEWEST, _MOST = 2**23, 64, 1024


@dataclass(frozen=True)
class Effort:
    """Number of draws, and settings of the sampler.

    Attributes
    ----------
    chains : int
        Chains in total, in `populations` of equal size.
    populations : int
        Independent groups of chains.
    steps : int
        Maximum number of annealing steps.
    draws_kept, thin : int
        Draws kept of each chain, and sweeps before each draw.
    """

    chains: int = 1024
    populations: int = 4
    steps: int = 40
    draws_kept: int = 4
    thin: int = 8

    @property
    def draws(self) -> int:
        """The number of joint draws."""
        return self.chains * self.draws_kept

    @classmethod
    def of(cls, judgments: int) -> Effort:
        """Choose the effort for the number of judgments of a dimension: the more there are, the fewer chains.

        Few draws of many topics give totals over topics the same precision as many draws of few topics. The number of
        chains is a power of two, so new judgments rarely change it.
        """
        chains = 2 ** int(np.log2(_WORK / max(judgments, 1)))
        return cls(chains=min(max(chains, _FEWEST), _MOST))


@dataclass(frozen=True, eq=False)
class AveragedPosterior:
    """Posterior averaged over all optima.

    Attributes
    ----------
    posterior : ndarray of shape (n_items, n_labels)
        Probability of each label: the mean over all sweeps.
    spam_probability : ndarray of shape (n_annotators,)
        Posterior mean of e0; the prior mean without judgments.
    label : ndarray of int8, shape (n_items, draws)
        Joint draws of the labels.
    error : float
        Monte Carlo standard error of a label's probability, from the spread of the populations: root mean square over
        all sampled items. NaN with one population, or without sampled items.
    """

    posterior: Floats
    spam_probability: Floats
    label: NDArray[np.int8]
    error: float


def sample(
    item: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    *,
    rng: np.random.Generator,
    items: int | None = None,
    annotators: int | None = None,
    labels: int | None = None,
    fixed: ArrayLike | None = None,
    keys: ArrayLike | None = None,
    earlier: AveragedPosterior | None = None,
    settings: MaceSettings | None = None,
    effort: Effort | None = None,
) -> AveragedPosterior:
    """Draw labels from their posterior distribution.

    Parameters
    ----------
    item, annotator, label, items, annotators, labels, fixed, keys
        As for `analysis.stats.mace.fit`.
    rng : numpy.random.Generator
        Source of random numbers. Each connected component of the judgments has its own stream, derived from `rng` and
        the smallest key of its annotators.
    earlier : AveragedPosterior, optional
        Earlier results for these items and annotators; NaN in `posterior` and `spam_probability` if missing. A
        component is reused if its results are complete and have the requested number of draws. The outcome equals a new
        sample of everything if the components of the earlier results are unchanged, and the keys and the seed of `rng`
        are equal.
    settings : analysis.stats.mace.MaceSettings, optional
        The priors: Beta on spamming, Dirichlet on strategies. Smoothing is not used.
    effort : Effort, optional
        Default: `Effort.of` the number of judgments.

    Returns
    -------
    AveragedPosterior

    Raises
    ------
    analysis.stats.mace.UnfitError, analysis.stats.judgments.RepeatedJudgmentError, ValueError
        As `analysis.stats.mace.fit`.

    Examples
    --------
    >>> item, person = [0, 0, 0, 1, 1, 1, 2, 2, 2], [0, 1, 2] * 3
    >>> found = sample(item, person, [0, 0, 2, 2, 2, 0, 1, 1, 2], rng=np.random.default_rng(0))
    >>> found.posterior.argmax(axis=1).tolist()
    [0, 2, 1]
    """
    options = settings or MaceSettings()
    # The order of the judgments must not matter.
    order = np.lexsort((np.asarray(annotator), np.asarray(item)))
    item, annotator, label = (np.asarray(column)[order] for column in (item, annotator, label))
    data = MaceInput(
        item=item,
        annotator=annotator,
        label=label,
        items=items,
        annotators=annotators,
        labels=labels,
        fixed=fixed,
        keys=keys,
    )
    prepared = prepare(data, options)
    problem, used = prepared.problem, prepared.used
    budget = effort or Effort.of(len(problem.unit))
    units, people, count = problem.shape
    seed = int(rng.integers(2**63))
    posterior = np.zeros((units, prepared.values))
    posterior[:, used] = 1.0 / count
    a, b = options.spam_prior
    spam = np.full(people, a / (a + b))
    # For items without judgments.
    drawn = used[np.random.default_rng(seed).integers(count, size=(units, budget.draws), dtype=np.int8)].astype(np.int8)
    parts = connected(problem.unit, problem.coder, items=units, annotators=people)
    has_votes = np.zeros(parts.count, dtype=bool)
    has_votes[parts.of_item[problem.unit]] = True
    is_reused = np.zeros(parts.count, dtype=bool) if earlier is None else _stand(parts, earlier, budget)
    if earlier is not None:
        items_stand, people_stand = (is_reused & has_votes)[parts.of_item], (is_reused & has_votes)[parts.of_annotator]
        posterior[items_stand], drawn[items_stand] = earlier.posterior[items_stand], earlier.label[items_stand]
        spam[people_stand] = earlier.spam_probability[people_stand]
    error = float("nan")
    if (to_sample := has_votes & ~is_reused).any():
        selection = _some(problem, parts, to_sample)
        rngs = [np.random.default_rng([seed, key]) for key in selection.keys.tolist()]
        averaged = Chains(selection.problem, selection.parts, options).draw(
            budget.chains, budget.populations, budget.steps, budget.draws_kept, budget.thin, rngs
        )
        posterior[np.ix_(selection.items, used)] = averaged.posterior.mean(axis=2)
        spam[selection.annotators] = averaged.spam
        drawn[selection.items] = used[averaged.label]
        if budget.populations > 1:
            error = float(np.sqrt(averaged.posterior.var(axis=2, ddof=1).mean() / budget.populations))
    return AveragedPosterior(posterior=posterior, spam_probability=spam, label=drawn, error=error)


@dataclass(frozen=True, eq=False)
class _PartSelection:
    """Some components of the judgments as a problem, with their item and annotator indices and smallest keys."""

    problem: Problem
    parts: Parts
    items: Ints
    annotators: Ints
    keys: NDArray[np.uint64]


def _some(problem: Problem, parts: Parts, is_chosen: NDArray[np.bool_]) -> _PartSelection:
    """Select some components, all of which have judgments."""
    _units, _people, labels = problem.shape
    votes = is_chosen[parts.of_item[problem.unit]]
    items, unit = np.unique(problem.unit[votes], return_inverse=True)
    annotators, coder = np.unique(problem.coder[votes], return_inverse=True)
    number = np.cumsum(is_chosen) - 1
    selected = Parts(int(is_chosen.sum()), number[parts.of_item[items]], number[parts.of_annotator[annotators]])
    keys = np.full(selected.count, np.iinfo(np.uint64).max, dtype=np.uint64)
    np.minimum.at(keys, selected.of_annotator, problem.keys[annotators])
    less = Problem(
        unit=unit,
        coder=coder,
        value=problem.value[votes],
        shape=(len(items), len(annotators), labels),
        fixed=problem.fixed[items],
        keys=problem.keys[annotators],
        start=None,
    )
    return _PartSelection(less, selected, items, annotators, keys)


def _stand(parts: Parts, earlier: AveragedPosterior, effort: Effort) -> NDArray[np.bool_]:
    """Check which components are complete in the earlier result."""
    is_reusable = np.full(parts.count, earlier.label.shape[1] == effort.draws)
    is_reusable[parts.of_item[np.isnan(earlier.posterior).any(axis=1)]] = False
    is_reusable[parts.of_annotator[np.isnan(earlier.spam_probability)]] = False
    return is_reusable
