"""Tables of a study small enough to be computed by hand."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from analysis.analyses.forms import AnalysisForm
from analysis.inputs import arrays, queries
from analysis.methods.registry import METHODS
from analysis.methods.settings import AnalysisSettings, BadParameterError
from analysis.stats import bradley_terry, mace
from analysis.stats.random_streams import key, named_rng
from analysis.tables.table import TABLES
from annotation.enums import Judges
from tests.analysis import small_study, vote_inputs
from tests.analysis.rows import package_alpha, row_of
from tests.analysis.small_study import VOTES
from tests.analysis.vote_inputs import TablesOnDemand

QUICK = AnalysisSettings(resamples=50, restarts=5, refine=0, labels="likeliest")


def computed(study, settings=QUICK):
    return TablesOnDemand(queries.load(study), settings)


def tables_of(votes=VOTES, *, settings=QUICK, **options):
    """All tables of these votes, which need no database."""
    return vote_inputs.tables_of(votes, settings=settings, **options)


@pytest.fixture(scope="module")
def tables():
    return tables_of()


def alpha_of(votes, place: int) -> float:
    """Alpha of one dimension by the krippendorff package."""
    return package_alpha([letters[place] for letters in votes.values()])


def test_columns_are_those_that_scripts_read(tables):
    for name, rows in tables.items():
        assert all({*row} - {"note"} == {*TABLES[name].column_names} for row in rows), name


@pytest.mark.extended
@pytest.mark.parametrize("method", METHODS, ids=[method.name for method in METHODS])
def test_a_method_alone_makes_the_tables_that_it_makes_among_all(tables, method):
    alone, among = tables_of(), dict(tables)
    names = [table.name for table in method.tables if table.name in among]  # without texts, some make none
    assert {name: alone[name] for name in names} == {name: among[name] for name in names}


def test_agreement_of_a_tiny_study_by_hand():
    """Two judges, two pairs of one topic, who answer A A and A B."""
    rows = tables_of({("t1-x", "t1-y"): ("AA",), ("t1-x", "t1-z"): ("AB",)}, dimensions=("clear",))["agreement"]
    # Coincidences: AA 2, AB 1, BA 1. Marginals: A 3, B 1. Only A and B meet, so the distance cancels:
    # observed 2 of 4, expected 2 * 3 * 1 / (4 * 3).
    expected = 1 - Fraction(2, 4) / Fraction(2 * 3 * 1, 4 * 3)
    row = row_of(rows, coders="crowd", split="complete")
    assert row["alpha"] == pytest.approx(float(expected))
    assert (row["items"], row["judgments"]) == (2, 4)


def test_agreement_is_that_of_the_krippendorff_package(tables):
    rows = tables["agreement"]
    for place, dimension in enumerate(small_study.DIMENSIONS):
        row = row_of(rows, dimension=dimension, coders="crowd", split="complete")
        assert row["alpha"] == pytest.approx(alpha_of(VOTES, place), abs=1e-12)
        assert (row["low"], row["high"]) == (None, None)  # three people judged
        assert (row["items"], row["judgments"]) == (7, 28)


def test_splits_are_by_majorities_of_more_than_four_sevenths_of_the_dimensions(tables):
    # Of two dimensions both need a majority, of more than half of 4 votes: t1-x t1-z and t2-x t2-y have them.
    rows = tables["agreement"]
    sizes = {split: row_of(rows, dimension="clear", coders="crowd", split=split)["items"] for split in
             ("complete", "differentiable", "minimal")}  # fmt: skip
    assert sizes == {"complete": 7, "differentiable": 2, "minimal": 5}


def test_corrected_crowd_leaves_out_only_judgments_of_spammers_on_the_dimension():
    tables = tables_of(
        settings=AnalysisSettings(resamples=20, restarts=5, refine=0, spam_threshold=0.5, labels="likeliest")
    )
    for dimension in small_study.DIMENSIONS:
        spam = {
            row["participant"]: row["spam_probability"] for row in tables["competence"] if row["dimension"] == dimension
        }
        kept = sum(value <= 0.5 for value in spam.values())
        row = row_of(tables["agreement"], dimension=dimension, coders="corrected", split="complete")
        assert row["judgments"] == (7 * kept if kept > 1 else 0)


def test_who_contradicts_everybody_is_trusted_least(tables):
    rows = [row for row in tables["competence"] if row["dimension"] == "clear"]
    assert max(rows, key=lambda row: row["spam_probability"])["participant"] == "w4"
    assert {row["judgments"] for row in rows} == {7}


def test_gold_labels_are_as_presented_in_both_orders(tables):
    rows = tables["gold"]
    forward = row_of(rows, response_a="t1-x", response_b="t1-y", dimension="clear")
    reverse = row_of(rows, response_a="t1-y", response_b="t1-x", dimension="clear")
    assert (forward["label"], reverse["label"]) == ("a", "b")
    assert forward["p_a"] == pytest.approx(reverse["p_b"], abs=0.05)
    for row in rows:
        assert row["p_a"] + row["p_n"] + row["p_b"] == pytest.approx(1)


def test_grades_count_both_orders_of_a_pair_for_the_same_response(tables):
    rows = [row for row in tables["grades"] if row["dimension"] == "clear" and row["topic"] == "t1"]
    rows.sort(key=lambda row: row["response"])
    assert [(row["response"], row["grade"]) for row in rows] == [("t1-x", 3.0), ("t1-y", 2.0), ("t1-z", 1.0)]
    # The same by hand: x beats y twice (once in each order), x beats z, y beats z.
    alone = bradley_terry.fit(bradley_terry.tally([0] * 4, [0, 1, 0, 1], [1, 0, 2, 2], [-1, 1, -1, -1]))
    assert [row["merit"] for row in rows] == pytest.approx(alone.merit[0].tolist())
    assert [row["se"] for row in rows] == pytest.approx(alone.standard_error[0].tolist())


def test_mean_grades_are_means_with_margins(tables):
    grades = {(row["response"], row["dimension"]): row["grade"] for row in tables["grades"]}
    of_people = [grades[f"{topic}-{letter}", "clear"] for topic in ("t1", "t2") for letter in "xz"]
    row = row_of(tables["grade_means"], dimension="clear", style="bullet", origin="human")
    assert (row["mean"], row["n"]) == (pytest.approx(np.mean(of_people)), 4)
    everything = row_of(tables["grade_means"], dimension="all", style="all", origin="all")
    assert (everything["mean"], everything["n"]) == (pytest.approx(2.0), 12)
    # Of all that is graded the mean is the same whatever was judged: that has no interval.
    assert (everything["low"], everything["high"]) == (None, None)


@pytest.mark.django_db
def test_votes_of_other_pools_change_no_label_and_stand_beside_the_crowd():
    study = small_study.make()
    before = computed(study)
    pairs = dict(list(VOTES.items())[:4])
    small_study.campaign(study, dict.fromkeys(VOTES, ("B", "B")), judges=Judges.MODEL, names=["model-1"])
    small_study.campaign(study, dict.fromkeys(pairs, ("AB", "BA")), judges=Judges.EXPERT, names=["e1", "e2"])
    after = computed(study)
    for name in ("gold", "competence", "grades", "grade_means"):
        assert after[name] == before[name]
    own = [row for row in after["agreement"] if row["coders"] != "expert" and row["split"] != "expert_pairs"]
    assert own == before["agreement"]
    row = row_of(after["agreement"], dimension="clear", coders="crowd", split="expert_pairs")
    assert (row["items"], row["alpha"]) == (4, pytest.approx(alpha_of(pairs, 0), abs=1e-12))
    assert row_of(after["agreement"], dimension="clear", coders="expert", split="complete")["items"] == 4


def test_agreement_takes_the_first_k_votes_and_competence_takes_all():
    tables, of_all = tables_of(k=3), tables_of(k=3, settings=replace(QUICK, k=4))
    judgments = {row["participant"]: row["judgments"] for row in tables["competence"] if row["dimension"] == "clear"}
    assert judgments == dict.fromkeys(small_study.JUDGES, 7)
    for name in ("competence", "gold", "grades"):
        assert tables[name] == of_all[name]
    for each, used in ((tables, 21), (of_all, 28)):
        row = row_of(each["agreement"], coders="crowd", split="complete", dimension="clear")
        assert row["judgments"] == used
    figures = {row["name"]: row["value"] for row in tables["key_figures"]}
    assert (figures["judgments"], figures["judgments_surplus"]) == (42, 14)


def test_what_cannot_be_computed_is_null_with_a_reason():
    same = tables_of({("t1-x", "t1-y"): ("AAA",), ("t1-x", "t1-z"): ("AAA",)}, dimensions=("clear",))
    row = row_of(same["agreement"], coders="crowd", split="complete")
    assert (row["alpha"], bool(row["note"])) == (None, True)
    assert all(row["spam_probability"] is None and row["note"] for row in same["competence"])
    assert all(row["label"] is None for row in same["gold"])
    assert same["grades"] == same["grade_means"] == []
    one_topic = tables_of({pair: letters for pair, letters in VOTES.items() if pair[0].startswith("t1")})
    row = row_of(one_topic["agreement"], dimension="clear", coders="crowd", split="complete")
    assert (row["low"], row["high"], bool(row["note"])) == (None, None, True)
    one_judge = tables_of(dict.fromkeys(VOTES, ("A", "B")) | {("t2-x", "t2-y"): ("B", "A")})
    assert len({row["note"] for row in one_judge["competence"]}) == 1
    share = row_of(one_judge["key_figures"], name="differentiable_share")
    assert (share["value"], share["n"], bool(share["note"])) == (None, 0, True)
    for split in ("differentiable", "minimal"):
        row = row_of(one_judge["agreement"], dimension="clear", split=split, coders="crowd")
        assert (row["alpha"], bool(row["note"])) == (None, True)
    one_vote = tables_of({**VOTES, ("t2-y", "t2-z"): ("A...", "A...")})["key_figures"]
    assert row_of(one_vote, name="differentiable_share")["n"] == row_of(one_vote, name="pairs")["value"] - 1


def test_key_figures_hold_no_pay_per_hour_of_seconds():
    found = vote_inputs.inputs_of(VOTES)
    found = replace(found, currency="USD", counts=found.counts | {"questionnaires": 4})
    for response, name in ((-1, "judging"), (0, "writing")):
        wages = tuple(arrays.Wage(response, 400, 0, seconds) for seconds in (5, 59.9, 600, 1200, None))
        rows = TablesOnDemand(replace(found, wages=wages), QUICK)["key_figures"]
        rate = row_of(rows, name=f"hourly_rate_{name}")
        assert (rate["n"], rate["value"]) == (2, pytest.approx(8 / 0.5))
        rows = TablesOnDemand(replace(found, wages=wages[:2]), QUICK)["key_figures"]
        assert not [row for row in rows if row["name"].startswith("hourly_rate")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"resamples": 0}, {"spam_threshold": 1.5}, {"pool": "CATS"}, {"k": 0}, {"no_such_thing": 1}, {"preset": "new"},
        {"preset": "published", "refine": 6}, {"least_topics": 0}, {"reuse_limit": 101}, {"bootstrap": "none"},
        {"resample": "workers"}, {"grades_from": "stars"}, {"fix_known": "yes"},
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(BadParameterError, match=list(wrong)[-1]):
        AnalysisSettings.read(wrong)


def test_the_published_preset_is_the_best_restart_of_plain_mace():
    found = vote_inputs.inputs_of(VOTES)
    settings = AnalysisSettings.read({"preset": "published", "resamples": 20})
    assert settings.write().items() >= {"preset": "published", "restarts": 20, "refine": 0}.items()
    assert AnalysisSettings.read(settings.write()) == settings
    pool, rows = found.main, TablesOnDemand(found, settings, seed=3)["gold"]
    mine = pool.dimension == 0
    name = found.dimensions[0].name
    model = mace.fit(
        pool.unit[mine], pool.coder[mine], pool.value[mine], rng=named_rng(3, f"mace crowd {name}"), labels=3,
        keys=[key(person) for person in pool.participants], settings=mace.MaceSettings(restarts=20, refine=0),
    )  # fmt: skip
    of_dimension = [row for row in rows if row["dimension"] == name]
    assert np.allclose([[row["p_a"], row["p_n"], row["p_b"]] for row in of_dimension], model.posterior)


def test_the_form_leaves_out_what_a_preset_fixes():
    form = AnalysisForm({"preset": "published", "refine": "6", "resamples": "50", "bootstrap": "refit"})
    assert form.is_valid()
    assert AnalysisSettings.read(form.parameters()) == AnalysisSettings.read({"preset": "published", "resamples": 50})


def test_the_other_rule_of_correction_keeps_some_judgments_of_every_pair():
    def corrected(kept_votes):
        settings = AnalysisSettings(
            resamples=20, restarts=5, refine=0, labels="likeliest", least_competent=0.5, kept_votes=kept_votes
        )
        tables = tables_of(settings=settings)
        return tables, row_of(tables["agreement"], dimension="clear", coders="corrected_quarter", split="complete")

    # Two of four people go; two judgments of each of the 7 pairs stay, the most competent ones.
    tables, row = corrected(kept_votes=2)
    assert (row["items"], row["judgments"]) == (7, 14)
    spam = {r["participant"]: r["spam_probability"] for r in tables["competence"] if r["dimension"] == "clear"}
    kept = sorted(range(4), key=lambda i: spam[small_study.JUDGES[i]])[:2]
    votes = {pair: ("".join(letters[0][i] for i in kept),) for pair, letters in VOTES.items()}
    assert row["alpha"] == pytest.approx(alpha_of(votes, 0), abs=1e-12)
    assert (row["low"], row["high"]) == (None, None)
    # With three to keep, the third stays although the person goes.
    _tables, row = corrected(kept_votes=3)
    assert (row["items"], row["judgments"]) == (7, 21)
