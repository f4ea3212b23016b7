"""Campaigns of a plan that stop when they know: what they need until decided, against fixed designs of equal power.

The question is whose responses are better, people's or models', on one dimension that allows neither answer. Pairs come
in a balanced random order, and campaigns are looked at after each questionnaire (docs/methods/sequential.md).
"""

from dataclasses import replace
from math import isnan
from typing import Final

import numpy as np

from analysis.stats.campaign_simulation import saving, simulate_paths
from analysis.stats.designs import Expectation
from analysis.stats.goal_decisions import UNDECIDED
from analysis.stats.goals import Goal, GoalKind

from ..tables.rows import NOTE, Row, number
from .parameters import PlanParameters

#: The simulated campaigns of a design: as many as these judged pairs make, within limits.
PAIRS: Final = 3_000_000
FEWEST, MOST = 40, 400
GOAL: Final = Goal(GoalKind.BEST, ("human", "model"))
UNFILLED: Final = "the design does not fill a questionnaire"
NEVER: Final = "no fixed design of this size has the same power"


def row(
    parameters: PlanParameters, k: int, topics: int, expected: Expectation, rng: np.random.Generator
) -> Row:  # fmt: skip
    """Simulate campaigns of a design; return its row of the table `plan_goal`, money in minor units."""
    design = replace(parameters.design(k, topics), dimensions=1, forced=0)
    common: Row = {"k": k, "topics": topics, "present": (k, topics) == (parameters.k, parameters.topics)}
    if design.pairs_shown < design.items:
        return common | {NOTE: UNFILLED}
    campaigns = int(np.clip(PAIRS // (design.pairs_shown * design.k), FEWEST, MOST))
    # Here each system varies between topics; in the expectation, only the lead of models does.
    varied = replace(expected, topic_effect=float(np.hypot(expected.topic_effect, expected.own_topic_effect) / 2**0.5))
    paths = simulate_paths(design, varied, [0.0, expected.effect], campaigns, rng)
    right = UNDECIDED if expected.effect == 0 else int(expected.effect > 0)
    need = saving(paths, GOAL, right)
    each = parameters.pay + parameters.fee + parameters.tax
    until, fixed = need.judgments / design.items, need.fixed / design.items
    values: Row = common | {
        "power": need.power,
        "wrong": need.wrong,
        "questionnaires": until,
        "most": len(paths.topics),
        "cost": round(until * each),
        "fixed": number(fixed),
        "fixed_cost": None if isnan(fixed) else round(fixed * each),
        "saved": number(need.saved),
        "campaigns": campaigns,
        "currency": parameters.currency,
    }
    return values | {NOTE: NEVER} if values["fixed"] is None else values
