"""Which items of a campaign a model judges, and in which orders."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from django.db import models

from writing.models import Response, Topic

from ..judging import questionnaire_content
from ..judging.questionnaire_content import ShownItem
from ..models import Campaign, Item, Pair


class ItemSelection(models.TextChoices):
    """Which items are judged."""

    BOTH_ORDERS = "both_orders", "pairs that people see in both orders"
    ALL = "all", "all items of the campaign"
    SAMPLE = "sample", "a random sample"


@dataclass(frozen=True, order=True)
class Stimulus:
    """What is judged at once, by keys: a pair as presented (left, right), or one response."""

    a: int
    b: int | None = None

    @property
    def reverse(self) -> "Stimulus":
        """The same pair in the other order; a response alone has none."""
        return self if self.b is None else Stimulus(self.b, self.a)

    @property
    def responses(self) -> tuple[int, ...]:
        """Its responses."""
        return (self.a,) if self.b is None else (self.a, self.b)

    @property
    def unordered(self) -> tuple[int, ...]:
        """What both orders of a pair have in common."""
        return tuple(sorted(self.responses))


def select_stimuli(*, source: Campaign, which: str, n: int | None, both: bool, seed: int) -> list[Stimulus]:
    """Return what is judged of a campaign's items, in a fixed order.

    Responses that are left out of the analysis, or whose text was erased, are not judged. With `both` each pair comes
    in both orders, whichever of them people were given.
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
    """Return what is shown of things, as people see it."""
    things = list(things)
    responses = texts(things)
    return {thing: show_stimulus(thing, responses) for thing in things}


def texts(things: Iterable[Stimulus]) -> dict[int, Response]:
    """Return the responses of things by key, each once, with topic and writer."""
    keys = {pk for thing in things for pk in thing.responses}
    return Response.objects.select_related("topic", "participant").in_bulk(keys)


def show_stimulus(thing: Stimulus, responses: Mapping[int, Response]) -> ShownItem:
    """Return what is shown of one thing."""
    return questionnaire_content.show_item(_item(thing, responses))


def stimuli_of_items(items: Iterable[int]) -> dict[int, Stimulus]:
    """Return what stored items are, by their keys."""
    rows = Item.objects.filter(pk__in=list(items)).values_list("pk", "pair__a", "pair__b", "response")
    return {pk: Stimulus(a, b) if response is None else Stimulus(response) for pk, a, b, response in rows}


def can_be_judged(thing: Stimulus, responses: Mapping[int, Response]) -> bool:
    """Whether its responses still count and have a text."""
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
        if a is not None or response is not None  # an imported item may name no response at all
    ]
    return [thing for thing in dict.fromkeys(stimuli_found) if not gone & set(thing.responses)]


def _item(thing: Stimulus, responses: Mapping[int, Response]) -> Item:
    """Return an item as it would be stored: what is shown is read from it as from any other."""
    first = responses[thing.a]
    topic: Topic = first.topic
    if thing.b is None:
        return Item(response=first, topic=topic)
    return Item(pair=Pair(study=first.study, a=first, b=responses[thing.b]), topic=topic)
