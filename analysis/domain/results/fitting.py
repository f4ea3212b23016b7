"""Votes of one pool by dimension, with the model of who can be trusted."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from analysis.stats import labels, mace
from analysis.stats.agreement import count_values

from ..inputs import Dimension, Inputs, Ints, Pool
from .settings import Settings, stream

LABELS = 3
Report = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Fit:
    """The votes that count on one dimension, and MACE fitted to them.

    Attributes
    ----------
    unit, coder, value : ndarray of int, shape (n_votes,)
    counts : ndarray of int, shape (n_units, n_values)
        How often each value was given to each unit.
    model : Mace or None
        None where the votes cannot tell who is competent; `problem` says why.
    seen : tuple of ndarray
        Unit, coder and value of the votes that MACE saw: those that count, and all on units whose label is known.
    known : ndarray of int, shape (n_units,), or None
        Labels that MACE was told.
    """

    dimension: Dimension
    unit: Ints
    coder: Ints
    value: Ints
    counts: Ints
    model: mace.Mace | None
    problem: str = ""
    seen: tuple[Ints, Ints, Ints] | None = None
    known: Ints | None = None

    def counts_of(self, keep: np.ndarray) -> Ints:
        """Counts of some of the votes."""
        units, values = self.counts.shape
        return count_values(self.unit[keep], self.coder[keep], self.value[keep], units=units, values=values)

    def trusted(self, threshold: float) -> np.ndarray:
        """Which votes the corrected crowd keeps."""
        assert self.model is not None
        return np.asarray(self.model.spam_probability[self.coder] <= threshold)

    def without_least_competent(self, share: float, keep: int) -> np.ndarray:
        """Which votes the other rule of correction keeps: some of each unit, whoever gave them."""
        assert self.model is not None
        return labels.without_least_competent(
            self.unit, self.coder, self.model.spam_probability, share=share, keep=keep
        )


@dataclass(frozen=True, eq=False)
class Fitted:
    """One pool with its fits, in the order of the dimensions."""

    pool: Pool
    fits: tuple[Fit, ...]


def fit(inputs: Inputs, name: str, *, settings: Settings, seed: int, report: Report, capped: bool) -> Fitted:
    """Fit MACE to each dimension of a pool.

    `capped`: the first k votes of a unit count. The crowd of pairs is capped; experts and pointwise raters were chosen.
    Where a label is known, MACE is told it, and sees all votes on it: they say how far each of their judges can be
    trusted. What is counted remains the first k.
    """
    pool = inputs.pools[name]
    counted = pool.first_votes(settings.k) if capped else np.ones(len(pool.unit), dtype=bool)
    fits = []
    for place in np.unique(pool.dimension).tolist():
        dimension = inputs.dimensions[place]
        report(f"Competence: {dimension.label}")
        keep = counted & (pool.dimension == place)
        votes = (pool.unit[keep], pool.coder[keep], pool.value[keep])
        sizes = (len(pool.units), len(pool.participants), len(dimension.domain))
        known = pool.known_of(place) if settings.fix_known and pool.known else None
        seen = votes
        if known is not None:
            all_of_known = keep | ((pool.dimension == place) & (known[pool.unit] >= 0))
            seen = (pool.unit[all_of_known], pool.coder[all_of_known], pool.value[all_of_known])
        model, problem = _model(seen, sizes, settings, stream(seed, f"mace {name} {dimension.name}"), known)
        counts = count_values(*votes, units=sizes[0], values=sizes[2])
        fits.append(Fit(dimension, *votes, counts=counts, model=model, problem=problem, seen=seen, known=known))
    return Fitted(pool, tuple(fits))


def _model(
    votes: tuple[Ints, Ints, Ints],
    sizes: tuple[int, int, int],
    settings: Settings,
    rng: np.random.Generator,
    known: Ints | None,
) -> tuple[mace.Mace | None, str]:
    how = mace.Settings(restarts=settings.restarts, refine=settings.refine)
    try:
        model = mace.fit(
            *votes, rng=rng, items=sizes[0], annotators=sizes[1], labels=sizes[2], fixed=known, settings=how
        )
    except (mace.NoJudgmentsError, mace.SingleLabelError, mace.NoOverlapError) as error:
        return None, str(error)
    return model, ""
