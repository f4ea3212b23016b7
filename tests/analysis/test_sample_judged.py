"""Order effects, interdependence and the model as a judge on the sample of CrowdRAG-25.

Against independent computations from the raw files, and against Tables 5, 6 and 9 of the paper, which are of the whole
corpus: the sample is 40 of its 65 judged topics.
"""

from collections import Counter, defaultdict

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from tests.analysis.test_sample import DIMENSIONS, MODEL, first_said, lines, raw, results
from tests.analysis.test_sample import pytestmark as needs_sample

from .rows import package_alpha, row_of

pytestmark = [needs_sample, pytest.mark.extended]

__all__ = ["raw", "results"]

TURNED = {"A": "B", "N": "N", "B": "A"}
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


def answers(raw, dimension) -> dict[tuple[str, str], list[tuple[str, str, int]]]:
    """Judge, letter and position of the first five votes of each presented pair."""
    found: dict[tuple[str, str], list[tuple[str, str, int]]] = defaultdict(list)
    for row in raw:
        letter = row["validity" if dimension == "correctness_topical" else dimension]
        found[row["response_a"], row["response_b"]].append((row["worker"], letter, row["item_index"]))
    return {pair: given[:5] for pair, given in found.items()}


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_order_effects_are_those_of_the_package_and_near_table_5(raw, results, dimension):
    given = answers(raw, dimension)
    both = [pair for pair in given if pair[0] < pair[1] and pair[::-1] in given]
    units: dict[str, list[list[str]]] = {"forward": [], "reverse": [], "both": []}
    for pair in both:
        forward = {judge: letter for judge, letter, _ in given[pair]}
        reverse = {judge: TURNED[letter] for judge, letter, _ in given[pair[::-1]]}
        units["forward"].append(list(forward.values()))
        units["reverse"].append(list(reverse.values()))
        units["both"].append(list((reverse | forward).values()))
    units["first"] = [[letter for _, letter, at in votes if at <= 7] for votes in given.values()]
    units["second"] = [[letter for _, letter, at in votes if at > 7] for votes in given.values()]
    assert len(both) == 240
    printed = dict(zip(("reverse", "forward", "both", "first", "second"), TABLE_5[dimension], strict=True))
    for part, chosen in units.items():
        row = row_of(results.tables["order_effects"], dimension=dimension, part=part)
        assert row["alpha"] == pytest.approx(package_alpha(chosen), abs=1e-12)
        assert row["items"] == sum(len(unit) > 1 for unit in chosen)
        assert row["low"] < row["alpha"] < row["high"]
        assert row["alpha"] == pytest.approx(printed[part], abs=0.06)


def test_people_prefer_no_side(raw, results):
    for dimension in DIMENSIONS:
        letters = Counter(letter for votes in answers(raw, dimension).values() for _, letter, _ in votes)
        row = row_of(results.tables["front_preferences"], dimension=dimension, pairs="all")
        assert row["front_preference"] == pytest.approx(letters["A"] / (letters["A"] + letters["B"]), abs=1e-12)
        row = row_of(results.tables["front_preferences"], dimension=dimension, pairs="both_orders")
        assert row["p_adjusted"] > 0.05


def test_interdependence_is_scipys_and_near_table_6(results):
    labels: dict[str, list[int]] = {
        name: ["anb".index(row["label"]) for row in results.tables["gold"] if row["dimension"] == name]
        for name in DIMENSIONS
    }
    apart = []
    for i, one in enumerate(DIMENSIONS):
        for j, other in enumerate(DIMENSIONS[i + 1 :]):
            row = row_of(results.tables["interdependence"], dimension_1=one, dimension_2=other)
            assert row["tau"] == pytest.approx(kendalltau(labels[one], labels[other]).statistic, abs=1e-12)
            assert (row["low"], row["high"]) == (None, None)  # none would hold the true tau often enough
            apart.append(row["tau"] - TABLE_6[i][j])
    assert np.abs(apart).max() < 0.13
    # The published mean of all is 0.37.
    mean = row_of(results.tables["interdependence"], dimension_1="all", dimension_2="all")
    assert mean["tau"] == pytest.approx(0.37, abs=0.06)


@pytest.mark.parametrize("way", ["combined", "individual"])
def test_the_model_agrees_as_computed_from_the_files(results, way):
    said, other = first_said()[way], first_said()["individual" if way == "combined" else "combined"]
    gold = {(row["response_a"], row["response_b"], row["dimension"]): row["label"] for row in results.tables["gold"]}
    both = [pair for pair in said if pair[0] < pair[1]]
    assert (len(said), len(both)) == (480, 240)
    turned = {"a": "b", "n": "n", "b": "a"}
    codes = np.array([["anb".index(row[name]) for name in DIMENSIONS] for row in said.values()])
    correlations = spearmanr(codes).statistic
    for place, name in enumerate(DIMENSIONS):
        row = row_of(results.tables["model_judges"], participant=MODEL, inference=way, dimension=name)
        orders = [said[pair][name] + turned[said[pair[::-1]][name]] for pair in both]
        with_gold = [said[pair][name] + gold[*pair, name] for pair in said]
        ways = [said[pair][name] + other[pair][name] for pair in said]
        assert row["alpha_orders"] == pytest.approx(package_alpha(orders, "anb"), abs=1e-12)
        assert row["alpha_gold"] == pytest.approx(package_alpha(with_gold, "anb"), abs=1e-12)
        assert row["alpha_inference"] == pytest.approx(package_alpha(ways, "anb"), abs=1e-12)
        assert row["mean_rho"] == pytest.approx((correlations[place].sum() - 1) / 6, abs=1e-12)
        choices = Counter(each[name] for each in said.values())
        assert row["front_preference"] == pytest.approx(choices["a"] / (choices["a"] + choices["b"]), abs=1e-12)
        printed = TABLE_9[name][:2] if way == "combined" else TABLE_9[name][2:]
        assert row["alpha_orders"] == pytest.approx(printed[0], abs=0.08)
        # The paper's mean holds each dimension's correlation with itself, which is 1.
        assert (6 * row["mean_rho"] + 1) / 7 == pytest.approx(printed[1], abs=0.05)


def test_the_model_prefers_its_own_responses_more_than_people_do(results):
    own = {row["response"] for row in lines("raw/study1_responses_llm")}
    gold = {(row["response_a"], row["response_b"], row["dimension"]): row["label"] for row in results.tables["gold"]}
    rows = [row for row in results.tables["model_self_preference"] if row["inference"] == "combined"]
    assert [row["dimension"] for row in rows] == [*DIMENSIONS, "all"]
    for row in rows[:-1]:
        chose = []
        for pair, answer in first_said()["combined"].items():
            labels = (answer[row["dimension"]], gold[*pair, row["dimension"]])
            if (pair[0] in own) != (pair[1] in own) and "n" not in labels:
                chose.append([pair["ab".index(label)] in own for label in labels])
        assert (row["model"], row["gold"]) == pytest.approx(tuple(np.mean(chose, axis=0)), abs=1e-12)
        assert row["n"] == len(chose)
        assert row["low"] > 0
