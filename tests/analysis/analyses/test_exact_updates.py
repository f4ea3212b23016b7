"""An update gives what the full analysis of the same judgments gives, to the byte; without a database."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.inputs.arrays import Inputs
from analysis.methods import fits, grade_fits, registry
from analysis.methods.registry import compute
from analysis.methods.reusable_fits import ReusableFits
from analysis.methods.settings import AnalysisSettings
from analysis.stats import mace_posterior
from tests.analysis.analyses import synthetic_inputs
from tests.examples import examples

QUICK = AnalysisSettings(resamples=20, restarts=3, refine=2, labels="likeliest")
LIVE = {table.name for method in registry.METHODS if method.is_live for table in method.tables}


@pytest.fixture(autouse=True)
def live_only(monkeypatch):
    """What updates do not make is not needed here."""
    monkeypatch.setattr(registry, "METHODS", tuple(each for each in registry.METHODS if each.is_live))


def analysed(inputs: Inputs, earlier: ReusableFits | None = None, how: AnalysisSettings = QUICK) -> registry.Results:
    return compute(inputs, settings=how, seed=3, earlier=earlier)


def earlier(before: Inputs, how: AnalysisSettings = QUICK) -> ReusableFits:
    """An analysis of what was before, as it comes back from the database."""
    base = analysed(before, how=how)
    return ReusableFits(before, *json.loads(json.dumps([base.fits, base.tables])))


def updated(before: Inputs, now: Inputs, how: AnalysisSettings = QUICK) -> registry.Results:
    return analysed(now, earlier(before, how), how)


def same(one: registry.Results, other: registry.Results) -> None:
    assert set(one.tables) == set(other.tables) == LIVE
    for name in LIVE - {"mace"}:
        assert json.dumps(one.tables[name]) == json.dumps(other.tables[name]), name


def equal_labels(one: registry.Results, other: registry.Results) -> float:
    pairs = zip(one.tables["gold"], other.tables["gold"], strict=True)
    return float(np.mean([a["label"] == b["label"] for a, b in pairs]))


def counted(monkeypatch, module, name: str, size) -> list[int]:
    """How large what a function is called with is, each time."""
    sizes: list[int] = []
    real = getattr(module, name)

    def watched(given, *more, **how):
        sizes.append(size(given))
        return real(given, *more, **how)

    monkeypatch.setattr(module, name, watched)
    return sizes


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.05), st.integers(1, 200))
@settings(max_examples=examples(1), deadline=None)
def test_an_update_is_the_full_analysis_to_the_byte(seed, size, held_out):
    """Random small studies; the last judgments come in, of pairs and by people that are new; and they go again."""
    now = synthetic_inputs.study(size, seed=seed)
    before = synthetic_inputs.without_last(now, min(held_out, len(now.main.row) // 2))
    same(updated(before, now), analysed(now))
    same(updated(now, before), analysed(before))


@pytest.mark.extended
def test_what_did_not_change_is_not_fitted_again(monkeypatch):
    now = synthetic_inputs.study(0.2, seed=2)
    before = earlier(synthetic_inputs.without_last(now, 50))
    fitted = counted(monkeypatch, fits.mace, "fit_together",
                     lambda given: max(int(np.isnan(each.settled.spam).sum()) for each in given))  # fmt: skip
    analysed(now, before)
    assert max(fitted) <= 10 < len(now.main.participants)


@pytest.mark.extended
def test_a_known_label_that_comes_later_is_heard():
    now = synthetic_inputs.study(0.1, seed=4)
    pool = replace(now.main, known=((0, 0, 2), (3, 2, 0)))
    now = replace(now, pools={"crowd": pool})
    before = replace(now, pools={"crowd": replace(pool, known=((5, 1, 1),))})
    same(updated(before, now), analysed(now))


@pytest.mark.extended
def test_where_much_changed_or_by_the_published_procedure_the_earlier_fit_is_gone_on_from(monkeypatch):
    now = synthetic_inputs.study(0.2, seed=5)
    before = synthetic_inputs.without_last(now, 100)
    published = replace(QUICK, restarts=20, refine=0)
    full = analysed(now, how=published)
    same(updated(now, now, published), full)
    assert equal_labels(updated(before, now, published), full) > 0.9
    monkeypatch.setattr(fits, "SEARCHED", 10)
    how = replace(QUICK, restarts=20, refine=4)
    warm, full = updated(before, now, how), analysed(now, how=how)
    assert equal_labels(warm, full) > 0.985
    # As likely as what the full analysis finds, but for what a search can find.
    for a, b in zip(warm.tables["mace"], full.tables["mace"], strict=True):
        assert a["log_likelihood"] > b["log_likelihood"] - 1.0


@pytest.mark.extended
def test_a_dimension_that_could_not_be_fitted_before_is_fitted_when_it_can():
    now = synthetic_inputs.study(0.05, seed=7)
    pool = now.main
    alike = replace(pool, value=np.where(pool.dimension == 1, 0, pool.value))
    before = replace(now, pools={"crowd": alike})
    same(updated(before, now), analysed(now))
    gold = updated(now, before).tables["gold"]
    assert {row["label"] for row in gold if row["dimension"] == synthetic_inputs.DIMENSIONS[1]} == {None}


@pytest.mark.extended
def test_an_update_with_averaged_labels_is_the_full_analysis_to_the_byte(monkeypatch):
    whole = synthetic_inputs.study(0.1, seed=8)
    now = replace(whole, pools={"crowd": synthetic_inputs.some(whole.main, whole.main.dimension == 0)})
    how = replace(QUICK, labels="averaged")
    full, before = analysed(now, how=how), earlier(synthetic_inputs.without_last(now, 20), how)
    sampled = counted(monkeypatch, mace_posterior, "Chains", lambda problem: len(problem.unit))
    graded = counted(monkeypatch, grade_fits, "impute", lambda part: len(part.comparisons.problems))
    same(analysed(now, before, how), full)
    assert any(row["grade"] % 0.5 for row in full.tables["grades"])
    # Parts to which no judgment came in are taken from the earlier analysis, and so are grades of their topics.
    assert 0 < sum(sampled) < len(now.main.unit) / 2
    assert 0 < sum(graded) < len(now.topics)
