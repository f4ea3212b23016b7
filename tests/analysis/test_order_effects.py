"""Order effects of a study small enough to be turned by hand."""

from fractions import Fraction

import krippendorff
import numpy as np
import pytest

from analysis.domain import loading
from analysis.domain.results import compute
from analysis.domain.results.settings import Settings
from annotation.enums import Judges
from tests.analysis import judged_both_ways, small_study
from tests.analysis.judged_both_ways import PEOPLE
from tests.analysis.test_results import row_of
from tests.factories import DimensionFactory, StudyFactory

pytestmark = pytest.mark.django_db
QUICK = Settings(resamples=60, restarts=2, refine=0, first_positions=3)


def tables_of(votes=PEOPLE, *, settings=QUICK):
    return compute(loading.load(judged_both_ways.people(votes)), settings=settings, seed=0).tables


def package_alpha(units: list[str]) -> float:
    """Alpha by the krippendorff package, of the letters that each unit was given."""
    counts = np.array([[unit.count(letter) for letter in "ANB"] for unit in units])
    return float(krippendorff.alpha(value_counts=counts, value_domain=[0, 1, 2], level_of_measurement="ordinal"))


# Turned by hand, so that A is the response of the lower id. w1 judged the second pair in both orders: with both orders
# together the judgment of the forward one counts.
FORWARD = ["ABB", "AAN", "BBB"]
REVERSE = ["AAN", "BBAA", "BBA"]
BOTH = ["ABBAAN", "AANBAA", "BBBBBA"]


@pytest.mark.parametrize(("part", "units"), [("forward", FORWARD), ("reverse", REVERSE), ("both", BOTH)])
def test_alpha_within_pairs_is_that_of_votes_turned_by_hand(part, units):
    row = row_of(tables_of()["order_effects"], dimension="clear", effect="within", part=part)
    assert row["alpha"] == pytest.approx(package_alpha(units), abs=1e-12)
    assert row["items"] == 3
    assert (row["low"], row["high"]) == (None, None)  # three people judged


@pytest.mark.parametrize(
    ("part", "units"), [("first", ["ABB", "BBN", "AAN"]), ("second", ["AABB", "BBB", "AAB", "AAN"])]
)
def test_alpha_across_the_questionnaire_is_of_pairs_as_presented(part, units):
    # The campaign counts positions from 0: its first three items are 0, 1 and 2.
    row = row_of(tables_of()["order_effects"], dimension="clear", effect="across", part=part)
    assert row["alpha"] == pytest.approx(package_alpha(units), abs=1e-12)
    assert row["items"] == len(units)


def test_differences_are_those_of_the_alphas():
    rows = tables_of()["order_differences"]
    forward, reverse, both = (package_alpha(units) for units in (FORWARD, REVERSE, BOTH))
    row = row_of(rows, dimension="clear", effect="within")
    assert row["largest"] == pytest.approx(max(abs(both - forward), abs(both - reverse)), abs=1e-12)
    assert row["difference"] == pytest.approx(forward - reverse, abs=1e-12)
    assert row["largest_low"] is row["largest_high"] is None  # never below 0: no interval of it would hold "no effect"
    across = row_of(rows, dimension="clear", effect="across")
    assert across["largest"] == pytest.approx(abs(across["difference"]), abs=1e-12)


def test_means_over_dimensions_are_means():
    study = judged_both_ways.people()
    small_study.campaign(study, {pair: (letters[0].replace("A", "N"),) for pair, letters in PEOPLE.items()},
                         names=judged_both_ways.NAMES, dimensions=["deep"], k=6)  # fmt: skip
    rows = compute(loading.load(study), settings=QUICK, seed=0).tables["order_effects"]
    own = [row["alpha"] for row in rows if row["part"] == "both" and row["dimension"] != "all"]
    assert len(own) == 2
    assert row_of(rows, dimension="all", part="both")["alpha"] == pytest.approx(np.mean(own))


def test_front_preference_counts_choices_for_the_response_on_the_left():
    rows = tables_of()["front_preferences"]
    everywhere = row_of(rows, dimension="clear", pairs="all")
    assert (everywhere["front_preference"], everywhere["n"]) == (float(Fraction(9, 19)), 19)
    assert everywhere["p"] is None  # which response stood first may have been no chance
    turned = row_of(rows, dimension="clear", pairs="both_orders")
    assert (turned["front_preference"], turned["n"]) == (pytest.approx(7 / 17), 17)
    # The pairs' excess is -3, 2 and -2: of the 8 combinations of signs all but 1 and -1 are as far from 0 as their sum.
    assert turned["p"] == pytest.approx(0.75)
    assert turned["p_adjusted"] == turned["p"]
    assert row_of(rows, dimension="all", pairs="all")["n"] == 19


def test_mirroring_everything_that_was_shown_changes_no_alpha_and_turns_the_preference():
    swap = str.maketrans("AB", "BA")
    mirrored = {(right, left): (letters[0].translate(swap),) for (left, right), letters in PEOPLE.items()}
    before, after = tables_of(), tables_of(mirrored)
    other = {"forward": "reverse", "reverse": "forward"}
    for row in before["order_effects"]:
        where = {"dimension": row["dimension"], "effect": row["effect"], "part": other.get(row["part"], row["part"])}
        # Who judged both orders counts with the other one then: of both together the alpha may move.
        if row["part"] != "both":
            assert row_of(after["order_effects"], **where)["alpha"] == pytest.approx(row["alpha"], abs=1e-12)
    share = row_of(after["front_preferences"], dimension="clear", pairs="all")["front_preference"]
    assert share == pytest.approx(1 - 9 / 19)


def test_without_a_pair_in_both_orders_it_says_so():
    tables = tables_of({pair: letters for pair, letters in PEOPLE.items() if pair[0] < pair[1]})
    within = [row for row in tables["order_effects"] if row["effect"] == "within"]
    assert {row["alpha"] for row in within} == {None}
    assert {row["note"] for row in within} == {"no pair was judged in both orders on this dimension"}
    assert row_of(tables["order_effects"], dimension="clear", part="first")["alpha"] is not None
    difference = row_of(tables["order_differences"], dimension="clear", effect="within")
    assert (difference["largest"], difference["difference"]) == (None, None)
    assert "both orders" in difference["note"]
    turned = row_of(tables["front_preferences"], dimension="clear", pairs="both_orders")
    assert (turned["front_preference"], turned["p"], turned["n"]) == (None, None, 0)


def test_one_topic_has_no_interval_and_one_answer_no_alpha():
    one = tables_of({pair: letters for pair, letters in PEOPLE.items() if pair[0].startswith("t1")})
    row = row_of(one["order_effects"], dimension="clear", part="both")
    assert (row["low"], row["high"]) == (None, None)
    assert "two topics" in row["note"]
    same = tables_of({pair: (letters[0].replace("B", "A").replace("N", "A"),) for pair, letters in PEOPLE.items()})
    row = row_of(same["order_effects"], dimension="clear", part="first")
    assert row["alpha"] is None
    assert "judgments that differ" in row["note"]


def test_only_neutral_judgments_are_no_preference():
    tables = tables_of({pair: (letters[0].replace("B", "N").replace("A", "N"),) for pair, letters in PEOPLE.items()})
    row = row_of(tables["front_preferences"], dimension="clear", pairs="all")
    assert (row["front_preference"], row["n"]) == (None, 0)
    assert "nobody chose" in row["note"]


def test_p_is_adjusted_over_the_dimensions_and_not_for_all_of_them():
    study = judged_both_ways.people()
    everybody_left = {pair: (letters[0].replace("B", "A").replace("N", "A"),) for pair, letters in PEOPLE.items()}
    small_study.campaign(study, everybody_left, names=judged_both_ways.NAMES, dimensions=["deep"], k=6)
    rows = compute(loading.load(study), settings=QUICK, seed=0).tables["front_preferences"]
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
    tables = compute(loading.load(study), settings=QUICK, seed=0).tables
    within = row_of(tables["order_effects"], dimension="clear", part="both")
    assert within["alpha"] is None
    assert "only choices between two responses" in within["note"]
    assert row_of(tables["order_effects"], dimension="clear", part="first")["alpha"] is not None
    assert tables["front_preferences"] == tables["interdependence"] == []


def test_experts_may_be_the_analysed_pool():
    study = judged_both_ways.people()
    small_study.campaign(study, PEOPLE, judges=Judges.EXPERT, names=("e1", "e2", "e3", "e4", "e5", "e6"),
                         dimensions=["clear"], k=6)  # fmt: skip
    found = compute(loading.load(study, pool=Judges.EXPERT), settings=QUICK, seed=0).tables
    crowd = tables_of()
    assert [row["alpha"] for row in found["order_effects"]] == [row["alpha"] for row in crowd["order_effects"]]
    assert {row["coders"] for row in found["front_preferences"]} == {"expert"}
