"""How sure MACE can be of somebody's spam probability, given the labels that it finds (docs/methods/live-figures.md).

Under a fitted model each judgment was spammed with a known probability. Their sum over somebody's judgments is how many
they spammed, as far as the model can tell; with the Beta prior it gives the Beta distribution from which the M-step
takes its estimate. Its quantiles are the interval. It is conditional on the labels and strategies that the model found:
it tells how far the number of judgments allows to say, and not whether the model found the right labels.

Reference: Hovy, Berg-Kirkpatrick, Vaswani, Hovy, Learning Whom to Trust with MACE (2013), section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import check
from analysis.stats.mace import Mace


@dataclass(frozen=True, eq=False)
class Spamming:
    """The posterior of each annotator's spam probability: Beta(a, b).

    Attributes
    ----------
    spammed : ndarray of shape (n_annotators,)
        How many of their judgments each annotator is expected to have spammed.
    a, b : ndarray of shape (n_annotators,)
        The distribution's parameters: prior, smoothing, and expected numbers of spammed and of known judgments.
    low, high : ndarray of shape (n_annotators,)
        The ends of the interval.
    level : float
        The probability within.
    """

    spammed: Floats
    a: Floats
    b: Floats
    low: Floats
    high: Floats
    level: float


def spamming(model: Mace, item: ArrayLike, annotator: ArrayLike, label: ArrayLike, *, level: float = 0.95) -> Spamming:
    """The posterior of spam probabilities under a fitted model, with intervals of equal tails.

    With p(i, l) the posterior of label l of item i, and a judgment (i, j, l), annotator j knew with probability
    ``p(i, l) e1_j / (e0_j s_j(l) + e1_j)``. With K labels in use, prior (a0, b0), smoothing d and S the sum of the
    complements over j's n judgments, the posterior is ``Beta(a0 + d + S, b0 + d + n - S)``.

    Parameters
    ----------
    model : Mace
        From `analysis.stats.mace.fit`.
    item, annotator, label : array_like of int, shape (n_judgments,)
        The judgments to which it was fitted. A negative label is missing and left out.
    level : float
        The probability within the interval, 0.95 by default.

    Returns
    -------
    Spamming
        Annotators without judgments have what the prior says.

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1, or the judgments are of other items, annotators or labels than the model's.
    """
    if not 0.0 < level < 1.0:
        msg = f"the level of an interval lies between 0 and 1, it is {level}"
        raise ValueError(msg)
    items, labels = model.posterior.shape
    annotators = len(model.parameters.spam)
    judged = check(item, annotator, label, units=items, coders=annotators, values=labels)
    found = model.parameters
    spam = found.spam[judged.coder] * found.strategy[judged.coder, judged.value]
    know = found.know[judged.coder]
    knew = model.posterior[judged.unit, judged.value] * know / (spam + know)
    n = np.bincount(judged.coder, minlength=annotators).astype(np.float64)
    spammed: Floats = np.bincount(judged.coder, weights=1.0 - knew, minlength=annotators).astype(np.float64)
    smoothing = model.settings.smoothing
    if smoothing is None:
        smoothing = 0.1 / np.count_nonzero(found.strategy.any(axis=0))
    a: Floats = model.settings.spam_prior[0] + smoothing + spammed
    b: Floats = model.settings.spam_prior[1] + smoothing + n - spammed
    tail = (1.0 - level) / 2.0
    return Spamming(spammed, a, b, betaincinv(a, b, tail), betaincinv(a, b, 1.0 - tail), level)
