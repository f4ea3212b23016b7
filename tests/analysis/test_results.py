"""Tables of a study small enough to be computed by hand."""

import json
from dataclasses import replace
from fractions import Fraction

import krippendorff
import numpy as np
import pytest

from analysis.domain import inputs, loading
from analysis.domain.results import COLUMNS, compute
from analysis.domain.results.settings import BadParameterError, Settings
from analysis.forms import AnalysisForm
from analysis.stats import bradley_terry, mace
from analysis.stats.chance import stream
from analysis.stats.draws import key
from annotation.enums import Judges
from tests.analysis import small_study
from tests.analysis.small_study import VOTES
from tests.factories import StudyFactory

pytestmark = pytest.mark.django_db
QUICK = Settings(resamples=50, restarts=5, refine=0, labels="likeliest")


def tables_of(votes=VOTES, *, settings=QUICK, seed=0, **options):
    return compute(loading.load(small_study.make(votes, **options)), settings=settings, seed=seed).tables


def row_of(rows, **where):
    found = [row for row in rows if all(row[name] == value for name, value in where.items())]
    assert len(found) == 1, found
    return found[0]


def alpha_of(votes, place: int) -> float:
    """Alpha of one dimension by the krippendorff package; coders in rows."""
    answers = np.array([["ANB".index(letter) for letter in letters[place]] for letters in votes.values()], dtype=float)
    return krippendorff.alpha(reliability_data=answers.T, level_of_measurement="ordinal", value_domain=[0, 1, 2])


def test_columns_are_those_that_scripts_read():
    for name, rows in tables_of().items():
        for row in rows:
            assert [key for key in row if key != "note"] == list(COLUMNS[name])


def test_agreement_of_a_tiny_study_by_hand():
    """Two judges, two pairs of one topic, who answer A A and A B."""
    rows = tables_of({("t1-x", "t1-y"): ("AA",), ("t1-x", "t1-z"): ("AB",)}, dimensions=["clear"])["agreement"]
    # Coincidences: AA 2, AB 1, BA 1. Marginals: A 3, B 1. Only A and B meet, so the distance cancels:
    # observed 2 of 4, expected 2 * 3 * 1 / (4 * 3).
    expected = 1 - Fraction(2, 4) / Fraction(2 * 3 * 1, 4 * 3)
    row = row_of(rows, coders="crowd", split="complete")
    assert row["alpha"] == pytest.approx(float(expected))
    assert (row["items"], row["judgments"]) == (2, 4)


def test_agreement_is_that_of_the_krippendorff_package():
    rows = tables_of()["agreement"]
    for place, dimension in enumerate(small_study.DIMENSIONS):
        row = row_of(rows, dimension=dimension, coders="crowd", split="complete")
        assert row["alpha"] == pytest.approx(alpha_of(VOTES, place), abs=1e-12)
        assert (row["low"], row["high"]) == (None, None)  # three people judged
        assert (row["items"], row["judgments"]) == (7, 28)


def test_splits_are_by_majorities_of_more_than_four_sevenths_of_the_dimensions():
    # Of two dimensions both need a majority, of more than half of 4 votes: t1-x t1-z and t2-x t2-y have them.
    rows = tables_of()["agreement"]
    sizes = {split: row_of(rows, dimension="clear", coders="crowd", split=split)["items"] for split in
             ("complete", "differentiable", "minimal")}  # fmt: skip
    assert sizes == {"complete": 7, "differentiable": 2, "minimal": 5}


def test_corrected_crowd_leaves_out_only_judgments_of_spammers_on_the_dimension():
    tables = tables_of(settings=Settings(resamples=20, restarts=5, refine=0, spam_threshold=0.5, labels="likeliest"))
    for dimension in small_study.DIMENSIONS:
        spam = {
            row["participant"]: row["spam_probability"] for row in tables["competence"] if row["dimension"] == dimension
        }
        kept = sum(value <= 0.5 for value in spam.values())
        row = row_of(tables["agreement"], dimension=dimension, coders="corrected", split="complete")
        assert row["judgments"] == (7 * kept if kept > 1 else 0)


def test_who_contradicts_everybody_is_trusted_least():
    rows = [row for row in tables_of()["competence"] if row["dimension"] == "clear"]
    assert max(rows, key=lambda row: row["spam_probability"])["participant"] == "w4"
    assert {row["judgments"] for row in rows} == {7}


def test_gold_labels_are_as_presented_in_both_orders():
    rows = tables_of()["gold"]
    forward = row_of(rows, response_a="t1-x", response_b="t1-y", dimension="clear")
    reverse = row_of(rows, response_a="t1-y", response_b="t1-x", dimension="clear")
    assert (forward["label"], reverse["label"]) == ("a", "b")
    assert forward["p_a"] == pytest.approx(reverse["p_b"], abs=0.05)
    for row in rows:
        assert row["p_a"] + row["p_n"] + row["p_b"] == pytest.approx(1)


def test_grades_count_both_orders_of_a_pair_for_the_same_response():
    tables = tables_of()
    grades = {row["response"]: row for row in tables["grades"] if row["dimension"] == "clear"}
    assert {name: row["grade"] for name, row in grades.items() if row["topic"] == "t1"} == {
        "t1-x": 3.0,
        "t1-y": 2.0,
        "t1-z": 1.0,
    }
    # The same by hand: x beats y twice (once in each order), x beats z, y beats z.
    alone = bradley_terry.fit(bradley_terry.tally([0] * 4, [0, 1, 0, 1], [1, 0, 2, 2], [-1, 1, -1, -1]))
    assert [grades[name]["merit"] for name in ("t1-x", "t1-y", "t1-z")] == pytest.approx(alone.merit[0].tolist())
    assert [grades[name]["se"] for name in ("t1-x", "t1-y", "t1-z")] == pytest.approx(alone.standard_error[0].tolist())


def test_mean_grades_are_means_with_margins():
    tables = tables_of()
    grades = {(row["response"], row["dimension"]): row["grade"] for row in tables["grades"]}
    means = tables["grade_means"]
    of_x = [grades[f"{topic}-x", "clear"] for topic in ("t1", "t2")]
    of_z = [grades[f"{topic}-z", "clear"] for topic in ("t1", "t2")]
    row = row_of(means, dimension="clear", style="bullet", origin="human")
    assert (row["mean"], row["n"]) == (pytest.approx(np.mean(of_x + of_z)), 4)
    everything = row_of(means, dimension="all", style="all", origin="all")
    assert (everything["mean"], everything["n"]) == (pytest.approx(2.0), 12)
    # Of all that is graded the mean is the same whatever was judged: that has no interval.
    assert (everything["low"], everything["high"]) == (None, None)


def test_votes_of_other_pools_change_no_label():
    study = small_study.make()
    before = compute(loading.load(study), settings=QUICK, seed=0).tables
    for judges in (Judges.MODEL, Judges.EXPERT):
        small_study.campaign(study, dict.fromkeys(VOTES, ("B", "B")), judges=judges, names=[f"{judges.lower()}-1"])
    after = compute(loading.load(study), settings=QUICK, seed=0).tables
    for name in ("gold", "competence", "grades", "grade_means"):
        assert after[name] == before[name]
    own = [row for row in after["agreement"] if row["coders"] != "expert" and row["split"] != "expert_pairs"]
    assert own == before["agreement"]


def test_same_inputs_and_seed_give_the_same_bytes_and_another_seed_others():
    found = loading.load(small_study.make())
    again = inputs.unpack(found.pack())
    first, second = (json.dumps(compute(each, settings=QUICK, seed=3).tables) for each in (found, again))
    assert first == second
    assert json.dumps(compute(found, settings=QUICK, seed=4).tables) != first


def test_agreement_takes_the_first_k_votes_and_competence_takes_all():
    study = small_study.make()
    study.campaigns.update(k=3)
    found = loading.load(study)
    tables = compute(found, settings=QUICK, seed=0).tables
    of_all = compute(found, settings=replace(QUICK, k=4), seed=0).tables
    assert {row["participant"]: row["judgments"] for row in tables["competence"] if row["dimension"] == "clear"} == {
        "w1": 7, "w2": 7, "w3": 7, "w4": 7,
    }  # fmt: skip
    for name in ("competence", "gold", "grades"):
        assert tables[name] == of_all[name]
    complete = {"coders": "crowd", "split": "complete", "dimension": "clear"}
    assert row_of(tables["agreement"], **complete)["judgments"] == 21
    assert row_of(of_all["agreement"], **complete)["judgments"] == 28
    figures = {row["name"]: row["value"] for row in tables["key_figures"]}
    assert (figures["judgments"], figures["judgments_surplus"]) == (42, 14)


def test_what_cannot_be_said_is_null_with_the_reason():
    tables = tables_of({("t1-x", "t1-y"): ("AAA",), ("t1-x", "t1-z"): ("AAA",)}, dimensions=["clear"])
    row = row_of(tables["agreement"], coders="crowd", split="complete")
    assert row["alpha"] is None
    assert "judgments that differ" in row["note"]
    assert all(row["spam_probability"] is None and "two labels" in row["note"] for row in tables["competence"])
    assert all(row["label"] is None for row in tables["gold"])
    assert tables["grades"] == tables["grade_means"] == []


def test_one_topic_has_no_interval():
    tables = tables_of({pair: letters for pair, letters in VOTES.items() if pair[0].startswith("t1")})
    row = row_of(tables["agreement"], dimension="clear", coders="crowd", split="complete")
    assert (row["low"], row["high"]) == (None, None)
    assert row["note"]


def test_one_judge_alone_is_an_error_that_is_shown():
    study = StudyFactory()
    small_study.responses(study)
    small_study.campaign(study, dict.fromkeys(VOTES, ("A", "B")) | {("t2-x", "t2-y"): ("B", "A")}, names=["only"])
    tables = compute(loading.load(study), settings=QUICK, seed=0).tables
    assert {row["note"] for row in tables["competence"]} == {
        "no item has two judgments: let several people judge the same items, or fix known labels"
    }
    share = row_of(tables["key_figures"], name="differentiable_share")
    assert (share["value"], share["n"]) == (None, 0)
    assert "always its own majority" in share["note"]
    for split in ("differentiable", "minimal"):
        alpha = row_of(tables["agreement"], dimension="clear", split=split, coders="crowd")
        assert "two people or more" in alpha["note"]


def test_pairs_of_one_vote_are_in_neither_split():
    tables = tables_of({**VOTES, ("t2-y", "t2-z"): ("A...", "A...")})
    share = row_of(tables["key_figures"], name="differentiable_share")
    assert (share["n"], row_of(tables["key_figures"], name="pairs")["value"]) == (6, 7)


def test_key_figures_count_what_there_is():
    figures = {row["name"]: row["value"] for row in tables_of()["key_figures"]}
    assert figures["topics"] == figures["topics_judged"] == 2
    assert figures["responses"] == figures["responses_judged"] == 6
    assert (figures["responses_bullet_human"], figures["responses_essay_model"]) == (4, 2)
    assert (figures["pairs"], figures["pairs_in_both_orders"]) == (7, 1)
    assert (figures["judges"], figures["judgments"], figures["judgments_per_judge"]) == (4, 56, 14.0)
    assert figures["words_per_response"] == 100.0


def test_key_figures_state_no_pay_per_hour_of_seconds():
    found = loading.load(small_study.make(VOTES))
    found = replace(found, currency="USD", counts=found.counts | {"questionnaires": 4})
    work = {-1: "judging", 0: "writing"}
    for response, name in work.items():
        wages = [inputs.Wage(response, 400, 0, seconds) for seconds in (5, 59.9, 600, 1200, None)]
        rows = compute(replace(found, wages=tuple(wages)), settings=QUICK, seed=0).tables["key_figures"]
        rate = row_of(rows, name=f"hourly_rate_{name}")
        assert (rate["n"], rate["value"]) == (2, pytest.approx(8 / 0.5))
        rows = compute(replace(found, wages=tuple(wages[:2])), settings=QUICK, seed=0).tables["key_figures"]
        assert not [row for row in rows if row["name"].startswith("hourly_rate")]


@pytest.mark.parametrize(
    "wrong",
    [
        {"resamples": 0}, {"spam_threshold": 1.5}, {"pool": "CATS"}, {"k": 0}, {"no_such_thing": 1}, {"preset": "new"},
        {"preset": "published", "refine": 6},
    ],
)  # fmt: skip
def test_bad_parameters_are_refused_with_their_range(wrong):
    with pytest.raises(BadParameterError):
        Settings.read(wrong)


def test_the_published_preset_is_the_best_restart_of_plain_mace():
    found = loading.load(small_study.make())
    settings = Settings.read({"preset": "published", "resamples": 20})
    assert settings.write().items() >= {"preset": "published", "restarts": 20, "refine": 0}.items()
    assert Settings.read(settings.write()) == settings
    pool, rows = found.main, compute(found, settings=settings, seed=3).tables["gold"]
    mine = pool.dimension == 0
    name = found.dimensions[0].name
    model = mace.fit(
        pool.unit[mine], pool.coder[mine], pool.value[mine], rng=stream(3, f"mace crowd {name}"), labels=3,
        keys=[key(person) for person in pool.participants], settings=mace.Settings(restarts=20, refine=0),
    )  # fmt: skip
    of_dimension = [row for row in rows if row["dimension"] == name]
    assert np.allclose([[row["p_a"], row["p_n"], row["p_b"]] for row in of_dimension], model.posterior)


def test_the_form_leaves_out_what_a_preset_fixes():
    form = AnalysisForm({"preset": "published", "refine": "6", "resamples": "50", "bootstrap": "refit"})
    assert form.is_valid()
    assert Settings.read(form.parameters()) == Settings.read({"preset": "published", "resamples": 50})


def test_the_other_rule_of_correction_keeps_some_judgments_of_every_pair():
    settings = Settings(resamples=20, restarts=5, refine=0, labels="likeliest", least_competent=0.5, kept_votes=2)
    tables = tables_of(settings=settings)
    # Two of four people go; two judgments of each of the 7 pairs stay, the most competent ones.
    row = row_of(tables["agreement"], dimension="clear", coders="corrected_quarter", split="complete")
    assert (row["items"], row["judgments"]) == (7, 14)
    spam = {r["participant"]: r["spam_probability"] for r in tables["competence"] if r["dimension"] == "clear"}
    kept = sorted(range(4), key=lambda i: spam[small_study.JUDGES[i]])[:2]
    votes = {pair: ("".join(letters[0][i] for i in kept),) for pair, letters in VOTES.items()}
    assert row["alpha"] == pytest.approx(alpha_of(votes, 0), abs=1e-12)
    assert (row["low"], row["high"]) == (None, None)
    # With three to keep, the third stays although the person goes.
    settings = Settings(resamples=20, restarts=5, refine=0, labels="likeliest", least_competent=0.5, kept_votes=3)
    row = row_of(
        tables_of(settings=settings)["agreement"], dimension="clear", coders="corrected_quarter", split="complete"
    )
    assert (row["items"], row["judgments"]) == (7, 21)


def test_the_crowd_stands_beside_the_experts_on_the_pairs_that_they_judged():
    study = small_study.make()
    pairs = dict(list(VOTES.items())[:4])
    small_study.campaign(study, dict.fromkeys(pairs, ("AB", "BA")), judges=Judges.EXPERT, names=["e1", "e2"])
    rows = compute(loading.load(study), settings=QUICK, seed=0).tables["agreement"]
    row = row_of(rows, dimension="clear", coders="crowd", split="expert_pairs")
    assert (row["items"], row["alpha"]) == (4, pytest.approx(alpha_of(pairs, 0), abs=1e-12))
    assert row_of(rows, dimension="clear", coders="expert", split="complete")["items"] == 4
