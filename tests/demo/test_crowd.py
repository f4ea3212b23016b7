"""The simulated crowd: its design, its probabilities, and whether what was latent can be found again."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from analysis.stats import mace
from crowdrag.demo import crowd

OPENED = datetime(2026, 3, 2, 8, tzinfo=UTC)
TOPICS = {f"topic-{t}": [f"{t}-{r}" for r in range(5)] for t in range(5)}


def simulate(topics=TOPICS, *, seed=1, settings=None, expected=None):
    return crowd.simulate(
        topics, rng=np.random.default_rng(seed), opened_at=OPENED, settings=settings, expected=expected
    )


@pytest.fixture(scope="module")
def simulated():
    return simulate()


def pairs_of(simulated):
    return [pair for questionnaire in simulated.questionnaires for pair in questionnaire.pairs]


def test_same_seed_same_crowd(simulated):
    assert simulate() == simulated
    assert simulate(seed=2) != simulated


def test_all_pairs_and_a_third_reversed(simulated):
    pairs = pairs_of(simulated)
    assert len(set(pairs)) == len(pairs)
    unordered = Counter((pair.topic, frozenset((pair.left, pair.right))) for pair in pairs)
    assert len(unordered) == 5 * 10
    reversed_by_topic = Counter(topic for (topic, _), orders in unordered.items() if orders == 2)
    assert sum(reversed_by_topic.values()) in (16, 17)
    assert all(reversed_by_topic[topic] in (3, 4) for topic in TOPICS)


def test_sides_are_balanced_before_reversal():
    pairs = crowd.draw_pairs(TOPICS, reversed_share=0, rng=np.random.default_rng(3))
    left = Counter(pair.left for pair in pairs)
    assert all(abs(2 * left[response] - 4) <= 2 for group in TOPICS.values() for response in group)


def test_questionnaires_of_fifteen_keep_both_orders_apart(simulated):
    sizes = [len(questionnaire.pairs) for questionnaire in simulated.questionnaires]
    assert sizes[:-1] == [15] * (len(sizes) - 1)
    assert 1 <= sizes[-1] <= 15
    [only] = simulate({"t": ["a", "b", "c"]}).questionnaires
    assert len(only.pairs) in (3, 4), "where there is only one, it holds both orders"
    for seed in range(20):
        for questionnaire in simulate(seed=seed).questionnaires:
            assert not {pair.reverse() for pair in questionnaire.pairs} & set(questionnaire.pairs)


def test_five_people_judge_every_item_once_on_all_dimensions(simulated):
    votes = Counter((judgment.pair, judgment.dimension) for judgment in simulated.judgments)
    assert votes == {(pair, dimension): 5 for pair in pairs_of(simulated) for dimension in crowd.DIMENSIONS}
    once = Counter((judgment.participant, judgment.pair, judgment.dimension) for judgment in simulated.judgments)
    assert set(once.values()) == {1}
    assert len(simulated.truth.people) == 5 * len(simulated.questionnaires)
    at = {questionnaire.number: questionnaire.pairs for questionnaire in simulated.questionnaires}
    assert all(j.pair == at[j.questionnaire][j.position - 1] for j in simulated.judgments)


def test_few_people_share_the_work_evenly():
    # Everybody wants to begin at once, so that only waiting keeps a person's questionnaires apart.
    simulated = simulate(settings=crowd.CrowdSettings(participants=7, days=0.0))
    load = Counter(assignment.participant for assignment in simulated.assignments)
    assert len(load) == 7
    assert max(load.values()) - min(load.values()) <= 1
    seen = Counter((assignment.participant, assignment.questionnaire) for assignment in simulated.assignments)
    assert set(seen.values()) == {1}
    for person in load:
        own = sorted(
            (assignment for assignment in simulated.assignments if assignment.participant == person),
            key=lambda assignment: assignment.started_at,
        )
        assert all(before.submitted_at < after.started_at for before, after in pairwise(own))


def test_overall_quality_is_never_neutral(simulated):
    values = {d: {j.value for j in simulated.judgments if j.dimension == d} for d in crowd.DIMENSIONS}
    assert values.pop("quality_overall") == {-1, 1}
    assert all(found == {-1, 0, 1} for found in values.values())


def test_times_are_ordered_and_long_enough_to_be_accepted():
    # A median of 20 s is too fast for nearly everybody: the limit has to hold nonetheless.
    simulated = simulate(settings=crowd.CrowdSettings(seconds=20.0))
    items = {questionnaire.number: len(questionnaire.pairs) for questionnaire in simulated.questionnaires}
    for assignment in simulated.assignments:
        assert OPENED <= assignment.started_at <= OPENED + timedelta(days=3)
        mine = [
            j
            for j in simulated.judgments
            if (j.questionnaire, j.participant) == (assignment.questionnaire, assignment.participant)
        ]
        times = [j.judged_at for j in sorted(mine, key=lambda j: j.position)]
        assert times == sorted(times)
        assert assignment.started_at < times[0]
        assert times[-1] == assignment.submitted_at
        spent = assignment.submitted_at - assignment.started_at
        assert spent >= timedelta(seconds=40 * items[assignment.questionnaire])


def test_truth_mirrors_with_the_pair_and_left_better_is_a(simulated):
    values, merit = simulated.truth.values, simulated.truth.merit
    both = [pair for pair in values if pair.reverse() in values]
    assert both
    assert all(values[pair] == tuple(-value for value in values[pair.reverse()]) for pair in both)
    column = crowd.DIMENSIONS.index("quality_overall")
    for pair, of_pair in values.items():
        assert of_pair[column] == (-1 if merit[pair.left][column] > merit[pair.right][column] else 1)


def person(*, spam, strategy=(1 / 3, 1 / 3, 1 / 3), lean=0.0):
    return crowd.Person("p", (spam,) * 7, strategy, lean, 1.0)


@pytest.mark.parametrize("lean", [0.0, 0.5])
def test_honest_answers_follow_rao_and_kupper(lean):
    """The closed form of design 7.3: P(a) = e^ml / (e^ml + e^(mr + t)), and likewise for b; n is the rest."""
    settings = crowd.CrowdSettings(sharpness=1.0, threshold=0.7)
    merit = {"l": (0.8,) * 7, "r": (0.3,) * 7}
    pairs = [crowd.Pair("t", "l", "r")] * 40_000
    values, spammed = crowd.answer(
        person(spam=0.0, lean=lean), pairs, merit=merit, settings=settings, rng=np.random.default_rng(0)
    )
    assert not spammed.any()
    left, right, tie = np.exp(0.8 + lean), np.exp(0.3), np.exp(0.7)
    assert np.mean(values[:, :6] == -1) == pytest.approx(left / (left + right * tie), abs=0.004)
    assert np.mean(values[:, :6] == 1) == pytest.approx(right / (right + left * tie), abs=0.004)
    assert np.mean(values[:, 6] == -1) == pytest.approx(left / (left + right), abs=0.01)


def test_spam_follows_the_strategy_whatever_the_truth():
    merit = {"l": (9.0,) * 7, "r": (-9.0,) * 7}
    pairs = [crowd.Pair("t", "l", "r")] * 40_000
    values, spammed = crowd.answer(
        person(spam=1.0, strategy=(0.2, 0.5, 0.3)),
        pairs,
        merit=merit,
        settings=crowd.CrowdSettings(),
        rng=np.random.default_rng(0),
    )
    assert spammed.all()
    assert [np.mean(values[:, :6] == value) for value in (-1, 0, 1)] == pytest.approx([0.2, 0.5, 0.3], abs=0.005)
    assert [np.mean(values[:, 6] == value) for value in (-1, 1)] == pytest.approx([0.45, 0.55], abs=0.01)


def test_spam_is_as_frequent_as_the_spam_probability():
    simulated = simulate(settings=crowd.CrowdSettings(participants=5))
    count, spam = Counter(), Counter()
    for judgment, spammed in zip(simulated.judgments, simulated.truth.spammed, strict=True):
        count[judgment.participant] += 1
        spam[judgment.participant] += spammed
    for judge in simulated.truth.people:
        n, p = count[judge.id], np.mean(judge.spam_probability)
        assert abs(spam[judge.id] - n * p) < 4 * np.sqrt(n * p * (1 - p)) + 1


def test_expected_merit_shows_in_the_votes():
    expected = {f"{t}-0": 3.0 for t in range(5)} | {f"{t}-1": -3.0 for t in range(5)}
    simulated = simulate(expected=expected)
    wins = Counter()
    for judgment in simulated.judgments:
        if judgment.dimension == "quality_overall":
            wins[judgment.pair.left if judgment.value == -1 else judgment.pair.right] += 1
    assert all(wins[f"{t}-0"] > wins[f"{t}-1"] for t in range(5))


def test_competence_is_recovered_by_mace():
    """Each person's fitted spam probability ranks like the true one; the more of an item's votes, the better."""
    topics = {f"topic-{t}": [f"{t}-{r}" for r in range(6)] for t in range(20)}
    simulated = simulate(topics, settings=crowd.CrowdSettings(participants=30))
    people = {judge.id: i for i, judge in enumerate(simulated.truth.people)}
    pairs = {pair: i for i, pair in enumerate(simulated.truth.values)}
    for column, dimension in enumerate(crowd.DIMENSIONS):
        judgments = [judgment for judgment in simulated.judgments if judgment.dimension == dimension]
        fitted = mace.fit(
            [pairs[judgment.pair] for judgment in judgments],
            [people[judgment.participant] for judgment in judgments],
            [judgment.value + 1 for judgment in judgments],
            rng=np.random.default_rng(0),
        )
        true_spam = [judge.spam_probability[column] for judge in simulated.truth.people]
        assert stats.spearmanr(true_spam, fitted.spam_probability).statistic > 0.6, dimension
        truth = np.array([values[column] + 1 for values in simulated.truth.values.values()])
        assert np.mean(fitted.posterior.argmax(axis=1) == truth) > 0.65, dimension


def test_bad_input_is_refused():
    with pytest.raises(crowd.NothingToJudgeError):
        simulate({"t": ["alone"]})
    with pytest.raises(crowd.UnknownResponseError, match="nobody"):
        simulate(expected={"nobody": 1.0})
    with pytest.raises(crowd.TooFewPeopleError, match="participants"):
        simulate(settings=replace(crowd.CrowdSettings(), participants=4))
    with pytest.raises(ValueError, match="a"):
        simulate({"t": ["a", "b"], "u": ["a", "c"]})
    with pytest.raises(ValueError, match=r"\w"):
        crowd.simulate(TOPICS, rng=np.random.default_rng(0), opened_at=OPENED.replace(tzinfo=None))
