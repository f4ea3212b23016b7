"""Planning: expected intervals, power and labels of a design, from the analysis of simulated studies (docs/methods).

Every simulated study is analysed with the functions for real studies: `mace_posterior`, `labels`, `bradley_terry`,
`agreement`, `bootstrap`, `significance`. The results are averaged over studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from analysis.stats import agreement, bradley_terry, labels, mace, mace_posterior, significance
from analysis.stats.bootstrap import Floats, percentile_interval, resample_weights, weighted_mean
from analysis.stats.designs import HUMAN, MODEL, Design, Expectation, Ints
from analysis.stats.proportions import wilson
from analysis.stats.simulation import Simulated, simulate
from analysis.stats.unique_columns import unique_columns

#: Measures of a design and their descriptions (docs/methods/planning.md).
MEASURES = {
    "alpha": "Krippendorff's alpha of a dimension",
    "alpha_width": "width of its 95 % interval",
    "label_accuracy": "share of gold labels that are the true labels",
    "mean_grade_width": "width of the 95 % interval of an origin's mean grade on a dimension",
    "mean_grade_all_width": "the same over all dimensions",
    "difference": "mean grade of models minus that of humans, on a dimension",
    "difference_width": "width of its 95 % interval",
    "power_all": "share of tests that detect the difference, one test per dimension over all styles",
    "power": "share of tests that detect the difference, one test per style and dimension",
    "rank_width": "width of the 95 % interval of a response's grade",
}
#: Measures that are proportions.
SHARES = frozenset({"label_accuracy", "power", "power_all"})

_DRAWS = mace_posterior.Effort(chains=16, populations=1, steps=12, draws_kept=2, thin=3)


@dataclass(frozen=True)
class Effort:
    """Effort of the analysis of each simulated study: less than for a real one, because there are many.

    Attributes
    ----------
    draws : mace_posterior.Effort
        Effort of the label draws. Few draws are enough: the remaining noise is averaged over dimensions and studies.
    resamples : int
        Bootstrap resamples of topics.
    significance : float
        Largest adjusted p-value that counts as a detected difference.
    """

    draws: mace_posterior.Effort = _DRAWS
    resamples: int = 200
    significance: float = 0.05


@dataclass(frozen=True)
class PlanEstimate:
    """Expected value of a measure, estimated from simulations.

    Attributes
    ----------
    value : float
        The mean over simulated studies; NaN if it is undefined in all.
    low, high : float
        The 95 % interval of the mean, given the number of simulations. NaN with fewer than two.
    simulations : int
        The number of studies in which the measure is defined.
    """

    value: float
    low: float
    high: float
    simulations: int


def plan(
    design: Design,
    expected: Expectation,
    *,
    simulations: int,
    rng: np.random.Generator,
    effort: Effort | None = None,
) -> dict[str, PlanEstimate]:
    """Estimate what to expect of a design.

    Parameters
    ----------
    design, expected
        The design and the expectations about the true values.
    simulations : int
        The number of studies to simulate and analyse.
    rng : numpy.random.Generator
        Source of all random draws.
    effort : Effort, optional
        Effort of each analysis.

    Returns
    -------
    dict of str to PlanEstimate
        By the names in `MEASURES`.

    Raises
    ------
    ValueError
        If the number of simulations is less than 1.

    Examples
    --------
    >>> from analysis.stats import designs
    >>> rng = np.random.default_rng(0)
    >>> people = designs.competence(0.6, 0.25, dimensions=1, rng=rng)
    >>> small = designs.Design(topics=10, responses=4, dimensions=1, forced=0, k=3)
    >>> found = plan(small, designs.Expectation(people, effect=1.0), simulations=3, rng=rng)
    >>> found["difference"].value > 0
    True
    """
    if simulations < 1:
        raise ValueError(f"at least one study must be simulated, not {simulations}")
    return summarise([analyse(simulate(design, expected, rng), rng, effort=effort) for _ in range(simulations)])


def analyse(study: Simulated, rng: np.random.Generator, *, effort: Effort | None = None) -> dict[str, float]:
    """Analyse a simulated study like a real one.

    Parameters
    ----------
    study : Simulated
        From `analysis.stats.simulation.simulate`.
    rng : numpy.random.Generator
        Source of the label draws and of the resamples.
    effort : Effort, optional

    Returns
    -------
    dict of str to float
        By the names in `MEASURES`, means over dimensions; NaN if these judgments do not determine the measure.
    """
    options = effort if effort is not None else Effort()
    weights = resample_weights(study.design.topics, options.resamples, rng)
    measures = dict.fromkeys(MEASURES, float("nan")) | fit_agreement(study)
    averaged = draw_labels(study, rng, options.draws)
    if averaged is None:
        return measures
    measures["label_accuracy"] = float(np.mean(gold_of([posterior.posterior for posterior in averaged]) == study.truth))
    draws, _merit = fit_grades(study, np.stack([posterior.label for posterior in averaged], axis=1))
    grade = draws.mean(axis=3)
    measures |= _mean_grades(study, grade, weights)
    measures |= _differences(study, grade, weights, options)
    measures["rank_width"] = _rank_width(draws)
    return measures


def summarise(studies: Sequence[dict[str, float]]) -> dict[str, PlanEstimate]:
    """Average the results of simulated studies.

    Parameters
    ----------
    studies : sequence of dict of str to float
        From `analyse`, of one design.

    Returns
    -------
    dict of str to PlanEstimate
        With Student's t intervals. A proportion can be 0 or 1 in all studies, for example if all tests find the
        difference. Its interval is then Wilson's with the studies as trials, because a few equal results do not make it
        certain.
    """
    return {name: _estimate(np.array([study[name] for study in studies]), share=name in SHARES) for name in MEASURES}


def gold_of(posterior: Floats | Sequence[Floats]) -> Ints:
    """Return gold labels (n_items, n_dimensions) from posteriors of shape (n_dimensions, n_items, 3)."""
    return np.stack([labels.gold(probabilities) for probabilities in posterior], axis=1)


def draw_labels(
    study: Simulated, rng: np.random.Generator, effort: mace_posterior.Effort
) -> list[mace_posterior.AveragedPosterior] | None:
    """Draw labels averaged over all optima, by dimension; None if the votes cannot show who is competent."""
    try:
        return [
            mace_posterior.sample(
                study.item, study.coder, votes,
                rng=rng, items=len(study.topic), labels=len(labels.LABELS), effort=effort,
            )
            for votes in study.label.T
        ]  # fmt: skip
    except (mace.SingleLabelError, mace.NoOverlapError):
        return None


def fit_grades(study: Simulated, label: ArrayLike) -> tuple[Floats, Floats]:
    """Fit grades and merits of label draws, each of shape (n_topics, n_responses, n_dimensions, n_draws).

    `label` has shape (n_items, n_dimensions, n_draws): 0 a, 1 n, 2 b. Equal draws of a topic are fitted once.
    """
    label = np.asarray(label)
    items, dimensions, draws = label.shape
    order = np.argsort(study.topic, kind="stable")
    begin = np.flatnonzero(np.diff(study.topic[order], prepend=-1))
    outcome = label[order].reshape(items, -1).astype(np.float64) - 1.0
    different = unique_columns(begin, outcome)
    size = np.diff(np.r_[begin, items])[different.group]
    problem = np.repeat(np.arange(len(size)), size)
    row = np.arange(len(problem)) + np.repeat(begin[different.group] - (np.cumsum(size) - size), size)
    tallies = bradley_terry.tally(
        problem,
        study.first[order][row],
        study.second[order][row],
        outcome[row, np.repeat(different.column, size)],
        problems=len(size),
        items=study.design.responses,
    )
    fitted = bradley_terry.fit(tallies, errors=False)
    grade, merit = (
        values[different.positions].reshape(len(begin), dimensions, draws, -1).transpose(0, 3, 1, 2)
        for values in (fitted.grade, fitted.merit)
    )
    return grade, merit


def fit_agreement(study: Simulated) -> dict[str, float]:
    """Compute alpha and its interval width, means over dimensions; an empty dict if alpha is undefined."""
    intervals = []
    for votes in study.label.T:
        try:
            intervals.append(
                agreement.alpha_interval(study.item, study.coder, votes, study.topic, values=len(labels.LABELS))
            )
        except agreement.AlphaUndefinedError:
            return {}
    return {
        "alpha": float(np.mean([interval.estimate for interval in intervals])),
        "alpha_width": float(np.mean([interval.high - interval.low for interval in intervals])),
    }


def _mean_grades(study: Simulated, grade: Floats, weights: Floats) -> dict[str, float]:
    """Compute the interval widths of mean grades, as in the table `grade_means`."""
    origin, responses = study.design.origin, study.design.responses
    widths, all_widths = [], []
    for system in np.unique(origin):
        grades = grade[:, origin == system]
        all_widths.append(_width(grades, weights, responses))
        widths += [_width(grades[:, :, [d]], weights, responses) for d in range(grades.shape[2])]
    return {"mean_grade_width": float(np.mean(widths)), "mean_grade_all_width": float(np.mean(all_widths))}


def _width(grade: Floats, weights: Floats, responses: int, less: Floats | None = None) -> float:
    """Compute the interval width of a mean grade over topics, 1 to `responses`, or of its difference to `less`.

    Grades have shape (n_topics, n_responses, n_dimensions). NaN without an interval.
    """
    mean = np.nanmean(grade, axis=(1, 2)) - (0.0 if less is None else np.nanmean(less, axis=(1, 2)))
    samples = weighted_mean(mean, np.arange(len(mean)), len(mean))(weights)
    bounds = (1.0, float(responses)) if less is None else (1.0 - responses, responses - 1.0)
    interval = percentile_interval(float(np.nanmean(mean)), samples, clusters=len(mean), bounds=bounds)
    return interval.high - interval.low


def _differences(study: Simulated, grade: Floats, weights: Floats, effort: Effort) -> dict[str, float]:
    """Compute the difference between origins, its interval width, and test power for all styles and for each."""
    origin, style = study.design.origin, study.design.style
    human, model = grade[:, origin == HUMAN], grade[:, origin == MODEL]
    widths = [
        _width(model[:, :, [d]], weights, study.design.responses, human[:, :, [d]]) for d in range(grade.shape[2])
    ]
    every = np.ones(len(style), dtype=bool)
    return {
        "difference": float(np.nanmean(model) - np.nanmean(human)),
        "difference_width": float(np.mean(widths)),
        "power_all": _power(_tests(grade, origin, every), effort),
        "power": _power([p for name in np.unique(style) for p in _tests(grade, origin, style == name)], effort),
    }


def _tests(grade: Floats, origin: Ints, is_chosen: np.ndarray) -> list[float]:
    """Test for each dimension whether models' and humans' responses to the same topics differ, among those chosen."""
    human, model = (grade[:, (origin == system) & is_chosen] for system in (HUMAN, MODEL))
    if not human.shape[1] or not model.shape[1]:
        return []
    return [_signed_rank(column) for column in (np.nanmean(model, axis=1) - np.nanmean(human, axis=1)).T]


def _power(p: list[float], effort: Effort) -> float:
    """Return the share of significant tests in a family (Benjamini-Hochberg); tests with NaN are not significant."""
    return float(np.mean(significance.adjusted(p) <= effort.significance)) if p else float("nan")


def _signed_rank(differences: Floats) -> float:
    """Return the p-value of the test; NaN if too few topics have a nonzero difference."""
    try:
        return significance.signed_rank(differences).p
    except significance.TooFewDifferencesError:
        return float("nan")


def _rank_width(grade: Floats) -> float:
    """Compute the mean interval width of single grades of shape (n_topics, n_responses, n_dimensions, n_draws)."""
    low = np.quantile(grade, 0.025, axis=3, method="lower")
    return float(np.nanmean(np.quantile(grade, 0.975, axis=3, method="higher") - low))


def _estimate(values: Floats, *, share: bool) -> PlanEstimate:
    known_values = values[np.isfinite(values)]
    n, nan = len(known_values), float("nan")
    if n == 0:
        return PlanEstimate(nan, nan, nan, 0)
    mean = float(known_values.mean())
    if n == 1:
        return PlanEstimate(mean, nan, nan, 1)
    error = float(known_values.std(ddof=1) / np.sqrt(n))
    if share and error == 0 and mean in {0.0, 1.0}:
        sure = wilson(round(mean * n), n)
        return PlanEstimate(mean, sure.low, sure.high, n)
    reach = float(scipy.special.stdtrit(n - 1, 0.975)) * error
    low, high = mean - reach, mean + reach
    return PlanEstimate(mean, max(low, 0.0), min(high, 1.0), n) if share else PlanEstimate(mean, low, high, n)
