"""The fragility of a leaderboard that rests on a million votes: every neighbour in rank, on each dimension and all.

The votes are synthetic: twenty systems of equal steps of merit, 200 judges of mixed competence, five votes for each
pair, seven dimensions (`BENCH_FRAGILITY_VOTES`).
"""

from __future__ import annotations

import os
import time

import numpy as np

from analysis.stats import fragility
from analysis.stats.threads import map_in_threads

VOTES = int(os.environ.get("BENCH_FRAGILITY_VOTES", "1000000"))
SYSTEMS, JUDGES, TOPICS, DIMENSIONS, EACH = 20, 200, 500, 7, 5
SECONDS = 5.0


def run() -> list[dict]:
    """Measure the answers to all questions; the votes and their labels are there already."""
    rng = np.random.default_rng(1)
    parts = [synthetic(VOTES // DIMENSIONS, rng) for _ in range(DIMENSIONS)]
    boards = [*parts, joined(parts)]
    began = time.perf_counter()
    flips = [flip for board in boards for flip in answers(board)]
    seconds = time.perf_counter() - began
    votes = [len(flip.members) for flip in flips if flip is not None]
    return [
        {
            "name": f"fewest votes, judges and topics of {len(flips) // 3} neighbours: {SECONDS:g} s over the time",
            "ratio": SECONDS / seconds,
            "target": 1,
            "detail": f"{seconds:.1f} s, {len(boards[-1].vote_of):,} votes, sets of {min(votes)} to {max(votes)}; "
            f"load {os.getloadavg()[0]:.1f}",
        }
    ]


def answers(board: fragility.Board) -> list[fragility.Flip | None]:
    """Return the fewest votes, judges and topics of all neighbours in rank."""
    order = np.argsort(-board.merit)
    questions = board.questions(order[:-1], order[1:])
    return [flip for flips in map_in_threads(board.fewest, questions) for flip in flips]


def synthetic(votes: int, rng: np.random.Generator) -> fragility.Board:
    """Return judged pairs of one dimension, with the labels that the true competences imply."""
    pairs = votes // EACH
    first = rng.integers(SYSTEMS, size=pairs)
    second = (first + rng.integers(1, SYSTEMS, size=pairs)) % SYSTEMS
    lead = (first - second) / SYSTEMS
    chance = 1 / (1 + np.exp(-lead))
    truth = np.where(rng.random(pairs) < 0.2, 1, np.where(rng.random(pairs) < chance, 0, 2))
    vote_of = np.repeat(np.arange(pairs), EACH)
    judge = (rng.integers(JUDGES, size=pairs)[:, None] + np.arange(EACH) * 7).ravel() % JUDGES
    competence = rng.uniform(0.2, 0.95, JUDGES)[judge]
    knows = rng.random(len(vote_of)) < competence
    value = np.where(knows, truth[vote_of], rng.integers(3, size=len(vote_of)))
    likelihood = np.repeat((1 - competence)[:, None] / 3, 3, axis=1)
    likelihood[np.arange(len(vote_of)), value] += competence
    log_chances = np.zeros((pairs, 3))
    np.add.at(log_chances, vote_of, np.log(likelihood))
    chances = np.exp(log_chances - log_chances.max(axis=1, keepdims=True))
    return fragility.Board(
        first=first,
        second=second,
        chances=chances / chances.sum(axis=1, keepdims=True),
        topic=rng.integers(TOPICS, size=pairs),
        vote_of=vote_of,
        judge=judge,
        likelihood=likelihood,
        systems=SYSTEMS,
    )


def joined(boards: list[fragility.Board]) -> fragility.Board:
    """Return the comparisons of all dimensions together."""
    starts = np.cumsum([0, *(len(board.first) for board in boards[:-1])])
    return fragility.Board(
        first=np.concatenate([board.first for board in boards]),
        second=np.concatenate([board.second for board in boards]),
        chances=np.concatenate([board.chances for board in boards]),
        topic=np.concatenate([board.topic for board in boards]),
        vote_of=np.concatenate([board.vote_of + start for board, start in zip(boards, starts, strict=True)]),
        judge=np.concatenate([board.judge for board in boards]),
        likelihood=np.concatenate([board.likelihood for board in boards]),
        systems=SYSTEMS,
    )
