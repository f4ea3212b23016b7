"""The items of a campaign that a model judges, and in which orders."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from django.db import models

from writing.models import Response, Topic

from ..judging import questionnaire_content
from ..judging.questionnaire_content import ShownItem
from ..models import Campaign, Item, Pair


class ItemSelection(models.TextChoices):
    """Which items to judge."""

    BOTH_ORDERS = "both_orders", "pairs that people see in both orders"
    ALL = "all", "all items of the campaign"
    SAMPLE = "sample", "a random sample"


@dataclass(frozen=True, order=True)
class Stimulus:
    """What is judged in one step, by keys: a pair as presented (left, right), or one response."""

    a: int
    b: int | None = None

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
        """The keys of its responses, sorted: equal for both orders of a pair."""
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
    return questionnaire_content.show_item(_item(thing, responses))


def stimuli_of_items(items: Iterable[int]) -> dict[int, Stimulus]:
    """Return the stimuli of stored items, by the items' keys."""
    rows = Item.objects.filter(pk__in=list(items)).values_list("pk", "pair__a", "pair__b", "response")
    return {pk: Stimulus(a, b) if response is None else Stimulus(response) for pk, a, b, response in rows}


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
    stimuli_found = [
        Stimulus(a, b) if response is None else Stimulus(response)
        for a, b, response in rows.values_list("pair__a", "pair__b", "response")
        if a is not None or response is not None  # imported items may not name a response
    ]
    return [thing for thing in dict.fromkeys(stimuli_found) if not gone & set(thing.responses)]


def _item(thing: Stimulus, responses: Mapping[int, Response]) -> Item:
    """Return an unsaved item, so that its content is read in the same way as that of stored ones."""
    first = responses[thing.a]
    topic: Topic = first.topic
    if thing.b is None:
        return Item(response=first, topic=topic)
    return Item(pair=Pair(study=first.study, a=first, b=responses[thing.b]), topic=topic)
