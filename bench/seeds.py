"""What another seed changes in the analysis of the sample: mean grades, and test decisions at 0.05.

Competence, labels, grades and tests of the sample are computed with four seeds. Labels are averaged over the optima of
MACE, or taken from the most likely optimum; only the first variant has a target. Without CROWDRAG_DATA, nothing is
measured.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import combinations

from bench._study import STUDY, sample

SEEDS = 4
LIMIT = 0.02
LEVEL = 0.05


def run() -> list[dict]:
    """Compare every pair of seeds."""
    with sample() as study:
        if study is None:
            print("  skipped: CROWDRAG_DATA is not set")
            return []
        found = study.measure("bench.seeds:compare")
    for name, each in found.items():
        print(
            f"    {name}: mean grades differ by up to {each['mean']:.4f}; {each['decisions']} of {each['tests']} test "
            f"decisions differ; {each['labels']:.1%} of labels; {each['seconds']:.0f} s of processor time a seed"
        )
    averaged = found["averaged"]
    return [
        {
            "name": f"{LIMIT} over the largest difference of a mean grade between {SEEDS} seeds",
            "ratio": LIMIT / max(averaged["mean"], 1e-9),
            "target": 1,
            "detail": f"{averaged['mean']:.4f}",
        },
        {
            "name": f"tests with the same decision at {LEVEL} with all {SEEDS} seeds, share",
            "ratio": 1 - averaged["decisions"] / averaged["tests"],
            "target": 1,
            "detail": f"{averaged['decisions']} of {averaged['tests']} differ",
        },
    ]


def compare() -> dict:
    """Return the largest differences between seeds, by the way of finding labels."""
    from analysis.inputs import queries
    from analysis.methods import fits
    from analysis.methods.agreement import compute as agreement_compute
    from analysis.methods.competence.compute import gold_rows
    from analysis.methods.context import Context
    from analysis.methods.grade_differences import compute
    from analysis.methods.grades import compute as grades_compute
    from analysis.methods.settings import AVERAGED, LIKELIEST, AnalysisSettings
    from crowdrag.studies.models import Study

    inputs = queries.load(Study.objects.get(slug=STUDY), pool=AnalysisSettings().pool)
    found = {}
    for name in (AVERAGED, LIKELIEST):
        settings, tables, began = replace(AnalysisSettings(), labels=name), [], time.process_time()
        for seed in range(SEEDS):
            fitted = fits.fit(inputs, inputs.pool, settings=settings, seed=seed, report=lambda _: None, capped=True)
            analysed = Context(
                inputs=inputs,
                texts=(),
                settings=settings,
                seed=seed,
                fitted={inputs.pool: fitted},
                masks=agreement_compute.split_masks(fitted),
                step=lambda _message: None,
            )
            means = grades_compute.compute_tables(analysed)["grade_means"]
            assert analysed.graded is not None
            tests = compute.rows(inputs, *analysed.graded)
            tables.append((means, tests, gold_rows(inputs, fitted)))
        pairs = list(combinations(tables, 2))
        decided = [
            {row["p_adjusted"] <= LEVEL for row in rows} for rows in zip(*(own for _, own, _ in tables), strict=True)
        ]
        labels = [[a["label"] != b["label"] for a, b in zip(x[2], y[2], strict=True)] for x, y in pairs]
        found[name] = {
            "mean": max(abs(a["mean"] - b["mean"]) for x, y in pairs for a, b in zip(x[0], y[0], strict=True)),
            "decisions": sum(len(each) > 1 for each in decided),
            "tests": len(decided),
            "labels": max(sum(each) / len(each) for each in labels),
            "seconds": (time.process_time() - began) / SEEDS,
        }
    return found
