"""Simulated studies with known truth and the shape of the published corpus, as inputs of an analysis."""

# ruff: noqa: E402
from __future__ import annotations

import os

import django
import numpy as np

# Importing the analysis loads the product's settings, which require keys; nothing is encrypted or stored here.
for _name in ("SECRET_KEY", "CROWDRAG_PSEUDONYM_KEY", "CROWDRAG_IDENTITY_KEY"):
    os.environ.setdefault(_name, "simulated")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdrag.settings")
django.setup()

from analysis.inputs.arrays import COMBINED, EXPERT, INDIVIDUAL, Dimension, Inputs, Pool, Response
from analysis.stats import designs
from analysis.stats.designs import HUMAN, Design, Expectation
from analysis.stats.simulation import Simulated, answers, simulate

#: As published: 65 topics, six responses each, 15 pairs per questionnaire (40 % in both orders), five judges per pair.
TOPICS, DIMENSIONS, PAIRS_A_SHEET = 65, 2, 15
#: Published spam probabilities: means of the dimensions from 0.53 to 0.64, standard deviations about 0.29.
SPAM_MEAN, SPAM_SD = 0.58, 0.29
STYLES = ("bullet", "essay", "news")
DIFFICULTY = 0.6
#: Spam probabilities of the model (by either inference) and of each expert; experts judge only some topics.
MODEL_SPAM, EXPERT_SPAM, EXPERTS, EXPERT_TOPICS = 0.35, 0.2, 4, 20


def design(topics: int = TOPICS, dimensions: int = DIMENSIONS) -> Design:
    """The published design; the last dimension is a forced choice between a and b."""
    return Design(
        topics=topics, responses=6, styles=3, dimensions=dimensions, forced=1, k=5, both_orders=0.4, items=PAIRS_A_SHEET
    )


def expectation(rng: np.random.Generator, dimensions: int = DIMENSIONS) -> Expectation:
    """Judges and merits as estimated in the published analysis."""
    people = designs.competence(1 - SPAM_MEAN, SPAM_SD, dimensions=dimensions, rng=rng)
    strategy = rng.dirichlet([3.0] * 3, people.spam.shape)
    return Expectation(
        designs.Competence(people.spam, strategy),
        effect=1.8, spread=2.8, neutral=0.25, correlation=0.85, difficulty=DIFFICULTY,
    )  # fmt: skip


def draw(rng: np.random.Generator, topics: int = TOPICS, dimensions: int = DIMENSIONS) -> Simulated:
    """Simulate a study with new topics, responses and judges."""
    return simulate(design(topics, dimensions), expectation(rng, dimensions), rng)


def as_inputs(study: Simulated, rng: np.random.Generator) -> Inputs:
    """Convert a simulated study to an analysis's inputs, with judgments by experts and a model, but without texts."""
    shape, size = study.design, study.design.responses
    names = tuple(f"topic-{topic:04d}" for topic in range(shape.topics))
    responses = tuple(
        Response(
            f"{names[topic]}-{place}", names[topic], STYLES[style], "human" if origin == HUMAN else "model",
            f"writer-{'human' if origin == HUMAN else 'model'}-{style}", 100,
        )
        for topic in range(shape.topics)
        for place, (origin, style) in enumerate(zip(shape.origin.tolist(), shape.style.tolist(), strict=True))
    )  # fmt: skip
    left, right = study.topic * size + study.first, study.topic * size + study.second
    units = tuple((int(a), int(b), int(t), "") for a, b, t in zip(left, right, study.topic, strict=True))
    dimensions = tuple(Dimension(f"d{d}", f"Dimension {d}", (-1, 0, 1)) for d in range(shape.dimensions))
    judges = tuple(f"judge-{j:05d}" for j in range(shape.people))
    vote = np.arange(len(study.item)) % shape.k
    crowd = _pool(judges, units, study.item, study.coder, study.label, vote, _positions(study))
    pools = {"crowd": crowd}
    every, some = np.arange(len(units)), np.flatnonzero(study.topic < EXPERT_TOPICS)
    experts = tuple(f"expert-{j}" for j in range(EXPERTS))
    for name, people, spam, items in (
        (COMBINED, ("model",), MODEL_SPAM, every),
        (INDIVIDUAL, ("model",), MODEL_SPAM, every),
        (EXPERT, experts, EXPERT_SPAM, some),
    ):
        item, coder = np.repeat(items, len(people)), np.tile(np.arange(len(people)), len(items))
        label, _spammed = answers(study.truth[item], spam, np.full(3, 1 / 3), rng)
        pools[name] = _pool(people, units, item, coder, label, coder, np.zeros_like(item))
    return Inputs("crowd", names, STYLES, dimensions, responses, pools)


def _pool(
    people: tuple[str, ...], units: tuple[tuple[int, int, int, str], ...], item: np.ndarray, coder: np.ndarray,
    label: np.ndarray, vote: np.ndarray, position: np.ndarray,
) -> Pool:  # fmt: skip
    same, k = np.ones_like(item), int(vote.max()) + 1
    rows = [
        np.column_stack([item, coder, same * d, label[:, d], vote, same * k, position, np.arange(len(item))])
        for d in range(label.shape[1])
    ]
    return Pool(people, units, *np.concatenate(rows).T)


def _positions(study: Simulated) -> np.ndarray:
    """The position of each vote in its judge's questionnaire, from 1."""
    order = np.lexsort((study.item, study.coder))
    sizes = np.bincount(study.coder, minlength=study.design.people)
    begin = np.repeat(np.cumsum(sizes) - sizes, sizes)
    position = np.empty(len(order), dtype=np.int64)
    position[order] = np.arange(len(order)) - begin + 1
    return position
