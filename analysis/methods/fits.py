"""Votes of one pool by dimension with the MACE models fitted to them, and both in every resample."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from analysis.stats import labels, mace, mace_posterior
from analysis.stats.agreement import count_values
from analysis.stats.bootstrap import Floats, resample_weights
from analysis.stats.mace_resampled import Resampled, resample
from analysis.stats.processes import Calls, is_safe
from analysis.stats.random_streams import key
from analysis.stats.threads import map_in_threads, processors

from ..inputs.arrays import Dimension, Inputs, Ints, Pool
from .reusable_fits import ReusableFit, ReusableFits, Votes
from .settings import REFIT, TOPICS_AND_WORKERS, AnalysisSettings, named_rng

LABELS = 3
#: If more judgments of a dimension than this must be fitted again, an update continues the earlier fit instead of
#: searching (which takes a second per dimension at this size), for at most this many iterations.
SEARCHED, WARM = 10_000, 500
Report = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Fit:
    """The votes on one dimension, and MACE fitted to all of them.

    Attributes
    ----------
    unit, coder, value : ndarray of int, shape (n_votes,)
        Votes used for agreement: the first k of each unit.
    counts : ndarray of int, shape (n_units, n_values)
        Counts of each value for each unit, among those votes.
    model : Mace or None
        None if the votes cannot show who is competent; `problem` says why.
    seen : tuple of ndarray
        Unit, coder and value of all votes, to which MACE is fitted. Grades from votes use them too.
    known : ndarray of int, shape (n_units,), or None
        Known labels given to MACE.
    averaged : Averaged or None
        Labels and competences averaged over all optima; None if those of the most likely optimum are used.
    before : Averaged or None
        The same from an earlier analysis.
    """

    dimension: Dimension
    unit: Ints
    coder: Ints
    value: Ints
    counts: Ints
    model: mace.Mace | None
    seen: Votes
    problem: str = ""
    known: Ints | None = None
    averaged: mace_posterior.AveragedPosterior | None = None
    before: mace_posterior.AveragedPosterior | None = None

    @property
    def is_drawn_before(self) -> np.ndarray:
        """Whether an earlier analysis drew the same labels for each unit, shape (n_units,)."""
        now, then = self.averaged, self.before
        if now is None or then is None or now.label.shape != then.label.shape:
            return np.zeros(len(self.counts), dtype=bool)
        return np.asarray((now.label == then.label).all(axis=1) & ~np.isnan(then.posterior).any(axis=1))

    @property
    def posterior(self) -> Floats:
        """Probability of each label of each unit, shape (n_units, n_values)."""
        assert self.model is not None
        return self.model.posterior if self.averaged is None else self.averaged.posterior

    @property
    def spam_probability(self) -> Floats:
        """Spam probability of each participant, shape (n_participants,)."""
        assert self.model is not None
        return self.model.spam_probability if self.averaged is None else self.averaged.spam_probability

    @property
    def has_single_votes(self) -> bool:
        """Whether each unit has one vote, and the votes differ: they are then the only labels there can be."""
        unit, _coder, value = self.seen
        return len(np.unique(unit)) == len(unit) and len(np.unique(value)) > 1

    def counts_of(self, keep: np.ndarray) -> Ints:
        """Count some of the votes by unit and value."""
        units, values = self.counts.shape
        return count_values(self.unit[keep], self.coder[keep], self.value[keep], units=units, values=values)

    def trusted(self, threshold: float) -> np.ndarray:
        """Return which votes the corrected crowd keeps."""
        return np.asarray(self.spam_probability[self.coder] <= threshold)

    def without_least_competent(self, share: float, keep: int) -> np.ndarray:
        """Return which votes remain without the least competent judges; at least `keep` votes of each unit do."""
        return labels.without_least_competent(self.unit, self.coder, self.spam_probability, share=share, keep=keep)


@dataclass(frozen=True, eq=False)
class Fitted:
    """One pool with its fits, in the order of the dimensions."""

    pool: Pool
    fits: tuple[Fit, ...]


def fit(
    inputs: Inputs,
    name: str,
    *,
    settings: AnalysisSettings,
    seed: int,
    report: Report,
    capped: bool,
    earlier: ReusableFits | None = None,
) -> Fitted:
    """Fit MACE to each dimension of a pool.

    MACE uses all votes and the known labels. `capped`: compute agreement from the first k votes of a unit. Only the
    crowd's judgments of pairs are capped, because experts and pointwise raters were chosen.

    `earlier`: fits of an earlier analysis. Those that still hold are kept; only the others are fitted again.
    """
    requests = _requests(inputs, name, settings=settings, seed=seed, capped=capped, earlier=earlier)
    models = _models(requests, settings, report)
    fits = map_in_threads(
        lambda number: requests[number].fit(models[number], requests[number].averaged(models[number], settings)),
        range(len(requests)),
    )
    return Fitted(inputs.pools[name], tuple(fits))


#: With fewer judgments in all pools, other processes would not save time.
FEWEST_IN_BACKGROUND = 10_000
_Solution = tuple[mace.Mace | mace.UnfitError, mace_posterior.AveragedPosterior | None]


class FitsInBackground:
    """Fits of several pools, equal to those of `fit`, in other processes: they begin at once, beside other work.

    Use it in a `with` statement, which ends the processes.
    """

    def __init__(self, inputs: Inputs, names: Sequence[str], *, settings: AnalysisSettings, seed: int) -> None:
        self._inputs = inputs
        self._requests = {
            name: _requests(inputs, name, settings=settings, seed=seed, capped=name == inputs.pool, earlier=None)
            for name in names
        }
        every = [request for requests in self._requests.values() for request in requests]

        def solve(request: _FitRequest) -> _Solution:
            model = _models([request], settings, lambda _message: None)[0]
            return model, request.averaged(model, settings)

        self._calls: Calls[_Solution] = Calls(solve, every)

    @staticmethod
    def is_worthwhile(inputs: Inputs, names: Sequence[str]) -> bool:
        """Return whether the fits take long enough for processes, which are possible here."""
        judgments = sum(len(inputs.pools[name].value) for name in names)
        return judgments >= FEWEST_IN_BACKGROUND and processors() > 1 and is_safe()

    def results(self, report: Report) -> dict[str, Fitted]:
        """Wait for the fits, and return them by pool."""
        solutions = iter(self._calls)
        fitted = {}
        for name, requests in self._requests.items():
            fits = []
            for request in requests:
                report(f"Competence: {request.dimension.label}")
                fits.append(request.fit(*next(solutions)))
            fitted[name] = Fitted(self._inputs.pools[name], tuple(fits))
        return fitted

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._calls.end()


def _requests(
    inputs: Inputs,
    name: str,
    *,
    settings: AnalysisSettings,
    seed: int,
    capped: bool,
    earlier: ReusableFits | None,
) -> "list[_FitRequest]":
    """Return a request for each dimension of a pool."""
    pool = inputs.pools[name]
    keys = np.array([key(participant) for participant in pool.participants], dtype=np.uint64)
    places = None if earlier is None or name not in earlier.inputs.pools else earlier.places(inputs, name)
    requests = []
    for dimension_index in np.unique(pool.dimension).tolist():
        dimension = inputs.dimensions[dimension_index]
        votes, seen, known = _votes(pool, dimension_index, settings, capped=capped)
        standing = drawn = None
        if earlier is not None and places is not None and (before := earlier.place(dimension)) >= 0:
            _counted, saw, known_before = _votes(earlier.inputs.pools[name], before, settings, capped=capped)
            standing = earlier.standing(inputs, name, dimension.name, seen, known, (saw, known_before), places)
            if standing and settings.averages:
                drawn = earlier.drawn(inputs, name, dimension.name, standing, places)
        sizes = (len(pool.units), len(pool.participants), len(dimension.domain))
        rng, labels_rng = (named_rng(seed, f"{purpose} {name} {dimension.name}") for purpose in ("mace", "labels"))
        requests.append(_FitRequest(dimension, votes, seen, sizes, known, keys, rng, labels_rng, standing, drawn))
    return requests


def _votes(
    pool: Pool, dimension_index: int, settings: AnalysisSettings, *, capped: bool
) -> tuple[Votes, Votes, Ints | None]:
    """Return the votes for agreement, all votes, and the known labels for MACE."""
    on_dimension = pool.dimension == dimension_index
    first = on_dimension & pool.first_votes(settings.k) if capped else on_dimension
    seen = pool.unit[on_dimension], pool.coder[on_dimension], pool.value[on_dimension]
    counted = first[on_dimension]
    votes = seen if counted.all() else (seen[0][counted], seen[1][counted], seen[2][counted])
    return votes, seen, pool.known_of(dimension_index) if settings.fix_known and pool.known else None


@dataclass(frozen=True, eq=False)
class _FitRequest:
    """Request to fit one dimension: votes for agreement and for MACE, and numbers of units, participants and values."""

    dimension: Dimension
    votes: Votes
    seen: Votes
    sizes: tuple[int, int, int]
    known: Ints | None
    keys: NDArray[np.uint64]
    rng: np.random.Generator
    labels_rng: np.random.Generator
    standing: ReusableFit | None
    drawn: mace_posterior.AveragedPosterior | None

    def is_warm(self, settings: AnalysisSettings) -> bool:
        """Return whether the fit continues an earlier one instead of starting a new search."""
        return self.standing is not None and (self.standing.searched > SEARCHED or not settings.refine)

    def mace_input(self, settings: AnalysisSettings) -> mace.MaceInput:
        """Return the input of MACE."""
        unit, coder, value = self.seen
        units, participants, values = self.sizes
        return mace.MaceInput(
            item=unit,
            annotator=coder,
            label=value,
            rng=self.rng,
            items=units,
            annotators=participants,
            labels=values,
            fixed=self.known,
            start=self.standing.start if self.standing is not None and self.is_warm(settings) else None,
            settled=None if self.standing is None else self.standing.settled,
            keys=self.keys,
        )

    def fit(self, model: mace.Mace | mace.UnfitError, averaged: mace_posterior.AveragedPosterior | None) -> Fit:
        """Combine the votes with the MACE model, and with the average over its optima if there is one."""
        return Fit(
            self.dimension,
            *self.votes,
            counts=count_values(*self.votes, units=self.sizes[0], values=self.sizes[2]),
            model=None if isinstance(model, mace.UnfitError) else model,
            problem=str(model) if isinstance(model, mace.UnfitError) else "",
            seen=self.seen,
            known=self.known,
            averaged=averaged,
            before=self.drawn,
        )

    def averaged(
        self, model: mace.Mace | mace.UnfitError, settings: AnalysisSettings
    ) -> mace_posterior.AveragedPosterior | None:
        """Compute the posterior of labels and competences; None if there is no model, or it is not asked for."""
        if isinstance(model, mace.UnfitError) or not settings.averages:
            return None
        units, participants, values = self.sizes
        return mace_posterior.sample(
            *self.seen,
            rng=self.labels_rng,
            items=units,
            annotators=participants,
            labels=values,
            fixed=self.known,
            keys=self.keys,
            earlier=self.drawn,
        )


def _models(
    requests: Sequence[_FitRequest], settings: AnalysisSettings, report: Report
) -> list[mace.Mace | mace.UnfitError]:
    """Fit each dimension; in an update, fit those with few changed judgments together."""
    searched = mace.MaceSettings(restarts=settings.restarts, refine=settings.refine)
    warm = mace.MaceSettings(restarts=0, max_iter=WARM)
    models: dict[int, mace.Mace | mace.UnfitError] = {}
    together = [
        i for i, request in enumerate(requests) if request.standing is not None and not request.is_warm(settings)
    ]
    for i, request in enumerate(requests):
        report(f"Competence: {request.dimension.label}")
        if i in models:
            continue
        chosen = together if i in together else [i]
        how = warm if request.is_warm(settings) else searched
        fits = mace.fit_together([requests[other].mace_input(settings) for other in chosen], settings=how)
        models |= dict(zip(chosen, fits, strict=True))
    return [models[i] for i in range(len(requests))]


@dataclass(frozen=True, eq=False)
class ResampledFits:
    """The draws of each resample of a pool, and the fits to them.

    Attributes
    ----------
    topics : ndarray of shape (resamples, n_topics)
        How often each topic of the pool was drawn, topics in ascending order.
    judges : ndarray of shape (resamples, n_participants), or None
        How often each judge was drawn; None if each counts once.
    fits : tuple of Resampled or None
        Labels and competences of each dimension, in the order of the pool's fits; None if there is no model.
    """

    topics: Floats
    judges: Floats | None
    fits: tuple[Resampled | None, ...]

    def times_drawn(self, coder: np.ndarray, block: slice) -> Floats:
        """Return how often the judge of each vote was drawn, shape (n_votes, resamples of the block)."""
        if self.judges is None:
            return np.ones((len(coder), len(self.topics[block])))
        drawn_judges: Floats = self.judges[block].T[coder]
        return drawn_judges


def refit_resamples(
    fitted: Fitted, name: str, *, settings: AnalysisSettings, seed: int, step: Callable[[str], None]
) -> ResampledFits | None:
    """Draw topics, and judges if requested, and estimate the labels of each resample.

    Return None if there are no labels, or if they are the same in every resample: then drawing topics is enough.
    """
    if not settings.redraws or all(fit.model is None for fit in fitted.fits):
        return None
    pool = fitted.pool
    topics, topic = np.unique(pool.topic, return_inverse=True)
    drawn = resample_weights(len(topics), settings.resamples, named_rng(seed, f"resampled topics of {name}"))
    judges = None
    if settings.resample == TOPICS_AND_WORKERS:
        judges = resample_weights(
            len(pool.participants), settings.resamples, named_rng(seed, f"resampled judges of {name}")
        )
    resampled: list[Resampled | None] = []
    for fit in fitted.fits:
        if fit.model is None:
            resampled.append(None)
            continue
        message = f"Resampling: {fit.dimension.label}"
        step(message)
        resampled.append(
            resample(
                fit.model,
                *fit.seen,
                item_weights=drawn[:, topic],
                annotator_weights=judges,
                refit=settings.bootstrap == REFIT,
                fixed=fit.known,
                report=partial(_report_progress, step, message, settings.resamples),
            )
        )
    return ResampledFits(drawn, judges, tuple(resampled))


def _report_progress(step: Callable[[str], None], message: str, resamples: int, done: int) -> None:
    step(f"{message}, {done:,} of {resamples:,}")
