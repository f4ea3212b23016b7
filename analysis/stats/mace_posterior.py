"""The posterior of MACE: labels averaged over all optima by their evidence, and joint draws of them.

The likelihood of MACE has many optima, often equally good, that label the same items differently. A fit is one of
them. Here labels are drawn as often as the model and its priors hold them probable, spam probabilities and strategies
integrated out (`_mace_chains`). Draws are joint draws: items whose labels stand or fall together do so in each.

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

# Chains times judgments stay below this, but for the least and the most chains.
_WORK, _FEWEST, _MOST = 2**23, 64, 1024


@dataclass(frozen=True)
class Effort:
    """How many draws there are, and how they are made.

    Attributes
    ----------
    chains : int
        In `populations` of equal size.
    populations : int
        Groups of chains that know nothing of each other.
    steps : int
        Steps of annealing at most.
    kept, thin : int
        Draws kept of each chain, and sweeps before each.
    """

    chains: int = 1024
    populations: int = 4
    steps: int = 40
    draws_kept: int = 4
    thin: int = 8

    @property
    def draws(self) -> int:
        """How many draws there are of everything."""
        return self.chains * self.draws_kept

    @classmethod
    def of(cls, judgments: int) -> Effort:
        """The effort for so many judgments of a dimension: the more there are, the fewer chains.

        What all topics say together is as sure with few draws of many topics as with many draws of few. Twice as many
        chains or half as many, nothing between: so that judgments that come in rarely change the number.
        """
        chains = 2 ** int(np.log2(_WORK / max(judgments, 1)))
        return cls(chains=min(max(chains, _FEWEST), _MOST))


@dataclass(frozen=True, eq=False)
class AveragedPosterior:
    """What the judgments say, whichever optimum.

    Attributes
    ----------
    posterior : ndarray of shape (n_items, n_labels)
        Probability of each label: the mean of what all sweeps drew it by.
    spam_probability : ndarray of shape (n_annotators,)
        Posterior mean of e0; without judgments, the prior's.
    label : ndarray of int8, shape (n_items, draws)
        Joint draws of the labels.
    error : float
        Monte Carlo standard error of a label's probability by the spread of the populations: root mean square of all
        items that were sampled; NaN of one population, or none.
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
    """Draw labels from their posterior.

    Parameters
    ----------
    item, annotator, label, items, annotators, labels, fixed, keys
        As for `analysis.stats.mace.fit`.
    rng : numpy.random.Generator
        Source of chance. Each part of the judgments that has nothing to do with the others has a stream of its own,
        which follows from `rng` and the smallest key of its annotators.
    earlier : Averaged, optional
        What stands already, of these items and annotators; NaN in `posterior` and `spam_probability` where nothing
        does. A part all of which stands is taken from it, if there are as many draws as asked for. With what an earlier
        call found for parts whose judgments are the same since, equal keys and an `rng` of the same seed, the outcome
        is that of sampling everything.
    settings : analysis.stats.mace.MaceSettings, optional
        Whose priors are used: Beta on spamming, Dirichlet on strategies. Smoothing is a matter of fitting.
    effort : Effort, optional
        By default `Effort.of` the number of judgments.

    Returns
    -------
    Averaged

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
    # The order in which judgments stand must not matter.
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
    # Of items without judgments.
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
    """Some parts of the judgments: as a problem, which items and annotators they are of, the least key of each part."""

    problem: Problem
    parts: Parts
    items: Ints
    annotators: Ints
    keys: NDArray[np.uint64]


def _some(problem: Problem, parts: Parts, is_chosen: NDArray[np.bool_]) -> _PartSelection:
    """Some of the parts, which have judgments."""
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
    """Which parts stand already, all of them."""
    is_reusable = np.full(parts.count, earlier.label.shape[1] == effort.draws)
    is_reusable[parts.of_item[np.isnan(earlier.posterior).any(axis=1)]] = False
    is_reusable[parts.of_annotator[np.isnan(earlier.spam_probability)]] = False
    return is_reusable
