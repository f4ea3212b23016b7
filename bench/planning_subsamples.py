"""What a plan from an analysis predicts, against what is found in studies of fewer of its topics.

On the corpus (CROWDRAG_DATA), expectations are calibrated on all judged topics. Studies of 15 and 25 topics are
planned, and as many topics are sampled from the corpus and analysed. The same is done with a simulated study, whose
components are known.

    python -m bench planning_subsamples --replications 40
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.stats import calibration, designs, labels, mace, mace_posterior, planning
from analysis.stats.designs import Competence, Design, Expectation
from analysis.stats.simulation import Simulated, simulate
from bench._votes import DIMENSIONS

TOPICS = (15, 25)
MEASURES = ("mean_grade_width", "mean_grade_all_width", "difference_width", "power", "power_all")
#: Number of simulated whole studies, and of subsamples of each, to measure how much a single study varies by chance.
STUDIES, SUBSAMPLES = 20, 10
#: Tolerated relative error of widths, and absolute error of power.
WIDTH, POWER = 0.05, 0.05


def run(replications: int = 100) -> list[dict]:
    """Compare predictions with results, by number of topics and measure."""
    rows = []
    folder = os.environ.get("CROWDRAG_DATA")
    if folder and (Path(folder) / "crowdrag25").exists():
        study = corpus(Path(folder) / "crowdrag25")
        rng = np.random.default_rng(0)
        rows += _compare("corpus", study, lambda n: some_topics(study, n, rng), replications)
    rng = np.random.default_rng(1)
    people = designs.competence(0.42, 0.29, dimensions=4, rng=rng)
    truth = Expectation(
        people, effect=1.8, spread=2.8, neutral=0.25, correlation=0.85, difficulty=0.6,
        topic_effect=1.2, own_topic_effect=0.6, style_effect=0.8,
    )  # fmt: skip
    design = Design(topics=65, responses=6, styles=3, dimensions=4, forced=1, k=5, both_orders=0.4)
    whole = simulate(design, truth, rng)
    rows += _compare("simulated", whole, lambda n: some_topics(whole, n, rng), replications)
    return rows


def _compare(name: str, study: Simulated, draw: Callable[[int], Simulated], replications: int) -> list[dict]:
    rng = np.random.default_rng(2)
    people = fitted_people(study, rng)
    like = calibration.found_in(study, rng, mace_posterior.Effort(chains=64))
    assert like is not None
    expected = calibration.calibrate(study.design, people, like, rng=rng)
    rows: list[dict[str, Any]] = []
    for topics in TOPICS:
        design = replace(study.design, topics=topics)
        planned = planning.plan(design, expected, simulations=replications, rng=rng)
        seen = planning.summarise([planning.analyse(draw(topics), rng) for _ in range(replications)])
        luck = _luck(study.design, expected, topics, rng)
        for measure in MEASURES:
            ours, theirs = planned[measure], seen[measure]
            is_width = measure.endswith("width")
            apart = abs(ours.value / theirs.value - 1) if is_width else abs(ours.value - theirs.value)
            rows.append({
                "name": f"{name}, {topics} topics, {measure}: the tolerance over the distance",
                "ratio": (WIDTH if is_width else POWER) / max(apart, 1e-3),
                "target": 1,
                "detail": f"planned {ours.value:.3f} [{ours.low:.3f}, {ours.high:.3f}], subsamples {theirs.value:.3f} "
                f"[{theirs.low:.3f}, {theirs.high:.3f}], {replications} of each; subsamples of simulated studies "
                f"{luck[measure][0]:.3f}, standard deviation between studies {luck[measure][1]:.3f}",
            })  # fmt: skip
    return rows


def _luck(
    design: Design, expected: Expectation, topics: int, rng: np.random.Generator
) -> dict[str, tuple[float, float]]:
    """Return results of subsamples of simulated studies: by measure, the mean and the variation between studies.

    Subsamples of one study share its topics, and therefore its chance deviations.
    """
    found = []
    for _ in range(STUDIES):
        whole = simulate(design, expected, rng)
        own = [planning.analyse(some_topics(whole, topics, rng), rng) for _ in range(SUBSAMPLES)]
        found.append(planning.summarise(own))
    means = {name: np.array([each[name].value for each in found]) for name in MEASURES}
    return {name: (float(mean.mean()), float(mean.std(ddof=1))) for name, mean in means.items()}


def fitted_people(study: Simulated, rng: np.random.Generator) -> Competence:
    """Fit the judges of a study with MACE."""
    models = [
        mace.fit(study.item, study.coder, votes, rng=rng, items=len(study.topic), labels=len(labels.LABELS))
        for votes in study.label.T
    ]
    strategy = np.stack([model.parameters.strategy for model in models], axis=1)
    spam = np.stack([model.spam_probability for model in models], axis=1)
    there = strategy.sum(axis=2).min(axis=1) > 0
    return Competence(spam[there], strategy[there] / strategy[there].sum(axis=2, keepdims=True))


def some_topics(study: Simulated, topics: int, rng: np.random.Generator) -> Simulated:
    """Return a study with a random sample of the topics, without replacement, and all their judgments."""
    chosen = np.sort(rng.choice(study.design.topics, topics, replace=False))
    place = np.full(study.design.topics, -1)
    place[chosen] = np.arange(topics)
    items = np.flatnonzero(place[study.topic] >= 0)
    of_item = np.full(len(study.topic), -1)
    of_item[items] = np.arange(len(items))
    votes = np.flatnonzero(of_item[study.item] >= 0)
    people, coder = np.unique(study.coder[votes], return_inverse=True)
    competence = Competence(study.competence.spam[people], study.competence.strategy[people])
    return Simulated(
        replace(study.design, topics=topics), place[study.topic[items]], study.first[items], study.second[items],
        study.merit[chosen], study.truth[items], competence, of_item[study.item[votes]], coder, study.label[votes],
        study.spammed[votes],
    )  # fmt: skip


def corpus(folder: Path) -> Simulated:
    """Convert the published judgments to a study; unknown true values stay empty."""

    def lines(name: str) -> list[dict[str, Any]]:
        with gzip.open(folder / "raw" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    wrote = [(row, origin) for origin, name in enumerate(("human", "llm")) for row in lines(f"study1_responses_{name}")]
    styles = sorted({row["style"] for row, _origin in wrote})
    place = {row["response"]: styles.index(row["style"]) * 2 + origin for row, origin in wrote}
    rows = lines("study2_responses")
    topics = sorted({row["query_id"] for row in rows})
    items: dict[tuple[int, int, int], int] = {}
    seen: dict[int, int] = {}
    votes = []
    people = sorted({row["worker"] for row in rows})
    keys = ("validity", *DIMENSIONS[1:])
    for row in rows:
        unit = (topics.index(row["query_id"]), place[row["response_a"]], place[row["response_b"]])
        item = items.setdefault(unit, len(items))
        seen[item] = seen.get(item, 0) + 1
        if seen[item] <= 5:
            votes.append((item, people.index(row["worker"]), *("ANB".index(row[key]) for key in keys)))
    topic, first, second = np.array(list(items)).T
    item, coder = np.array([vote[:2] for vote in votes]).T
    label = np.array([vote[2:] for vote in votes])
    once = len({(t, *sorted((a, b))) for t, a, b in items})
    design = Design(
        topics=len(topics), responses=6, styles=len(styles), dimensions=len(keys), forced=1, k=5,
        both_orders=(len(items) - once) / once, pairs=round(once / len(topics)),
        items=round(len(item) / len(np.unique(coder))),
    )  # fmt: skip
    unknown = Competence(np.zeros((len(people), len(keys))), np.full((len(people), len(keys), 3), 1 / 3))
    return Simulated(
        design, topic, first, second, np.zeros((len(topics), 6, len(keys))),
        np.zeros((len(topic), len(keys)), dtype=np.int64), unknown, item, coder, label,
        np.zeros(label.shape, dtype=np.bool_),
    )  # fmt: skip
