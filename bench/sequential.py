"""Campaigns that stop when they know: false decisions, and judgments until decided against fixed designs.

    python -m bench sequential                         1,000 simulated campaigns of each kind
    python -m bench sequential --replications 10000    as in docs/methods/sequential.md

Judges have the published corpus's spam probabilities. Each campaign is looked at after each submitted questionnaire.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analysis.stats import designs
from analysis.stats.campaign_simulation import AT_ONCE, Paths, joined, saving, simulate_paths
from analysis.stats.designs import Competence, Design, Expectation, harder
from analysis.stats.goal_decisions import UNDECIDED
from analysis.stats.goals import Goal, GoalKind
from analysis.stats.proportions import wilson

#: Published spam probabilities: means of the dimensions from 0.53 to 0.64, standard deviations about 0.29.
SPAM_MEAN, SPAM_SD, DIFFICULTY = 0.58, 0.29, 0.6
#: The largest share of false decisions, and the share of a fixed design's judgments to be saved at one grade.
FALSE, SAVED = 0.05, 0.4
#: True differences of mean grades of six responses, by the labels of judges who read them.
DIFFERENCES = (0.25, 0.5, 1.0, 1.5)
PUBLISHED = Design(topics=65, responses=6, dimensions=1, forced=0, k=5, both_orders=0.4)
FORTY, TEN = replace(PUBLISHED, topics=40), replace(PUBLISHED, topics=10)
FEWER, MORE = replace(PUBLISHED, k=2), replace(PUBLISHED, topics=130, k=3)
BEST_OF_2 = Goal(GoalKind.BEST, ("a", "b"))
BEST_OF_3 = Goal(GoalKind.BEST, ("a", "b", "c"))
RANKING = Goal(GoalKind.RANKING, ("a", "b", "c"))


@dataclass(frozen=True)
class Case:
    """Campaigns of one kind; `grades` are the systems' true mean grades less the last one's."""

    name: str
    design: Design
    goal: Goal
    grades: tuple[float, ...]
    right: int = UNDECIDED
    topic_effect: float = 0.0


def false_cases() -> Iterator[Case]:
    """Yield what must not be decided, or not in the other way."""
    for design in (PUBLISHED, FORTY, TEN):
        yield Case(f"best of two equal systems, {design.topics} topics", design, BEST_OF_2, (0.0, 0.0))
    varied = "best of two equal systems, 65 topics, each of which prefers one"
    yield Case(varied, PUBLISHED, BEST_OF_2, (0.0, 0.0), topic_effect=1.0)
    for difference in (0.1, 0.25):
        yield Case(f"best of two that differ by {difference} grades", PUBLISHED, BEST_OF_2, (difference, 0.0), 0)
    margin = Goal(GoalKind.BETTER, ("a", "b"), margin=votes_differ(1.0))
    yield Case("better by more than the true difference of one grade", PUBLISHED, margin, (1.0, 0.0), 0)
    yield Case("best of three equal systems", PUBLISHED, BEST_OF_3, (0.0, 0.0, 0.0))
    yield Case("best of three, two equal ones a grade above", PUBLISHED, BEST_OF_3, (1.0, 1.0, 0.0))
    yield Case("ranking of three equal systems", PUBLISHED, RANKING, (0.0, 0.0, 0.0))
    yield Case("ranking of three, two of them equal", PUBLISHED, RANKING, (1.0, 0.0, 0.0))


def saving_cases() -> Iterator[Case]:
    """Yield what is to be decided: two systems that differ, by numbers of topics, and three."""
    for design in (FORTY, PUBLISHED, FEWER, MORE):
        for difference in DIFFERENCES:
            name = f"best of two, {design.topics} topics, {design.k} judges, {difference:g} grades apart"
            yield Case(name, design, BEST_OF_2, (difference, 0.0), 0)
    yield Case("best of three, one of them a grade above", PUBLISHED, BEST_OF_3, (1.0, 0.0, 0.0), 0)


def run(replications: int = 1000) -> list[dict[str, Any]]:
    """Simulate campaigns of all kinds, in two processes."""
    with ProcessPoolExecutor(max_workers=2) as pool:
        wrong = [_false_row(case, _paths(pool, case, replications), replications) for case in false_cases()]
        saved = [_saving_row(case, _paths(pool, case, replications)) for case in saving_cases()]
    return wrong + saved


def crowd() -> Competence:
    """Return people with the published spam probabilities."""
    rng = np.random.default_rng(2025)
    people = designs.competence(1 - SPAM_MEAN, SPAM_SD, dimensions=1, rng=rng)
    return Competence(people.spam, rng.dirichlet([3.0] * 3, people.spam.shape))


def expectation(topic_effect: float = 0.0) -> Expectation:
    """Return judges and merits as estimated in the published analysis."""
    return Expectation(crowd(), spread=2.8, neutral=0.25, difficulty=DIFFICULTY, topic_effect=topic_effect)


def votes_differ(grades: float) -> float:
    """Return the difference of mean grades by all judges' votes, where those who read differ by `grades`.

    A judge who does not read has no preference for a system, since sides are balanced.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    spam = harder(crowd().spam[:, 0][:, None], DIFFICULTY * nodes).mean(axis=0)
    return grades * float(1 - weights @ spam / weights.sum())


def _paths(pool: ProcessPoolExecutor, case: Case, campaigns: int) -> Paths:
    parts = range(-(-campaigns // AT_ONCE))
    return joined(list(pool.map(_part, [case] * len(parts), parts, [campaigns] * len(parts))))


def _part(case: Case, number: int, campaigns: int) -> Paths:
    expected = expectation(case.topic_effect)
    effects = [
        designs.with_grade_difference(case.design, expected, grade).effect if grade else 0.0 for grade in case.grades
    ]
    rng = np.random.default_rng([number, len(case.name), case.design.topics])
    return simulate_paths(case.design, expected, effects, min(AT_ONCE, campaigns - number * AT_ONCE), rng)


def _false_row(case: Case, paths: Paths, campaigns: int) -> dict[str, Any]:
    wrong = _wrong(paths.decisions(case.goal), case.right)
    share = wilson(round(wrong * campaigns), campaigns)
    others = {
        "every 105 judged pairs": paths.decisions(case.goal, every=7),
        "a test of the same level at each look": paths.decisions(case.goal, is_fixed=True),
        "topics ignored": paths.decisions(case.goal, ignores_topics=True),
    }
    beside = "; ".join(f"{name} {_wrong(codes, case.right):.1%}" for name, codes in others.items())
    return {
        "name": f"false decisions, {case.name}: 5 % over their share",
        "ratio": FALSE / max(wrong, 1 / campaigns),
        "target": 1,
        "detail": f"{wrong:.2%} [{share.low:.2%}, {share.high:.2%}] of {campaigns:,}; {beside}",
    }


def _wrong(codes: np.ndarray, right: int) -> float:
    """Return the share of campaigns whose first decision is not the right one."""
    is_decided = codes != UNDECIDED
    first = np.take_along_axis(codes, is_decided.argmax(axis=0)[None], axis=0)[0]
    return float((is_decided.any(axis=0) & (first != right)).mean())


def _saving_row(case: Case, paths: Paths) -> dict[str, Any]:
    need, most = saving(paths, case.goal, case.right), len(paths.topics) * paths.items
    # The aim is stated for the published design and a difference of one grade; elsewhere the saving is only measured.
    is_aim = case.design == PUBLISHED and case.grades == (1.0, 0.0)
    return {
        "name": f"judgments of a fixed design of equal power over those until decided, {case.name}",
        "ratio": need.fixed / need.judgments,
        "target": 1 / (1 - SAVED) if is_aim else 0,
        "detail": f"power {need.power:.3f}, wrong {need.wrong:.2%}, {need.judgments:,.0f} judged pairs until "
        f"decided (median {need.median:,.0f}) of {most:,}, fixed {need.fixed:,.0f}: {need.saved:.0%} saved; "
        f"{paths.topics.shape[1]:,} campaigns; load {os.getloadavg()[0]:.1f}",
    }
