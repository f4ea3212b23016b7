"""What a design costs: people, hours and money, by the function that forecasts campaigns."""

from annotation.campaigns import allocation, forecasts, pairs

from ..results.schema import Row
from .asked import Asked


def forecast(asked: Asked, k: int, topics: int) -> forecasts.Forecast:
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


def row(asked: Asked, k: int, topics: int) -> Row:
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
