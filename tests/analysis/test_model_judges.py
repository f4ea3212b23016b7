"""Models as judges, of a study small enough to be turned by hand."""

from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.domain import inputs, loading
from analysis.domain.results import compute, estimates, model_judges
from analysis.domain.results.model_votes import two_coders, with_gold_label
from analysis.domain.results.settings import Settings
from annotation.models import Judgment
from crowdrag.studies.models import Participant
from tests.analysis import judged_both_ways
from tests.analysis.judged_both_ways import MODEL, WRITER
from tests.analysis.test_results import row_of

pytestmark = pytest.mark.django_db
QUICK = Settings(resamples=60, restarts=2, refine=0)
# Asked one at a time the model judged one dimension and fewer pairs.
ONE_BY_ONE = {("t1-x", "t1-y"): ("A",), ("t1-y", "t1-x"): ("A",), ("t1-x", "t1-z"): ("N",), ("t2-x", "t2-y"): ("A",)}


def tables_of(study):
    return compute(loading.load(study), settings=QUICK, seed=0).tables


@pytest.fixture(scope="module")
def tables(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        from django.db import transaction

        with transaction.atomic():
            study = judged_both_ways.people()
            judged_both_ways.model(study)
            judged_both_ways.model(study, ONE_BY_ONE, inference="INDIVIDUAL", dimensions=("clear",))
            found = tables_of(study)
            transaction.set_rollback(True)
    return found


def package_alpha(units: list[str]) -> float:
    """Alpha by the krippendorff package of two coders, a letter each."""
    answers = np.array([["ANB".index(letter) for letter in unit] for unit in units], dtype=float)
    return float(krippendorff.alpha(reliability_data=answers.T, value_domain=[0, 1, 2], level_of_measurement="ordinal"))


def gold_of(tables) -> dict[tuple[str, str], str]:
    return {(row["response_a"], row["response_b"]): row["label"].upper() for row in tables["gold"]}


def judged(tables, **where):
    return row_of(tables["model_judges"], **({"participant": WRITER, "inference": "combined"} | where))


@pytest.mark.parametrize(
    ("dimension", "units"),
    # By hand, A the response of the lower id: B and turned A; A and turned A; B and turned A.
    [("clear", ["BB", "AB", "BB"]), ("deep", ["BN", "AA", "BB"])],
)
def test_agreement_between_orders_is_of_judgments_turned_by_hand(tables, dimension, units):
    row = judged(tables, dimension=dimension)
    assert row["alpha_orders"] == pytest.approx(package_alpha(units), abs=1e-12)
    assert (row["pairs_in_both_orders"], row["items"]) == (3, 6)


def test_agreement_with_the_gold_label_is_of_pairs_as_presented(tables):
    gold = gold_of(tables)
    row = judged(tables, dimension="clear")
    assert row["alpha_gold"] == pytest.approx(package_alpha([MODEL[p][0] + gold[p] for p in MODEL]), abs=1e-12)
    assert row["items_with_gold"] == 6
    # On the dimension that people did not judge there is none.
    other = judged(tables, dimension="deep")
    assert (other["alpha_gold"], other["alpha_gold_low"], other["items_with_gold"]) == (None, None, 0)
    assert "gold label" in other["note"]


def test_agreement_with_the_gold_label_has_no_interval_as_topics_do_not_tell_how_good_labels_are():
    rng = np.random.default_rng(3)
    topic = np.repeat(np.arange(30), 4)
    said, gold = rng.integers(3, size=(2, len(topic)))
    between, beside = two_coders(said, gold, topic, ""), with_gold_label(said, gold, topic, "")
    assert beside.point == between.point
    assert None not in between.interval
    assert beside.interval == (None, None)
    assert estimates.mean([beside, beside]).interval == (None, None)


def test_agreement_between_ways_of_asking_is_of_the_same_presented_pairs(tables):
    expected = package_alpha([MODEL[p][0] + ONE_BY_ONE[p][0] for p in ONE_BY_ONE])
    for inference in ("combined", "individual"):
        row = judged(tables, dimension="clear", inference=inference)
        assert row["alpha_inference"] == pytest.approx(expected, abs=1e-12)
        assert row["items_in_both_inferences"] == 4
    assert judged(tables, dimension="deep")["alpha_inference"] is None


def test_correlation_is_spearmans_with_the_other_dimensions(tables):
    clear, deep = (["ANB".index(letters[place]) for letters in MODEL.values()] for place in (0, 1))
    for dimension in ("clear", "deep"):
        row = judged(tables, dimension=dimension)
        assert row["mean_rho"] == pytest.approx(spearmanr(clear, deep).statistic, abs=1e-12)
    assert judged(tables, dimension="clear", inference="individual")["mean_rho"] is None


def test_front_preference_leaves_neutral_judgments_out(tables):
    row = judged(tables, dimension="deep")
    assert (row["front_preference"], row["choices"]) == (pytest.approx(2 / 5), 5)
    assert judged(tables, dimension="clear")["front_preference"] == pytest.approx(4 / 6)


def test_means_are_of_the_dimensions_on_which_something_can_be_said(tables):
    row = judged(tables, dimension="all")
    own = [judged(tables, dimension=name) for name in ("clear", "deep")]
    assert row["alpha_orders"] == pytest.approx(np.mean([each["alpha_orders"] for each in own]))
    assert row["front_preference"] == pytest.approx(np.mean([each["front_preference"] for each in own]))
    assert row["alpha_gold"] == own[0]["alpha_gold"]


def test_preference_for_own_responses_stands_beside_that_of_the_gold_label(tables):
    # Of the four pairs with y the model chose y each time: B, A, B, A.
    gold = gold_of(tables)
    pairs = [pair for pair in MODEL if any(side.endswith("y") for side in pair)]
    own = {pair: "A" if pair[0].endswith("y") else "B" for pair in pairs}
    chosen = [pair for pair in pairs if MODEL[pair][0] != "N" and gold[pair] != "N"]
    model = np.mean([MODEL[pair][0] == own[pair] for pair in chosen])
    people = np.mean([gold[pair] == own[pair] for pair in chosen])
    where = {"participant": WRITER, "inference": "combined", "dimension": "clear"}
    row = row_of(tables["model_self_preference"], **where)
    assert (model, people) == (1.0, 0.75)
    assert (row["model"], row["gold"], row["difference"]) == (model, people, pytest.approx(model - people))
    assert (row["n"], row["undecided"]) == (len(chosen), 4 - len(chosen))
    assert row["low"] <= row["difference"] <= row["high"]
    assert {row["dimension"] for row in tables["model_self_preference"]} == {"clear", "deep", "all"}


def test_difference_of_two_shares_is_nowhere_beyond_one(tables):
    ends = [row[end] for row in tables["model_self_preference"] for end in ("low", "high") if row[end] is not None]
    assert ends
    assert all(-1 <= end <= 1 for end in ends)


def test_agreement_with_people_is_told_apart_by_whose_responses_are_judged(tables):
    gold = gold_of(tables)
    where = {"participant": WRITER, "inference": "combined", "dimension": "clear"}
    row = row_of(tables["model_self_preference"], **where)
    units = {
        kind: [letters[0] + gold[pair] for pair, letters in MODEL.items() if pair in gold and is_own(pair) == kind]
        for kind in (True, False)
    }
    assert (row["items_own"], row["items_others"]) == (len(units[True]), len(units[False]))
    assert row["alpha_own"] == pytest.approx(package_alpha(units[True]))
    # Both said the same of all the others: of no disagreement to expect there is no alpha.
    assert len(set("".join(units[False]))) == 1
    assert row["alpha_others"] is None
    assert "judgments that differ" in row["note"]
    assert row["items_own"] == row["n"] + row["undecided"]
    together = judged(tables, dimension="clear")
    assert row["items_own"] + row["items_others"] == together["items_with_gold"]


def is_own(pair: tuple[str, str]) -> bool:
    return any(side.endswith("y") for side in pair)


def test_a_model_that_judged_pairs_with_its_own_only_has_no_agreement_on_others():
    study = judged_both_ways.people()
    judged_both_ways.model(study, {pair: letters for pair, letters in MODEL.items() if is_own(pair)})
    row = row_of(tables_of(study)["model_self_preference"], inference="combined", dimension="clear")
    assert (row["alpha_others"], row["items_others"]) == (None, 0)
    assert "others' responses too" in row["note"]


def test_the_same_model_with_another_prompt_is_known_as_the_writer():
    study = judged_both_ways.people()
    judged_both_ways.model(study, name="judge")
    assert tables_of(study)["model_self_preference"] == []
    Participant.objects.filter(external_id__in=["judge", WRITER]).update(specification={"model": "tiny-1"})
    found = loading.load(study)
    assert found.models == (("judge", "tiny-1"), (WRITER, "tiny-1"))
    assert inputs.unpack(found.pack()).models == found.models
    rows = compute(found, settings=QUICK, seed=0).tables["model_self_preference"]
    assert {row["participant"] for row in rows} == {"judge"}


def test_pairs_of_two_own_responses_tell_nothing_of_self_preference():
    study = judged_both_ways.people()
    judged_both_ways.model(study)
    found = loading.load(study)
    as_if = tuple(
        replace(each, origin="model", participant=WRITER) if each.name.endswith("x") else each
        for each in found.responses
    )
    tables = compute(replace(found, responses=as_if), settings=QUICK, seed=0).tables
    row = row_of(tables["model_self_preference"], inference="combined", dimension="clear")
    assert row["n"] + row["undecided"] == 2  # the pair of x and z, in both orders


def test_what_was_asked_again_does_not_count():
    study = judged_both_ways.people()
    judged_both_ways.model(study)
    before = tables_of(study)["model_judges"]
    for judgment in Judgment.objects.filter(item__campaign__judges="MODEL"):
        Judgment.objects.create(
            assignment=judgment.assignment, item=judgment.item, dimension=judgment.dimension, value=0, repeat=1
        )
    judged_both_ways.model(study, dict.fromkeys(MODEL, ("N", "N")))  # the same questions in another campaign
    assert tables_of(study)["model_judges"] == before


def test_a_model_that_judged_one_order_only_has_no_agreement_between_orders():
    study = judged_both_ways.people()
    judged_both_ways.model(study, {pair: letters for pair, letters in MODEL.items() if pair[0] < pair[1]})
    row = judged(tables_of(study), dimension="clear")
    assert (row["alpha_orders"], row["pairs_in_both_orders"]) == (None, 0)
    assert "both orders" in row["note"]


def test_a_model_that_always_says_the_same_has_no_alpha_and_no_correlation():
    study = judged_both_ways.people()
    judged_both_ways.model(study, dict.fromkeys(MODEL, ("N", "N")))
    row = judged(tables_of(study), dimension="clear")
    assert (row["alpha_orders"], row["mean_rho"], row["front_preference"]) == (None, None, None)
    for said in ("judgments that differ", "values that differ", "chose neither"):
        assert said in row["note"]


def test_one_topic_has_no_interval():
    study = judged_both_ways.people()
    judged_both_ways.model(study, {pair: letters for pair, letters in MODEL.items() if pair[0].startswith("t1")})
    row = judged(tables_of(study), dimension="deep")
    assert row["alpha_orders"] is not None
    assert (row["alpha_orders_low"], row["mean_rho_high"]) == (None, None)
    assert "two topics" in row["note"]


def test_without_models_there_is_nothing():
    found = tables_of(judged_both_ways.people())
    assert found["model_judges"] == found["model_self_preference"] == []


def test_a_model_that_always_says_the_same_is_remarked():
    study = judged_both_ways.people()
    judged_both_ways.model(study, {pair: ("A", said[1]) for pair, said in MODEL.items()})
    rows = {row["dimension"]: row for row in tables_of(study)["model_judges"]}
    assert model_judges.ALL_EQUAL in rows["clear"]["note"]
    assert model_judges.ALL_EQUAL not in rows["deep"].get("note", "")
    assert model_judges.ALL_EQUAL not in rows["all"].get("note", "")
