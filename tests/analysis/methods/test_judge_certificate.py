"""The certificate of model judges, for a crowd and models of which everything is known."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.inputs.arrays import COMBINED, Dimension, Inputs, Pool, Response
from analysis.methods.context import Context
from analysis.methods.judge_certificate.compute import compute_tables
from analysis.methods.settings import AnalysisSettings
from tests.analysis.rows import row_of

TOPICS, RESPONSES, VOTES = 40, 4, 5
PAIRS = [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3), (1, 2)]
SETTINGS = AnalysisSettings(resamples=10)
MODEL, WRITERS = "judge", ("judge", "other-model", "person", "person")


def inputs(rng, *, position=0.0, length=0.0, own=0.0, errors=0.0, people=None, both=True):
    """People judge pairs in both orders; a model that is one of them, but for planted biases, judges the same pairs.

    On the share `position` of pairs it chooses the left response, on `length` the longer one, on `own` its own, and on
    `errors` the worse one. `people`: few people who judged everything, or a crowd in which each judged 13 pairs.
    """
    responses = tuple(
        Response(
            f"t{topic:02}-{r}", f"t{topic:02}", str(rng.choice(["bullet", "essay"])),
            "human" if WRITERS[r] == "person" else "model", f"p{topic}" if WRITERS[r] == "person" else WRITERS[r],
            int(rng.integers(50, 400)),
        )
        for topic in range(TOPICS)
        for r in range(RESPONSES)
    )  # fmt: skip
    sides = [(a, b) for a, b in PAIRS] + [(b, a) for a, b in PAIRS if both]
    units = tuple((RESPONSES * t + a, RESPONSES * t + b, t, "") for t in range(TOPICS) for a, b in sides)
    n = len(units)
    left, right = np.array([unit[:2] for unit in units]).T
    merit = rng.normal(size=len(responses)) + 0.3 * (np.arange(len(responses)) % RESPONSES == 0)
    lead = merit[left] - merit[right]

    def choices(strength=1.0):
        noisy = strength * lead + rng.logistic(size=n) * 0.7
        return np.where(noisy > 0.2, 0, np.where(noisy < -0.2, 2, 1))

    value = np.concatenate([choices() for _vote in range(VOTES)])
    unit, vote = np.tile(np.arange(n), VOTES), np.repeat(np.arange(VOTES), n)
    coder = vote if people else vote * (n // 13 + 1) + unit // 13
    words = np.array([response.words for response in responses])
    is_own = np.array([response.participant == MODEL for response in responses]).astype(int)
    says = choices()
    draw = rng.random(n)
    for share, preferred in (
        (length, np.where(words[left] > words[right], 0, 2)),
        (own, np.where(is_own[left] > is_own[right], 0, np.where(is_own[left] < is_own[right], 2, says))),
        (position, np.zeros(n, dtype=int)),
        (errors, np.where(lead > 0, 2, 0)),
    ):
        says = np.where(draw < share, preferred, says)
    zeros = np.zeros_like
    crowd = Pool(
        tuple(f"w{i}" for i in range(coder.max() + 1)), units, unit, coder, zeros(unit), value, vote,
        zeros(unit) + VOTES, zeros(unit), zeros(unit),
    )  # fmt: skip
    one = np.arange(n)
    model = Pool((MODEL,), units, one, zeros(one), zeros(one), says, zeros(one), zeros(one) + 1, zeros(one), zeros(one))
    return Inputs(
        "crowd", tuple(f"t{t:02}" for t in range(TOPICS)), ("bullet", "essay"),
        (Dimension("quality", "Quality", (-1, 0, 1)),), responses, {"crowd": crowd, COMBINED: model},
        models=((MODEL, "the-model"), ("other-model", "another")),
    )  # fmt: skip


def tables_of(data, settings=SETTINGS):
    return compute_tables(Context(data, (), settings, 0, {}, {}, lambda _message: None))


def test_a_model_that_is_like_people_passes_and_one_that_errs_does_not():
    rng = np.random.default_rng(1)
    for errors, verdict in ((0.0, "passes"), (0.4, "fails")):
        (row,) = tables_of(inputs(rng, errors=errors))["judge_certificate"]
        assert (row["verdict"], row["people_compared"], row["winning_rate"]) == (verdict, 0, None)
        assert row["judgments"] == VOTES * row["items"] == VOTES * 2 * len(PAIRS) * TOPICS
        assert row["difference_low"] < row["difference"] < row["difference_high"]
        assert row["alpha_people_low"] < row["alpha_people"] < row["alpha_people_high"]
        if not errors:
            assert abs(row["alpha_people"] - row["alpha_between"]) < 0.1
        else:
            assert row["alpha_people"] < row["alpha_between"] - 0.1


def test_people_who_judged_many_pairs_are_compared_one_by_one():
    data = inputs(np.random.default_rng(2), people=True)
    tables = tables_of(data)
    (row,) = tables["judge_certificate"]
    people = tables["judge_certificate_people"]
    assert (row["people_compared"], len(people), row["verdict"]) == (VOTES, VOTES, "passes")
    assert row["winning_rate"] == np.mean([person["wins"] == "yes" for person in people])
    assert row["advantage_probability"] == pytest.approx(np.mean([person["judge_advantage"] for person in people]))
    # With all pairs judged by the same people, the test of all judgments has the same mean.
    assert row["difference"] == pytest.approx(
        np.mean([person["annotator_advantage"] - person["judge_advantage"] for person in people])
    )


def test_epsilon_is_that_of_the_settings_or_of_the_pool():
    data = inputs(np.random.default_rng(3), people=True)
    (row,) = tables_of(data)["judge_certificate"]
    (strict,) = tables_of(data, replace(SETTINGS, epsilon=0.0))["judge_certificate"]
    assert (row["epsilon"], strict["epsilon"]) == (0.1, 0.0)
    assert strict["p"] > row["p"]
    assert strict["verdict"] == "fails"
    expert = Inputs(**{**vars(data), "pool": "expert", "pools": {"expert": data.main, COMBINED: data.pools[COMBINED]}})
    assert tables_of(expert)["judge_certificate"][0]["epsilon"] == 0.2
    of_models = Inputs(**{**vars(data), "pool": "model", "pools": {"model": data.main}})
    assert all(rows == [] for rows in tables_of(of_models).values())


def test_planted_biases_are_found_and_no_other():
    for bias in ("position", "length", "self"):
        planted = {"own" if bias == "self" else bias: 0.35}
        rows = tables_of(inputs(np.random.default_rng(4), **planted))["judge_biases"]
        row = row_of(rows, bias=bias)
        assert row["p_adjusted"] < 0.001
        assert 0.05 < row["low"] < row["value"] < row["high"] < 0.35
        assert all(other["p"] > 0.005 for other in rows if other["bias"] != bias)


@pytest.mark.extended
def test_biases_are_found_with_power_90_percent_and_false_alarms_of_5_percent():
    studies = 300
    low, high = stats.binom.ppf([0.001, 0.999], studies, 0.05)
    rng = np.random.default_rng(5)
    alarms = dict.fromkeys(("position", "length", "self", "style"), 0)
    for _study in range(studies):
        rows = tables_of(inputs(rng))["judge_biases"]
        for bias in alarms:
            alarms[bias] += next(row["p"] for row in rows if row["bias"] == bias) <= 0.05
    # The position test counts out signs: its level is at most 5 %.
    assert alarms.pop("position") <= high
    assert all(low <= count <= high for count in alarms.values()), alarms
    for bias, share in (("position", 0.2), ("length", 0.2), ("self", 0.25)):
        found = sum(
            row_of(tables_of(inputs(rng, **{"own" if bias == "self" else bias: share}))["judge_biases"], bias=bias)["p"]
            <= 0.05
            for _study in range(studies // 3)
        )
        assert found >= stats.binom.ppf(0.001, studies // 3, 0.9), bias


def test_one_order_only_leaves_the_position_open():
    rows = tables_of(inputs(np.random.default_rng(6), both=False))["judge_biases"]
    row = row_of(rows, bias="position")
    assert (row["value"], row["p"], bool(row["note"])) == (None, None, True)
    assert row_of(rows, bias="length")["p"] is not None


def test_each_system_is_tested_on_its_own_pairs():
    data = inputs(np.random.default_rng(7))
    # Errors on the pairs of one system only.
    responses = data.responses
    model = data.pools[COMBINED]
    of_other = np.array([responses[a].participant == "other-model" or responses[b].participant == "other-model"
                         for a, b, _topic, _item in model.units])  # fmt: skip
    wrong = np.where(of_other, 2 - model.value, model.value)
    data = Inputs(**{**vars(data), "pools": {"crowd": data.main, COMBINED: replace(model, value=wrong)}})
    rows = {row["system"]: row for row in tables_of(data)["judge_transport"]}
    assert set(rows) == {"judge", "other-model", "human"}
    assert rows["other-model"]["value"] > rows["other-model"]["others_high"]
    assert rows["other-model"]["p_adjusted"] > 0.5
    assert rows["other-model"]["n"] + rows["other-model"]["n_others"] == VOTES * len(data.main.units)
