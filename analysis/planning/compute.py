"""What designs cost, and what simulations of them found, as the tables of a plan (docs/results.md)."""

from collections import defaultdict
from collections.abc import Iterable
from math import hypot, isnan, nan

from analysis.stats.planning import MEASURES, PlanEstimate, summarise
from annotation.campaigns import allocation, forecasts, pairs
from crowdrag.studies import money

from ..tables.rows import NOTE, Row, number
from .parameters import PlanParameters


def forecast(asked: PlanParameters, k: int, topics: int) -> forecasts.Forecast:
    """What judging so many topics by so many people comes to."""
    design = asked.design(k, topics)
    units = topics * design.pairs_per_topic
    both = pairs.reversed_count(units, design.both_orders)
    sizes = allocation.sizes(units + both, design.items)
    return forecasts.estimate(
        topics=topics,
        units=units,
        both_orders=both,
        items=units + both,
        sizes=sizes,
        k=k,
        dimensions=design.dimensions,
        apiece=min(design.questionnaires_per_person, len(sizes)),
        minutes=asked.minutes,
        pay=asked.pay,
        fee=asked.fee,
        tax=asked.tax,
    )


def row(asked: PlanParameters, k: int, topics: int) -> Row:
    """The row of a design in the table `plan_costs`; money in minor units."""
    found = forecast(asked, k, topics)
    by_people = int((asked.design(k, topics).origin == 0).sum())
    # What is judged already is written already; only topics beyond the present ones need writing.
    writing = asked.writing * by_people * max(topics - asked.topics, 0)
    filled = found.assignments
    return {
        "k": k,
        "topics": topics,
        "present": (k, topics) == (asked.k, asked.topics),
        "pairs": found.units,
        "presented": found.items,
        "questionnaires": found.questionnaires,
        "judgments": found.judgments,
        "people": found.people,
        "hours": found.hours,
        "pay": filled * asked.pay,
        "fee": filled * asked.fee,
        "tax": filled * asked.tax,
        "writing": writing,
        "total": found.total + writing,
        "currency": asked.currency,
    }


Tables = dict[str, list[Row]]
#: So many major units of money are asked about at most: what do the next 100 dollars buy?
NEXT = 100
UNSAID = "the simulated judgments cannot say it: too few of them, or no two responses to compare"
UNKNOWN = "one simulation alone says nothing of how far it is off"
#: What more money may buy: the table's word, and what grows.
STEPS = ("topics", "k")


def tables(asked: PlanParameters, parts: Iterable[Row]) -> Tables:
    """All tables from what was simulated so far; designs without a simulation yet are in `plan_costs` alone.

    `parts` are rows with `k`, `topics` and a number or None for each measure, one a simulated study.
    """
    studies: dict[tuple[int, int], list[dict[str, float]]] = defaultdict(list)
    for part in parts:
        values = {name: nan if part.get(name) is None else part[name] for name in MEASURES}
        studies[part["k"], part["topics"]].append(values)
    found = {point: summarise(studies[point]) for point in asked.points() if studies[point]}
    return {
        "plan": [_row(point, name, estimate) for point, each in found.items() for name, estimate in each.items()],
        "plan_costs": [row(asked, *point) for point in asked.points()],
        "plan_next": _next(asked, found),
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


def _next(asked: PlanParameters, found: dict[tuple[int, int], dict[str, PlanEstimate]]) -> list[Row]:
    """How each measure changes with the next money, spent on topics or on judges, from the present design."""
    present = (asked.k, asked.topics)
    if present not in found:
        return []
    rows = []
    for step, point in _steps(asked):
        if point not in found:
            continue
        more = money.to_major(row(asked, *point)["total"] - row(asked, *present)["total"], asked.currency)
        if more <= 0:
            continue
        now, then = found[present], found[point]
        rows += [_change(step, point, name, now[name], then[name], float(more), asked) for name in MEASURES]
    return rows


def _steps(asked: PlanParameters) -> list[tuple[str, tuple[int, int]]]:
    """The nearest designs with more topics, and with more judges."""
    topics = min((t for k, t in asked.points() if t > asked.topics), default=None)
    k = min((k for k, t in asked.points() if k > asked.k), default=None)
    found = []
    if topics is not None:
        found.append((STEPS[0], (asked.k, topics)))
    if k is not None:
        found.append((STEPS[1], (k, asked.topics)))
    return found


def _change(
    step: str,
    point: tuple[int, int],
    measure: str,
    now: PlanEstimate,
    then: PlanEstimate,
    more: float,
    asked: PlanParameters,
) -> Row:
    """The change for some money: on the way to the design, which costs so much more, and no further."""
    per = min(NEXT / more, 1.0)
    change = (then.value - now.value) * per
    # The designs were simulated apart from each other, so their errors add up as squares.
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
        "currency": asked.currency,
    }
    if isnan(change):
        return row | {NOTE: UNSAID}
    return row if not isnan(reach) else row | {NOTE: UNKNOWN}
