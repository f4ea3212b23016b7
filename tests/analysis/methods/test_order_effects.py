"""Order effects of a study small enough to be turned by hand."""

from fractions import Fraction

import numpy as np
import pytest

from analysis.inputs import queries
from analysis.methods.settings import AnalysisSettings
from annotation.enums import Judges
from tests.analysis import small_study, vote_inputs
from tests.analysis.methods import judged_both_ways
from tests.analysis.methods.judged_both_ways import PEOPLE
from tests.analysis.rows import package_alpha, row_of
from tests.factories import DimensionFactory, StudyFactory

pytestmark = pytest.mark.django_db
QUICK = AnalysisSettings(resamples=60, restarts=2, refine=0, first_positions=3)


def computed(study, pool=Judges.CROWD):
    return vote_inputs.TablesOnDemand(queries.load(study, pool=pool), QUICK)


def tables_of(votes=PEOPLE):
    """All tables of these votes, which need no database."""
    return vote_inputs.tables_of(votes, dimensions=("clear",), settings=QUICK, k=6)


@pytest.fixture(scope="module")
def tables():
    return tables_of()


def two_dimensions(change):
    """A study whose people were also asked of another dimension, and gave other letters there."""
    study = judged_both_ways.people()
    votes = {pair: (letters[0].translate(str.maketrans(change)),) for pair, letters in PEOPLE.items()}
    small_study.campaign(study, votes, names=judged_both_ways.NAMES, dimensions=["deep"], k=6)
    return computed(study)


def without(letters: str) -> dict:
    """The votes with A for some letters."""
    return {pair: (votes[0].translate(dict.fromkeys(map(ord, letters), "A")),) for pair, votes in PEOPLE.items()}


# Turned by hand, so that A is the response of the lower id. w1 judged the second pair in both orders: with both orders
# together the judgment of the forward one counts.
FORWARD = ["ABB", "AAN", "BBB"]
REVERSE = ["AAN", "BBAA", "BBA"]
BOTH = ["ABBAAN", "AANBAA", "BBBBBA"]


# Across the questionnaire pairs are as presented. The campaign counts positions from 0: its first items are 0, 1 and 2.
FIRST, SECOND = ["ABB", "BBN", "AAN"], ["AABB", "BBB", "AAB", "AAN"]


def test_alphas_are_those_of_the_package_for_votes_turned_by_hand(tables):
    for part, units in (
        ("forward", FORWARD),
        ("reverse", REVERSE),
        ("both", BOTH),
        ("first", FIRST),
        ("second", SECOND),
    ):
        row = row_of(tables["order_effects"], dimension="clear", part=part)
        assert row["alpha"] == pytest.approx(package_alpha(units), abs=1e-12), part
        assert row["items"] == len(units)
    within = [row for row in tables["order_effects"] if row["effect"] == "within"]
    assert {(row["low"], row["high"]) for row in within} == {(None, None)}  # three people judged


def test_differences_are_those_of_the_alphas(tables):
    rows = tables["order_differences"]
    forward, reverse, both = (package_alpha(units) for units in (FORWARD, REVERSE, BOTH))
    row = row_of(rows, dimension="clear", effect="within")
    assert row["largest"] == pytest.approx(max(abs(both - forward), abs(both - reverse)), abs=1e-12)
    assert row["difference"] == pytest.approx(forward - reverse, abs=1e-12)
    assert row["largest_low"] is row["largest_high"] is None  # never below 0: no interval of it would hold "no effect"
    across = row_of(rows, dimension="clear", effect="across")
    assert across["largest"] == pytest.approx(abs(across["difference"]), abs=1e-12)


def test_means_over_dimensions_are_means():
    rows = two_dimensions({"A": "N"})["order_effects"]
    own = [row["alpha"] for row in rows if row["part"] == "both" and row["dimension"] != "all"]
    assert len(own) == 2
    assert row_of(rows, dimension="all", part="both")["alpha"] == pytest.approx(np.mean(own))


def test_front_preference_counts_choices_for_the_response_on_the_left(tables):
    rows = tables["front_preferences"]
    everywhere = row_of(rows, dimension="clear", pairs="all")
    assert (everywhere["front_preference"], everywhere["n"]) == (float(Fraction(9, 19)), 19)
    assert everywhere["p"] is None  # which response stood first may have been no chance
    turned = row_of(rows, dimension="clear", pairs="both_orders")
    assert (turned["front_preference"], turned["n"]) == (pytest.approx(7 / 17), 17)
    # The pairs' excess is -3, 2 and -2: of the 8 combinations of signs all but 1 and -1 are as far from 0 as their sum.
    assert turned["p"] == pytest.approx(0.75)
    assert turned["p_adjusted"] == turned["p"]
    assert row_of(rows, dimension="all", pairs="all")["n"] == 19


def test_mirroring_everything_that_was_shown_changes_no_alpha_and_turns_the_preference(tables):
    swap = str.maketrans("AB", "BA")
    mirrored = {(right, left): (letters[0].translate(swap),) for (left, right), letters in PEOPLE.items()}
    before, after = tables, tables_of(mirrored)
    other = {"forward": "reverse", "reverse": "forward"}
    for row in before["order_effects"]:
        where = {"dimension": row["dimension"], "effect": row["effect"], "part": other.get(row["part"], row["part"])}
        # Who judged both orders counts with the other one then: of both together the alpha may move.
        if row["part"] != "both":
            assert row_of(after["order_effects"], **where)["alpha"] == pytest.approx(row["alpha"], abs=1e-12)
    share = row_of(after["front_preferences"], dimension="clear", pairs="all")["front_preference"]
    assert share == pytest.approx(1 - 9 / 19)


def test_without_a_pair_in_both_orders_there_is_nothing_within_pairs():
    tables = tables_of({pair: letters for pair, letters in PEOPLE.items() if pair[0] < pair[1]})
    within = [row for row in tables["order_effects"] if row["effect"] == "within"]
    assert {row["alpha"] for row in within} == {None}
    assert len({row["note"] for row in within}) == 1
    assert row_of(tables["order_effects"], dimension="clear", part="first")["alpha"] is not None
    difference = row_of(tables["order_differences"], dimension="clear", effect="within")
    assert (difference["largest"], difference["difference"]) == (None, None)
    assert difference["note"]
    turned = row_of(tables["front_preferences"], dimension="clear", pairs="both_orders")
    assert (turned["front_preference"], turned["p"], turned["n"]) == (None, None, 0)


def test_one_topic_has_no_interval_and_one_answer_no_alpha_and_no_choice_no_preference():
    one = tables_of({pair: letters for pair, letters in PEOPLE.items() if pair[0].startswith("t1")})
    row = row_of(one["order_effects"], dimension="clear", part="both")
    assert (row["low"], row["high"], bool(row["note"])) == (None, None, True)
    row = row_of(tables_of(without("BN"))["order_effects"], dimension="clear", part="first")
    assert (row["alpha"], bool(row["note"])) == (None, True)
    neither = {pair: (votes[0].replace("A", "N"),) for pair, votes in without("B").items()}
    row = row_of(tables_of(neither)["front_preferences"], dimension="clear", pairs="all")
    assert (row["front_preference"], row["n"], bool(row["note"])) == (None, 0, True)


def test_p_is_adjusted_over_the_dimensions_and_not_for_all_of_them():
    rows = two_dimensions({"B": "A", "N": "A"})["front_preferences"]
    clear, deep, both = (row_of(rows, dimension=name, pairs="both_orders") for name in ("clear", "deep", "all"))
    assert deep["p"] == pytest.approx(2 / 8)
    assert (clear["p_adjusted"], deep["p_adjusted"]) == (pytest.approx(0.75), pytest.approx(0.5))
    assert both["p_adjusted"] == both["p"]


def test_options_that_are_no_choice_between_two_have_places_but_no_sides():
    study = StudyFactory()
    options = [{"value": value, "label": str(value)} for value in (-1, 0, 1, 2)]
    DimensionFactory(study=study, name="clear", options=options)
    small_study.responses(study, PEOPLE)
    small_study.campaign(study, PEOPLE, names=judged_both_ways.NAMES, dimensions=["clear"], k=6)
    tables = computed(study)
    within = row_of(tables["order_effects"], dimension="clear", part="both")
    assert (within["alpha"], bool(within["note"])) == (None, True)
    assert row_of(tables["order_effects"], dimension="clear", part="first")["alpha"] is not None
    assert tables["front_preferences"] == tables["interdependence"] == []


def test_experts_may_be_the_analysed_pool(tables):
    study = judged_both_ways.people()
    small_study.campaign(study, PEOPLE, judges=Judges.EXPERT, names=("e1", "e2", "e3", "e4", "e5", "e6"),
                         dimensions=["clear"], k=6)  # fmt: skip
    of_experts = computed(study, Judges.EXPERT)
    alphas, own = ([row["alpha"] for row in each["order_effects"]] for each in (tables, of_experts))
    assert own == alphas
    assert {row["coders"] for row in of_experts["front_preferences"]} == {"expert"}
