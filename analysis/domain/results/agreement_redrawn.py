"""Alpha in resamples whose judges, or whose competences, are others (docs/methods/bootstrap.md)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.stats import agreement
from analysis.stats.bootstrap import Floats
from analysis.stats.labels import without_least_competent

from ..inputs import Ints
from .fitting import Fit
from .redrawing import Redrawn
from .settings import Settings

# Votes by resamples that are held at a time.
_AT_ONCE = 2_000_000

#: From votes heard and spam probabilities, (n_votes, resamples) and (n_participants, resamples), to the votes kept.
Keep = Callable[[Floats, NDArray[np.float32]], Floats]


def keep_all(heard: Floats, _spam: NDArray[np.float32]) -> Floats:
    """Keep every vote that is heard."""
    return heard


def keep_trusted(fit: Fit, settings: Settings) -> Keep:
    """Keep the votes of those whose spam probability in the resample does not exceed the limit."""

    def keep(heard: Floats, spam: NDArray[np.float32]) -> Floats:
        return np.where(spam[fit.coder] <= np.float32(settings.spam_threshold), heard, 0.0)

    return keep


def keep_without_least_competent(fit: Fit, settings: Settings) -> Keep:
    """Keep the votes of all but the least competent of those drawn, and some votes of each pair whoever gave them."""

    def keep(heard: Floats, spam: NDArray[np.float32]) -> Floats:
        kept = np.zeros_like(heard)
        for column in range(heard.shape[1]):
            there = np.flatnonzero(heard[:, column])
            chosen = there[
                without_least_competent(
                    fit.unit[there],
                    fit.coder[there],
                    spam[:, column],
                    share=settings.least_competent,
                    keep=settings.kept_votes,
                )
            ]
            kept[chosen, column] = heard[chosen, column]
        return kept

    return keep


def resampled_alphas(
    fit: Fit, place: int, redrawn: Redrawn, keep: Keep, masks: dict[str, NDArray[np.bool_]], topic: Ints, **how: Any
) -> dict[str, Floats]:
    """Alpha of every resample by split; `topic`: of each unit, along the topics drawn. NaN where undefined."""
    resamples, values = len(redrawn.topics), fit.counts.shape[1]
    again = redrawn.fits[place]
    found = {split: np.full(resamples, np.nan) for split in masks}
    size = max(1, _AT_ONCE // max(len(fit.unit), 1))
    for begin in range(0, resamples, size):
        block = slice(begin, min(begin + size, resamples))
        heard = redrawn.heard(fit.coder, block)
        if keep is not keep_all:
            if again is None:
                continue
            heard = keep(heard, again.spam_probability[:, block])
        drawn = redrawn.topics[block][:, topic]
        for split, mask in masks.items():
            matrix = agreement.heard_coincidences(fit.unit, fit.value, heard, drawn * mask, values=values)
            found[split][block] = agreement.alpha_of(matrix, **how)
    return found
