"""Outcomes of comparisons as they might have been: drawn labels, drawn votes, and those of resamples."""

import numpy as np

from analysis.stats.bootstrap import Floats
from analysis.stats.draws import Draws

from .fitting import Fitted
from .grading import Comparisons, Draw
from .redrawing import Redrawn


def of_labels_drawn(comparisons: Comparisons) -> tuple[Draw, int]:
    """Take the joint draws of the labels, one after another and then again; and how many there are."""
    c = comparisons
    drawn = [fit.averaged.label for fit in c.fits if fit.averaged is not None]
    draws = drawn[0].shape[1]

    def draw(block: slice) -> tuple[Floats, Floats]:
        which = np.arange(block.start, block.stop) % draws
        outcome = np.empty((len(c.unit), len(which)))
        for number, labels in enumerate(drawn):
            here = np.flatnonzero(c.fit == number)
            outcome[here] = labels[c.unit[here][:, None], which] - 1.0
        return outcome, np.ones_like(outcome)

    return draw, draws


def of_labels_left_open(comparisons: Comparisons, draws: Draws) -> Draw:
    """Draw each label from its posterior: what the votes leave open, given the competences."""
    c = comparisons
    below = np.empty((len(c.unit), 2))
    for d, fit in enumerate(c.fits):
        assert fit.model is not None
        mine = c.fit == d
        below[mine] = np.cumsum(fit.posterior[c.unit[mine]], axis=1)[:, :2]

    def draw(block: slice) -> tuple[Floats, Floats]:
        chance = draws.uniform(block.stop - block.start, 1)[:, :, 0].T
        outcome = drawn_labels(chance, below)
        return outcome, np.ones_like(outcome)

    return draw


def drawn_labels(chance: Floats, below: Floats) -> Floats:
    """-1, 0 or 1, shape (n, resamples), by chance and by the probabilities of a, and of a or n, shape (n, 2)."""
    return (chance >= below[:, :1]).astype(np.float64) + (chance >= below[:, 1:]) - 1.0


def of_votes_drawn(comparisons: Comparisons, rng: np.random.Generator) -> Draw:
    """Draw as many votes of each presented pair as it has, with replacement: other people might have been asked."""
    c = comparisons
    _names, stratum = np.unique(c.unit * len(c.fits) + c.fit, return_inverse=True)
    order = np.argsort(stratum, kind="stable")
    sizes = np.bincount(stratum)
    begin, size = (np.cumsum(sizes) - sizes)[stratum], sizes[stratum]

    def draw(block: slice) -> tuple[Floats, Floats]:
        chance = rng.random((block.stop - block.start, len(c.unit))).T
        drawn = order[begin[:, None] + np.floor(chance * size[:, None]).astype(np.int64)]
        return c.outcome[drawn], c.weight[drawn]

    return draw


def of_redrawn(comparisons: Comparisons, fitted: Fitted, redrawn: Redrawn) -> Draw:
    """Labels, or votes and their weights, as they are in each resample of topics and judges."""
    c = comparisons
    again = [redrawn.fits[fitted.fits.index(fit)] for fit in c.fits]

    def draw(block: slice) -> tuple[Floats, Floats]:
        outcome = np.repeat(c.outcome[:, None], block.stop - block.start, axis=1)
        weight = np.ones_like(outcome)
        for d, each in enumerate(again):
            assert each is not None
            mine = c.fit == d
            if c.of_votes:
                weight[mine] = 1.0 - each.spam_probability[c.coder[mine], block]
                weight[mine] *= redrawn.heard(c.coder[mine], block)
            else:
                outcome[mine] = each.label[c.unit[mine], block] - 1.0
        return outcome, weight

    return draw
