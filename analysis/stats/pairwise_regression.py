"""Regression of pairwise labels on features of the responses, for transfer of labels to new responses.

Rao and Kupper's model, with merits that are linear functions of features (docs/methods/label-transfer.md):

    lead = side + w (x_a - x_b),    P(a) = logistic(lead - t),    P(b) = logistic(-lead - t),    P(n) = 1 - P(a) - P(b).

`side` is the judges' preference for the left response. It belongs to the judges, so predictions leave it out. Weights
have a ridge penalty, chosen by cross-validation over groups (topics). Features are standardised by the differences in
the training data, so that the penalty means the same for all.

References
----------
Rao and Kupper, Ties in paired-comparison experiments, JASA 62 (1967). Hastie, Tibshirani and Friedman, The Elements of
Statistical Learning, 2nd edition (2009), sections 3.4.1 and 7.10.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]

PENALTIES: Final = (0.3, 3.0, 30.0, 300.0)
FOLDS: Final = 5
FEWEST_GROUPS: Final = 5
_LABELS: Final = 3
_LEAST: Final = 1e-9


class TooFewGroupsError(ValueError):
    """There are too few groups (topics) with votes for cross-validation."""


@dataclass(frozen=True, eq=False)
class PairwiseModel:
    """A fitted regression.

    Attributes
    ----------
    weight : ndarray of shape (n_features,)
        Change of the lead for each unit of a feature, as measured.
    side : float
    threshold : float
        0 if there were no ties.
    penalty : float
    """

    weight: Floats
    side: float
    threshold: float
    penalty: float

    def chances(self, difference: ArrayLike, *, with_side: bool = False) -> Floats:
        """Return the probabilities of a, n and b.

        Parameters
        ----------
        difference : array_like, shape (n, n_features)
            Features of the left response minus those of the right one.
        with_side : bool
            Whether the judges' preference for a side counts, as it does for the votes of people.

        Returns
        -------
        ndarray of shape (n, 3)
        """
        lead = np.asarray(difference, dtype=np.float64) @ self.weight + (self.side if with_side else 0.0)
        left, right = scipy.special.expit(lead - self.threshold), scipy.special.expit(-lead - self.threshold)
        return np.stack([left, np.maximum(1.0 - left - right, 0.0), right], axis=1)


@dataclass(frozen=True, eq=False)
class Transferred:
    """Predictions by models that have not seen the group.

    Attributes
    ----------
    chances : ndarray of shape (n_targets, 3)
        Probabilities of a, n and b of each target.
    loss, baseline : float
        Mean negative log likelihood of the held-out votes, by models that have not seen their topic, and by the shares
        of labels alone. If `loss` is not below `baseline`, the features say nothing.
    model : PairwiseModel
        Fitted to all votes.
    """

    chances: Floats
    loss: float
    baseline: float
    model: PairwiseModel


def fit(difference: ArrayLike, counts: ArrayLike, penalty: float) -> PairwiseModel:
    """Fit the regression by penalised maximum likelihood.

    Parameters
    ----------
    difference : array_like, shape (n, n_features)
        Features of the left response minus those of the right one.
    counts : array_like, shape (n, 3)
        Numbers of votes for a, n and b, as presented; they may be fractions.
    penalty : float
        Ridge penalty of the standardised weights, above 0.

    Returns
    -------
    PairwiseModel

    Raises
    ------
    ValueError
        If shapes do not fit, a number is not finite, or there are no votes.

    Examples
    --------
    Judges prefer the longer response.

    >>> model = fit([[1.0], [-1.0], [2.0]], [[4, 0, 1], [1, 0, 4], [5, 0, 0]], penalty=0.1)
    >>> bool(model.weight[0] > 0), model.threshold
    (True, 0.0)
    """
    x, votes = np.asarray(difference, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if x.ndim != 2 or votes.shape != (len(x), _LABELS):
        raise ValueError(f"difference and counts must have a row for each pair: {x.shape}, {votes.shape}")
    if not (np.isfinite(x).all() and np.isfinite(votes).all()) or not votes.sum() or penalty <= 0:
        raise ValueError("features and votes must be finite, with at least one vote and a penalty above 0")
    weight = votes.sum(axis=1)
    spread = np.sqrt(weight @ x**2 / weight.sum())
    spread = np.where(spread > _LEAST, spread, np.inf)  # a feature that never differs gets the weight 0
    z = np.column_stack([x / spread, np.ones(len(x))])
    has_ties = bool(votes[:, 1].sum())

    def loss(parameters: Floats) -> tuple[float, Floats]:
        lead, t = z @ parameters[:-1], np.exp(parameters[-1]) if has_ties else 0.0
        left, right = scipy.special.expit(lead - t), scipy.special.expit(-lead - t)
        tie = np.maximum(1.0 - left - right, _LEAST)
        bend_left, bend_right = left * (1.0 - left), right * (1.0 - right)
        log_left, log_right = scipy.special.log_expit(lead - t), scipy.special.log_expit(-lead - t)
        value = -(votes[:, 0] @ log_left + votes[:, 1] @ np.log(tie) + votes[:, 2] @ log_right)
        per_tie = votes[:, 1] / tie
        by_lead = -(votes[:, 0] * (1 - left) - votes[:, 2] * (1 - right) + per_tie * (bend_right - bend_left))
        by_threshold = votes[:, 0] * (1 - left) + votes[:, 2] * (1 - right) - per_tie * (bend_left + bend_right)
        ridge = penalty * parameters[:-2]
        gradient = np.append(z.T @ by_lead, by_threshold.sum() * t if has_ties else 0.0)
        gradient[:-2] += ridge
        return float(value + ridge @ parameters[:-2] / 2), gradient

    start = np.zeros(z.shape[1] + 1)
    start[-1] = -1.0
    optimum = scipy.optimize.minimize(loss, start, jac=True, method="L-BFGS-B").x
    return PairwiseModel(
        optimum[:-2] / spread, float(optimum[-2]), float(np.exp(optimum[-1])) if has_ties else 0.0, penalty
    )


def transfer(
    difference: ArrayLike,
    counts: ArrayLike,
    group: ArrayLike,
    target: ArrayLike,
    target_group: ArrayLike,
    *,
    rng: np.random.Generator,
    penalties: tuple[float, ...] = PENALTIES,
) -> Transferred:
    """Predict labels of targets by models that were fitted without the votes on their group.

    Parameters
    ----------
    difference, counts
        The training data, as for `fit`.
    group : array_like of int, shape (n,)
        The group (topic) of each training pair.
    target : array_like, shape (n_targets, n_features)
        Differences of features of the pairs to be labelled; some may be training pairs.
    target_group : array_like of int, shape (n_targets,)
        Their groups, which need not have votes.
    rng : numpy.random.Generator
        For the division of the groups into folds.
    penalties : tuple of float
        The best of them by the held-out log likelihood is chosen anew within each fold.

    Returns
    -------
    Transferred

    Raises
    ------
    TooFewGroupsError
        If fewer than five groups have votes.
    """
    x, votes, y = (np.asarray(part, dtype=np.float64) for part in (difference, counts, target))
    has_votes = votes.sum(axis=1) > 0
    x, votes, groups = x[has_votes], votes[has_votes], np.asarray(group, dtype=np.int64)[has_votes]
    targets = np.asarray(target_group, dtype=np.int64)
    known = np.unique(groups)
    if len(known) < FEWEST_GROUPS:
        raise TooFewGroupsError(f"at least {FEWEST_GROUPS} topics must have judgments, there are {len(known)}")
    every = np.union1d(known, targets)
    fold_of = dict(zip(rng.permutation(every).tolist(), (np.arange(len(every)) % FOLDS).tolist(), strict=True))
    fold, target_fold = (
        np.array([fold_of[each] for each in part.tolist()], dtype=np.int64) for part in (groups, targets)
    )
    chances = np.full((len(y), _LABELS), np.nan)
    loss = baseline = 0.0
    for number in range(FOLDS):
        kept, out, aimed = fold != number, fold == number, target_fold == number
        if not kept.any():
            continue
        model = _best(x[kept], votes[kept], fold[kept], penalties)
        chances[aimed] = model.chances(y[aimed])
        loss += _loss(model.chances(x[out], with_side=True), votes[out])
        share = (votes[kept].sum(axis=0) + 1.0) / (votes[kept].sum() + _LABELS)
        baseline += _loss(np.tile(share, (int(out.sum()), 1)), votes[out])
    total = float(votes.sum())
    return Transferred(chances, loss / total, baseline / total, _best(x, votes, fold, penalties))


def _best(x: Floats, votes: Floats, fold: Ints, penalties: tuple[float, ...]) -> PairwiseModel:
    """Fit with the penalty that predicts held-out folds best."""
    folds = [number for number in np.unique(fold).tolist() if (fold != number).any()]

    def loss(penalty: float) -> float:
        models = [(fit(x[fold != number], votes[fold != number], penalty), fold == number) for number in folds]
        return sum(_loss(model.chances(x[out], with_side=True), votes[out]) for model, out in models)

    losses = [loss(penalty) for penalty in penalties]
    return fit(x, votes, penalties[int(np.argmin(losses))])


def _loss(chances: Floats, votes: Floats) -> float:
    return float(-(votes * np.log(np.maximum(chances, 1e-6))).sum())
