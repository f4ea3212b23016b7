"""Tables of a plan: costs of designs, and results of their simulations (docs/reference/tables.md)."""

from collections import defaultdict
from collections.abc import Iterable
from math import hypot, isnan, nan

from analysis.stats.planning import MEASURES, PlanEstimate, summarise
from annotation.campaigns import allocation, forecasts, pairs
from crowdrag.studies import money

from ..tables.rows import NOTE, Row, number
from .parameters import PlanParameters


def forecast(parameters: PlanParameters, k: int, topics: int) -> forecasts.Forecast:
    """Return the cost of judging `topics` topics with `k` judges."""
    design = parameters.design(k, topics)
    units = topics * design.pairs_per_topic
    both = pairs.reversed_count(units, design.both_orders)
    sizes = allocation.sizes(units + both, design.items, twice=both)
    return forecasts.estimate(
        topics=topics,
        units=units,
        both_orders=both,
        items=units + both,
        sizes=sizes,
        k=k,
        dimensions=design.dimensions,
        apiece=min(design.questionnaires_per_person, len(sizes)),
        minutes=parameters.minutes,
        pay=parameters.pay,
        fee=parameters.fee,
        tax=parameters.tax,
    )


def row(parameters: PlanParameters, k: int, topics: int) -> Row:
    """Return the row of a design in the table `plan_costs`; money in minor units."""
    cost = forecast(parameters, k, topics)
    by_people = int((parameters.design(k, topics).origin == 0).sum())
    # Only topics beyond the present ones need new responses.
    writing = parameters.writing * by_people * max(topics - parameters.topics, 0)
    filled = cost.assignments
    return {
        "k": k,
        "topics": topics,
        "present": (k, topics) == (parameters.k, parameters.topics),
        "pairs": cost.units,
        "presented": cost.items,
        "questionnaires": cost.questionnaires,
        "judgments": cost.judgments,
        "people": cost.people,
        "hours": cost.hours,
        "pay": filled * parameters.pay,
        "fee": filled * parameters.fee,
        "tax": filled * parameters.tax,
        "writing": writing,
        "total": cost.total + writing,
        "currency": parameters.currency,
    }


Tables = dict[str, list[Row]]
#: Maximum amount of additional money in major units: what do the next 100 dollars buy?
NEXT = 100
UNSAID = "too few simulated judgments, or no two responses to compare"
UNKNOWN = "one simulation is not enough for an interval"
#: What additional money may increase: name in the table.
STEPS = ("topics", "k")


def tables(parameters: PlanParameters, parts: Iterable[Row]) -> Tables:
    """Make all tables from the simulations so far; designs without simulations are only in `plan_costs`.

    `parts` are rows with `k`, `topics` and a number or None for each measure, one for each simulated study.
    """
    studies: dict[tuple[int, int], list[dict[str, float]]] = defaultdict(list)
    for part in parts:
        values = {name: nan if part.get(name) is None else part[name] for name in MEASURES}
        studies[part["k"], part["topics"]].append(values)
    estimates = {point: summarise(studies[point]) for point in parameters.points() if studies[point]}
    return {
        "plan": [
            _row(point, name, estimate)
            for point, estimates_of_point in estimates.items()
            for name, estimate in estimates_of_point.items()
        ],
        "plan_costs": [row(parameters, *point) for point in parameters.points()],
        "plan_next": _next(parameters, estimates),
    }


def _row(point: tuple[int, int], measure: str, estimate: PlanEstimate) -> Row:
    row: Row = {
        "k": point[0],
        "topics": point[1],
        "measure": measure,
        "value": number(estimate.value),
        "low": number(estimate.low),
        "high": number(estimate.high),
        "simulations": estimate.simulations,
    }
    if row["value"] is None:
        return row | {NOTE: UNSAID}
    return row if row["low"] is not None else row | {NOTE: UNKNOWN}


def _next(parameters: PlanParameters, estimates: dict[tuple[int, int], dict[str, PlanEstimate]]) -> list[Row]:
    """Return the change of each measure if a certain amount is spent on more topics or more judges."""
    present = (parameters.k, parameters.topics)
    if present not in estimates:
        return []
    rows = []
    for step, point in _steps(parameters):
        if point not in estimates:
            continue
        more = money.to_major(
            row(parameters, *point)["total"] - row(parameters, *present)["total"], parameters.currency
        )
        if more <= 0:
            continue
        now, then = estimates[present], estimates[point]
        rows += [_change(step, point, name, now[name], then[name], float(more), parameters) for name in MEASURES]
    return rows


def _steps(parameters: PlanParameters) -> list[tuple[str, tuple[int, int]]]:
    """Return the nearest designs with more topics, and with more judges."""
    topics = min((t for k, t in parameters.points() if t > parameters.topics), default=None)
    k = min((k for k, t in parameters.points() if k > parameters.k), default=None)
    steps = []
    if topics is not None:
        steps.append((STEPS[0], (parameters.k, topics)))
    if k is not None:
        steps.append((STEPS[1], (k, parameters.topics)))
    return steps


def _change(
    step: str,
    point: tuple[int, int],
    measure: str,
    now: PlanEstimate,
    then: PlanEstimate,
    more: float,
    parameters: PlanParameters,
) -> Row:
    """Interpolate the change for an amount of money towards a design with `more` cost, at most up to that design."""
    per = min(NEXT / more, 1.0)
    change = (then.value - now.value) * per
    # Designs are simulated independently, so the squares of their errors add up.
    reach = hypot(now.high - now.low, then.high - then.low) / 2 * per
    row: Row = {
        "step": step,
        "k": point[0],
        "topics": point[1],
        "measure": measure,
        "change": number(change),
        "low": number(change - reach),
        "high": number(change + reach),
        "money": round(min(NEXT, more)),
        "currency": parameters.currency,
    }
    if isnan(change):
        return row | {NOTE: UNSAID}
    return row if not isnan(reach) else row | {NOTE: UNKNOWN}
