"""The judgments of a campaign so far as arrays: what its live figures are computed from.

Those count that were handed in and stand (submitted or accepted, included). A unit is an item as presented. What is
read is one statement a campaign, so that all figures are of one moment.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...enums import AssignmentState
from ...models import Campaign, Dimension, Item, Judgment
from ...models.judgment import JudgmentQuerySet
from ..checks import gold

Ints = NDArray[np.int64]
COUNTED = (AssignmentState.SUBMITTED, AssignmentState.ACCEPTED)
PREFERENCE = (-1, 0, 1)
_COLUMNS = ("assignment__questionnaire_id", "assignment_id", "item_id", "assignment__participant_id", "value")


@dataclass(frozen=True, eq=False)
class Judged:
    """Judgments on one dimension, one entry each, in the order in which they count for an item.

    Attributes
    ----------
    unit, coder, value : ndarray of int, shape (n_judgments,)
        Positions in `items`, `people` and `domain`.
    known : ndarray of int, shape (n_items,)
        The position of each item's label where it was known beforehand, else -1.
    topic : ndarray of int, shape (n_items,)
        The topic of each item, from 0 to ``topics - 1``.
    """

    dimension: Dimension
    domain: tuple[int, ...]
    items: Ints
    people: Ints
    unit: Ints
    coder: Ints
    value: Ints
    known: Ints
    topic: Ints
    topics: int


def domain(dimension: Dimension) -> tuple[int, ...]:
    """Return the values that answers count along, in ascending order: A, N, B for all preferences."""
    values = tuple(sorted(dimension.values))
    return PREFERENCE if set(values) <= set(PREFERENCE) else values


def counted(campaign: Campaign) -> int:
    """Return how many judgments count so far."""
    return _rows(campaign).count()


def load(campaign: Campaign) -> list[Judged]:
    """Return the judgments by dimension, in the order in which the campaign asks."""
    asked = [each.dimension for each in campaign.asked.select_related("dimension").order_by("position")]
    rows = np.array(
        list(_rows(campaign).order_by().values_list("dimension_id", *_COLUMNS).iterator(chunk_size=20_000)),
        dtype=np.int64,
    ).reshape(-1, 6)
    items, unit = np.unique(rows[:, 3], return_inverse=True)
    people, coder = np.unique(rows[:, 4], return_inverse=True)
    topic, topics = _topics(items)
    labels = gold.labels(campaign)
    found = []
    for dimension in asked:
        mine = np.flatnonzero(rows[:, 0] == dimension.pk)
        # As in the analysis: in the order in which questionnaires and their assignments came.
        mine = mine[np.lexsort((rows[mine, 2], rows[mine, 1], unit[mine]))]
        values = domain(dimension)
        place = {value: position for position, value in enumerate(values)}
        known = [place.get(labels.get((item, dimension.pk), 10**6), -1) for item in items.tolist()]
        found.append(
            Judged(
                dimension=dimension,
                domain=values,
                items=items,
                people=people,
                unit=unit[mine],
                coder=coder[mine],
                value=np.array([place[value] for value in rows[mine, 5].tolist()], dtype=np.int64),
                known=np.array(known, dtype=np.int64),
                topic=topic,
                topics=topics,
            )
        )
    return found


def _rows(campaign: Campaign) -> JudgmentQuerySet:
    return Judgment.objects.filter(
        assignment__questionnaire__campaign=campaign,
        assignment__state__in=COUNTED,
        assignment__is_included=True,
        dimension__in=campaign.asked.values("dimension"),
        repeat=0,
    )


def _topics(items: Ints) -> tuple[Ints, int]:
    """Return the topic of each item, from 0, and how many there are."""
    of = dict(Item.objects.filter(pk__in=items.tolist()).values_list("pk", "topic_id"))
    names, topic = np.unique([of[item] for item in items.tolist()], return_inverse=True)
    return topic.astype(np.int64), len(names)
