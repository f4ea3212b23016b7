"""Model-assisted estimates in noisy crowds: coverage, width against people alone, and effective sample.

Topics come from a large simulated population with the shape and the spam rates of the published corpus, of which the
true value is known. Each replication draws some topics that a model judges, of which people judge the first ones, or a
random half of the pairs of each. The model's error rate is chosen so that its terms by topic have a certain correlation
with those of people; it also prefers the responses of models on a tenth of the pairs, as a biased judge does. Labels of
people follow from their votes by MACE's model with known competences (`--full` fits everything instead, as an analysis
does).

    python -m bench assisted                        2,000 replications of each row
    python -m bench assisted --replications 500     fewer, with a larger Monte Carlo error
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import scipy

from bench import _crowd  # isort: skip  (it sets Django up)
from analysis.inputs.arrays import Inputs, Pool
from analysis.methods.assisted_estimates import board_statistics as statistics
from analysis.methods.assisted_estimates.compute import compute_tables
from analysis.methods.assisted_estimates.scored_pairs import ScoredPairs
from analysis.methods.context import Context
from analysis.methods.fits import fit
from analysis.methods.grades import compute as grades
from analysis.methods.leaderboard.boards import Board
from analysis.methods.settings import AnalysisSettings
from analysis.stats import assisted
from analysis.stats.assisted import Assisted, ByTopic
from analysis.stats.designs import MODEL
from analysis.stats.simulation import Simulated

#: Number of whole analyses.
ANALYSES = int(os.environ.get("BENCH_ASSISTED_ANALYSES", "0"))
#: Topics of the population.
POPULATION = 20_000
#: Topics that people judge; the model judges five times as many.
PEOPLE_TOPICS, TIMES = (10, 20, 30, 50, 100), 5
CORRELATIONS = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9)
#: Share of the pairs on which the model prefers the response of a model.
OWN_BIAS = 0.1
NEAR, WIDER, EFFECTIVE = 0.01, 1.02, 1.3
CORRELATION_OF_EFFECTIVE = 0.6
WIN_SHARE, GRADE, MERIT = "win share", "mean grade", "merit"


@dataclass(frozen=True, eq=False)
class Population:
    """Topics with labels by people and by models.

    Attributes
    ----------
    people : ScoredPairs
        Labels of people, topics from 0, responses six a topic.
    truth : ndarray of int, shape (n,)
    is_own : ndarray of int, shape (n,)
        The side of a model's response against a person's: 1 left, -1 right, 0 neither.
    draw : ndarray of shape (n, 3)
        Uniform random numbers behind a model's labels: whether it errs, what it says then, whether it prefers its own.
    systems, origins : Board
        The six writers and the two origins.
    in_part : ndarray of bool, shape (n,)
        A random half of the pairs of each topic.
    """

    people: ScoredPairs
    truth: np.ndarray
    is_own: np.ndarray
    draw: np.ndarray
    systems: Board
    origins: Board
    in_part: np.ndarray

    def judged(self, knows: float, draw: np.ndarray | None = None) -> ScoredPairs:
        """Return the labels of a model that knows the true label of this share of the pairs."""
        err, says, own = (self.draw if draw is None else draw).T
        label = np.where(err < knows, self.truth, np.floor(3 * says).astype(np.int64))
        label = np.where((own < OWN_BIAS) & (self.is_own != 0), np.where(self.is_own > 0, 0, 2), label)
        return replace(self.people, chances=np.eye(3)[label])


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of a statistic's values and weights by topic of the population, shape (n_topics,); a mean of all values."""

    values: np.ndarray
    weights: np.ndarray

    @property
    def mean(self) -> float:
        return float(self.values.sum() / self.weights.sum())

    def terms(self, topics: np.ndarray, chosen: np.ndarray) -> ByTopic:
        """Return the means of drawn topics, of shape (replications,); `chosen` marks those that count."""
        values, weights = self.values[topics] * chosen, self.weights[topics] * chosen
        total = weights.sum(axis=1)
        mean = values.sum(axis=1) / total
        return ByTopic(mean, (values - mean[:, None] * weights) / total[:, None])

    def correlation(self, other: Sums) -> float:
        """Return the correlation between topics of deviations from the mean."""
        a, b = (side.values - side.mean * side.weights for side in (self, other))
        return float((a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum()))


def run(replications: int = 2000) -> Iterator[dict]:
    """Simulate, estimate and count."""
    began = time.perf_counter()
    for rows in simulations(_population(np.random.default_rng(1)), replications):
        yield from rows
    if ANALYSES:
        yield from _analyses(ANALYSES, np.random.default_rng(2))
    seconds = time.perf_counter() - began
    print(f"{replications:,} replications, {seconds:.0f} s")


def simulations(population: Population, replications: int) -> list[Iterator[dict]]:
    """Return the rows of each part, with random numbers of its own."""
    fewer = min(replications, 1000)
    parts = [partial(_means, population, correlation, replications) for correlation in CORRELATIONS]
    parts += [partial(_several, population, replications)]
    parts += [partial(_merits, population, correlation, fewer) for correlation in (0.0, 0.6, 0.9)]
    return [part(np.random.default_rng([1, number])) for number, part in enumerate(parts)]


def _means(population: Population, correlation: float, replications: int, rng: np.random.Generator) -> Iterator[dict]:
    """Estimate win shares and mean grades of models' responses."""
    for statistic in (WIN_SHARE, GRADE):
        by_people = _sums(population, population.people, statistic)
        knows = _knows(population, by_people, statistic, correlation)
        by_model = _sums(population, population.judged(knows), statistic)
        reached = by_people.correlation(by_model)
        for n in PEOPLE_TOPICS if statistic == WIN_SHARE else (30,):
            result = _whole_topics(by_people, [by_model], n, replications, rng)
            yield from _rows(result, by_people.mean, f"{statistic}, {n} of {TIMES * n} topics", correlation, reached)
        if statistic == WIN_SHARE:
            result, truth = _half_the_pairs(population, knows, 30, replications, rng)
            yield from _rows(result, truth, f"{statistic}, half the pairs of 30 topics", correlation, reached)


def _rows(result: Assisted, truth: float | np.ndarray, name: str, correlation: float, reached: float) -> Iterator[dict]:
    covered = float(np.mean((result.low <= truth) & (truth <= result.high)))
    of_people = float(np.mean((result.people_low <= truth) & (truth <= result.people_high)))
    width = (result.high - result.low) / (result.people_high - result.people_low)
    errors = float(np.mean((result.people - truth) ** 2) / np.mean((result.estimate - truth) ** 2))
    effective = float(np.mean(width) ** -2)
    name = f"{name}, correlation {correlation:g}"
    detail = (
        f"coverage {covered:.3f} (people alone {of_people:.3f}), width {np.mean(width):.3f} of people's (largest "
        f"{np.max(width):.3f}), effective sample {effective:.2f} (by squared errors {errors:.2f}), used in "
        f"{np.mean(result.is_used):.0%}, correlation {reached:.2f}, {len(width):,} replications"
    )
    yield {
        "name": f"{name}: {NEAR:g} over the distance of coverage from 0.95",
        "ratio": NEAR / max(abs(covered - 0.95), 1e-6),
        "target": 1,
        "detail": detail,
    }
    yield {
        "name": f"{name}: {WIDER:g} over the largest width",
        "ratio": WIDER / float(np.max(width)),
        "target": 1,
        "detail": "",
    }
    if correlation == CORRELATION_OF_EFFECTIVE:
        yield {
            "name": f"{name}: effective sample over {EFFECTIVE:g}",
            "ratio": effective / EFFECTIVE,
            "target": 1,
            "detail": "",
        }


def _population(rng: np.random.Generator) -> Population:
    study = _crowd.draw(rng, topics=POPULATION)
    size = study.design.responses
    response = study.topic * size
    left, right = response + study.first, response + study.second
    origin = study.design.origin
    whose = np.tile(np.arange(size), POPULATION)
    people = ScoredPairs(left, right, study.topic, np.zeros(len(left), np.int64), _labels(study))
    is_own = (origin[study.first] == MODEL).astype(int) - (origin[study.second] == MODEL)
    names = [f"writer {number}" for number in range(size)]
    return Population(
        people,
        study.truth[:, 0],
        is_own,
        rng.random((len(left), 3)),
        Board("participant", names, names, whose),
        Board("origin", ["human", "model"], ["human", "model"], np.tile(origin, POPULATION)),
        rng.random(len(left)) < 0.5,
    )


def _labels(study: Simulated) -> np.ndarray:
    """Return the posterior of each label on the first dimension, by MACE's model with the true competences."""
    label, coder = study.label[:, 0], study.coder
    spam = study.competence.spam[coder, 0]
    likelihood = np.repeat((spam * study.competence.strategy[coder, 0][np.arange(len(coder)), label])[:, None], 3, 1)
    likelihood[np.arange(len(coder)), label] += 1 - spam
    logs = np.stack(
        [
            np.bincount(study.item, weights=np.log(np.maximum(column, 1e-300)), minlength=len(study.truth))
            for column in likelihood.T
        ],
        axis=1,
    )
    return np.asarray(scipy.special.softmax(logs, axis=1))


def _sums(population: Population, pairs: ScoredPairs, statistic: str) -> Sums:
    """Return the sums of the models' responses: scores against people's responses, or grades."""
    if statistic == GRADE:
        graded = statistics.grades(pairs, 6)
        is_model = population.origins.whose[graded.response] == 1
        topic, values = graded.topic[is_model], graded.grade[is_model]
    else:
        sides = statistics.Sides.of(population.origins, pairs)
        is_model = sides.entity == 1
        topic, values = sides.topic[is_model], sides.score[is_model]
    counts = np.bincount(topic, minlength=POPULATION).astype(float)
    return Sums(np.bincount(topic, weights=values, minlength=POPULATION), counts)


def _knows(population: Population, by_people: Sums, statistic: str, correlation: float) -> float:
    """Return the share of pairs that a model must know for a correlation; all if it cannot be reached."""
    low, high = 0.0, 1.0
    for _step in range(10 if statistic == GRADE else 16):
        middle = (low + high) / 2
        reached = by_people.correlation(_sums(population, population.judged(middle), statistic))
        low, high = (middle, high) if reached < correlation else (low, middle)
    return 0.0 if not correlation else high


def _whole_topics(
    by_people: Sums, by_models: list[Sums], n: int, replications: int, rng: np.random.Generator
) -> Assisted:
    """Estimate in replications in which people judge the first n topics."""
    topics = rng.integers(POPULATION, size=(replications, TIMES * n))
    has_people = np.broadcast_to(np.arange(TIMES * n) < n, topics.shape)
    everything = np.ones(topics.shape, dtype=bool)
    return assisted.estimate(
        by_people.terms(topics, has_people),
        _stacked([by_model.terms(topics, has_people) for by_model in by_models]),
        _stacked([by_model.terms(topics, everything) for by_model in by_models]),
        has_people=has_people,
    )


def _stacked(parts: list[ByTopic]) -> ByTopic:
    return ByTopic(np.stack([part.value for part in parts], axis=1), np.stack([part.terms for part in parts], axis=1))


def _half_the_pairs(
    population: Population, knows: float, n: int, replications: int, rng: np.random.Generator
) -> tuple[Assisted, float]:
    """Estimate in replications in which people judge half of the pairs of all n topics; also the true value."""
    by_model, part = population.judged(knows), population.in_part
    topics = rng.integers(POPULATION, size=(replications, n))
    everything = np.ones(topics.shape, dtype=bool)
    sides = [
        _sums(population, pairs, WIN_SHARE).terms(topics, everything)
        for pairs in (population.people.only(part), by_model.only(part), by_model)
    ]
    result = assisted.estimate(sides[0], _stacked(sides[1:2]), _stacked(sides[2:]), has_people=everything)
    return result, _sums(population, population.people, WIN_SHARE).mean


def _several(population: Population, replications: int, rng: np.random.Generator) -> Iterator[dict]:
    """Estimate with three models of correlation 0.6 each, one of which another one copies on most pairs."""
    by_people = _sums(population, population.people, WIN_SHARE)
    knows = _knows(population, by_people, WIN_SHARE, 0.6)
    second = rng.random(population.draw.shape)
    copied = np.where((rng.random(len(second)) < 0.8)[:, None], second, rng.random(second.shape))
    models = [
        _sums(population, population.judged(knows, draw), WIN_SHARE) for draw in (population.draw, second, copied)
    ]
    for n in PEOPLE_TOPICS:
        result = _whole_topics(by_people, models, n, replications, rng)
        yield from _rows(result, by_people.mean, f"three models, win share, {n} of {TIMES * n} topics", 0.6, 0.6)


def _merits(population: Population, correlation: float, replications: int, rng: np.random.Generator) -> Iterator[dict]:
    """Estimate the merit of the first system by Rao and Kupper's model, 30 of 150 topics judged by people."""
    by_people = _sums(population, population.people, WIN_SHARE)
    knows = _knows(population, by_people, WIN_SHARE, correlation)
    by_model = population.judged(knows)
    truth = statistics.merits(population.systems, population.people, POPULATION).value
    order = np.argsort(population.people.topic, kind="stable")
    begin = np.searchsorted(population.people.topic[order], np.arange(POPULATION + 1))
    n, size = 30, 30 * TIMES
    parts: list[tuple[ByTopic, ByTopic, ByTopic]] = []
    for _replication in range(replications):
        drawn = rng.choice(POPULATION, size=size, replace=False)
        rows = [order[begin[topic] : begin[topic + 1]] for topic in drawn]
        row = np.concatenate(rows)
        topic = np.repeat(np.arange(size), [len(each) for each in rows])
        sides = [replace(pairs.only(row), topic=topic) for pairs in (population.people, by_model)]
        first = topic < n
        parts.append(
            tuple(
                statistics.merits(population.systems, pairs, size)
                for pairs in (sides[0].only(first), sides[1].only(first), sides[1])
            )
        )
    people, on_part, on_all = (
        ByTopic(
            np.stack([part[side].value for part in parts]).ravel(),
            np.stack([part[side].terms for part in parts]).reshape(-1, size),
        )
        for side in range(3)
    )
    result = assisted.estimate(
        people,
        ByTopic(on_part.value[:, None], on_part.terms[:, None]),
        ByTopic(on_all.value[:, None], on_all.terms[:, None]),
        has_people=np.arange(size) < n,
    )
    yield from _rows(
        result, np.tile(truth, replications), f"{MERIT} of six systems, {n} of {size} topics", correlation, correlation
    )


def _analyses(replications: int, rng: np.random.Generator) -> Iterator[dict]:
    """Run whole analyses of studies with 100 topics, of which people judge 25: MACE, grades, assisted estimates."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for _replication in range(replications):
        inputs = _of_first_topics(_crowd.as_inputs(_crowd.draw(rng, topics=100), rng), 25)
        settings = AnalysisSettings(resamples=10, restarts=3, refine=0)
        fitted = fit(inputs, inputs.pool, settings=settings, seed=1, report=lambda _message: None, capped=True)
        context = Context(inputs, (), settings, 1, lambda _message: None, fitted={inputs.pool: fitted})
        context.tables = grades.compute_tables(context)
        for row in compute_tables(context)["assisted_estimates"]:
            if row["dimension"] == "d0" and row["kind"] == "participant":
                numbers = ("people", "people_low", "people_high", "assisted", "assisted_low", "assisted_high")
                found.setdefault(f"{row['measure']} {row['participant']}", []).append(
                    (*(row[name] for name in numbers), row["correlation"] or 0.0)
                )
    for measure in ("merit", "mean_grade", "win_share"):
        parts = [np.array(rows, dtype=np.float64) for name, rows in found.items() if name.startswith(f"{measure} ")]
        covered, of_people = (
            np.mean(
                [
                    np.mean((part[:, column] <= part[:, 0].mean()) & (part[:, 0].mean() <= part[:, column + 1]))
                    for part in parts
                ]
            )
            for column in (4, 1)
        )
        rows = np.concatenate(parts)
        width = (rows[:, 5] - rows[:, 4]) / (rows[:, 2] - rows[:, 1])
        yield {
            "name": f"whole analyses, {measure}: {NEAR:g} over the distance of coverage from 0.95",
            "ratio": NEAR / max(abs(float(covered) - 0.95), 1e-6),
            "target": 1,
            "detail": f"coverage {covered:.3f} (people alone {of_people:.3f}), width {np.mean(width):.3f} (largest "
            f"{np.max(width):.3f}), effective sample {np.mean(width) ** -2:.2f}, correlation {rows[:, 6].mean():.2f}, "
            f"{replications} replications, {len(parts)} systems",
        }


def _of_first_topics(inputs: Inputs, n: int) -> Inputs:
    """Return the inputs with people's judgments of the first topics only."""
    pool = inputs.main
    keep = pool.topic[pool.unit] < n
    used, unit = np.unique(pool.unit[keep], return_inverse=True)
    columns = ("coder", "dimension", "value", "vote", "k", "position", "row")
    part = Pool(
        pool.participants,
        tuple(pool.units[index] for index in used.tolist()),
        unit,
        *(getattr(pool, name)[keep] for name in columns),
    )
    pools = {name: judged for name, judged in inputs.pools.items() if name.startswith("model_")}
    return replace(inputs, pools=pools | {inputs.pool: part})
