"""What designs can find out: against closed forms, and whether what is promised is kept."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from analysis.stats import calibration, designs, planning, significance
from analysis.stats.designs import Competence, Design, Expectation
from analysis.stats.simulation import simulate


def people(spam: float, dimensions: int = 1) -> Competence:
    return Competence(np.full((1, dimensions), spam), np.full((1, dimensions, 3), 1 / 3))


def duel(topics: int, k: int = 2) -> Design:
    """A person's and a model's response to each topic, judged once in one order, no way out."""
    return Design(topics=topics, responses=2, dimensions=1, forced=1, k=k, both_orders=0)


def planned(design: Design, expected: Expectation, n: int, seed: int = 0):
    return planning.plan(design, expected, simulations=n, rng=np.random.default_rng(seed))


@pytest.mark.extended
@pytest.mark.parametrize("topics", [50, 200])
def test_the_width_of_a_mean_is_that_of_coins(topics):
    """Two responses, no difference: each topic's grades are a coin, 1 or 2, and the mean's interval is known."""
    found = planned(duel(topics), Expectation(people(0.0), spread=0.0), 12)
    closed = 2 * 1.96 * 0.5 / np.sqrt(topics)
    assert found["mean_grade_width"].value == pytest.approx(closed, rel=0.12 if topics < 100 else 0.07)
    assert found["difference_width"].value == pytest.approx(2 * closed, rel=0.12 if topics < 100 else 0.07)
    assert found["label_accuracy"].value == pytest.approx(1.0)
    assert found["alpha"].value == pytest.approx(1.0)


@pytest.mark.extended
def test_widths_go_with_one_over_the_root_of_the_number_of_topics():
    expected = Expectation(people(0.4, 2), effect=0.5)
    few, many = (planned(Design(topics=n, responses=4, dimensions=2, forced=0), expected, 6) for n in (30, 120))
    for name in ("mean_grade_width", "difference_width", "alpha_width"):
        assert few[name].value / many[name].value == pytest.approx(2.0, rel=0.2)


@pytest.mark.extended
def test_power_is_that_of_the_test_summed_over_what_can_happen():
    """With all differences 1 or -1 the test's p depends on how often the model won: power is a binomial sum."""
    topics, effect = 60, 0.7
    found = planned(duel(topics, k=6), Expectation(people(0.0), effect=effect, spread=0.0), 80)
    wins = np.arange(topics + 1)
    p = np.array([significance.signed_rank(np.repeat([1.0, -1.0], [w, topics - w])).p for w in wins])
    closed = stats.binom.pmf(wins, topics, expit(effect))[p <= 0.05].sum()
    assert found["power"].low < closed < found["power"].high
    assert found["power"].value == pytest.approx(closed, abs=0.1)


@pytest.mark.extended
def test_without_an_effect_few_tests_find_one():
    design = Design(topics=25, responses=6, styles=3, dimensions=2, forced=0, k=3)
    found = planned(design, Expectation(people(0.3, 2)), 30)
    assert found["power"].value < 0.08
    assert abs(found["difference"].value) < 0.15


def test_more_judges_and_better_ones_give_truer_labels():
    design = Design(topics=20, responses=5, dimensions=1, forced=0, k=3)
    more = Design(topics=20, responses=5, dimensions=1, forced=0, k=9)
    low, high = planned(design, Expectation(people(0.6)), 4), planned(more, Expectation(people(0.6)), 4)
    able = planned(design, Expectation(people(0.2)), 4)
    assert low["label_accuracy"].value < high["label_accuracy"].value
    assert low["label_accuracy"].value < able["label_accuracy"].value
    assert low["alpha"].value < able["alpha"].value


def test_ranks_are_surer_where_more_people_judge_and_certain_where_all_look():
    few, many, sure = (
        planned(Design(topics=15, responses=5, dimensions=1, forced=0, k=k), Expectation(people(spam)), 3)
        for k, spam in ((3, 0.6), (9, 0.6), (5, 0.0))
    )
    assert few["rank_width"].value > 1.3 * many["rank_width"].value
    assert sure["rank_width"].value == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize(
    ("posterior", "width"), [((0.5, 0, 0.5), 1.0), ((1, 0, 0), 0.0), ((0, 0, 1), 0.0), ((0, 1, 0), 0.0)]
)
def test_a_grade_is_as_open_as_its_labels(posterior, width):
    """Each is first as often as last where both labels are as probable, and stays where one is sure."""
    rng = np.random.default_rng(3)
    study = simulate(duel(10), Expectation(people(0.0)), rng)
    drawn = rng.choice(3, p=posterior, size=(10, 1, 60))
    assert planning._rank_width(planning.fit_grades(study, drawn)[0]) == width


@pytest.mark.extended
def test_the_interval_of_an_expectation_narrows_with_simulations_and_one_has_none():
    expected = Expectation(people(0.4), effect=0.5)
    few, many = (planned(Design(topics=15, responses=4, dimensions=1, forced=0), expected, n) for n in (4, 40))
    assert many["alpha"].high - many["alpha"].low < few["alpha"].high - few["alpha"].low
    one = planned(Design(topics=15, responses=4, dimensions=1, forced=0), expected, 1)["alpha"]
    assert np.isnan([one.low, one.high]).all()
    assert one.simulations == 1


def test_a_share_that_never_varied_is_not_certain():
    sure = planning.summarise([dict.fromkeys(planning.MEASURES, 1.0)] * 5)
    assert (sure["power"].value, sure["power"].high) == (1.0, 1.0)
    assert sure["power"].low == pytest.approx(0.566, abs=0.001)  # Wilson's, 5 of 5
    assert sure["alpha"].low == 1.0


def test_what_judgments_cannot_say_is_not_said():
    """Everybody always says n: no alpha, no competence, no grades."""
    always = Competence(np.ones((1, 1)), np.array([[[0.0, 1.0, 0.0]]]))
    found = planned(Design(topics=5, responses=3, dimensions=1, forced=0), Expectation(always), 2)
    assert {name for name, each in found.items() if each.simulations} == set()
    assert np.isnan([each.value for each in found.values()]).all()
    alone = planned(Design(topics=8, responses=4, dimensions=1, forced=0, k=1), Expectation(people(0.2)), 2)
    assert np.isnan(alone["label_accuracy"].value)
    assert np.isnan(alone["alpha"].value)


def test_equal_seeds_give_equal_plans():
    design, expected = Design(topics=8, responses=4, dimensions=2, forced=1), Expectation(people(0.4, 2), effect=0.4)
    once, again = (planned(design, expected, 3) for _ in range(2))
    assert once == again
    assert once != planned(design, expected, 3, seed=1)
    with pytest.raises(ValueError, match=r"\S"):
        planned(design, expected, 0)


@pytest.mark.extended
def test_the_expectation_behind_a_study_is_found_again():
    rng = np.random.default_rng(2)
    design = Design(topics=100, responses=6, styles=3, dimensions=2, forced=0)
    crowd = designs.competence(0.6, 0.2, dimensions=2, rng=rng)
    truth = Expectation(
        crowd, effect=1.0, spread=1.5, neutral=0.25, correlation=0.7, difficulty=0.5, topic_effect=1.5, style_effect=0.7
    )
    like = calibration.found_in(simulate(design, truth, rng), rng)
    found = calibration.calibrate(design, crowd, like, rng=rng)
    assert found.effect == pytest.approx(truth.effect, abs=0.3)
    assert found.spread == pytest.approx(truth.spread, rel=0.25)
    assert np.hypot(found.topic_effect, found.own_topic_effect) == pytest.approx(truth.topic_effect, rel=0.35)
    assert found.style_effect == pytest.approx(0.7, abs=0.5)
    assert found.neutral == pytest.approx(truth.neutral, abs=0.04)
    assert found.correlation == pytest.approx(truth.correlation, abs=0.12)
    assert (1 - found.competence.spam).mean() == pytest.approx(0.6, abs=0.05)
    assert found.difficulty == pytest.approx(truth.difficulty, abs=0.45)


@pytest.mark.extended
def test_merits_may_go_together_less_than_labels_do():
    """Differences over all dimensions vary less between topics than labels' correlation would have them."""
    rng = np.random.default_rng(3)
    design = Design(topics=60, responses=6, dimensions=4, forced=0)
    crowd = designs.competence(0.7, 0.2, dimensions=4, rng=rng)
    truth = Expectation(crowd, effect=1.0, spread=2.0, neutral=0.25, correlation=0.9, merit_correlation=0.2)
    like = calibration.found_in(simulate(design, truth, rng), rng)
    found = calibration.calibrate(design, crowd, like, rng=rng)
    assert found.merit_correlation < 0.6 < found.correlation
    seen = [calibration.found_in(simulate(design, found, rng), rng) for _ in range(6)]
    assert np.mean([each.by_topic_all for each in seen]) == pytest.approx(like.by_topic_all, rel=0.2)
    assert np.mean([each.by_topic for each in seen]) == pytest.approx(like.by_topic, rel=0.15)


@pytest.mark.extended
def test_a_plan_of_the_same_styles_has_the_effects_that_they_had():
    rng = np.random.default_rng(4)
    design = Design(topics=60, responses=6, styles=3, dimensions=2, forced=0, k=3)
    pattern = np.array([[1.5, 0.0], [-1.5, 0.5], [0.0, -0.5]])
    truth = Expectation(people(0.1, 2), effect=1.0, spread=0.5, style_effect=1.5, style_pattern=pattern)
    like = calibration.found_in(simulate(design, truth, rng), rng)
    found = calibration.calibrate(design, people(0.1, 2), like, rng=rng)
    assert found.style_effect == pytest.approx(1.5, rel=0.4)
    again = calibration.found_in(simulate(design, found, rng), rng)
    assert np.corrcoef(again.differences.ravel(), pattern.ravel())[0, 1] > 0.75
    # Other numbers of styles have effects of their own.
    simulate(Design(topics=5, responses=4, styles=2, dimensions=2, forced=0, k=3), found, rng)


def test_an_analysis_is_summed_up_by_hand():
    merit = [[0.0], [2.0], [1.0], [5.0]]  # two of a person, two of a model, one topic
    grade = [[1.0], [3.0], [2.0], [6.0]]
    found = calibration.study_findings(merit, [0, 0, 0, 0], [0, 0, 1, 1], [[0], [1], [2], [1]], grade=grade)
    assert found.spread == pytest.approx(np.sqrt((1 + 1 + 4 + 4) / 2))
    assert (found.difference, found.neutral, found.correlation) == (2.0, 0.5, 0.0)
    with pytest.raises(calibration.NoEstimateError):
        calibration.study_findings([[0.0], [1.0]], [0, 0], [0, 1], [[0]], grade=[[1.0], [2.0]])


def test_one_response_of_each_origin_says_how_responses_of_a_topic_differ():
    merit = [[0.0], [2.0], [1.0], [5.0]]  # differences of 2 and 4: a variance of 2, half of it for each response
    found = calibration.study_findings(merit, [0, 0, 1, 1], [0, 1, 0, 1], [[0], [1]], grade=merit)
    assert found.spread == pytest.approx(1.0)


def test_variances_of_differences_between_topics_and_styles_by_hand():
    """Three topics, two styles, one response of either origin each: models' grades less people's."""
    apart = np.array([[1.0, 3.0], [2.0, 5.0], [0.0, 4.0]])  # topics by styles
    topic, style, origin = (each.ravel() for each in np.indices((3, 2, 2)))
    grade = np.where(origin == 1, apart[topic, style], 0.0)[:, None]
    found = calibration.study_findings(grade, topic, origin, [[0], [2]], grade=grade, style=style)
    means = apart.mean(axis=1)
    assert found.difference == pytest.approx(apart.mean())
    assert found.by_topic == pytest.approx(means.var(ddof=1))
    assert found.by_topic_all == pytest.approx(means.var(ddof=1))
    noise = apart.var(axis=0, ddof=1).mean() / 3
    assert found.by_style == pytest.approx(apart.mean(axis=0).var(ddof=1) - noise)
