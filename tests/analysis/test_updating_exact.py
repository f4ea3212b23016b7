"""An update gives what the full analysis of the same judgments gives, to the byte; without a database."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.domain.inputs import Inputs
from analysis.domain.results import compute, computing, fitting, grading
from analysis.domain.results.earlier import Earlier
from analysis.domain.results.settings import Settings
from analysis.stats import mace_posterior
from tests.analysis import synthetic
from tests.examples import examples

QUICK = Settings(resamples=20, restarts=3, refine=2, labels="likeliest")
LIVE = {"agreement", "agreement_means", "competence", "gold", "grades", "grade_means", "mace"}


@pytest.fixture(autouse=True)
def live_only(monkeypatch):
    """What updates do not make is not needed here."""
    monkeypatch.setattr(computing, "FAMILIES", tuple(family for family in computing.FAMILIES if family.live))


def analysed(inputs: Inputs, earlier: Earlier | None = None, how: Settings = QUICK) -> computing.Results:
    return compute(inputs, settings=how, seed=3, earlier=earlier)


def updated(before: Inputs, now: Inputs, how: Settings = QUICK) -> computing.Results:
    base = analysed(before, how=how)
    # As they come back from the database.
    fits, tables = json.loads(json.dumps([base.fits, base.tables]))
    return analysed(now, Earlier(before, fits, tables), how)


def same(one: computing.Results, other: computing.Results, but: frozenset[str] = frozenset({"mace"})) -> None:
    assert set(one.tables) == set(other.tables) == LIVE
    for name in LIVE - but:
        assert json.dumps(one.tables[name]) == json.dumps(other.tables[name]), name


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.05), st.integers(1, 200))
@settings(max_examples=examples(6), deadline=None)
def test_an_update_is_the_full_analysis_to_the_byte(seed, size, held_out):
    """Random small studies; the last judgments come in: judgments of pairs that are new, and by people who are."""
    now = synthetic.study(size, seed=seed)
    before = synthetic.without_last(now, min(held_out, len(now.main.row) // 2))
    same(updated(before, now), analysed(now))


def test_judgments_that_go_are_an_update_too():
    before = synthetic.study(0.1, seed=1)
    now = synthetic.without_last(before, 60)
    same(updated(before, now), analysed(now))


def test_what_did_not_change_is_not_fitted_again(monkeypatch):
    now = synthetic.study(0.2, seed=2)
    before = synthetic.without_last(now, 50)
    seen: list[int] = []
    real = fitting.mace.fit_together

    def watched(given, **how):
        seen.extend(0 if each.settled is None else int(np.isnan(each.settled.spam).sum()) for each in given)
        return real(given, **how)

    monkeypatch.setattr(fitting.mace, "fit_together", watched)
    base = analysed(before)
    seen.clear()
    analysed(now, Earlier(before, base.fits, base.tables))
    assert len(seen) == 7
    assert max(seen) <= 10 < len(now.main.participants)


def test_a_known_label_that_is_told_later_is_heard():
    now = synthetic.study(0.1, seed=4)
    pool = replace(now.main, known=((0, 0, 2), (3, 2, 0)))
    now = replace(now, pools={"crowd": pool})
    before = replace(now, pools={"crowd": replace(pool, known=((5, 1, 1),))})
    same(updated(before, now), analysed(now))


def test_where_much_changed_the_earlier_fit_is_gone_on_from(monkeypatch):
    monkeypatch.setattr(fitting, "SEARCHED", 10)
    now = synthetic.study(0.2, seed=5)
    before = synthetic.without_last(now, 100)
    how = replace(QUICK, restarts=20, refine=4)
    warm, full = updated(before, now, how), analysed(now, how=how)
    equal = [a["label"] == b["label"] for a, b in zip(warm.tables["gold"], full.tables["gold"], strict=True)]
    assert np.mean(equal) > 0.985
    # As likely as what the full analysis finds, but for what a search can find.
    for a, b in zip(warm.tables["mace"], full.tables["mace"], strict=True):
        assert a["log_likelihood"] > b["log_likelihood"] - 1.0


def test_the_published_procedure_goes_on_from_the_earlier_fit_where_anything_changed():
    now = synthetic.study(0.2, seed=6)
    how = replace(QUICK, restarts=20, refine=0)
    same(updated(now, now, how), analysed(now, how=how))
    warm, full = updated(synthetic.without_last(now, 100), now, how), analysed(now, how=how)
    equal = [a["label"] == b["label"] for a, b in zip(warm.tables["gold"], full.tables["gold"], strict=True)]
    assert np.mean(equal) > 0.9


def test_a_dimension_that_could_not_be_fitted_before_is_fitted_when_it_can():
    now = synthetic.study(0.05, seed=7)
    pool = now.main
    alike = replace(pool, value=np.where(pool.dimension == 1, 0, pool.value))
    before = replace(now, pools={"crowd": alike})
    same(updated(before, now), analysed(now))
    found = updated(now, before)
    assert {row["label"] for row in found.tables["gold"] if row["dimension"] == synthetic.DIMENSIONS[1]} == {None}


def test_updates_make_what_they_say_and_take_no_texts():
    assert {family.title for family in computing.FAMILIES} == {"Agreement", "Labels", "Grades"}


def test_an_update_with_averaged_labels_is_the_full_analysis_to_the_byte(monkeypatch):
    whole = synthetic.study(0.1, seed=8)
    now = replace(whole, pools={"crowd": synthetic.some(whole.main, whole.main.dimension == 0)})
    before = synthetic.without_last(now, 20)
    how = replace(QUICK, labels="averaged")
    full, base = analysed(now, how=how), analysed(before, how=how)
    sampled: list[int] = []
    real = mace_posterior.Chains

    def watched(problem, *how):
        sampled.append(len(problem.unit))
        return real(problem, *how)

    graded: list[int] = []
    impute = grading.impute

    def watched_grades(part, *how):
        graded.append(len(part.comparisons.problems))
        return impute(part, *how)

    monkeypatch.setattr(mace_posterior, "Chains", watched)
    monkeypatch.setattr(grading, "impute", watched_grades)
    fits, tables = json.loads(json.dumps([base.fits, base.tables]))
    same(analysed(now, Earlier(before, fits, tables), how), full)
    assert any(row["grade"] % 0.5 for row in full.tables["grades"])
    # Parts to which no judgment came in are taken from the earlier analysis, and so are grades of their topics.
    assert 0 < sum(sampled) < len(now.main.unit) / 2
    assert 0 < sum(graded) < len(now.topics)
