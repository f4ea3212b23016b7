"""Answers by all metrics of their task: against plain means over all sampled rankings, and a loop over resamples."""

import numpy as np
import pytest
from scipy import stats

from analysis.rag.fair_rag import query_measures
from analysis.rag.fair_rag.query_measures import Score
from analysis.rag.fair_rag.rankings import rank
from analysis.rag.fair_rag.tables import Tables
from analysis.stats.bootstrap import resample_weights
from tests.analysis.rag.fair_rag.test_tables import point

QUERIES = tuple(f"q{i}" for i in range(9))


def scored(metric: str, values: list[float], errors: list[float] | None = None) -> list[Score]:
    errors = errors or [0.0] * len(values)
    return [
        Score(name, "bm25", "sampled", 2.0, metric, value, error)
        for name, value, error in zip(QUERIES, values, errors, strict=False)
    ]


def tables(seed: int = 5, resamples: int = 80) -> Tables:
    return Tables([point(name, "bm25", "sampled", 2.0) for name in QUERIES], np.random.default_rng(seed), resamples)


def test_a_score_is_the_mean_over_all_sampled_rankings() -> None:
    rng = np.random.default_rng(2)
    ranked = rank(
        {"bm25": rng.normal(size=5)}, rng.random(5) < 0.5, [1.0, 4.0], samples=60, k=3, budget=None,
        chance=lambda name: np.random.default_rng(len(name)),
    )  # fmt: skip
    found = {each: {"mae": float(each[0]), "mse": float(each[0]) ** 2} for one in ranked for each in one.chosen.items}
    made = {(each.retriever, each.alpha, each.metric): each for each in query_measures.scores("q0", ranked, found)}
    assert len(made) == 2 * len(ranked)
    for one in ranked:
        first = one.rankings[:, 0].astype(float)
        way = one.way.retriever, one.way.alpha
        assert made[*way, "mae"].value == pytest.approx(first.mean())
        assert made[*way, "mse"].value == pytest.approx((first**2).mean())
        assert made[*way, "mse"].error == 0.0


def test_what_is_written_is_read_again() -> None:
    for error in (0.25, float("nan")):
        [one] = scored("mae", [1.0], [error])
        again = Score.read(one.write())
        assert (again.value, again.metric, np.isnan(again.error)) == (1.0, "mae", np.isnan(error))


def test_the_rmse_is_the_root_of_the_mean_and_its_interval_that_of_a_loop() -> None:
    values = [float(each) for each in np.random.default_rng(8).uniform(0, 16, size=9)]
    [row] = tables().metrics(scored("mse", values), dict.fromkeys(QUERIES, "mae"))
    assert (row["metric"], row["is_utility"], row["n"]) == ("rmse", False, 9)
    assert row["value"] == pytest.approx(np.sqrt(np.mean(values)))
    drawn = [
        np.sqrt(np.mean(np.repeat(values, weights.astype(int))))
        for weights in resample_weights(9, 80, np.random.default_rng(5))
    ]
    # Of nine queries Student's interval, with the standard deviation of the resamples.
    reach = stats.t.ppf(0.975, 8) * np.sqrt(9 / 8) * np.std(drawn)
    assert (row["low"], row["high"]) == pytest.approx((row["value"] - reach, row["value"] + reach))


def test_errors_of_queries_add_up_and_that_of_a_root_is_smaller() -> None:
    values, errors = [4.0, 6.0, 8.0], [0.3, 0.4, 1.2]
    [plain] = tables().metrics(scored("mae", values, errors), dict.fromkeys(QUERIES, "mae"))
    [root] = tables().metrics(scored("mse", values, errors), dict.fromkeys(QUERIES, "mse"))
    assert plain["error"] == pytest.approx(1.3 / 3)
    rng = np.random.default_rng(0)
    drawn = np.sqrt(np.mean([rng.normal(*each, size=40_000) for each in zip(values, errors, strict=True)], axis=0))
    assert root["error"] == pytest.approx(drawn.std(), rel=0.02)
    assert (plain["is_utility"], root["is_utility"]) == (True, True)
