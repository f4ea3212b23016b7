"""Votes of one pool by dimension, with the model of who can be trusted."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats import labels, mace
from analysis.stats.agreement import count_values
from analysis.stats.draws import key

from ..inputs import Dimension, Inputs, Ints, Pool
from .earlier import Earlier, Standing, Votes
from .settings import Settings, stream

LABELS = 3
#: Where more judgments of a dimension than these are to be fitted anew, an update goes on from the earlier fit instead
#: of searching as an analysis does (a second for each dimension at this size), for so many iterations at most.
SEARCHED, WARM = 10_000, 500
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


def fit(
    inputs: Inputs,
    name: str,
    *,
    settings: Settings,
    seed: int,
    report: Report,
    capped: bool,
    earlier: Earlier | None = None,
) -> Fitted:
    """Fit MACE to each dimension of a pool.

    `capped`: the first k votes of a unit count. The crowd of pairs is capped; experts and pointwise raters were chosen.
    Where a label is known, MACE is told it, and sees all votes on it: they say how far each of their judges can be
    trusted. What is counted remains the first k.

    `earlier`: fits of which as much is kept as still stands; only the others are fitted anew.
    """
    pool = inputs.pools[name]
    keys = np.array([key(participant) for participant in pool.participants], dtype=np.uint64)
    places = None if earlier is None or name not in earlier.inputs.pools else earlier.places(inputs, name)
    fits = []
    for place in np.unique(pool.dimension).tolist():
        dimension = inputs.dimensions[place]
        report(f"Competence: {dimension.label}")
        votes, seen, known = _votes(pool, place, settings, capped=capped)
        standing = None
        if earlier is not None and places is not None and (before := earlier.place(dimension)) >= 0:
            _counted, saw, told = _votes(earlier.inputs.pools[name], before, settings, capped=capped)
            standing = earlier.standing(inputs, name, dimension.name, seen, known, (saw, told), places)
        problem = _Problem(seen, (len(pool.units), len(pool.participants), len(dimension.domain)), known, keys)
        model, why = _model(problem, settings, stream(seed, f"mace {name} {dimension.name}"), standing)
        counts = count_values(*votes, units=problem.sizes[0], values=problem.sizes[2])
        fits.append(Fit(dimension, *votes, counts=counts, model=model, problem=why, seen=seen, known=known))
    return Fitted(pool, tuple(fits))


def _votes(pool: Pool, place: int, settings: Settings, *, capped: bool) -> tuple[Votes, Votes, Ints | None]:
    """The votes that count on a dimension, those that MACE sees, and the labels that it is told."""
    mine = pool.dimension == place
    keep = mine & pool.first_votes(settings.k) if capped else mine
    votes = (pool.unit[keep], pool.coder[keep], pool.value[keep])
    if not settings.fix_known or not pool.known:
        return votes, votes, None
    known = pool.known_of(place)
    seen = keep | (mine & (known[pool.unit] >= 0))
    return votes, (pool.unit[seen], pool.coder[seen], pool.value[seen]), known


@dataclass(frozen=True, eq=False)
class _Problem:
    """What MACE is given: votes, how many units, participants and values there are, known labels, and keys."""

    votes: Votes
    sizes: tuple[int, int, int]
    known: Ints | None
    keys: NDArray[np.uint64]


def _model(
    problem: _Problem, settings: Settings, rng: np.random.Generator, standing: Standing | None
) -> tuple[mace.Mace | None, str]:
    how = mace.Settings(restarts=settings.restarts, refine=settings.refine)
    start = settled = None
    if standing is not None:
        settled = standing.settled
        if standing.searched > SEARCHED or not settings.refine:
            start, how = standing.start, mace.Settings(restarts=0, max_iter=WARM)
    try:
        model = mace.fit(
            *problem.votes,
            rng=rng,
            items=problem.sizes[0],
            annotators=problem.sizes[1],
            labels=problem.sizes[2],
            fixed=problem.known,
            start=start,
            settled=settled,
            keys=problem.keys,
            settings=how,
        )
    except (mace.NoJudgmentsError, mace.SingleLabelError, mace.NoOverlapError) as error:
        return None, str(error)
    return model, ""
