"""Models as judges, of a study small enough to be turned by hand."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis.inputs import arrays, queries
from analysis.methods import estimates
from analysis.methods.model_judges import compute as model_judges_compute
from analysis.methods.model_judges.compute import two_coders, with_gold_label
from analysis.methods.settings import AnalysisSettings
from annotation.models import Judgment
from crowdrag.studies.models import Participant
from tests.analysis.methods import judged_both_ways
from tests.analysis.methods.judged_both_ways import MODEL, WRITER
from tests.analysis.rows import package_alpha, row_of
from tests.analysis.vote_inputs import TablesOnDemand

pytestmark = pytest.mark.django_db
QUICK = AnalysisSettings(resamples=60, restarts=2, refine=0)
# Asked one at a time the model judged one dimension and fewer pairs.
ONE_BY_ONE = {("t1-x", "t1-y"): ("A",), ("t1-y", "t1-x"): ("A",), ("t1-x", "t1-z"): ("N",), ("t2-x", "t2-y"): ("A",)}


def tables_of(study):
    return TablesOnDemand(queries.load(study), QUICK)


@pytest.fixture(scope="module")
def tables(shared_rows):
    study = judged_both_ways.people()
    judged_both_ways.model(study)
    judged_both_ways.model(study, ONE_BY_ONE, inference="INDIVIDUAL", dimensions=("clear",))
    return tables_of(study)


def judged_by_model(votes=MODEL, **given):
    """A study that people judged, and a model judged like this."""
    study = judged_both_ways.people()
    judged_both_ways.model(study, votes, **given)
    return study


def gold_of(tables) -> dict[tuple[str, str], str]:
    return {(row["response_a"], row["response_b"]): row["label"].upper() for row in tables["gold"]}


def judged(tables, **where):
    return row_of(tables["model_judges"], **({"participant": WRITER, "inference": "combined"} | where))


def own_of(tables):
    return row_of(tables["model_self_preference"], participant=WRITER, inference="combined", dimension="clear")


def test_agreement_between_orders_is_of_judgments_turned_by_hand(tables):
    # By hand, A the response of the lower id: B and turned A; A and turned A; B and turned A.
    for dimension, units in (("clear", ["BB", "AB", "BB"]), ("deep", ["BN", "AA", "BB"])):
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
    assert other["note"]


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
    row = own_of(tables)
    assert (model, people) == (1.0, 0.75)
    assert (row["model"], row["gold"], row["difference"]) == (model, people, pytest.approx(model - people))
    assert (row["n"], row["undecided"]) == (len(chosen), 4 - len(chosen))
    assert -1 <= row["low"] <= row["difference"] <= row["high"] <= 1
    assert {row["dimension"] for row in tables["model_self_preference"]} == {"clear", "deep", "all"}


def test_agreement_with_people_is_told_apart_by_whose_responses_are_judged(tables):
    gold = gold_of(tables)
    row = own_of(tables)
    units = {
        kind: [letters[0] + gold[pair] for pair, letters in MODEL.items() if pair in gold and is_own(pair) == kind]
        for kind in (True, False)
    }
    assert (row["items_own"], row["items_others"]) == (len(units[True]), len(units[False]))
    assert row["alpha_own"] == pytest.approx(package_alpha(units[True]))
    # Both said the same of all the others: of no disagreement to expect there is no alpha.
    assert len(set("".join(units[False]))) == 1
    assert (row["alpha_others"], bool(row["note"])) == (None, True)
    assert row["items_own"] == row["n"] + row["undecided"]
    together = judged(tables, dimension="clear")
    assert row["items_own"] + row["items_others"] == together["items_with_gold"]


def is_own(pair: tuple[str, str]) -> bool:
    return any(side.endswith("y") for side in pair)


def test_a_model_that_judged_pairs_with_its_own_only_has_no_agreement_on_others():
    row = own_of(tables_of(judged_by_model({pair: letters for pair, letters in MODEL.items() if is_own(pair)})))
    assert (row["alpha_others"], row["items_others"], bool(row["note"])) == (None, 0, True)


def test_the_same_model_with_another_prompt_is_known_as_the_writer():
    study = judged_by_model(name="judge")
    assert tables_of(study)["model_self_preference"] == []
    Participant.objects.filter(external_id__in=["judge", WRITER]).update(specification={"model": "tiny-1"})
    found = queries.load(study)
    assert found.models == (("judge", "tiny-1"), (WRITER, "tiny-1"))
    assert arrays.unpack(found.pack()).models == found.models
    rows = TablesOnDemand(found, QUICK)["model_self_preference"]
    assert {row["participant"] for row in rows} == {"judge"}


def test_pairs_of_two_own_responses_tell_nothing_of_self_preference():
    found = queries.load(judged_by_model())
    as_if = tuple(
        replace(each, origin="model", participant=WRITER) if each.name.endswith("x") else each
        for each in found.responses
    )
    row = own_of(TablesOnDemand(replace(found, responses=as_if), QUICK))
    assert row["n"] + row["undecided"] == 2  # the pair of x and z, in both orders


def test_what_was_asked_again_does_not_count():
    study = judged_by_model()
    before = tables_of(study)["model_judges"]
    for judgment in Judgment.objects.filter(item__campaign__judges="MODEL"):
        Judgment.objects.create(
            assignment=judgment.assignment, item=judgment.item, dimension=judgment.dimension, value=0, repeat=1
        )
    judged_both_ways.model(study, dict.fromkeys(MODEL, ("N", "N")))  # the same questions in another campaign
    assert tables_of(study)["model_judges"] == before


def test_without_the_other_order_another_answer_or_another_topic_some_figures_are_missing():
    one_order = {pair: letters for pair, letters in MODEL.items() if pair[0] < pair[1]}
    row = judged(tables_of(judged_by_model(one_order)), dimension="clear")
    assert (row["alpha_orders"], row["pairs_in_both_orders"], bool(row["note"])) == (None, 0, True)
    row = judged(tables_of(judged_by_model(dict.fromkeys(MODEL, ("N", "N")))), dimension="clear")
    assert (row["alpha_orders"], row["mean_rho"], row["front_preference"]) == (None, None, None)
    assert row["note"].count(";") >= 2  # a reason for each
    one_topic = {pair: letters for pair, letters in MODEL.items() if pair[0].startswith("t1")}
    row = judged(tables_of(judged_by_model(one_topic)), dimension="deep")
    assert row["alpha_orders"] is not None
    assert (row["alpha_orders_low"], row["mean_rho_high"], bool(row["note"])) == (None, None, True)
    nobody = tables_of(judged_both_ways.people())
    assert nobody["model_judges"] == nobody["model_self_preference"] == []


def test_a_model_that_always_says_the_same_is_remarked():
    tables = tables_of(judged_by_model({pair: ("A", letters[1]) for pair, letters in MODEL.items()}))
    notes = {row["dimension"]: row.get("note", "") for row in tables["model_judges"]}
    assert [name for name, note in notes.items() if model_judges_compute.ALL_EQUAL in note] == ["clear"]
