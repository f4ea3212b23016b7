"""Another seed moves no mean grade by more than what is promised; without a database."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from analysis.methods import registry
from analysis.methods.registry import compute
from analysis.methods.settings import AnalysisSettings
from tests.analysis.analyses import synthetic_inputs

LIMIT = 0.02


def furthest(labels: str) -> float:
    """The largest difference of a mean grade between seeds, in a study of ten topics and a crowd that often guesses."""
    whole = synthetic_inputs.study(0.15, seed=2)
    study = replace(whole, pools={"crowd": synthetic_inputs.some(whole.main, whole.main.dimension == 2)})
    settings = AnalysisSettings(resamples=10, restarts=5, labels=labels)
    means = []
    for seed in (0, 1):
        rows = compute(study, settings=settings, seed=seed).tables["grade_means"]
        means.append(np.array([row["mean"] for row in rows]))
    return max(float(np.abs(one - other).max()) for one, other in combinations(means, 2))


@pytest.mark.extended
def test_another_seed_moves_no_mean_grade(monkeypatch):
    monkeypatch.setattr(registry, "METHODS", tuple(each for each in registry.METHODS if each.is_live))
    assert furthest(AnalysisSettings().labels) <= LIMIT
    assert furthest("likeliest") > LIMIT
