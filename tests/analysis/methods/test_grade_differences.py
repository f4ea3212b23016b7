"""Tests of differences between grades, of studies small enough to count by hand."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control, rankdata, wilcoxon

from tests.analysis import small_study
from tests.analysis.rows import row_of
from tests.analysis.vote_inputs import tables_of

# In each topic x (bullet, human), y (essay, model) and z (bullet, human) meet; who wins, topic by topic.
ORDERS = ("yxz", "yzx", "yxz", "xyz", "yxz", "yzx", "yxz", "zyx")


def votes_of(orders=ORDERS, dimensions=2):
    """Three judges of one mind: the earlier of a topic's order is better, on every dimension."""
    found = {}
    for number, order in enumerate(orders, start=1):
        for left, right in ("xy", "xz", "yz"):
            letter = "A" if order.index(left) < order.index(right) else "B"
            found[f"t{number}-{left}", f"t{number}-{right}"] = (letter * 3,) * dimensions
    return found


@pytest.fixture(scope="module")
def tables():
    return tables_of(votes_of())


def test_a_difference_by_hand():
    """Only bullets, so that people (x and z) and the model (y) are compared in one style."""
    tables = tables_of(votes_of(), styles=dict.fromkeys("xyz", "bullet"))
    row = row_of(tables["grade_tests"], dimension="clear", style="bullet", comparison="human - model")
    # Grades are 3, 2, 1 in the order; of people the mean of two: (2 + 1) / 2 - 3 where the model leads, else 2 - 2.
    differences = [-1.5 if order[0] == "y" else 0.0 for order in ORDERS]
    assert row["difference"] == pytest.approx(np.mean(differences))
    assert (row["n"], row["effect"]) == (8, -1.0)
    package = wilcoxon([d for d in differences if d])
    assert (row["statistic"], row["p"]) == (0.0, pytest.approx(package.pvalue))
    assert row["p"] == pytest.approx(2 / 2**6)
    # All pairs of topics say the same: that is no interval.
    assert row["effect_low"] is row["effect_high"] is None
    assert row["difference_low"] <= row["difference"] <= row["difference_high"]


def test_styles_are_compared_where_an_origin_wrote_both():
    """People wrote bullets alone, the model essays alone: no difference of styles is free of that of origins."""
    rows = tables_of(votes_of())["grade_tests"]
    row = row_of(rows, dimension="clear", comparison="bullet - essay")
    assert (row["n"], row["p"], row["effect"], row["difference"]) == (0, None, None, None)


def test_grades_of_topics_with_more_responses_are_put_on_one_scale():
    """Two topics of three and one of two responses: there the better one has the highest grade of the others, 3."""
    votes = votes_of(ORDERS[:2]) | {("t3-x", "t3-y"): ("AAA", "AAA")}
    tables = tables_of(votes)
    board = {row["participant"]: row for row in tables["leaderboard"] if row["dimension"] == "clear"}
    assert board["writer-x"]["mean_grade"] == pytest.approx((2 + 1 + 3) / 3)
    assert board["writer-y"]["mean_grade"] == pytest.approx((3 + 3 + 1) / 3)
    raw = row_of(tables["grade_means"], dimension="clear", style="essay", origin="model")
    assert raw["mean"] == pytest.approx((3 + 3 + 1) / 3)  # grades as they are: 1 of 2 is 1
    human = row_of(tables["grade_means"], dimension="clear", style="bullet", origin="human")
    assert human["mean"] == pytest.approx((2 + 1 + 1 + 2 + 2) / 5)


def test_p_is_adjusted_within_the_whole_table():
    """The model leads in six of eight topics on one dimension and in all eight on the other."""
    clear, deep = votes_of(), votes_of(("yxz",) * 8)
    votes = {pair: (clear[pair][0], deep[pair][0]) for pair in clear}
    rows = tables_of(votes, styles=dict.fromkeys("xyz", "bullet"))["grade_tests"]
    p = {row["dimension"]: row["p"] for row in rows}
    assert (p["clear"], p["deep"], p["all"]) == (2 / 2**6, 2 / 2**8, 2 / 2**8)
    # By hand: the largest of three stays, the two smaller ones are one and a half times themselves.
    adjusted = {row["dimension"]: row["p_adjusted"] for row in rows}
    assert adjusted == pytest.approx({"clear": 2 / 2**6, "deep": 3 / 2**8, "all": 3 / 2**8})
    assert list(adjusted.values()) == pytest.approx(false_discovery_control(list(p.values())).tolist())


def test_what_is_not_tested_has_a_reason_and_over_equal_dimensions_all_is_as_in_each(tables):
    rows = tables["grade_tests"]
    assert all((row["p_adjusted"] is None) == (row["p"] is None) == ("note" in row) for row in rows)
    assert all(row["p"] is None for row in rows)
    for style, comparison in {(row["style"], row["comparison"]) for row in rows}:
        one, every = (row_of(rows, dimension=name, style=style, comparison=comparison) for name in ("clear", "all"))
        assert (one["difference"], one["p"], one["n"]) == (every["difference"], every["p"], every["n"])
    two_topics = tables_of(small_study.VOTES)["grade_tests"]
    row = row_of(two_topics, dimension="all", style="all", comparison="human - model")
    assert (row["p"], bool(row["note"])) == (None, True)


def test_effects_are_of_the_ranks_of_topics(tables):
    """By hand from the table of grades: people against the model over all styles has no style in common."""
    rows = tables["grade_tests"]
    assert row_of(rows, dimension="clear", style="all", comparison="human - model")["n"] == 0
    board = [row for row in tables["leaderboard_tests"] if row["dimension"] == "clear"]
    pair = row_of(board, participant_1="writer-x", participant_2="writer-y")
    grades = {
        (row["topic"], row["response"][-1]): row["grade"] for row in tables["grades"] if row["dimension"] == "clear"
    }
    topics = sorted({topic for topic, _letter in grades})
    d = np.array([grades[topic, "x"] - grades[topic, "y"] for topic in topics])
    ranks = rankdata(np.abs(d))
    assert pair["effect"] == pytest.approx((ranks[d > 0].sum() - ranks[d < 0].sum()) / ranks.sum())
    assert (pair["statistic"], pair["p"]) == (wilcoxon(d).statistic, pytest.approx(wilcoxon(d).pvalue))
