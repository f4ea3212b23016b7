"""Estimates assisted by judges: by hand, beside the package of PPI++, and in simulations."""

import numpy as np
import pytest
from scipy import stats

from analysis.stats import assisted
from analysis.stats.assisted import FEWEST_TOPICS, LEAST_GAIN, ByTopic, estimate


def topics_of(y, f, n):
    """One value a topic; people judged the first n. `f` has the judges in its next to last axis."""
    size = y.shape[-1]

    def means(values, topics):
        value = values[..., :topics].mean(axis=-1)
        terms = np.zeros_like(values)
        terms[..., :topics] = (values[..., :topics] - value[..., None]) / topics
        return ByTopic(value, terms)

    return (means(y, n), means(f, n), means(f, size)), np.arange(size) < n


def result_of(y, f, n, **options):
    sides, has_people = topics_of(y, f, n)
    return estimate(*sides, has_people=has_people, **options)


def draw(rng, topics, correlation, judges=1, shape=()):
    y = rng.normal(size=(*shape, topics))
    noise = rng.normal(size=(*shape, judges, topics))
    return y, 3.0 + 2.0 * (correlation * y[..., None, :] + np.sqrt(1 - correlation**2) * noise)


def test_weight_estimate_and_interval_of_one_judge_as_a_regression_by_hand():
    y, f = draw(np.random.default_rng(1), 60, 0.8)
    result = result_of(y, f, 15)
    (people, part, whole), has_people = topics_of(y, f, 15)
    x = (part.terms - whole.terms)[0]
    (slope,), (squares,), _rank, _values = np.linalg.lstsq(x[:, None], people.terms, rcond=None)
    t = slope / np.sqrt(squares / 13 / (x @ x))
    weight = slope * t**2 / (1 + t**2)
    assert result.weight == pytest.approx([weight])
    assert result.estimate == pytest.approx(y[:15].mean() - weight * (f[0, :15].mean() - f[0].mean()))
    error = people.terms - weight * x
    left = 15 - 2 - t**2 / (1 + t**2)
    noise = (error[has_people] ** 2).sum() / left
    gap = (part.value - whole.value)[0]
    parts = (
        15 * noise + noise * (gap * t**2 / (1 + t**2)) ** 2 / (x @ x),
        (error[~has_people] ** 2).sum() * 60 / 59,
    )
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / left + parts[1] ** 2 / 59)
    reach = stats.t.ppf(0.975, freedom) * np.sqrt(sum(parts))
    assert (result.low, result.high) == pytest.approx((result.estimate - reach, result.estimate + reach))
    assert result.correlation == pytest.approx(np.corrcoef(y[:15], f[0, :15])[0, 1])
    of_people = stats.t.interval(0.95, 14, y[:15].mean(), stats.sem(y[:15]))
    assert (result.people_low, result.people_high) == pytest.approx(of_people)


@pytest.mark.parametrize(
    ("seed", "n", "rest", "theirs", "near"),
    [
        # ppi_py 0.2.3: ppi_mean_pointestimate and ppi_mean_ci(alpha=0.05) of the numbers below.
        (7, 40, 160, (-0.1897270775863548, -0.3748605890129385, -0.004593566159771079), 0.15),
        (8, 5000, 20000, (0.0032422550746139533, -0.01720440467631955, 0.023688914825547455), 0.02),
    ],
)
def test_means_of_independent_items_are_those_of_the_package_of_ppi(seed, n, rest, theirs, near):
    """It has normal quantiles and an unshrunk lambda with the variance of all predictions: equal in large samples."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n + rest)
    f = 0.3 + 0.7 * y + 0.6 * rng.normal(size=n + rest)
    result = result_of(y, f[None], n)
    estimate_of_theirs, low, high = theirs
    assert abs(result.estimate - estimate_of_theirs) < near * (high - low) / 2
    assert (result.high - result.low) / (high - low) == pytest.approx(1, abs=near)
    assert result.high - result.low > high - low  # never more certain than the large-sample interval


@pytest.mark.parametrize("correlation", [0.0, 0.4, 0.8])
def test_intervals_hold_the_truth_and_are_never_wider_than_those_of_people(correlation):
    replications = 4000
    y, f = draw(np.random.default_rng(2), 100, correlation, shape=(replications,))
    result = result_of(y, f, 20)
    covered = np.sum((result.low <= 0) & (result.high >= 0))
    low, high = stats.binom.ppf([0.0005, 0.9995], replications, 0.95)
    assert low <= covered <= high
    assert np.all(result.high - result.low <= result.people_high - result.people_low)
    assert np.all(result.effective_sample >= 1)
    widths = (result.high - result.low) / (result.people_high - result.people_low)
    # Theory of large samples: 1 / (1 - correlation^2 * share that people did not judge). Tuning costs some of it.
    most = 1 / (1 - correlation**2 * 0.8)
    assert 0.85 * most < np.mean(widths) ** -2 < 1.02 * most
    assert result.is_used.mean() < 0.1 or correlation > 0


def test_what_a_judge_adds_to_all_its_votes_changes_nothing():
    y, f = draw(np.random.default_rng(3), 80, 0.7)
    first, second = result_of(y, f, 25), result_of(y, 5.0 - 3.0 * f, 25)
    assert first.is_used
    assert second.estimate == pytest.approx(first.estimate)
    assert second.low == pytest.approx(first.low)
    assert second.weight * -3.0 == pytest.approx(first.weight)


def test_judges_that_cannot_help_are_not_used():
    y, f = draw(np.random.default_rng(4), 60, 0.95)
    cases = {
        "too few topics": result_of(y, f, FEWEST_TOPICS - 1),
        "no further topics": result_of(y, f, 60),
        "the same vote always": result_of(y, np.ones_like(f), 20),
        "no votes": result_of(y, np.full_like(f, np.nan), 20),
    }
    for case, result in cases.items():
        assert not result.is_used, case
        assert (result.estimate, result.low, result.high) == (result.people, result.people_low, result.people_high), (
            case
        )
        assert result.effective_sample == 1, case
        assert np.all(result.weight == 0), case
    used = result_of(y, f, FEWEST_TOPICS)
    assert used.high - used.low <= (1 - LEAST_GAIN) * (used.people_high - used.people_low)


def test_one_topic_or_equal_values_have_no_interval():
    y, f = draw(np.random.default_rng(5), 30, 0.5)
    assert np.isnan(result_of(y, f, 1).people_low)
    constant = result_of(np.ones(30), f, 20)
    assert constant.people == constant.estimate == 1
    assert np.isnan(constant.low)
    assert np.isnan(constant.correlation)
    with pytest.raises(ValueError, match="between 0 and 1"):
        result_of(y, f, 20, level=1.0)


def test_several_judges_help_more_than_one_and_copies_do_not():
    rng = np.random.default_rng(6)
    y, f = draw(rng, 300, 0.6, judges=3, shape=(200,))
    alone, three = result_of(y, f[:, :1], 60), result_of(y, f, 60)
    copies = result_of(y, np.repeat(f[:, :1], 3, axis=1), 60)
    width = [np.mean(each.high - each.low) for each in (alone, three, copies)]
    assert width[1] < 0.85 * width[0]
    assert width[2] == pytest.approx(width[0], rel=0.02)
    silent = result_of(y, np.concatenate([f[:, :1], np.full_like(f[:, :1], np.nan)], axis=1), 60)
    assert silent.estimate == pytest.approx(alone.estimate)
    assert silent.high == pytest.approx(alone.high)


def test_judges_count_as_their_mean_if_there_are_few_topics():
    y, f = draw(np.random.default_rng(7), 100, 0.8, judges=3)
    several, together = result_of(y, f, 20), result_of(y, f.mean(axis=0, keepdims=True), 20)
    assert several.weight == pytest.approx(np.repeat(together.weight / 3, 3))
    assert (several.estimate, several.low) == pytest.approx((together.estimate, together.low))


def test_means_have_terms_by_topic():
    values, topic = np.array([1.0, 2.0, 4.0, 0.0]), np.array([0, 0, 2, 2])
    side = assisted.mean(values, topic, 4, weight=np.array([1.0, 1.0, 1.0, 2.0]))
    assert side.value == pytest.approx(7 / 5)
    assert side.terms == pytest.approx([(-0.4 + 0.6) / 5, 0, (2.6 - 2 * 1.4) / 5, 0])
    assert np.isnan(assisted.mean([], np.zeros(0, int), 3).value)


@pytest.mark.extended
def test_coverage_from_ten_topics_on():
    replications = 20_000
    for n in (10, 15, 30):
        for correlation in (0.0, 0.6, 0.9):
            y, f = draw(np.random.default_rng(n), 5 * n, correlation, shape=(replications,))
            result = result_of(y, f, n)
            covered = np.mean((result.low <= 0) & (result.high >= 0))
            assert 0.94 - 0.003 < covered < 0.96, (n, correlation, covered)
