"""The alternative annotator test: by hand, by definition, on the published data, and its error rates in simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.stats.alternative_annotator import (
    Scoring,
    alternative_annotator_test,
    without_shared_annotators,
)
from tests.analysis.published_annotations import NAMES, needs_data, read

NONE = math.nan


def arrays(labels, judge):
    """Labels as [[label of person 0, of person 1, ...] of item 0, ...], None where a person did not judge."""
    votes = [
        (item, person, value)
        for item, row in enumerate(labels)
        for person, value in enumerate(row)
        if value is not None
    ]
    item, person, value = (np.array(column) for column in zip(*votes, strict=True))
    return item, person, value, np.array([NONE if label is None else label for label in judge], dtype=float)


def by_definition(labels, judge, scoring, epsilon, min_items=2, q=0.05):
    """Winning rate, advantage probability and p-values from the definitions, with exact scores."""

    def score(label, others):
        if scoring is Scoring.ACCURACY:
            return Fraction(sum(label == other for other in others), len(others))
        return -Fraction(sum((label - other) ** 2 for other in others), len(others))

    p_values, advantages = {}, []
    for person in range(len(labels[0])):
        differences, wins = [], []
        for row, by_judge in zip(labels, judge, strict=True):
            others = [label for index, label in enumerate(row) if label is not None and index != person]
            if row[person] is None or by_judge is None or not others:
                continue
            human, model = score(row[person], others), score(by_judge, others)
            wins.append(int(model >= human))
            differences.append(int(human >= model) - int(model >= human))
        if len(wins) < min_items:
            continue
        advantages.append(Fraction(sum(wins), len(wins)))
        n, mean, spread = len(differences), np.mean(differences), np.std(differences, ddof=1)
        if spread:
            p_values[person] = stats.t.cdf((mean - epsilon) / (spread / math.sqrt(n)), n - 1)
        else:
            p_values[person] = NONE if mean == epsilon else float(mean > epsilon)
    if not p_values:
        return NONE, NONE, p_values
    ranked = sorted(1.0 if math.isnan(p) else p for p in p_values.values())
    harmonic = sum(1 / rank for rank in range(1, len(ranked) + 1))
    # The largest rank whose p is small enough: this and all smaller p-values are rejected.
    rejected = max((rank for rank, p in enumerate(ranked, 1) if p <= rank / len(ranked) * q / harmonic), default=0)
    return rejected / len(ranked), float(sum(advantages) / len(advantages)), p_values


def test_an_example_by_hand():
    """Three people; person 2 always disagrees with the two others, and the judge always agrees with them."""
    labels = [[0, 0, 1], [1, 1, 0], [0, 0, 1], [1, 1, 1]]
    result = alternative_annotator_test(
        *arrays(labels, [0, 1, 0, 1]), scoring=Scoring.ACCURACY, epsilon=0.2, min_items=4
    )
    # Of person 0 the others are 1 and 2: judge and person score 1/2, 1/2, 1/2 and 1. Both always have the advantage.
    first, second, third = result.comparisons
    assert (first.person, first.judge, first.p, first.items) == (1.0, 1.0, 0.0, 4)
    assert (second.person, second.judge, second.p) == (1.0, 1.0, 0.0)
    # Person 2 has it on the last item only: differences -1, -1, -1, 0, mean -3/4, standard error 1/4.
    assert (third.person, third.judge) == (0.25, 1.0)
    assert third.p == pytest.approx(stats.t.cdf((-0.75 - 0.2) / 0.25, 3), abs=1e-12)
    # Benjamini and Yekutieli, largest of three p-values: p * 3 * (1 + 1/2 + 1/3) / 3.
    assert third.adjusted_p == pytest.approx(third.p * 11 / 6)
    assert (result.winning_rate, result.advantage_probability) == (1.0, 1.0)
    assert result.passes is True


def test_errors_are_scored_by_their_root_mean_square():
    # The others are at 0 and 4: the judge at 2 is 2 away, the person at 0 is sqrt(8) away, the one at 5 still more.
    item, person, value, judge = arrays([[0, 0, 4], [5, 0, 4]], [2, 2])
    result = alternative_annotator_test(item, person, value, judge, scoring=Scoring.RMSE, epsilon=0.0, min_items=2)
    assert (result.comparisons[0].person, result.comparisons[0].judge) == (0.0, 1.0)


labels_of_people = st.integers(2, 4).flatmap(
    lambda people: st.lists(
        st.tuples(
            st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=people, max_size=people),
            st.one_of(st.none(), st.integers(0, 3)),
        ),
        min_size=3,
        max_size=9,
    )
)


@settings(max_examples=80, deadline=None)
@given(labels_of_people, st.sampled_from(list(Scoring)), st.sampled_from([0.0, 0.1, 0.25, 1.0]))
def test_results_are_those_of_the_definition(rows, scoring, epsilon):
    labels, judge = zip(*rows, strict=True)
    if all(label is None for row in labels for label in row):
        return
    rate, advantage, p_values = by_definition(labels, judge, scoring, epsilon)
    result = alternative_annotator_test(*arrays(labels, judge), scoring=scoring, epsilon=epsilon, min_items=2)
    assert result.winning_rate == pytest.approx(rate, abs=1e-9, nan_ok=True)
    assert result.advantage_probability == pytest.approx(advantage, abs=1e-9, nan_ok=True)
    assert {each.annotator: each.p for each in result.comparisons} == pytest.approx(p_values, abs=1e-9, nan_ok=True)
    used = [
        sum(label is not None for label in row) >= 2 and by_judge is not None
        for row, by_judge in zip(labels, judge, strict=True)
    ]
    judged = sum(any(label is not None for label in row) for row in labels)
    assert result.items == sum(used)
    assert result.items + result.items_without_judge + result.items_with_few_people == judged


def test_who_or_what_was_left_out_is_counted():
    labels = [[0, 0, None], [1, 1, None], [0, 1, 0], [0, None, None], [1, 1, None]]
    result = alternative_annotator_test(
        *arrays(labels, [0, 1, 0, 1, None]), scoring=Scoring.ACCURACY, epsilon=0.2, min_items=3
    )
    assert (result.items, result.items_with_few_people, result.items_without_judge) == (3, 1, 1)
    assert result.too_few_items == ((2, 1),)
    assert [each.annotator for each in result.comparisons] == [0, 1]


def test_nobody_to_compare_gives_no_result():
    result = alternative_annotator_test(*arrays([[0, 1]], [0]), scoring=Scoring.ACCURACY, epsilon=0.2)
    assert math.isnan(result.winning_rate)
    assert result.passes is None
    pooled = without_shared_annotators(*arrays([[0, None]], [0]), [0], scoring=Scoring.ACCURACY, epsilon=0.2)
    assert (pooled.judgments, pooled.passes) == (0, None)


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_published_results(name):
    data = read(name)
    codes: dict = {}
    items = {item: index for index, item in enumerate(dict.fromkeys(i for by in data.people.values() for i in by))}

    def code(label):
        return codes.setdefault(label, len(codes)) if data.scoring is Scoring.ACCURACY else label

    votes = [
        (items[item], person, code(label))
        for person, by_item in enumerate(data.people.values())
        for item, label in by_item.items()
    ]
    columns = [np.array(column) for column in zip(*votes, strict=True)]
    labels = [[None] * len(data.people) for _item in items]
    for item, person, value in votes:
        labels[item][person] = value
    for judge, (rate, advantage) in data.published.items():
        by_judge = np.full(len(items), NONE)
        for item, label in data.judges[judge].items():
            by_judge[items[item]] = code(label)
        result = alternative_annotator_test(*columns, by_judge, scoring=data.scoring, epsilon=data.epsilon)
        # The published figures have six decimals; those of the definition have all.
        assert (result.winning_rate, result.advantage_probability) == pytest.approx((rate, advantage), abs=6e-7)
        exact = by_definition(labels, by_judge.astype(int).tolist(), data.scoring, data.epsilon, min_items=30)
        assert (result.winning_rate, result.advantage_probability) == pytest.approx(exact[:2], abs=1e-9)
        assert {each.annotator: each.p for each in result.comparisons} == pytest.approx(exact[2], abs=1e-9)


def exchangeable(rng, people=4, items=40, values=3):
    """People and a judge who draw labels alike: nobody has an advantage, so with epsilon 0 all hypotheses hold."""
    truth = rng.integers(values, size=items)
    drawn = np.where(rng.random((people + 1, items)) < 0.6, truth, rng.integers(values, size=(people + 1, items)))
    item, person = np.tile(np.arange(items), people), np.repeat(np.arange(people), items)
    return item, person, drawn[:people].ravel(), drawn[people].astype(float)


@pytest.mark.extended
def test_false_discoveries_are_at_most_q_if_the_judge_is_one_of_the_people():
    rng = np.random.default_rng(5)
    studies = 200
    wins = [
        alternative_annotator_test(*exchangeable(rng), scoring=Scoring.ACCURACY, epsilon=0.0).winning_rate > 0
        for _study in range(studies)
    ]
    # All rejections are false, so the rate is that of studies with any. 99.9 % of binomial counts at 5 %.
    assert sum(wins) <= stats.binom.ppf(0.999, studies, 0.05)
    # With a benefit of the judge, the same judge mostly wins: the test can also reject.
    rates = [
        alternative_annotator_test(*exchangeable(rng), scoring=Scoring.ACCURACY, epsilon=0.4).winning_rate
        for _study in range(40)
    ]
    assert np.mean(rates) > 0.9


def test_the_test_of_all_judgments_is_a_t_test_of_the_clusters_means():
    rng = np.random.default_rng(2)
    labels = rng.integers(2, size=(40, 2)).tolist()
    judge = rng.integers(2, size=40).tolist()
    result = without_shared_annotators(*arrays(labels, judge), np.arange(40), scoring=Scoring.ACCURACY, epsilon=0.1)
    # Left out, either person is scored against the other, so the difference is that of the scores, 0 or 1.
    means = [
        np.mean([(row[0] == row[1]) - (by_judge == other) * 1.0 for other in row])
        for row, by_judge in zip(labels, judge, strict=True)
    ]
    test = stats.ttest_1samp(means, 0.1, alternative="less")
    assert result.difference == pytest.approx(np.mean(means))
    assert result.p == pytest.approx(test.pvalue, abs=1e-12)
    low, high = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert (result.low, result.high) == pytest.approx((low, high))


def crowd(rng, topics=25, pairs=4, votes=5):
    """A crowd in which each person judged one item. Topics differ in difficulty, judge and people do not."""
    items = topics * pairs
    sure = np.repeat(rng.uniform(0.2, 0.9, topics), pairs)
    truth = rng.integers(3, size=items)
    drawn = np.where(rng.random((votes + 1, items)) < sure, truth, rng.integers(3, size=(votes + 1, items)))
    item = np.tile(np.arange(items), votes)
    return (
        item,
        np.arange(items * votes),
        drawn[:votes].ravel(),
        drawn[votes].astype(float),
        np.repeat(np.arange(topics), pairs),
    )


@pytest.mark.extended
def test_without_shared_people_the_level_holds():
    rng = np.random.default_rng(8)
    studies = 400
    passed = 0
    for _study in range(studies):
        result = without_shared_annotators(*crowd(rng), scoring=Scoring.ACCURACY, epsilon=0.0)
        passed += bool(result.passes)
    low, high = stats.binom.ppf([0.001, 0.999], studies, 0.05)
    assert low <= passed <= high
    assert np.mean([
        bool(without_shared_annotators(*crowd(rng), scoring=Scoring.ACCURACY, epsilon=0.2).passes) for _ in range(30)
    ]) > 0.9  # fmt: skip


def test_what_cannot_be_tested_is_refused():
    item, person, value, judge = arrays([[0, 1], [1, 1]], [0, 1])

    def test(item=item, person=person, value=value, judge=judge, **options):
        options = {"scoring": Scoring.ACCURACY, "epsilon": 0.1} | options
        return alternative_annotator_test(item, person, value, judge, **options)

    for wrong in (
        {"item": item[1:]},
        {"item": item - 1},
        {"item": item + 5},
        {"person": person * 0},
        {"value": value * math.nan},
        {"judge": judge[:1]},
        {"judge": judge + math.inf},
        {"epsilon": 1.5},
        {"epsilon": math.nan},
        {"q": 0.0},
        {"min_people": 1},
        {"min_items": 1},
    ):
        with pytest.raises(ValueError, match=r"\w"):
            test(**wrong)
    with pytest.raises(ValueError, match="cluster"):
        without_shared_annotators(item, person, value, judge, [0], scoring=Scoring.ACCURACY, epsilon=0.1)
