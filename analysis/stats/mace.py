"""MACE: who can be trusted, and which label holds (Hovy et al. 2013; design 7.2).

The model, for one dimension. Each item has a true label, all labels equally likely. An annotator spams an item with
probability e0 and then draws a label from a strategy of their own; otherwise they give the true label. Fitted by
variational EM with a Beta prior on spamming and a Dirichlet prior on strategies. Competence is ``1 - e0``.

Reference: Hovy, Berg-Kirkpatrick, Vaswani, Hovy, Learning Whom to Trust with MACE, NAACL-HLT 2013, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analysis.stats._mace_engine import Fits, connected
from analysis.stats._mace_problem import (
    MaceInput,
    MaceParameters,
    MaceSettings,
    NoJudgmentsError,
    NoOverlapError,
    Prepared,
    SingleLabelError,
    UnfitError,
    prepare,
    solve,
)
from analysis.stats._mace_search import agreement
from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import Ints, check

__all__ = [
    "Mace",
    "MaceInput",
    "MaceParameters",
    "MaceSettings",
    "NoJudgmentsError",
    "NoOverlapError",
    "SingleLabelError",
    "UnfitError",
    "fit",
    "fit_together",
    "linked",
]


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
    parameters: MaceParameters
    judgments: Ints
    log_likelihood: float
    iterations: int
    converged: bool
    restart_log_likelihoods: Floats
    restart_agreement: Floats
    settings: MaceSettings = field(default_factory=MaceSettings)

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
    start: MaceParameters | None = None,
    settled: MaceParameters | None = None,
    keys: ArrayLike | None = None,
    settings: MaceSettings | None = None,
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
    data = MaceInput(
        item=item,
        annotator=annotator,
        label=label,
        rng=rng,
        items=items,
        annotators=annotators,
        labels=labels,
        fixed=fixed,
        start=start,
        settled=settled,
        keys=keys,
    )
    model = fit_together([data], settings=settings)[0]
    if isinstance(model, UnfitError):
        raise model
    return model


def fit_together(inputs: Sequence[MaceInput], *, settings: MaceSettings | None = None) -> list[Mace | UnfitError]:
    """Fit several dimensions; each comes out as `fit` alone would have it, to the last bit.

    What an update has to search is a few people's judgments on each dimension: searched one after another, they cost
    what calls cost, not what numbers do.

    Parameters
    ----------
    given : sequence of Given
        The parameters of `fit`, of each. Where parts stand (`settled`), all have a `start` or none has.
    settings : Settings, optional
        The published ones by default.

    Returns
    -------
    list of Mace or UnfitError
        In the same order; of judgments that cannot tell who is competent, why.
    """
    options = settings if settings is not None else MaceSettings()
    prepared: list[Prepared | UnfitError] = []
    for item in inputs:
        try:
            prepared.append(prepare(item, options))
        except UnfitError as error:
            prepared.append(error)
    fits = iter(solve([item for item in prepared if isinstance(item, Prepared)], options))
    return [item if isinstance(item, UnfitError) else _assemble(item, *next(fits), options) for item in prepared]


def _assemble(prepared: Prepared, best: Fits, ends: Fits | None, settings: MaceSettings) -> Mace:
    """What is said of a fit."""
    votes, used, values = prepared.votes, prepared.used, prepared.values
    posterior, by_part, _ = votes.posterior(best.state)
    # Of a fit that was searched the likelihood is the one that it was chosen by, to the last digit.
    log_likelihood = by_part if prepared.settled is not None else best.log_likelihood
    return Mace(
        posterior=_spread_labels(posterior[:, :, 0].T, used, values),
        parameters=MaceParameters(
            spam=best.state.spam[:, 0],
            know=best.state.know[:, 0],
            strategy=_spread_labels(best.state.strategy[:, :, 0].T, used, values),
        ),
        judgments=prepared.judgments,
        log_likelihood=float(log_likelihood.sum()),
        iterations=int(best.iterations.max(initial=0)),
        converged=bool(best.converged.all()),
        restart_log_likelihoods=np.zeros(0) if ends is None else ends.log_likelihood.sum(axis=0),
        restart_agreement=agreement(votes, ends, posterior[:, :, 0].argmax(axis=0)),
        settings=settings,
    )


def linked(item: ArrayLike, annotator: ArrayLike, is_anchor: ArrayLike, *, items: int) -> NDArray[np.bool_]:
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
    is_start = np.asarray(is_anchor, dtype=bool)
    judged = check(item, annotator, np.zeros(np.size(item), dtype=np.int64), units=items, coders=len(is_start))
    part = connected(judged.unit, judged.coder, items=items, annotators=len(is_start)).of_annotator
    return np.isin(part, part[is_start])


def _spread_labels(columns: Floats, used: NDArray[np.int64], labels: int) -> Floats:
    """Columns of the labels used, at their places among all labels; the others are 0."""
    full = np.zeros((len(columns), labels))
    full[:, used] = columns
    return full
