"""Signals on judges of known kinds: who does as asked is hardly ever flagged, who does not is found."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from annotation.quality.screening import measures, proposals, signals
from annotation.quality.screening.measures import Answer, Trust, Work
from annotation.quality.screening.signals import ProposedAction
from tests.annotation.quality import planted_judges as judges

LOOKS = ("straight_lining", "one_sided", "disagrees", "gold_missed")


def rates(judge: judges.Judge, count: int, *, noise: float = 1.0, seed: int = 0) -> dict[str, float]:
    """How often each signal is given to this kind of judge, and any at all."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    for _ in range(count):
        names = {each.name for each in signals.signals_of(judges.planted(judge, rng, noise=noise))}
        found.update(names)
        found["any"] += bool(names)
    return {name: found[name] / count for name in (*LOOKS, "any")}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("honest", "planted"), [(150, 60), pytest.param(5000, 2000, marks=pytest.mark.soak)], ids=["some", "many"]
)
def test_honest_judges_are_hardly_flagged_and_planted_ones_found(honest: int, planted: int) -> None:
    for noise in (0.7, 1.0, 1.5):
        found = rates(partial(judges.honest, noise=noise), honest, noise=noise)
        assert found["straight_lining"] == 0
        assert found["one_sided"] <= 0.03
        assert found["disagrees"] <= 0.06
        assert found["gold_missed"] <= 0.06
        assert found["any"] <= 0.12
    left, chance = (rates(kind, planted) for kind in (judges.always_left, judges.at_random))
    assert left["straight_lining"] == 1
    assert left["one_sided"] >= 0.97
    assert rates(judges.neither_where_allowed, planted)["any"] == 1
    assert chance["disagrees"] >= 0.6
    assert chance["any"] >= 0.75
    assert rates(judges.one_side_an_item, planted)["any"] >= 0.6


def named(work: Work) -> dict[str, ProposedAction]:
    return {each.name: each.proposes for each in signals.signals_of(work)}


@pytest.fixture
def clean() -> Work:
    """Somebody whose answers nothing speaks against."""
    rng = np.random.default_rng(3)
    found = judges.planted(judges.honest, rng)
    assert named(found) == {}
    return found


def changed(work: Work, **known: object) -> Work:
    return Work(**{**vars(work), **known})


def test_faster_than_the_studys_limit_proposes_to_reject(clean: Work) -> None:
    # Where the study has no limit for a questionnaire, it is 20 seconds a text: 600 for thirty texts.
    for limit in ({"minimum_seconds": 600}, {}):
        assert named(changed(clean, seconds=599.0, **limit)) == {"too_fast": ProposedAction.REJECT}
        assert named(changed(clean, seconds=600.0, **limit)) == {}


def test_active_time_and_fast_items_propose_to_look(clean: Work) -> None:
    assert named(changed(clean, seconds=4000.0, active_seconds=400.0)) == {"too_fast": ProposedAction.LOOK}
    slow = {item: 300.0 if item < 7 else 39.0 for item in range(judges.ITEMS)}
    assert named(changed(clean, seconds=4000.0, item_seconds=slow)) == {"too_fast": ProposedAction.LOOK}
    fewer = {item: 300.0 if item < 8 else 39.0 for item in range(judges.ITEMS)}
    assert named(changed(clean, seconds=4000.0, item_seconds=fewer)) == {}


def test_two_failed_checks_are_needed_in_long_studies(clean: Work) -> None:
    for passed, needed, proposed in (
        ([True, True], 2, None),
        ([True, False], 2, ProposedAction.LOOK),
        ([False, False], 2, ProposedAction.REJECT),
        ([True, False], 1, ProposedAction.REJECT),
    ):
        found = named(changed(clean, checks=judges.checked(passed), fails_needed=needed))
        assert found.get("failed_checks") is proposed


def test_low_competence_on_half_of_the_dimensions(clean: Work) -> None:
    def trust(low: int) -> tuple[Trust, ...]:
        return tuple(Trust(f"d{n}", 0.9 if n < low else 0.2, None, None, 15) for n in range(7))

    assert named(changed(clean, trust=trust(4))) == {"low_competence": ProposedAction.LOOK}
    assert named(changed(clean, trust=trust(3))) == {}


def test_flags_of_the_same_answer_depend_on_the_judges_own_answers_alone() -> None:
    left = judges.always_left(np.random.default_rng(0), np.zeros((1, 1)))
    for others in ([], [left, left, left]):
        assert {"straight_lining", "one_sided"} <= set(named(judges.work(left, others)))


def test_every_signal_is_explained_and_names_innocent_causes() -> None:
    rng = np.random.default_rng(1)
    known = {"seconds": 9.0, "checks": judges.checked([False, False]), "trust": (Trust("d", 0.9, 0.8, 1.0, 15),)}
    found = signals.signals_of(changed(judges.planted(judges.always_left, rng), **known))
    assert {each.name for each in found} >= {"too_fast", "failed_checks", "straight_lining", "low_competence"}
    assert all(each.title and each.words and each.explanation and each.innocent for each in found)
    assert proposals.propose(found).what is ProposedAction.REJECT
    assert proposals.propose([]).what is ProposedAction.ACCEPT


def test_nothing_is_said_without_data() -> None:
    assert signals.signals_of(Work((), {})) == []
    alone = judges.work(judges.honest(np.random.default_rng(0), judges.truth(np.random.default_rng(0))))
    assert signals.signals_of(alone) == []


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_interval_is_exact(hits: int, more: int) -> None:
    n = hits + more
    low, high = measures.interval(hits, n)
    assert 0 <= low <= (hits / n if n else 0.5) <= high <= 1
    # Clopper and Pearson: at each end, as extreme a count has a probability of 2.5 %.
    if hits:
        assert binom.sf(hits - 1, n, low) == pytest.approx(0.025)
    if more:
        assert binom.cdf(hits, n, high) == pytest.approx(0.025)


VALUES = st.sampled_from([-1, 0, 1])
VOTES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3), VALUES, st.lists(VALUES, max_size=4)), max_size=20)


@given(VOTES, st.floats(0, 1e6) | st.none())
def test_any_answers_give_figures_that_can_be_stored(
    rows: list[tuple[int, int, int, list[int]]], seconds: float | None
) -> None:
    once = {(item, dimension): (value, theirs) for item, dimension, value, theirs in rows}
    answers = tuple(Answer(*cell, value, (-1, 0, 1)) for cell, (value, _theirs) in sorted(once.items()))
    others = {cell: Counter(theirs) for cell, (_value, theirs) in once.items() if theirs}
    work = Work(answers, {item: 2 for item, _ in once}, others, seconds=seconds)
    limits = signals.SignalLimits(least_answers=0, least_items=0, one_sided=2.0, better_than_chance=1e9)
    for each in signals.signals_of(work, limits):
        assert np.isfinite([value for value in each.evidence.values() if value is not None]).all()
    # What is said depends on the answers, not on the order in which others gave theirs.
    turned = {cell: Counter(reversed(list(theirs.elements()))) for cell, theirs in others.items()}
    again = Work(answers, work.texts, turned, seconds=seconds)
    assert [each.evidence for each in signals.signals_of(work)] == [each.evidence for each in signals.signals_of(again)]


def test_agreement_by_hand() -> None:
    """Two items, one dimension: A and B given, the others' majority is A and B, habits are half and half."""
    answers = (Answer(1, 9, -1, (-1, 1)), Answer(2, 9, 1, (-1, 1)))
    others = {(1, 9): Counter({-1: 2}), (2, 9): Counter({1: 2, -1: 1})}
    found = measures.majority_agreement(Work(answers, {1: 2, 2: 2}, others))
    assert found == measures.MajorityAgreement(n=2, items=2, hits=2, expected=0.5, z=measures.CERTAIN)
    assert measures.majority({-1: 2, 1: 2}) is None
    assert measures.majority({-1: 1}) is None


def test_runs_and_sides_by_hand() -> None:
    values = [[-1, -1, 0], [-1, 1, 1]]
    answers = tuple(Answer(i, d, value, (-1, 0, 1)) for i, row in enumerate(values) for d, value in enumerate(row))
    work = Work(answers, {0: 2, 1: 2}, {(0, 0): Counter({-1: 3, 1: 1})})
    assert measures.answer_runs(work) == measures.AnswerRuns(n=6, items=2, longest=2, common=-1, share=0.5, others=0.75)
    found = measures.sides(work)
    assert found is not None
    assert (found.left, found.right, found.items_left, found.items_right) == (3, 2, 1, 1)
    assert (found.p, found.others) == (1.0, 0.75)


@pytest.mark.parametrize("options", [(-1, 0, 1), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize(
    ("items", "dimensions", "is_remarked"), [(5, 1, True), (3, 2, True), (2, 7, False), (4, 1, False)]
)
def test_a_short_questionnaire_is_remarked_where_all_its_answers_are_the_same(
    options: tuple[int, ...], items: int, dimensions: int, is_remarked: bool
) -> None:
    asked = [(item, dimension) for item in range(items) for dimension in range(dimensions)]
    answers = [Answer(item, dimension, options[-1], options) for item, dimension in asked]
    texts = dict.fromkeys(range(items), 1 if 5 in options else 2)
    assert ("straight_lining" in named(Work(tuple(answers), texts))) == is_remarked
    other = [*answers[:-1], Answer(items - 1, dimensions - 1, options[0], options)]
    assert "straight_lining" not in named(Work(tuple(other), texts))
