"""What a design can find out: intervals, power and labels to expect, by analysing simulated studies (docs/methods).

Every simulated study goes through the functions that analyse a real one: `mace`, `labels`, `bradley_terry`,
`agreement`, `bootstrap`, `significance`. What they find is averaged over studies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from analysis.stats import agreement, bradley_terry, labels, mace, significance
from analysis.stats.bootstrap import Floats, Statistic, bootstrap, resample_weights, weighted_mean
from analysis.stats.designs import HUMAN, MODEL, Design, Expectation, Ints
from analysis.stats.proportions import wilson
from analysis.stats.simulating import Simulated, simulate

#: What is said of a design, and in what it is counted (docs/methods/planning.md).
MEASURES = {
    "alpha": "Krippendorff's alpha of a dimension",
    "alpha_width": "width of its 95 % interval",
    "label_accuracy": "share of gold labels that are the true labels",
    "mean_grade_width": "width of the 95 % interval of an origin's mean grade on a dimension",
    "mean_grade_all_width": "the same over all dimensions",
    "difference": "mean grade of models less that of humans, on a dimension",
    "difference_width": "width of its 95 % interval",
    "power_all": "share of tests, a dimension each, all styles together, that find the difference",
    "power": "share of tests, a style and dimension each, that find the difference",
    "rank_width": "width of the 95 % interval of a response's grade",
}
#: Measures that are shares.
SHARES = frozenset({"label_accuracy", "power", "power_all"})


@dataclass(frozen=True)
class Effort:
    """How thoroughly each simulated study is analysed; less than a real one, for there are many.

    Attributes
    ----------
    restarts, refine : int
        Of MACE (`mace.Settings`).
    resamples : int
        Bootstrap resamples of topics.
    rank_resamples : int
        Draws of labels behind rank intervals; 0: they are not made.
    significance : float
        Largest adjusted p that counts as a difference found.
    """

    restarts: int = 5
    refine: int = 0
    resamples: int = 200
    rank_resamples: int = 40
    significance: float = 0.05


@dataclass(frozen=True)
class Estimate:
    """What is to be expected, from simulations.

    Attributes
    ----------
    value : float
        The mean over simulated studies; NaN where none could say it.
    low, high : float
        Its 95 % interval: how far the number of simulations leaves it open. NaN of fewer than two.
    simulations : int
        How many studies could say it.
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
) -> dict[str, Estimate]:
    """What to expect of a design.

    Parameters
    ----------
    design, expected
        What is judged by how many, and what one expects to be true.
    simulations : int
        How many studies are simulated and analysed.
    rng : numpy.random.Generator
        The only source of chance.
    effort : Effort, optional
        How thoroughly each is analysed.

    Returns
    -------
    dict of str to Estimate
        By the names in `MEASURES`.

    Raises
    ------
    ValueError
        If there is no simulation.

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
    """Analyse a simulated study as a real one would be.

    Parameters
    ----------
    study : Simulated
        From `analysis.stats.simulating.simulate`.
    rng : numpy.random.Generator
        Source of MACE's random starts and of the resamples.
    effort : Effort, optional

    Returns
    -------
    dict of str to float
        By the names in `MEASURES`, means over dimensions; NaN where these judgments cannot say it.
    """
    chosen = effort if effort is not None else Effort()
    weights = resample_weights(study.design.topics, chosen.resamples, rng)
    found = dict.fromkeys(MEASURES, float("nan")) | fit_agreement(study)
    posterior = fit_labels(study, rng, chosen)
    if posterior is None:
        return found
    gold = gold_of(posterior)
    grades = fit_grades(study, gold)
    found["label_accuracy"] = float(np.mean(gold == study.truth))
    found |= _mean_grades(study, grades, weights)
    found |= _differences(study, grades, weights, chosen)
    if chosen.rank_resamples:
        found["rank_width"] = _rank_width(study, posterior[0], rng, chosen)
    return found


def summarise(studies: Sequence[dict[str, float]]) -> dict[str, Estimate]:
    """Average what simulated studies found.

    Parameters
    ----------
    studies : sequence of dict of str to float
        From `analyse`, of one design.

    Returns
    -------
    dict of str to Estimate
        Intervals are Student's. Of a share that was the same in all studies (all tests found the difference, say) the
        interval is Wilson's, with the studies as trials: a few equal ones do not make it certain.
    """
    return {name: _estimate(np.array([study[name] for study in studies]), share=name in SHARES) for name in MEASURES}


def fit_labels(study: Simulated, rng: np.random.Generator, effort: Effort) -> Floats | None:
    """How probable each label is, (n_dimensions, n_items, 3); None where MACE cannot be fitted."""
    how = mace.Settings(restarts=effort.restarts, refine=effort.refine)
    found = []
    for votes in study.label.T:
        try:
            model = mace.fit(
                study.item, study.coder, votes, rng=rng, items=len(study.topic), labels=len(labels.LABELS), settings=how
            )
        except (mace.SingleLabelError, mace.NoOverlapError):
            return None
        found.append(model.posterior)
    return np.stack(found)


def gold_of(posterior: Floats) -> Ints:
    """The gold labels, (n_items, n_dimensions), of posteriors of shape (n_dimensions, n_items, 3)."""
    return np.stack([labels.gold(each) for each in posterior], axis=1)


def fit_grades(study: Simulated, gold: Ints) -> bradley_terry.Grades:
    """The grades of labels, one problem a topic and dimension: topic times dimensions plus dimension."""
    dimensions = gold.shape[1]
    problem = study.topic[:, None] * dimensions + np.arange(dimensions)
    first, second = (np.broadcast_to(side[:, None], gold.shape).ravel() for side in (study.first, study.second))
    tallies = bradley_terry.tally(
        problem.ravel(), first, second, gold.ravel() - 1,
        problems=study.design.topics * dimensions, items=study.design.responses,
    )  # fmt: skip
    return bradley_terry.fit(tallies)


def fit_agreement(study: Simulated) -> dict[str, float]:
    """Alpha and its interval's width, means over dimensions; nothing where alpha is undefined."""
    found = []
    for votes in study.label.T:
        try:
            found.append(
                agreement.alpha_interval(study.item, study.coder, votes, study.topic, values=len(labels.LABELS))
            )
        except agreement.AlphaUndefinedError:
            return {}
    return {
        "alpha": float(np.mean([each.estimate for each in found])),
        "alpha_width": float(np.mean([each.high - each.low for each in found])),
    }


def _by_response(study: Simulated, grades: bradley_terry.Grades) -> Floats:
    """Grades as (n_topics, n_responses, n_dimensions)."""
    shape = (study.design.topics, study.label.shape[1], study.design.responses)
    return grades.grade.reshape(shape).transpose(0, 2, 1)


def _mean_grades(study: Simulated, grades: bradley_terry.Grades, weights: Floats) -> dict[str, float]:
    """Widths of the intervals of mean grades, as in the table `grade_means`."""
    grade, origin = _by_response(study, grades), study.design.origin
    apart, together = [], []
    for who in np.unique(origin):
        own = grade[:, origin == who]
        together.append(_width(_topic_means(own), weights))
        apart += [_width(_topic_means(own[:, :, [d]]), weights) for d in range(own.shape[2])]
    return {"mean_grade_width": float(np.mean(apart)), "mean_grade_all_width": float(np.mean(together))}


def _topic_means(values: Floats) -> Statistic:
    """The mean of values of shape (n_topics, ...) as a statistic of topics."""
    topic = np.broadcast_to(np.arange(len(values)).reshape(-1, *[1] * (values.ndim - 1)), values.shape)
    return weighted_mean(values.ravel(), topic.ravel(), len(values))


def _width(statistic: Statistic, weights: Floats) -> float:
    interval = bootstrap(statistic, weights)
    return interval.high - interval.low


def _differences(study: Simulated, grades: bradley_terry.Grades, weights: Floats, effort: Effort) -> dict[str, float]:
    """The difference between origins, its interval, and whether tests find it: of all styles, and of each."""
    grade, origin, style = _by_response(study, grades), study.design.origin, study.design.style
    human, model = _topic_means(grade[:, origin == HUMAN]), _topic_means(grade[:, origin == MODEL])
    lead = float(bootstrap(model, weights).estimate - bootstrap(human, weights).estimate)
    widths = []
    for d in range(grade.shape[2]):
        own = grade[:, :, [d]]
        sides = _topic_means(own[:, origin == HUMAN]), _topic_means(own[:, origin == MODEL])
        widths.append(_width(partial(_less, *sides), weights))
    every = np.ones(len(style), dtype=bool)
    return {
        "difference": lead,
        "difference_width": float(np.mean(widths)),
        "power_all": _power(_tests(grade, origin, every), effort),
        "power": _power([p for which in np.unique(style) for p in _tests(grade, origin, style == which)], effort),
    }


def _tests(grade: Floats, origin: Ints, chosen: np.ndarray) -> list[float]:
    """A p for each dimension: do models' responses differ from humans' to the same topics, among those chosen?"""
    human, model = (grade[:, (origin == who) & chosen] for who in (HUMAN, MODEL))
    if not human.shape[1] or not model.shape[1]:
        return []
    return [_signed_rank(column) for column in (np.nanmean(model, axis=1) - np.nanmean(human, axis=1)).T]


def _power(p: list[float], effort: Effort) -> float:
    """The share of a family of tests that find something (Benjamini-Hochberg); one not made has found nothing."""
    return float(np.mean(significance.adjusted(p) <= effort.significance)) if p else float("nan")


def _less(human: Statistic, model: Statistic, weights: Floats) -> Floats:
    return model(weights) - human(weights)


def _signed_rank(differences: Floats) -> float:
    """The test's p; NaN where too few topics tell the two apart for any result to be significant."""
    try:
        return significance.signed_rank(differences).p
    except significance.TooFewDifferencesError:
        return float("nan")


def _rank_width(study: Simulated, posterior: Floats, rng: np.random.Generator, effort: Effort) -> float:
    """How wide the intervals of grades are if labels are drawn from what the votes leave open, on one dimension."""
    draws, topics = effort.rank_resamples, study.design.topics
    below = np.cumsum(posterior, axis=1)[:, :2]
    chance = rng.random((draws, len(study.topic)))
    outcome = (chance >= below[:, 0]).astype(np.int64) + (chance >= below[:, 1]) - 1
    problem = np.arange(draws)[:, None] * topics + study.topic
    first, second = (np.broadcast_to(side, problem.shape).ravel() for side in (study.first, study.second))
    tallies = bradley_terry.tally(
        problem.ravel(), first, second, outcome.ravel(), problems=draws * topics, items=study.design.responses
    )
    grade = bradley_terry.fit(tallies).grade.reshape(draws, topics, study.design.responses)
    low = np.quantile(grade, 0.025, axis=0, method="lower")
    return float(np.nanmean(np.quantile(grade, 0.975, axis=0, method="higher") - low))


def _estimate(values: Floats, *, share: bool) -> Estimate:
    there = values[np.isfinite(values)]
    n, nan = len(there), float("nan")
    if n == 0:
        return Estimate(nan, nan, nan, 0)
    mean = float(there.mean())
    if n == 1:
        return Estimate(mean, nan, nan, 1)
    error = float(there.std(ddof=1) / np.sqrt(n))
    if share and error == 0 and mean in {0.0, 1.0}:
        sure = wilson(round(mean * n), n)
        return Estimate(mean, sure.low, sure.high, n)
    reach = float(scipy.stats.t.ppf(0.975, n - 1)) * error
    low, high = mean - reach, mean + reach
    return Estimate(mean, max(low, 0.0), min(high, 1.0), n) if share else Estimate(mean, low, high, n)
