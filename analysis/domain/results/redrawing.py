"""A pool in every resample of topics and judges: who was drawn, and what labels hold (docs/methods/bootstrap.md)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from analysis.stats.bootstrap import Floats, resample_weights
from analysis.stats.mace_resampled import Resampled, resample

from .fitting import Fitted
from .settings import REFIT, TOPICS_AND_WORKERS, Settings, stream


@dataclass(frozen=True, eq=False)
class Redrawn:
    """What each resample drew of a pool, and what it says.

    Attributes
    ----------
    topics : ndarray of shape (resamples, n_topics)
        How often each topic of the pool was drawn, topics in ascending order.
    judges : ndarray of shape (resamples, n_participants), or None
        How often each judge was drawn; None: all are heard once.
    fits : tuple of Resampled or None
        Labels and competences of each dimension, beside the pool's fits; None where none could be fitted.
    """

    topics: Floats
    judges: Floats | None
    fits: tuple[Resampled | None, ...]

    def heard(self, coder: np.ndarray, block: slice) -> Floats:
        """How often the judge of each vote was drawn, shape (n_votes, resamples of the block)."""
        if self.judges is None:
            return np.ones((len(coder), len(self.topics[block])))
        heard: Floats = self.judges[block].T[coder]
        return heard


def redraw(fitted: Fitted, name: str, *, settings: Settings, seed: int, step: Callable[[str], None]) -> Redrawn | None:
    """Draw topics, and judges if they are asked for, and find the labels of each resample.

    None where labels are the same in every resample, or there are none: then there is nothing to keep, and families
    draw topics alone.
    """
    if not settings.redraws or not fitted.fits:
        return None
    pool = fitted.pool
    topics, topic = np.unique(pool.topic, return_inverse=True)
    drawn = resample_weights(len(topics), settings.resamples, stream(seed, f"resampled topics of {name}"))
    judges = None
    if settings.resample == TOPICS_AND_WORKERS:
        judges = resample_weights(
            len(pool.participants), settings.resamples, stream(seed, f"resampled judges of {name}")
        )
    found: list[Resampled | None] = []
    for fit in fitted.fits:
        if fit.model is None:
            found.append(None)
            continue
        said = f"Resampling: {fit.dimension.label}"
        step(said)
        found.append(
            resample(
                fit.model,
                *fit.seen,
                item_weights=drawn[:, topic],
                annotator_weights=judges,
                refit=settings.bootstrap == REFIT,
                fixed=fit.known,
                report=partial(_tell, step, said, settings.resamples),
            )
        )
    return Redrawn(drawn, judges, tuple(found))


def _tell(step: Callable[[str], None], said: str, resamples: int, done: int) -> None:
    step(f"{said}, {done:,} of {resamples:,}")
