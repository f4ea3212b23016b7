"""Intervals that refit competences and draw judges: what changes, what does not, and that they cover the truth."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest

from analysis.methods.registry import compute
from analysis.methods.settings import AnalysisSettings
from tests.analysis import small_study
from tests.analysis.methods.test_grade_differences import ORDERS, votes_of
from tests.analysis.vote_inputs import QUICK, TablesOnDemand, inputs_of

REFIT, WORKERS = {"bootstrap": "refit"}, {"resample": "topics+workers"}
ENDS = {"low", "high", "effect_low", "effect_high", "difference_low", "difference_high", "rank_low", "rank_high",
        "mean_low", "mean_high"}  # fmt: skip


def doubtful():
    """Eight topics on which four judges are often of different minds."""
    rng = np.random.default_rng(5)
    chances = {letter: [0.6 if other == letter else 0.2 for other in "ANB"] for letter in "ANB"}
    return {
        pair: tuple("".join(rng.choice(list("ANB"), size=4, p=chances[letters[0]])) for letters in answers)
        for pair, answers in votes_of(ORDERS).items()
    }


def tables_of(settings, votes=None, seed=0):
    return compute(inputs_of(votes or small_study.VOTES), settings=settings, seed=seed).tables


def without_ends(tables):
    """Everything that is no interval, nor the reason why there is none."""
    left_out = ENDS | {"note"}
    return {
        name: [{key: value for key, value in row.items() if key not in left_out} for row in rows]
        for name, rows in tables.items()
    }


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(REFIT, marks=pytest.mark.extended),
        pytest.param(WORKERS, marks=pytest.mark.extended),
        REFIT | WORKERS,
    ],
    ids=["refit", "workers", "both"],
)
def test_options_change_intervals_and_nothing_else(options):
    votes = doubtful()
    plain, other = tables_of(QUICK, votes), tables_of(replace(QUICK, **options), votes)
    assert without_ends(other) == without_ends(plain)
    assert other != plain
    assert other["agreement"] == plain["agreement"]  # over topics and judges whatever is chosen


@pytest.mark.extended
def test_votes_are_weighted_by_competence():
    """Two judges are trusted and one is not: their votes win where three equal ones would not decide otherwise."""
    votes = {pair: (letters[0][0] * 3 + ("A" if letters[0][0] == "B" else "B") * 1,) * 2 for pair, letters in
             votes_of(ORDERS).items()}  # fmt: skip
    by_votes, by_labels = (tables_of(replace(QUICK, grades_from=name), votes) for name in ("votes", "gold"))
    key = ("topic", "response", "dimension", "grade")
    assert [[row[name] for name in key] for row in by_votes["grades"]] == [
        [row[name] for name in key] for row in by_labels["grades"]
    ]
    # Four votes a pair, of which the contrary one counts little, weigh more than one label.
    merits = [max(row["merit"] for row in each["grades"]) for each in (by_votes, by_labels)]
    assert merits[0] > merits[1]


def simulated(rng, spam, topics=30, effect=0.8):
    """Topics whose responses x, y, z have true merits; y is better by an effect that differs from topic to topic."""
    judges = len(spam)
    votes = {}
    for topic in range(topics):
        merit = {"x": 0.0, "y": rng.normal(effect, 1), "z": rng.normal(0, 1)}
        for left, right in ("xy", "xz", "yz", "yx"):
            label = "A" if merit[left] > merit[right] else "B"
            asked = rng.choice(judges, 5, replace=False)
            given = ["."] * judges
            for judge in asked:
                knows = rng.random() > spam[judge]
                given[judge] = label if knows else rng.choice(["A", "B"])
            votes[f"t{topic:03}-{left}", f"t{topic:03}-{right}"] = ("".join(given),)
    return votes


def coverage(times, settings, rng, judges):
    """How often the interval of the mean grade of y holds the mean over all topics that might be."""
    # y is above x with probability P(N(0.8, 1) > 0), above z with P(N(0.8, 2) > 0).
    expected = 1 + NormalDist(0.8, 1).cdf(1.6) + NormalDist().cdf(0.8 / 2**0.5)
    hits = 0
    for _ in range(times):
        votes = simulated(rng, judges(rng))
        tables = TablesOnDemand(inputs_of(votes, dimensions=("clear",)), settings)
        row = next(row for row in tables["grade_means"] if (row["dimension"], row["style"]) == ("clear", "essay"))
        hits += row["low"] <= expected <= row["high"]
    return hits / times


def sure(_rng):
    """Nobody guesses: only the choice of topics is by chance."""
    return np.zeros(8)


def unsure(rng):
    """One vote in thirteen is a guess, and some people guess far more often than others."""
    return rng.beta(1, 12, 24)


@pytest.mark.parametrize(("times", "least"), [(12, 0.75), pytest.param(300, 0.9, marks=pytest.mark.soak)])
def test_intervals_over_topics_cover_the_truth_where_judges_do_not_err(times, least):
    settings = AnalysisSettings(resamples=100, restarts=1, refine=0, labels="likeliest")
    assert least <= coverage(times, settings, np.random.default_rng(0), sure) <= (1 if times < 100 else 0.98)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_where_judges_err_drawing_them_too_covers_the_truth_more_often():
    """Conditional intervals leave out what the labels would be with other judges (docs/methods/bootstrap.md)."""
    settings = AnalysisSettings(resamples=200, restarts=3, refine=0, labels="likeliest")
    found = {
        name: coverage(100, replace(settings, **options), np.random.default_rng(1), unsure)
        for name, options in (("topics", {}), ("refit", REFIT), ("workers", WORKERS), ("both", REFIT | WORKERS))
    }
    assert 0.78 <= found["topics"] <= 0.95
    assert min(found["workers"], found["both"]) > max(found["topics"], found["refit"])
    assert 0.86 <= found["workers"] <= 0.98


@pytest.mark.soak
def test_rank_intervals_of_the_leaderboard_cover_the_truth_often_enough():
    """Twelve writers of known merit, of whom each wrote on two to twelve topics."""
    rng, hits, said = np.random.default_rng(2), 0, 0
    merit = np.linspace(-1.5, 1.5, 8)
    for _ in range(60):
        wrote, votes = {}, {}
        for topic in range(24):
            writers = rng.choice(8, 3, replace=False, p=np.arange(1, 9) / 36)
            quality = dict(zip("xyz", merit[writers] + rng.normal(0, 0.7, 3), strict=True))
            wrote |= {f"t{topic:03}-{letter}": f"p{who}" for letter, who in zip("xyz", writers, strict=True)}
            for left, right in ("xy", "xz", "yz"):
                letter = "A" if quality[left] > quality[right] else "B"
                votes[f"t{topic:03}-{left}", f"t{topic:03}-{right}"] = (letter * 3,)
        inputs = inputs_of(votes, dimensions=("clear",), writer=wrote.__getitem__)
        rows = compute(
            inputs, settings=AnalysisSettings(resamples=300, restarts=1, refine=0, labels="likeliest"), seed=0
        ).tables["leaderboard"]
        for row in rows:
            if row["kind"] == "participant" and row["dimension"] == "clear" and row["rank_low"] is not None:
                said += 1
                hits += row["rank_low"] <= 8 - int(row["participant"][1]) <= row["rank_high"]
    assert 0.90 <= hits / said <= 0.995
