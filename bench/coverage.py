"""How often each kind of interval holds the true value, in simulated studies of the published corpus's shape.

The true value is the average of the same figure over studies with other topics and other judges
(docs/methods/intervals.md): the mean over all replications, or a known value of the simulation.

    python -m bench coverage                       1,000 replications
    python -m bench coverage --replications 200    fewer, with a larger Monte Carlo error

Finished replications are stored in the file named by CROWDRAG_COVERAGE, if it is set; another run continues from there.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from bench import _crowd  # isort: skip  (it sets Django up)
from analysis.methods.registry import compute
from analysis.methods.settings import AnalysisSettings
from analysis.rag.uplift_rag.method_comparison import Resampled
from analysis.stats import designs, mace, mace_posterior
from analysis.stats.bootstrap import bootstrap, resample_weights, weighted_mean
from analysis.stats.competence import spam_posterior
from analysis.stats.planning import fit_grades
from analysis.stats.proportions import wilson
from analysis.stats.simulation import Simulated
from analysis.stats.weighted import weighted_quantile, weighted_ratio, weighted_spearman
from analysis.tables.rows import Row

#: Kind of interval, its subject, estimate, low, high, and the true value if it is known.
Said = tuple[str, str, float, float, float, float | None]

#: Tolerated difference of coverage from 0.95.
NEAR = 0.02
SETTINGS = AnalysisSettings(resamples=400, restarts=3, refine=0)
#: Limits the draws of labels to a quarter of an analysis's, for speed. This changes a mean grade by about 0.01, while
#: its interval is 0.5 wide.
WORK = 2**21
#: Table, columns that identify its rows, and columns of estimate, low and high of each interval.
TABLES = (
    ("agreement", ("coders", "split", "dimension"), ("alpha", "low", "high")),
    ("agreement_means", ("coders", "split"), ("alpha", "low", "high")),
    ("grade_means", ("style", "origin", "dimension"), ("mean", "low", "high")),
    ("grade_tests", ("comparison", "style", "dimension"), ("difference", "difference_low", "difference_high")),
    ("grade_tests", ("comparison", "style", "dimension"), ("effect", "effect_low", "effect_high")),
    ("leaderboard", ("kind", "participant", "dimension"), ("merit", "low", "high")),
    ("leaderboard", ("kind", "participant", "dimension"), ("mean_grade", "mean_low", "mean_high")),
    ("order_effects", ("effect", "part", "dimension"), ("alpha", "low", "high")),
    ("order_differences", ("effect", "dimension"), ("difference", "low", "high")),
    ("front_preferences", ("coders", "pairs", "dimension"), ("front_preference", "low", "high")),
    ("interdependence", ("dimension_1", "dimension_2"), ("tau", "low", "high")),
    ("key_figures", ("name",), ("value", "low", "high")),
    *(
        ("model_judges", ("inference", "dimension"), (measure, f"{measure}_low", f"{measure}_high"))
        for measure in ("alpha_orders", "alpha_gold", "alpha_inference", "mean_rho", "front_preference")
    ),
)
#: Ranks are only counted for responses to these topics; the other topics are alike.
RANKED = ("topic-0000", "topic-0001")
KIND_BY = {"agreement": 1, "agreement_means": 1, "leaderboard": 1, "order_effects": 1, "grade_tests": 1}


def run(replications: int = 1000) -> list[dict]:
    """Simulate, analyse and count."""
    found: dict[str, dict[str, list[tuple[float, ...]]]] = defaultdict(lambda: defaultdict(list))
    for said in replicated(replications):
        for kind, key, *numbers in said:
            found[kind][key].append(tuple(np.nan if each is None else each for each in numbers))
    return [_row(kind, found[kind]) for kind in found]


def replicated(replications: int) -> Iterator[list[Said]]:
    """Yield the intervals of each replication, stored ones first."""
    kept = os.environ.get("CROWDRAG_COVERAGE")
    done = Path(kept).read_text(encoding="utf-8").splitlines() if kept and Path(kept).exists() else []
    yield from (json.loads(line) for line in done[:replications])
    for number in range(len(done), replications):
        said = replicate(np.random.default_rng([2025, number]))
        if kept:
            with Path(kept).open("a", encoding="utf-8") as file:
                file.write(json.dumps(said) + "\n")
        yield said


def replicate(rng: np.random.Generator) -> list[Said]:
    """Compute every kind of interval in one simulated study."""
    study = _crowd.draw(rng)
    return [*judged(study, rng), *spam(study, rng), *written(rng), *asked(rng), *counted(rng)]


def judged(study: Simulated, rng: np.random.Generator) -> Iterator[Said]:
    """Yield the intervals in all tables of judgments."""
    inputs = _crowd.as_inputs(study, rng)
    with mock.patch.object(mace_posterior, "_WORK", WORK):
        tables = compute(inputs, settings=SETTINGS, seed=int(rng.integers(2**31))).tables
    yield from ranked(study, tables["grades"])
    for table, keys, (value, low, high) in TABLES:
        for row in tables.get(table, ()):
            if row.get(value) is not None and row.get(low) is not None:
                which = [str(row[key]) for key in keys]
                kind = " ".join([table, value, *which[: KIND_BY.get(table, 0)]])
                yield kind, " ".join(which), row[value], row[low], row[high], None


def ranked(study: Simulated, rows: list[Row]) -> Iterator[Said]:
    """Yield grades of responses.

    Their intervals cover the uncertainty of labels given the votes, so the truth uses the true labels.
    """
    grade = fit_grades(study, study.truth[:, :, None])[0][..., 0]
    for row in rows:
        if row["topic"] in RANKED and row["rank_low"] is not None:
            topic, place = (int(each) for each in row["response"].removeprefix("topic-").split("-"))
            truth = float(grade[topic, place, int(row["dimension"].removeprefix("d"))])
            key = f"{row['response']} {row['dimension']}"
            yield "grade of a response", key, row["grade"], row["rank_low"], row["rank_high"], truth


def spam(study: Simulated, rng: np.random.Generator) -> Iterator[Said]:
    """Yield live spam probabilities.

    The true value is the judge's own probability, averaged over topics of any difficulty.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(31)
    for d in (0,):
        votes = (study.item, study.coder, study.label[:, d])
        model = mace.fit(*votes, rng=rng, items=len(study.topic), labels=3, settings=mace.MaceSettings(restarts=3))
        sure = spam_posterior(model, *votes, rng=rng)
        hard = designs.harder(study.competence.spam[:, d][:, None], _crowd.DIFFICULTY * nodes)
        truth = hard @ weights / weights.sum()
        for judge in range(study.design.people):
            estimate = float(model.spam_probability[judge])
            low, high = min(sure.low[judge], estimate), max(sure.high[judge], estimate)
            yield "spam probability", f"{d} {judge}", estimate, float(low), float(high), float(truth[judge])


def written(rng: np.random.Generator) -> Iterator[Said]:
    """Yield intervals of writing and pay: 65 topics with six responses each, then five topics with one each."""
    for topics, each in ((65, 6), (5, 1)):
        place = np.repeat(np.arange(topics), each)
        shared = rng.normal(size=topics)[place]
        values = np.exp(0.3 * shared + 0.4 * rng.normal(size=len(place)))
        other = np.exp(0.3 * shared + 0.4 * rng.normal(size=len(place)))
        cited = rng.random(len(place)) < 1 / (1 + np.exp(2 - shared))
        weights = resample_weights(topics, SETTINGS.resamples, rng)
        few = "" if topics > 5 else ", five topics"
        yield _said(f"mean{few}", bootstrap(weighted_mean(values, place, topics), weights), float(np.exp(0.125)))
        if topics > 5:
            for name, q, z in (("median", 0.5, 0.0), ("lower quartile", 0.25, -0.674490)):
                quantile = weighted_quantile(values, place, topics, q)
                yield _said(name, bootstrap(quantile, weights), float(np.exp(0.5 * z)))
            ratio = weighted_ratio(values, other, place, topics)
            yield _said("ratio of sums (wages per hour)", bootstrap(ratio, weights), 1.0)
            rho = weighted_spearman(values, other, place, topics)
            yield _said("Spearman's rho", bootstrap(rho, weights), 6 / np.pi * np.arcsin(0.09 / 0.25 / 2))
        share = weighted_mean(cited, place, topics)
        yield _said(f"share{few}", bootstrap(share, weights, share=True), _logistic_normal(-2.0))


def asked(rng: np.random.Generator) -> Iterator[Said]:
    """Yield intervals of experiments on 200 questions: means, paired differences, shares."""
    resampled = Resampled(200, SETTINGS.resamples, rng)
    level = rng.normal(size=200)
    right = rng.random((2, 200)) < 1 / (1 + np.exp(-level - np.array([[0.5], [0.0]])))
    mean = resampled.mean(right[0].astype(float))
    yield "share of questions", "", mean.value, mean.low, mean.high, _logistic_normal(0.5)
    apart = resampled.mean(right[0].astype(float) - right[1])
    truth = _logistic_normal(0.5) - _logistic_normal(0.0)
    yield "difference by question", "", apart.value, apart.low, apart.high, truth
    rho = np.tanh(0.3 + 0.5 * rng.normal(size=65))
    weights = resample_weights(65, SETTINGS.resamples, rng)
    grid = np.polynomial.hermite_e.hermegauss(41)
    truth = float(np.tanh(0.3 + 0.5 * grid[0]) @ grid[1] / grid[1].sum())
    yield _said(
        "mean of metrics' correlations by topic", bootstrap(weighted_mean(rho, np.arange(65), 65), weights), truth
    )


def counted(rng: np.random.Generator) -> Iterator[Said]:
    """Yield rates of questionnaires (Wilson), for a larger and a smaller number."""
    for n in (60, 10):
        count = int(rng.binomial(n, 0.15))
        found = wilson(count, n)
        yield f"rate of {n} questionnaires", "", found.estimate, found.low, found.high, 0.15


def _said(kind, interval, truth: float) -> Said:
    return kind, "", float(interval.estimate), float(interval.low), float(interval.high), truth


def _logistic_normal(mean: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    return float(1 / (1 + np.exp(-mean - nodes)) @ weights / weights.sum())


def _row(kind: str, by_key: dict[str, list[tuple[float, ...]]]) -> dict:
    """Coverage of one kind of interval, averaged over its subjects, with its Monte Carlo error over replications."""
    held, widths = defaultdict(list), []
    for numbers in by_key.values():
        estimate, low, high, truth = np.array(numbers, dtype=np.float64).T
        true = np.where(np.isnan(truth), np.nanmean(estimate), truth)
        for number, inside in enumerate((low <= true) & (true <= high)):
            held[number].append(inside)
        widths.append(np.nanmean(high - low))
    each = np.array([np.mean(inside) for inside in held.values()])
    coverage, error = float(each.mean()), float(each.std() / np.sqrt(len(each)))
    return {
        "name": f"{kind}: {NEAR} over the distance of coverage from 0.95",
        "ratio": NEAR / max(abs(coverage - 0.95), 1e-3),
        "target": 1,
        "detail": f"covers {100 * coverage:.1f} % (Monte Carlo error {100 * error:.1f}), width {np.mean(widths):.3f}, "
        f"{len(each)} replications of {len(by_key)} figures",
    }
