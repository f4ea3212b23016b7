"""Placement of a new system by 100 human judgments: coverage of its 95 % intervals, and the error of its rank.

On the sample, each of its six systems (people and the model, in three styles) is left out in turn, on each dimension.
Competences, labels and merits of the other five are fitted without any vote on the one left out, which is then placed
by 100 of its published votes. The truth is its place on the leaderboard of all votes. In simulation, the truth is the
merit on the leaderboard of very many topics.

    python -m bench placement --replications 20      draws of 100 votes for each system and dimension; simulated studies
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.stats import bradley_terry, mace, placement
from analysis.stats import sparse_bradley_terry as board
from analysis.stats.bootstrap import resample_weights, small_sample_factor
from analysis.stats.designs import harder
from analysis.stats.placement import Anchors, NewVotes, Placement, Prior
from analysis.stats.simulation import answers, verdict
from analysis.stats.vote_model import Crowd, Scale, calibrate
from bench import _votes

JUDGMENTS, DRAWS, ROUNDS, LABEL_DRAWS = 100, 200, 4, 10
SETTINGS = mace.MaceSettings(restarts=3)
#: Of the simulated studies: topics, anchors and judges of a pair; the published spam probabilities (bench/_crowd.py).
TOPICS, ANCHORS, K, SPAM_MEAN, SPAM_SD, DIFFICULTY = 40, 5, 5, 0.58, 0.29, 0.6
#: Spread of systems, and of responses of a system between topics, on the latent scale.
SPREAD, TOPIC_SPREAD, THRESHOLD, MANY = 1.5, 2.0, 0.6, 500
COVERAGE, RANK = (0.93, 0.97), 0.90

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of systems on one dimension, and their votes."""

    first: Ints
    second: Ints
    topic: Ints
    item: Ints
    judge: Ints
    label: Ints
    systems: int

    def part(self, is_kept: NDArray[np.bool_]) -> Judged:
        """Return some of the pairs with their votes; judges keep their numbers."""
        number = np.cumsum(is_kept) - 1
        votes = is_kept[self.item]
        return Judged(
            self.first[is_kept], self.second[is_kept], self.topic[is_kept], number[self.item[votes]],
            self.judge[votes], self.label[votes], self.systems,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Known:
    """What is known before the new system: the anchors, judges, and the scale of leads."""

    anchors: Anchors
    crowd: Crowd
    scale: Scale
    spam: NDArray[np.float64]
    experience: NDArray[np.float64]
    who: Ints


@dataclass(frozen=True, eq=False)
class Outcome:
    """One placement and its truth, both relative to the mean of the anchors."""

    found: Placement
    merit: float
    rank: int
    grade: float

    @property
    def is_covered(self) -> bool:
        """Whether the interval of the merit holds the truth."""
        centre = float(self.found.anchor_draws.mean(axis=1).mean())
        return self.found.low - centre <= self.merit <= self.found.high - centre

    @property
    def rank_error(self) -> int:
        """Distance of the rank from the true one."""
        return abs(self.found.rank - self.rank)


def run(replications: int = 20) -> list[dict]:
    """Place each system of the sample, then those of simulated studies."""
    rows: list[dict] = []
    folder = os.environ.get("CROWDRAG_DATA")
    if folder and (Path(folder) / "crowdrag25").exists():
        for name, outcomes in sample(Path(folder) / "crowdrag25", replications).items():
            rows += _rows(f"sample, {name}", outcomes)
    for name, outcomes in simulated(10 * replications).items():
        rows += _rows(f"simulated, {name}", outcomes)
    return rows


def _rows(name: str, outcomes: list[Outcome]) -> Iterator[dict]:
    n = len(outcomes)
    coverage = float(np.mean([each.is_covered for each in outcomes]))
    within = float(np.mean([each.rank_error <= 1 for each in outcomes]))
    rank_cover = float(np.mean([each.found.rank_low <= each.rank <= each.found.rank_high for each in outcomes]))
    grade = float(np.mean([each.found.grade_low <= each.grade <= each.found.grade_high for each in outcomes]))
    width = float(np.median([each.found.high - each.found.low for each in outcomes]))
    error = float(np.sqrt(np.mean([(each.found.grade - each.grade) ** 2 for each in outcomes])))
    yield {
        "name": f"{name}: coverage",
        "ratio": 1.0 - max(0.0, COVERAGE[0] - coverage, coverage - COVERAGE[1]),
        "target": 1.0,
        "detail": f"{coverage:.1%} (merit), {grade:.1%} (grade), {rank_cover:.1%} (rank) of {n}; width {width:.2f}",
    }
    yield {
        "name": f"{name}: rank within 1",
        "ratio": within,
        "target": RANK,
        "detail": f"{within:.1%} of {n}; exact {np.mean([each.rank_error == 0 for each in outcomes]):.1%}; "
        f"root mean square error of the grade {error:.2f}",
    }


def known(judged: Judged, new: int, rng: np.random.Generator) -> Known:
    """Fit competences, labels and merits of all pairs without the new system."""
    others = judged.part((judged.first != new) & (judged.second != new))
    judges = int(judged.judge.max()) + 1
    model = mace.fit(
        others.item, others.judge, others.label, rng=rng, labels=3, annotators=judges, settings=SETTINGS
    )  # fmt: skip
    who = np.delete(np.arange(judged.systems), new)
    merit, draws = merits(others, model.posterior, rng)
    crowd = Crowd.of_judges(model.spam_probability, model.parameters.strategy, judgments=model.judgments)
    pair, row = np.unique(others.first[others.item] * judged.systems + others.second[others.item], return_inverse=True)
    counts = np.bincount(row * 3 + others.label, minlength=3 * len(pair)).reshape(-1, 3)
    scale = calibrate(merit[pair // judged.systems] - merit[pair % judged.systems], counts, crowd)
    spam = np.where(model.judgments > 0, model.spam_probability, np.nan)
    return Known(Anchors(merit[who], draws[:, who]), crowd, scale, spam, model.judgments.astype(float), who)


def merits(judged: Judged, chances: NDArray[np.float64], rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return the merits by expected labels, and in resamples of topics as the leaderboard draws them."""
    met = board.meetings(judged.first, judged.second, judged.systems)
    topics, topic = np.unique(judged.topic, return_inverse=True)
    weights = np.vstack([np.ones(len(topics)), resample_weights(len(topics), DRAWS, rng)])
    parts = [
        board.add_up_strata(met, np.full(len(judged.first), outcome), chances[:, column], topic, weights)
        for column, outcome in enumerate((-1.0, 0.0, 1.0))
    ]
    won, lost = np.sum(parts, axis=0)
    fitted = board.fit(met, won, lost).merit
    point = fitted[:, 0]
    return point, point + small_sample_factor(len(topics)) * (fitted[:, 1:].T - point)


def truth(judged: Judged, chances: NDArray[np.float64], new: int) -> tuple[float, int, float]:
    """Return the merit relative to the others' mean, the rank, and the mean grade of a system, from these labels."""
    rng = np.random.default_rng(0)
    merit, _draws = merits(judged, chances, rng)
    others = np.delete(merit, new)
    grades = []
    for _ in range(LABEL_DRAWS):
        label = (rng.random(len(chances))[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
        tallies = bradley_terry.tally(judged.topic, judged.first, judged.second, label - 1, items=judged.systems)
        grades.append(bradley_terry.fit(tallies, errors=False).grade[:, new])
    return float(merit[new] - others.mean()), 1 + int((others > merit[new]).sum()), float(np.nanmean(grades))


# ---- the votes that are asked


def votes_of(judged: Judged, chosen: Ints, new: int, given: Known, *, knows_judges: bool = False) -> NewVotes:
    """Return these votes on the new system."""
    item = judged.item[chosen]
    is_left = judged.first[item] == new
    other = np.where(is_left, judged.second[item], judged.first[item])
    _judges, judge = np.unique(judged.judge[chosen], return_inverse=True)
    return NewVotes(
        np.searchsorted(given.who, other), is_left, judged.label[chosen], judge, judged.topic[item],
        given.spam[_judges] if knows_judges else None, given.experience[_judges] if knows_judges else None,
    )  # fmt: skip


def scattered(judged: Judged, new: int, given: Known, rng: np.random.Generator) -> Ints:
    """Draw votes on distinct pairs, topics balanced, anchors at random."""
    return _drawn(judged, new, np.full(len(given.who), 1.0), given, rng, np.zeros(0, dtype=np.int64), JUDGMENTS)


def whole_judges(judged: Judged, new: int, given: Known, rng: np.random.Generator) -> Ints:
    """Draw judges at random, each with all votes on the new system."""
    votes = np.flatnonzero((judged.first[judged.item] == new) | (judged.second[judged.item] == new))
    order = rng.permutation(int(judged.judge.max()) + 1)
    return votes[np.argsort(order[judged.judge[votes]], kind="stable")][:JUDGMENTS]


def adaptive(judged: Judged, new: int, given: Known, rng: np.random.Generator) -> Ints:
    """Draw votes in rounds, anchors by the expected information, as `scattered` otherwise."""
    chosen = np.zeros(0, dtype=np.int64)
    for number in range(ROUNDS):
        found = placement.place(
            votes_of(judged, chosen, new, given), given.anchors, given.crowd, scale=given.scale, rng=rng
        )
        chances = placement.anchor_chances(found.draws, given.anchors, given.crowd, given.scale)
        chosen = _drawn(judged, new, chances, given, rng, chosen, JUDGMENTS * (number + 1) // ROUNDS)
    return chosen


def good_judges(judged: Judged, new: int, given: Known, rng: np.random.Generator) -> Ints:
    """Draw votes of judges with a spam probability below the median of the others' votes, as `scattered` otherwise."""
    limit = np.nanmedian(given.spam[judged.judge])
    return _drawn(
        judged, new, np.full(len(given.who), 1.0), given, rng, np.zeros(0, dtype=np.int64), JUDGMENTS,
        is_asked=given.spam < limit,
    )  # fmt: skip


def _drawn(
    judged: Judged, new: int, chances: NDArray, given: Known, rng: np.random.Generator, earlier: Ints, upto: int,
    *, is_asked: NDArray[np.bool_] | None = None,
) -> Ints:  # fmt: skip
    """Add votes on pairs that were not asked yet; the topic with the fewest votes comes first."""
    is_new = (judged.first[judged.item] == new) | (judged.second[judged.item] == new)
    votes = np.flatnonzero(is_new if is_asked is None else is_new & is_asked[judged.judge])
    item = judged.item[votes]
    other = np.where(judged.first[item] == new, judged.second[item], judged.first[item])
    anchor = np.searchsorted(given.who, other)
    pair = judged.topic[item] * len(given.who) + anchor
    count = np.bincount(judged.topic[judged.item[earlier]], minlength=int(judged.topic.max()) + 1).astype(float)
    free = ~np.isin(pair, pair[np.isin(votes, earlier)])
    chosen = list(earlier)
    while len(chosen) < upto and free.any():
        topics = np.unique(judged.topic[item[free]])
        topic = rng.choice(topics[count[topics] == count[topics].min()])
        there = np.flatnonzero(free & (judged.topic[item] == topic))
        choices = np.unique(anchor[there])
        picked = rng.choice(choices, p=chances[choices] / chances[choices].sum())
        vote = rng.choice(there[anchor[there] == picked])
        chosen.append(int(votes[vote]))
        free &= pair != pair[vote]
        count[topic] += 1
    return np.array(chosen, dtype=np.int64)


POLICIES: dict[str, tuple[Callable[[Judged, int, Known, np.random.Generator], Ints], bool]] = {
    "random pairs": (scattered, False),
    "random judges": (whole_judges, False),
    "adaptive anchors": (adaptive, False),
    "better judges": (good_judges, True),
}


# ---- the sample


def sample(folder: Path, replications: int) -> dict[str, list[Outcome]]:
    """Leave each system of the sample out, on each dimension."""
    votes, name_of = _votes.load(), {}
    for file, prefix in (("responses_llm", "model"), ("tasks", "people")):
        for row in _lines(folder / "raw" / f"study1_{file}.jsonl.gz"):
            name_of[row["response"]] = f"{prefix} {row['style']}"
    systems = sorted(set(name_of.values()))
    task = dict(zip(votes.item.tolist(), votes.task, strict=True))
    sides = [task[item].split("_") for item in range(len(votes.topic))]
    first, second = (np.array([systems.index(name_of[pair[side]]) for pair in sides]) for side in (0, 1))
    by_model = {(row["response_a"], row["response_b"]): row for row in reversed(_model_rows(folder))}
    found: dict[str, list[Outcome]] = {}
    for d, dimension in enumerate(_votes.DIMENSIONS):
        judged = Judged(first, second, votes.topic, votes.item, votes.annotator, votes.label[:, d], len(systems))
        every = mace.fit(
            judged.item, judged.judge, judged.label, rng=np.random.default_rng(0), labels=3, settings=SETTINGS
        )
        model_label = np.array([_code(by_model.get((a, b), {}).get(dimension)) for a, b in sides])
        for new in range(len(systems)):
            rng = np.random.default_rng([d, new])
            given = known(judged, new, rng)
            true = truth(judged, every.posterior, new)
            prior = _model_prior(judged, model_label, new, given)
            for _ in range(replications):
                for name, outcome in _placed(judged, new, given, true, prior, rng):
                    found.setdefault(name, []).append(outcome)
                    if dimension == "quality_overall":
                        found.setdefault(f"{name}, overall quality", []).append(outcome)
    return found


def _placed(
    judged: Judged,
    new: int,
    given: Known,
    true: tuple[float, int, float],
    prior: Prior | None,
    rng: np.random.Generator,
) -> Iterator[tuple[str, Outcome]]:
    for name, (policy, knows_judges) in POLICIES.items():
        asked = votes_of(judged, policy(judged, new, given, rng), new, given, knows_judges=knows_judges)
        priors = ((name, None), (f"{name}, model first", prior)) if prior else ((name, None),)
        for label, belief in priors:
            found = placement.place(asked, given.anchors, given.crowd, scale=given.scale, rng=rng, prior=belief)
            yield label, Outcome(found, *true)


def _model_prior(judged: Judged, label: Ints, new: int, given: Known) -> Prior | None:
    is_judged = label >= 0
    part = judged.part(is_judged)
    merit, _draws = merits(part, np.eye(3)[label[is_judged]], np.random.default_rng(0))
    return Prior.of_model(given.anchors.merit, merit[given.who], float(merit[new]))


def _model_rows(folder: Path) -> list[dict]:
    rows = _lines(folder / "artifacts" / "llm_ratings.jsonl.gz")
    return [row for row in rows if row["inference"] == "combined"]


def _code(label: str | None) -> int:
    return -1 if label is None else "anb".index(label)


def _lines(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


# ---- simulation


def simulated(studies: int) -> dict[str, list[Outcome]]:
    """Simulate studies with the published spam rates, with one system left out of each."""
    found: dict[str, list[Outcome]] = {}
    for number in range(studies):
        rng = np.random.default_rng([7, number])
        merit = SPREAD * rng.normal(size=ANCHORS + 1)
        many = _study(merit, MANY, K, rng)
        model = mace.fit(many.item, many.judge, many.label, rng=rng, labels=3, settings=SETTINGS)
        true = truth(many, model.posterior, ANCHORS)
        judged = _study(merit, TOPICS, K, rng)
        given = known(judged, ANCHORS, rng)
        for name, outcome in _placed(judged, ANCHORS, given, true, None, rng):
            found.setdefault(name, []).append(outcome)
    return found


def _study(merit: NDArray, topics: int, k: int, rng: np.random.Generator) -> Judged:
    """Return a simulated study: all pairs of systems on each topic, 15 pairs a judge."""
    systems = len(merit)
    one, other = np.triu_indices(systems, 1)
    topic = np.repeat(np.arange(topics), len(one))
    first, second = np.tile(one, topics), np.tile(other, topics)
    turned = rng.random(len(first)) < 0.5
    first, second = np.where(turned, second, first), np.where(turned, first, second)
    quality = merit + TOPIC_SPREAD * rng.normal(size=(topics, systems))
    lead = quality[topic, first] - quality[topic, second] + rng.logistic(size=len(topic))
    label = verdict(lead, THRESHOLD)
    pairs = len(topic)
    sheets = np.array_split(rng.permutation(pairs), pairs // 15)
    item = np.concatenate([np.repeat(sheet, k) for sheet in sheets])
    judge = np.concatenate([np.tile(np.arange(k), len(sheet)) + number * k for number, sheet in enumerate(sheets)])
    judges = len(sheets) * k
    concentration = SPAM_MEAN * (1 - SPAM_MEAN) / SPAM_SD**2 - 1
    spam = rng.beta(SPAM_MEAN * concentration, (1 - SPAM_MEAN) * concentration, judges)
    strategy = rng.dirichlet([3.0] * 3, judges)
    trouble = DIFFICULTY * rng.normal(size=topics)
    voted, _spammed = answers(label[item], harder(spam[judge], trouble[topic[item]]), strategy[judge], rng)
    return Judged(first, second, topic, item, judge, voted, systems)
