"""Planned for the sample's own design, with its fitted competences: what was really found on it."""

import numpy as np
import pytest

from analysis.methods import fits
from analysis.methods.agreement import compute as agreement_compute
from analysis.methods.context import Context
from analysis.methods.grades import compute as grades_compute
from analysis.methods.settings import AnalysisSettings
from analysis.planning.expectations import source_of_analysis
from analysis.stats import calibration, designs, planning
from analysis.stats.simulation import simulate
from tests.analysis.analyses import test_sample

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not test_sample.DATA, reason="CROWDRAG_DATA is not set: the sample is not at hand"),
]
STUDIES = 40


@pytest.fixture(scope="module")
def analysed() -> Context:
    inputs, chosen = test_sample.as_inputs(test_sample.lines("raw/study2_responses")), AnalysisSettings()
    fitted = fits.fit(inputs, "crowd", settings=chosen, seed=0, report=lambda _message: None, capped=True)
    found = Context(
        inputs=inputs, texts=(), settings=chosen, seed=0, fitted={"crowd": fitted},
        masks=agreement_compute.split_masks(fitted), step=lambda _message: None,
    )  # fmt: skip
    for family in (agreement_compute.compute_tables, grades_compute.compute_tables, grades_compute.compute_comparisons):
        found.tables |= family(found)
    return found


def really_found(tables: dict) -> dict[str, float]:
    """What the analysis of the sample says, by the names of a plan's measures."""
    alphas = [row for row in tables["agreement"] if (row["split"], row["coders"]) == ("complete", "crowd")]
    means = [row for row in tables["grade_means"] if row["style"] == "all" and row["origin"] != "all"]
    each = [row for row in means if row["dimension"] != "all"]
    margin = {row["origin"]: row for row in means if row["dimension"] == "all"}
    tests = [row for row in tables["grade_tests"] if row["comparison"] == "human - model" and row["style"] != "all"]
    by_dimension = [row for row in tests if row["dimension"] != "all"]

    def width(rows):
        return float(np.mean([row["high"] - row["low"] for row in rows]))

    return {
        "alpha": float(np.mean([row["alpha"] for row in alphas])),
        "alpha_width": width(alphas),
        "mean_grade_width": width(each),
        "mean_grade_all_width": width(list(margin.values())),
        "difference": margin["model"]["mean"] - margin["human"]["mean"],
        "power": float(np.mean([row["p_adjusted"] <= 0.05 for row in by_dimension])),
        "rank_width": float(np.mean([row["rank_high"] - row["rank_low"] for row in tables["grades"]])),
    }


def test_what_is_planned_is_what_was_found(analysed, capsys):
    design, people, like = source_of_analysis(analysed.inputs, analysed.main, analysed.tables)
    assert design == designs.Design(
        topics=40, responses=6, styles=3, dimensions=7, forced=1, k=5, both_orders=0.4, pairs=15, items=10
    )
    expected = calibration.calibrate(design, people, like, rng=np.random.default_rng(0))
    rng = np.random.default_rng(1)
    studies = [planning.analyse(simulate(design, expected, rng), rng) for _ in range(STUDIES)]
    found = really_found(analysed.tables)
    for name, value in found.items():
        simulated = np.array([study[name] for study in studies])
        low, high = np.quantile(simulated, [0.01, 0.99])
        with capsys.disabled():
            print(f"{name:21} planned {simulated.mean():.3f} [{low:.3f}, {high:.3f}] found {value:.3f}")
        assert low <= value <= high, name
