"""Tables of the experiment: against numpy's least squares, plain loops over resamples, and scipy."""

import numpy as np
import pytest
from scipy import stats

from analysis.rag.fair_rag import ALL, curves
from analysis.rag.fair_rag.query_measures import Point
from analysis.rag.fair_rag.tables import FEW_RUNS, FLAT, NO_RUN, Tables
from analysis.ranking import tradeoff
from analysis.stats.bootstrap import resample_weights

ALPHAS = (1.0, 2.0, 4.0)


def point(query: str, retriever: str, rank: str, alpha: float | None, **given: float) -> Point:
    numbers = dict.fromkeys(
        ("disparity", "relevance", "distance", "disparity_normalised", "relevance_normalised", "utility",
         "utility_error", "best", "utility_normalised", "utility_normalised_error", "attribution",
         "attribution_error", "attributed_disparity", "attributed_disparity_error", "attributed_normalised",
         "attributed_normalised_error"), 0.5)  # fmt: skip
    return Point(query, retriever, rank, alpha, 10, 3, **(numbers | given), lists=9, generated=9)  # type: ignore[arg-type]


def points(queries: int = 12, seed: int = 3, retrievers: tuple[str, ...] = ("bm25", "dense")) -> list[Point]:
    rng = np.random.default_rng(seed)
    found = []
    for query in range(queries):
        for retriever in retrievers:
            for alpha in ALPHAS:
                x = float(np.clip(alpha / 5 + rng.normal(0, 0.15), 0, 1))
                found.append(
                    point(f"q{query}", retriever, "sampled", alpha, disparity_normalised=x,
                          relevance_normalised=0.2 + 0.3 * x,
                          utility_normalised=float(0.3 + 0.4 * x + rng.normal(0, 0.1)),
                          attribution=rng.random(), attributed_normalised=rng.random())
                )  # fmt: skip
            found.append(point(f"q{query}", retriever, "deterministic", None, disparity_normalised=1.0,
                               utility_normalised=float(0.6 + rng.normal(0, 0.1))))  # fmt: skip
        found.append(point(f"q{query}", "oracle", "oracle", None, utility_normalised=1.0))
    return found


def curve(name: str, of: list[Point]) -> curves.Curve:
    return curves.curve(name, of, {name: i for i, name in enumerate(dict.fromkeys(each.query for each in of))})


def ends(estimate: float, samples: list[float], queries: int = 12) -> tuple[float, float]:
    """Student's interval with the standard deviation of the resamples; none of what does not vary."""
    spread = np.nanstd(samples)
    if spread < 1e-9:
        return np.nan, np.nan
    reach = stats.t.ppf(0.975, queries - 1) * np.sqrt(queries / (queries - 1)) * spread
    return estimate - reach, estimate + reach


@pytest.mark.parametrize("name", curves.CURVES)
def test_intervals_of_slope_and_area_are_those_of_a_loop_over_resamples(name: str) -> None:
    runs = curve(name, [each for each in points() if each.retriever == "bm25"])
    weights = resample_weights(12, 60, np.random.default_rng(1))
    slopes, areas = [], []
    for row in weights:
        times = row[runs.query].astype(int)
        x, y = np.repeat(runs.x, times), np.repeat(runs.y, times)
        slopes.append(np.polyfit(x, y, 1)[0])
        areas.append(tradeoff.area(x, y))
    found, under = curves.slope(runs, weights), curves.area(runs, weights)
    assert found.estimate == pytest.approx(np.polyfit(runs.x, runs.y, 1)[0])
    assert (found.low, found.high) == pytest.approx(ends(found.estimate, slopes), nan_ok=True)
    assert under.estimate == pytest.approx(tradeoff.area(runs.x, runs.y))
    assert (under.low, under.high) == pytest.approx(ends(under.estimate, areas), nan_ok=True)


def test_a_straight_line_has_its_slope_and_area_and_no_width() -> None:
    runs = curve("DR", points())
    weights = resample_weights(12, 50, np.random.default_rng(2))
    found = curves.slope(runs, weights)
    assert (found.estimate, found.low, found.high) == pytest.approx((0.3, np.nan, np.nan), nan_ok=True)


def test_the_curve_goes_through_the_means_of_the_intervals() -> None:
    runs = curve("DU", points())
    found = curves.steps(runs, resample_weights(12, 200, np.random.default_rng(2)))
    assert [(step.x, step.y.estimate) for step in found] == [
        (pytest.approx(x), pytest.approx(y)) for x, y in zip(*tradeoff.curve(runs.x, runs.y), strict=True)
    ]
    assert sum(step.n for step in found) == runs.x.size
    assert all(step.y.low <= step.y.estimate <= step.y.high for step in found if step.n > 3)


def test_table_1_has_each_retriever_and_all_together() -> None:
    rows = Tables(points(), np.random.default_rng(0), 100).tradeoffs()
    assert [(row["retriever"], row["curve"]) for row in rows] == [
        (name, each) for name in ("bm25", "dense", ALL) for each in curves.CURVES
    ]
    first = rows[1]
    assert first["slope_low"] < first["slope"] < first["slope_high"]
    assert first["n"] == 36


def test_table_2_is_the_papers_and_adjusted_beside() -> None:
    of = points()
    rows = [row for row in Tables(of, np.random.default_rng(0), 200).intervals() if row["retriever"] == "dense"]
    own = [each for each in of if each.retriever == "dense"]
    base = [each.utility_normalised for each in own if each.rank == "deterministic"]
    for row in rows:
        last = row["end"] == 1.0
        held = [
            each.utility_normalised
            for each in own
            if each.rank == "sampled"
            and row["start"] <= each.disparity_normalised
            and (each.disparity_normalised < row["end"] or (last and each.disparity_normalised <= 1.0))
        ]
        assert row["n"] == len(held)
        assert row["difference"] == pytest.approx(np.mean(held) - np.mean(base))
        assert row["low"] <= row["difference"] <= row["high"]
        if len(held) > 1:
            assert row["p"] == pytest.approx(stats.ttest_ind(held, base).pvalue)
            assert row["p_adjusted"] >= row["p"]


def test_disparity_is_told_apart_between_alphas_paired_by_query() -> None:
    of = points()
    rows = [row for row in Tables(of, np.random.default_rng(0), 200).alphas() if row["retriever"] == "bm25"]
    assert [(row["alpha_1"], row["alpha_2"]) for row in rows] == [(1.0, 2.0), (1.0, 4.0), (2.0, 4.0)]
    by = {a: np.array([p.disparity_normalised for p in of if (p.retriever, p.alpha) == ("bm25", a)]) for a in ALPHAS}
    for row in rows:
        test = stats.ttest_rel(by[row["alpha_2"]], by[row["alpha_1"]])
        assert (row["statistic"], row["p"]) == pytest.approx((test.statistic, test.pvalue))
        assert row["difference"] == pytest.approx((by[row["alpha_2"]] - by[row["alpha_1"]]).mean())


def test_the_summary_has_means_and_the_error_of_lists_left_out() -> None:
    of = [point("a", "bm25", "sampled", 1.0, utility=0.2, utility_error=0.03),
          point("b", "bm25", "sampled", 1.0, utility=0.6, utility_error=0.04)]  # fmt: skip
    rows = {row["measure"]: row for row in Tables(of, np.random.default_rng(0), 500).summary()}
    reach = stats.t.ppf(0.975, 1) * np.sqrt(2) * np.sqrt(0.5) * 0.2  # of two queries every other resample has both
    assert rows["utility"] | {} == {
        "retriever": "bm25", "rank": "sampled", "alpha": 1.0, "measure": "utility",
        "value": pytest.approx(0.4), "error": pytest.approx(0.025), "n": 2,
        "low": pytest.approx(0.4 - reach, rel=0.1), "high": pytest.approx(0.4 + reach, rel=0.1),
    }  # fmt: skip
    assert rows["disparity"]["error"] == 0.0


def test_what_cannot_be_said_is_null_with_its_reason() -> None:
    nan = float("nan")
    one = [point("a", "bm25", "sampled", 1.0), point("a", "bm25", "deterministic", None),
           point("a", "bm25", "sampled", 2.0, disparity_normalised=nan, utility_normalised=nan)]  # fmt: skip
    made = Tables(one, np.random.default_rng(0), 50)
    slope = made.tradeoffs()[0]
    assert slope["slope"] is None
    assert slope["area"] is None
    assert FLAT in slope["note"]
    assert (slope["n"], slope["left_out"]) == (1, 1)
    notes = {row["start"]: row.get("note") for row in made.intervals()}
    assert notes == {0.0: NO_RUN, 0.2: NO_RUN, 0.4: FEW_RUNS, 0.6: NO_RUN, 0.8: NO_RUN}
    assert made.alphas()[0]["p"] is None
    assert "note" in made.alphas()[0]
    summary = {(row["alpha"], row["measure"]): row for row in made.summary()}
    assert summary[2.0, "utility_normalised"]["value"] is None
    assert "note" in summary[2.0, "utility_normalised"]
    assert summary[1.0, "utility"]["low"] is None  # one query: no interval


def test_without_points_tables_are_empty() -> None:
    made = Tables([], np.random.default_rng(0), 50)
    assert [made.summary(), made.tradeoffs(), made.curves(), made.intervals(), made.alphas()] == [[], [], [], [], []]
