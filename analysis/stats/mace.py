"""MACE: annotator competence and true labels from judgments (Hovy et al. 2013; design 7.2).

The model of one dimension: each item has a true label, and all labels are equally likely. An annotator spams an item
with probability e0 and then draws a label from their own strategy; otherwise they give the true label. The fit is
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
    """The MACE fit of one dimension.

    Attributes
    ----------
    posterior : ndarray of shape (n_items, n_labels)
        Probability of each label of each item given all judgments; 0 for labels that nobody used. Items without
        judgments have equal probabilities for all labels in use.
    parameters : MaceParameters
        Of the best fit. Annotators without judgments keep the values of the priors.
    judgments : ndarray of int, shape (n_annotators,)
        The number of judgments of each annotator.
    log_likelihood : float
        Of the judgments under the parameters.
    iterations : int
        M-steps from the start to the best fit (only the last stage if it was refined); the maximum over components.
    converged : bool
        Whether the likelihood of the best fit converged in all fitted components. With the published 100 iterations it
        often has not.
    restart_log_likelihoods : ndarray of shape (n_starts,)
        The final value of each start (the warm start first, if there was one), before refinement. Their spread shows
        how rough the likelihood surface is. Empty if some parameters were settled before.
    restart_agreement : ndarray of shape (n_items,)
        Share of the starts whose most probable label of the item is that of the best fit; NaN if some parameters were
        settled before.
    settings : MaceSettings
        The settings of the fit.
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
        """Standard deviation of the starts' log likelihoods; NaN with only one start."""
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
        One judgment per entry, in any order: presented pair, annotator, and index of the label in its domain, all from
        0. Negative labels are missing and are ignored. Labels that nobody used are not part of the model.
    rng : numpy.random.Generator, optional
        Source of the random starts; required unless ``settings.restarts`` and ``settings.refine`` are 0.
    items, annotators, labels : int, optional
        The number of items, annotators and labels. Default: the largest index plus one.
    fixed : array_like of int, shape (n_items,), optional
        Known labels (gold items), -1 if unknown. The posterior of a known item is certain.
    start : MaceParameters, optional
        A warm start in addition to the random starts: the parameters of an earlier fit, when new judgments arrived.
        Annotators with higher indices than the start has begin undecided, as do those whose `spam` is NaN in it.
    settled : MaceParameters, optional
        Parameters of all annotators that need no new fit; NaN in `spam` if they do. A connected component of the
        judgments (annotators who judged the same items, directly or through others) keeps these parameters if they are
        complete. Only the other components are fitted. The result equals a fit of everything under these conditions:
        the settled parameters come from a fit with `refine`, their components are unchanged, and the `keys` and the
        seed of `rng` are equal.
    keys : array_like of int, shape (n_annotators,), optional
        A number for each annotator that determines their random parameters, together with `rng`. Default: their index.
        Numbers that identify the person keep a search reproducible while other annotators come and go.
    settings : MaceSettings, optional
        Default: the published settings.

    Returns
    -------
    Mace

    Raises
    ------
    NoJudgmentsError, SingleLabelError, NoOverlapError
        If the judgments cannot show who is competent; each message names the remedy.
    analysis.stats.judgments.RepeatedJudgmentError
        If an annotator judged an item more than once.
    ValueError
        If there is no start, or shapes do not match.

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
    """Fit several dimensions; each result is bitwise equal to that of `fit`.

    After an update, only a few people's judgments on each dimension remain to be fitted. One by one, the function calls
    would cost more than the arithmetic, so they are fitted in one batch.

    Parameters
    ----------
    inputs : sequence of MaceInput
        The parameters of `fit` for each dimension. If there are `settled` parameters, either all inputs have a `start`
        or none has.
    settings : MaceSettings, optional
        Default: the published settings.

    Returns
    -------
    list of Mace or UnfitError
        In input order; the error is the reason why judgments cannot show who is competent.
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
    """Assemble the result of a fit."""
    votes, used, values = prepared.votes, prepared.used, prepared.values
    posterior, by_part, _ = votes.posterior(best.state)
    # For a searched fit, report exactly the likelihood by which it was selected.
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
    """Find the annotators who must be refitted with the anchors: those who share items, directly or through others.

    Parameters
    ----------
    item, annotator : array_like of int, shape (n_judgments,)
        The item and annotator of each judgment.
    is_anchor : array_like of bool, shape (n_annotators,)
        The annotators to start from.
    items : int
        The number of items.

    Returns
    -------
    ndarray of bool, shape (n_annotators,)
    """
    is_start = np.asarray(is_anchor, dtype=bool)
    judged = check(item, annotator, np.zeros(np.size(item), dtype=np.int64), units=items, coders=len(is_start))
    part = connected(judged.unit, judged.coder, items=items, annotators=len(is_start)).of_annotator
    return np.isin(part, part[is_start])


def _spread_labels(columns: Floats, used: NDArray[np.int64], labels: int) -> Floats:
    """Move the columns of the labels in use to their indices among all labels; other columns are 0."""
    full = np.zeros((len(columns), labels))
    full[:, used] = columns
    return full
