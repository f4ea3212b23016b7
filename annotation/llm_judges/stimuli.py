"""The items of a campaign that a model judges, and in which orders."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from django.db import models

from writing.models import Response, Topic

from ..campaign_types import shown_items
from ..campaign_types.shown_items import ShownItem
from ..models import Campaign, Item, Pair


class ItemSelection(models.TextChoices):
    """Which items to judge."""

    BOTH_ORDERS = "both_orders", "pairs that people see in both orders"
    ALL = "all", "all items of the campaign"
    SAMPLE = "sample", "a random sample"


@dataclass(frozen=True, order=True)
class Stimulus:
    """What is judged in one step, by keys: a pair as presented (left, right), one response, or a statement of it.

    `statement` is the position of the statement and `retrieved` the retrieved passage.
    """

    a: int
    b: int | None = None
    statement: int | None = None
    retrieved: int | None = None

    @property
    def reverse(self) -> "Stimulus":
        """The same pair in the other order; a single response is unchanged."""
        return self if self.b is None else Stimulus(self.b, self.a)

    @property
    def responses(self) -> tuple[int, ...]:
        """The keys of its responses."""
        return (self.a,) if self.b is None else (self.a, self.b)

    @property
    def unordered(self) -> tuple[int, ...]:
        """What it consists of: equal for both orders of a pair."""
        if self.statement is not None and self.retrieved is not None:
            return (self.a, self.statement, self.retrieved)
        return tuple(sorted(self.responses))


def select_stimuli(*, source: Campaign, which: str, n: int | None, both: bool, seed: int) -> list[Stimulus]:
    """Return the stimuli of a campaign's items in a fixed order.

    Responses that are excluded from the analysis or whose text was erased are not judged. With `both`, each pair is
    judged in both orders, regardless of the orders that people saw.
    """
    things = _of(source)
    if which == ItemSelection.BOTH_ORDERS:
        chosen = set(things)
        things = [thing for thing in things if thing.b is not None and thing.reverse in chosen]
    elif which == ItemSelection.SAMPLE:
        kinds = sorted({thing.unordered for thing in things})
        drawn = set(Random(seed).sample(kinds, min(n or 0, len(kinds))))
        things = [thing for thing in things if thing.unordered in drawn]
    if both:
        things = list(dict.fromkeys(one for thing in things for one in (thing, thing.reverse)))
    return things


def show_stimuli(things: Iterable[Stimulus]) -> dict[Stimulus, ShownItem]:
    """Return the content of stimuli as shown to people."""
    things = list(things)
    responses = texts(things)
    return {thing: show_stimulus(thing, responses) for thing in things}


def texts(things: Iterable[Stimulus]) -> dict[int, Response]:
    """Return the responses of stimuli by key, with topic and writer."""
    keys = {pk for thing in things for pk in thing.responses}
    return Response.objects.select_related("topic", "participant").in_bulk(keys)


def show_stimulus(thing: Stimulus, responses: Mapping[int, Response]) -> ShownItem:
    """Return the content of one stimulus."""
    return shown_items.show_item(_item(thing, responses))


def stimuli_of_items(items: Iterable[int]) -> dict[int, Stimulus]:
    """Return the stimuli of stored items, by the items' keys."""
    return _stimuli(Item.objects.filter(pk__in=list(items)))


def can_be_judged(thing: Stimulus, responses: Mapping[int, Response]) -> bool:
    """Return whether its responses are included and have a text."""
    return all(responses[pk].is_included and responses[pk].text for pk in thing.responses)


def _of(source: Campaign) -> list[Stimulus]:
    gone = set(
        Response.objects.filter(study=source.study)
        .filter(models.Q(is_included=False) | models.Q(text=""))
        .values_list("pk", flat=True)
    )
    rows = Item.objects.filter(campaign=source).order_by("topic__external_id", "pk")
    # Imported items may not name a response.
    named = rows.filter(models.Q(pair__isnull=False) | models.Q(response__isnull=False))
    return [thing for thing in dict.fromkeys(_stimuli(named).values()) if not gone & set(thing.responses)]


def _stimuli(items: models.QuerySet[Item]) -> dict[int, Stimulus]:
    """Return the stimulus of each item by key, in the order of the items."""
    rows = items.values_list("pk", "pair__a", "pair__b", "response", "statement", "retrieved")
    return {
        pk: Stimulus(a, b) if response is None else Stimulus(response, None, statement, retrieved)
        for pk, a, b, response, statement, retrieved in rows
    }


def _item(thing: Stimulus, responses: Mapping[int, Response]) -> Item:
    """Return an unsaved item, so that its content is read in the same way as that of stored ones."""
    first = responses[thing.a]
    topic: Topic = first.topic
    if thing.b is None:
        return Item(response=first, topic=topic, statement=thing.statement, retrieved_id=thing.retrieved)
    return Item(pair=Pair(study=first.study, a=first, b=responses[thing.b]), topic=topic)
