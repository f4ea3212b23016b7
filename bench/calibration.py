"""How well labels and competences predict votes that they have not seen, by how labels are found, on the sample.

One vote of each pair and dimension is held out at random and predicted. The voter spams with the probability fitted to
their other votes, and then votes for each label as often as all voters do. Otherwise they give the true label, whose
probabilities come from the other votes. Better means a lower log loss and a lower calibration error: the mean distance,
in ten bins, between the probability of a vote and its frequency. Without CROWDRAG_DATA, nothing is measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench._study import STUDY, sample

REPEATS = 3


def run() -> list[dict]:
    """Predict the held-out votes from the others."""
    with sample() as study:
        if study is None:
            print("  skipped: CROWDRAG_DATA is not set")
            return []
        found = study.measure("bench.calibration:held_out")
    for name, each in found.items():
        print(
            f"    {name}: log loss {each['loss']:.4f}, calibration error {each['calibration']:.4f}, {each['n']:,} votes"
        )
    averaged, others = found["averaged"], [each for name, each in found.items() if name != "averaged"]
    return [
        {
            "name": f"{what} of votes held out, of the best other way of labelling over that of averaged labels",
            "ratio": min(each[measure] for each in others) / averaged[measure],
            "target": 1,
            "detail": f"{averaged[measure]:.4f}",
        }
        for what, measure in (("log loss", "loss"), ("calibration error", "calibration"))
    ]


def held_out() -> dict[str, Any]:
    """Return log loss and calibration error for each way of finding labels."""
    from analysis.inputs import queries
    from crowdrag.studies.models import Study

    pool = queries.load(Study.objects.get(slug=STUDY)).main
    predicted: dict[str, list[np.ndarray]] = {}
    said: list[np.ndarray] = []
    rng = np.random.default_rng(0)
    sizes = {"items": len(pool.units), "annotators": len(pool.participants), "labels": 3}
    for _ in range(REPEATS):
        for dimension in np.unique(pool.dimension).tolist():
            mine = pool.dimension == dimension
            columns = pool.unit[mine], pool.coder[mine], pool.value[mine]
            order = rng.permutation(len(columns[0]))
            out = np.zeros(len(order), dtype=bool)
            out[order[np.unique(columns[0][order], return_index=True)[1]]] = True
            unit, coder, value = (column[out] for column in columns)
            spammed = np.bincount(columns[2][~out], minlength=3) / (~out).sum()
            said.append(np.eye(3)[value])
            for name, model in _models([column[~out] for column in columns], sizes, rng):
                e = model.spam_probability[coder][:, None]
                predicted.setdefault(name, []).append(e * spammed + (1 - e) * model.posterior[unit])
    truth = np.concatenate(said)
    return {name: _scores(np.concatenate(each), truth) for name, each in predicted.items()}


def _models(votes: list[np.ndarray], sizes: dict[str, int], rng: np.random.Generator) -> list[tuple[str, Any]]:
    """Fit the three ways of finding labels."""
    from analysis.stats import mace, mace_posterior

    return [
        ("averaged", mace_posterior.sample(*votes, rng=rng, **sizes)),
        ("likeliest", mace.fit(*votes, rng=rng, settings=mace.MaceSettings(refine=6), **sizes)),
        ("published", mace.fit(*votes, rng=rng, **sizes)),
    ]


def _scores(predicted: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    given = np.clip((predicted * truth).sum(axis=1), 1e-6, 1)
    place = np.minimum((predicted * 10).astype(int), 9).ravel()
    n = np.bincount(place, minlength=10)
    apart = np.bincount(place, (predicted - truth).ravel(), minlength=10)
    return {
        "loss": float(-np.log(given).mean()),
        "calibration": float(np.abs(apart).sum() / n.sum()),
        "n": len(truth),
    }
