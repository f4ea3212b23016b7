"""The sample of CrowdRAG-25: our figures against the published ones, which are of the whole corpus.

The sample is 40 of its 65 judged topics. All tables of it are golden: tests/golden.
"""

import gzip
import json
import os
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.inputs import arrays
from analysis.methods.registry import Results, compute
from analysis.methods.settings import AnalysisSettings
from tests.analysis.rows import package_alpha, row_of
from tests.examples import examples

DATA = os.environ.get("CROWDRAG_DATA")
pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(not DATA, reason="CROWDRAG_DATA is not set: the sample of CrowdRAG-25 is not at hand"),
]

DIMENSIONS = (
    "correctness_topical", "coherence_logical", "coherence_stylistic", "coverage_broad", "coverage_deep",
    "consistency_internal", "quality_overall",
)  # fmt: skip
MODEL = "gpt-4o-2024-08-06"


def lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(DATA or "", "crowdrag25", f"{name}.jsonl.gz"), "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def raw() -> list[dict[str, Any]]:
    return lines("raw/study2_responses")


def first_five(raw: list[dict[str, Any]], dimension: str) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """The votes that count of each pair, by judge and letter, told apart without any code of ours."""
    votes = defaultdict(list)
    for row in raw:
        letter = row["validity" if dimension == "correctness_topical" else dimension]
        votes[row["response_a"], row["response_b"]].append((row["worker"], letter))
    return {pair: given[:5] for pair, given in votes.items()}


def as_inputs(raw: list[dict[str, Any]]) -> arrays.Inputs:
    """The corpus's judgments as the importer and `loading` give them."""
    topic_of = {row[side]: row["query_id"] for row in raw for side in ("response_a", "response_b")}
    styles = {row["response"]: row["style"] for row in lines("raw/study1_tasks")}
    models = {row["response"]: row["style"] for row in lines("raw/study1_responses_llm")}
    names, topics = sorted(topic_of), sorted(set(topic_of.values()))
    place = {name: i for i, name in enumerate(names)}
    responses = tuple(
        arrays.Response(
            name, topic_of[name], {**styles, **models}[name], "model" if name in models else "human",
            MODEL if name in models else "w", 250,
        )
        for name in names
    )  # fmt: skip
    units = sorted(
        {(place[r["response_a"]], place[r["response_b"]], topics.index(r["query_id"]), "") for r in raw},
        key=lambda unit: (unit[2], *unit),
    )
    unit_of = {unit[:2]: i for i, unit in enumerate(units)}
    people = sorted({row["worker"] for row in raw})
    judged = []
    for d, dimension in enumerate(DIMENSIONS):
        seen: Counter[int] = Counter()
        for row in raw:
            unit = unit_of[place[row["response_a"]], place[row["response_b"]]]
            letter = row["validity" if d == 0 else dimension]
            judged.append(
                (unit, people.index(row["worker"]), d, "ANB".index(letter), seen[unit], 5, row["item_index"], 0)
            )
            seen[unit] += 1
    columns = np.array(sorted(judged, key=lambda row: (row[2], row[0], row[4]))).T
    dimensions = tuple(
        arrays.Dimension(name, name, (-1, 1) if name == "quality_overall" else (-1, 0, 1)) for name in DIMENSIONS
    )
    pools = {"crowd": arrays.Pool(tuple(people), tuple(units), *columns)} | said_by_the_model(place, topics)
    judge = ((MODEL, MODEL),)
    return arrays.Inputs(
        "crowd", tuple(topics), ("bullet", "essay", "news"), dimensions, responses, pools, models=judge
    )


def said_by_the_model(place: dict[str, int], topics: list[str]) -> dict[str, arrays.Pool]:
    """What the model said, the first time that it was asked of a presented pair."""
    pools = {}
    for way, first in first_said().items():
        units = sorted(
            {(place[left], place[right], topics.index(row["query_id"]), "") for (left, right), row in first.items()},
            key=lambda unit: (unit[2], *unit),
        )
        unit_of = {unit[:2]: i for i, unit in enumerate(units)}
        said = [
            (unit_of[place[left], place[right]], 0, d, "anb".index(row[dimension]), 0, 1, 0, 0)
            for d, dimension in enumerate(DIMENSIONS)
            for (left, right), row in first.items()
        ]
        columns = np.array(sorted(said, key=lambda row: (row[2], row[0]))).T
        pools[f"model_{way}"] = arrays.Pool((MODEL,), tuple(units), *columns)
    return pools


def first_said() -> dict[str, dict[tuple[str, str], dict[str, Any]]]:
    """The model's judgments by way of asking and presented pair, told apart without any code of ours."""
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = {"combined": {}, "individual": {}}
    for row in lines("artifacts/llm_ratings"):
        found[row["inference"]].setdefault((row["response_a"], row["response_b"]), row)
    return found


@cache
def computed(labels: str) -> Results:
    """All tables of the sample, once for all modules that look at them."""
    return compute(
        as_inputs(lines("raw/study2_responses")),
        settings=AnalysisSettings(resamples=examples(50), labels=labels),
        seed=0,
    )


# Averaging takes a hundred times as long as the likeliest labels do: what holds of these is what the rest follows from.
@pytest.fixture(scope="module", params=["likeliest", "averaged"])
def results(request: pytest.FixtureRequest) -> Results:
    return computed(request.param)


def test_alpha_is_that_of_the_krippendorff_package(raw, results):
    for dimension in DIMENSIONS:
        row = row_of(results.tables["agreement"], dimension=dimension, split="complete", coders="crowd")
        units = [[letter for _judge, letter in given] for given in first_five(raw, dimension).values()]
        assert row["alpha"] == pytest.approx(package_alpha(units), abs=1e-12), dimension
        assert (row["items"], row["judgments"]) == (840, 4200), dimension
        assert row["low"] < row["alpha"] < row["high"], dimension


def test_alpha_of_the_splits_and_of_the_corrected_crowd_is_that_of_the_package(raw, results):
    votes = {dimension: first_five(raw, dimension) for dimension in DIMENSIONS}
    majorities = Counter(
        pair for by_pair in votes.values() for pair, given in by_pair.items()
        if max(Counter(letter for _judge, letter in given).values()) > len(given) / 2
    )  # fmt: skip
    competence = results.tables["competence"]
    spam = {(row["participant"], row["dimension"]): row["spam_probability"] for row in competence}
    for dimension in DIMENSIONS:
        for split in ("differentiable", "minimal"):
            chosen = [
                given for pair, given in votes[dimension].items() if (majorities[pair] >= 5) == (split != "minimal")
            ]
            trusted = [[vote for vote in given if spam[vote[0], dimension] <= 0.7] for given in chosen]
            for coders, used in (("crowd", chosen), ("corrected", trusted)):
                row = row_of(results.tables["agreement"], dimension=dimension, split=split, coders=coders)
                expected = package_alpha([[letter for _judge, letter in given] for given in used])
                assert row["alpha"] == pytest.approx(expected, abs=1e-12), (dimension, split, coders)


def test_labels_and_competences_go_with_the_published_ones_fitted_on_twice_the_data(results):
    published = {(row["response_a"], row["response_b"]): row for row in lines("artifacts/ratings")}
    gold = results.tables["gold"]
    assert len(gold) == 7 * len(published) == 5880
    labels = [published[row["response_a"], row["response_b"]][f"{row['dimension']}_gold"] for row in gold]
    assert np.mean([row["label"] == label for row, label in zip(gold, labels, strict=True)]) > 0.8
    spam = {
        (judge, dimension): value
        for row in published.values()
        for dimension in DIMENSIONS
        for judge, value in zip(row["worker"], row[f"{dimension}_spam_probability"], strict=True)
    }
    ours = {(row["participant"], row["dimension"]): row["spam_probability"] for row in results.tables["competence"]}
    both = sorted(set(ours) & set(spam))
    # Fitted on half of the judgments, ten a person and dimension: alike, not equal.
    assert np.corrcoef([ours[key] for key in both], [spam[key] for key in both])[0, 1] > 0.5


def test_models_are_graded_higher_as_published(results):
    means = {(row["style"], row["origin"]): row for row in results.tables["grade_means"] if row["dimension"] == "all"}
    for style in ("bullet", "essay", "news"):
        assert means[style, "model"]["mean"] > means[style, "human"]["mean"]
    assert means["all", "all"]["mean"] == pytest.approx(3.5)
    # Table 7 prints 3.0 and 4.1 for the whole corpus.
    assert means["all", "human"]["low"] < 3.0 < means["all", "human"]["high"]
    assert means["all", "model"]["low"] < 4.1 < means["all", "model"]["high"]


def test_significance_is_nearly_that_of_table_7(results):
    """The paper: models above people over all styles and in most cells, not in logical coherence of essays."""
    tests = {(row["dimension"], row["style"], row["comparison"]): row for row in results.tables["grade_tests"]}
    above = {
        (dimension, style)
        for dimension in DIMENSIONS
        for style in ("bullet", "essay", "news", "all")
        if (row := tests[dimension, style, "human - model"])["p_adjusted"] < 0.05 and row["difference"] < 0
    }
    assert ("coherence_logical", "essay") not in above
    assert len(above) >= 22
    assert all((dimension, "all") in above for dimension in DIMENSIONS if "coherence_logical" not in dimension)
    bullets = tests["coherence_logical", "all", "bullet - essay"]
    assert bullets["p_adjusted"] < 0.001
    assert bullets["difference"] > 1


# Table 5: alpha of one order, the other, both; of the first items and the later ones. The paper's first column is the
# order with the higher id left, which is the reverse one here.
TABLE_5 = {
    "correctness_topical": (0.18, 0.19, 0.17, 0.18, 0.20), "coherence_logical": (0.18, 0.19, 0.18, 0.18, 0.18),
    "coherence_stylistic": (0.08, 0.14, 0.10, 0.11, 0.11), "coverage_broad": (0.27, 0.28, 0.26, 0.28, 0.28),
    "coverage_deep": (0.27, 0.27, 0.26, 0.28, 0.27), "consistency_internal": (0.13, 0.15, 0.14, 0.13, 0.16),
    "quality_overall": (0.16, 0.17, 0.15, 0.15, 0.18),
}  # fmt: skip
# Table 6, above the diagonal.
TABLE_6 = (
    (0.30, 0.35, 0.42, 0.46, 0.45, 0.52), (0.34, 0.18, 0.20, 0.30, 0.37), (0.23, 0.29, 0.36, 0.36),
    (0.57, 0.38, 0.42), (0.40, 0.43), (0.45,),
)  # fmt: skip
# Table 9: alpha between orders, and mean correlation (there with itself included), combined and individual.
TABLE_9 = {
    "correctness_topical": (0.65, 0.80, 0.87, 0.86), "coherence_logical": (0.78, 0.74, 0.84, 0.82),
    "coherence_stylistic": (0.82, 0.71, 0.88, 0.82), "coverage_broad": (0.65, 0.64, 0.58, 0.74),
    "coverage_deep": (0.38, 0.72, 0.37, 0.74), "consistency_internal": (0.66, 0.77, 0.90, 0.84),
    "quality_overall": (0.64, 0.81, 0.86, 0.86),
}  # fmt: skip


def test_order_effects_are_near_table_5_and_people_prefer_no_side(results):
    for dimension, printed in TABLE_5.items():
        for part, alpha in zip(("reverse", "forward", "both", "first", "second"), printed, strict=True):
            row = row_of(results.tables["order_effects"], dimension=dimension, part=part)
            assert row["alpha"] == pytest.approx(alpha, abs=0.06)
            assert row["low"] < row["alpha"] < row["high"]
        row = row_of(results.tables["front_preferences"], dimension=dimension, pairs="both_orders")
        assert row["p_adjusted"] > 0.05


def test_interdependence_is_near_table_6(results):
    for i, one in enumerate(DIMENSIONS):
        for j, other in enumerate(DIMENSIONS[i + 1 :]):
            row = row_of(results.tables["interdependence"], dimension_1=one, dimension_2=other)
            assert row["tau"] == pytest.approx(TABLE_6[i][j], abs=0.13)
    # The published mean of all is 0.37.
    mean = row_of(results.tables["interdependence"], dimension_1="all", dimension_2="all")
    assert mean["tau"] == pytest.approx(0.37, abs=0.06)


def test_the_model_judges_as_in_table_9_and_prefers_its_own_responses_more_than_people_do(results):
    for dimension, printed in TABLE_9.items():
        for way, (alpha, rho) in (("combined", printed[:2]), ("individual", printed[2:])):
            row = row_of(results.tables["model_judges"], participant=MODEL, inference=way, dimension=dimension)
            assert (row["items"], row["pairs_in_both_orders"]) == (480, 240)
            assert row["alpha_orders"] == pytest.approx(alpha, abs=0.08)
            # The paper's mean holds each dimension's correlation with itself, which is 1.
            assert (6 * row["mean_rho"] + 1) / 7 == pytest.approx(rho, abs=0.05)
    own = [row for row in results.tables["model_self_preference"] if row["inference"] == "combined"]
    assert [row["dimension"] for row in own] == [*DIMENSIONS, "all"]
    assert all(row["low"] > 0 for row in own[:-1])
