"""Candidates for judging: responses by filter, or items of another campaign by rule."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from django.db.models import Count, Q
from numpy.random import Generator

from analysis.stats.labels import differentiable, majority
from writing.enums import TaskState
from writing.models import Response, Topic

from ..campaign_types.drawn_items import DrawnItem, ResponseText
from ..campaign_types.support import statement_texts
from ..models import Campaign, Item, Judgment
from ..quality import known_labels
from .design import LEAST, PICKED, Design
from .models import Pair

# Paths from an item to its responses.
_PATHS: Final = ("pair__a", "pair__b", "response")
_COLUMNS: Final = ("pk", "topic_id", "origin", "words", "is_included", "erased_at")


def responses(campaign: Campaign, design: Design) -> list[ResponseText]:
    """Return the responses that a campaign's design admits: accepted and included ones with text."""
    candidates = Response.objects.filter(study=campaign.study_id, is_included=True, erased_at__isnull=True, words__gt=0)
    # Responses written in a task must be accepted. Imported and generated ones have no task.
    candidates = candidates.filter(Q(task__isnull=True) | Q(task__state=TaskState.ACCEPTED))
    candidates = candidates.filter(topic__in=Topic.objects.filter(study=campaign.study_id).current())
    if design.topics:
        candidates = candidates.filter(topic__external_id__in=design.topics)
    if design.styles:
        candidates = candidates.filter(style__name__in=design.styles)
    if design.origins:
        candidates = candidates.filter(origin__in=design.origins)
    return [ResponseText(*row) for row in candidates.order_by("pk").values_list("pk", "topic_id", "origin", "words")]


def sample_topics(
    texts: Iterable[ResponseText], n: int | None, *, rng: Generator, least: int = 1
) -> list[ResponseText]:
    """Return the texts of `n` random topics (all topics if None) among those with at least `least` texts."""
    texts = list(texts)
    by_topic: dict[int, int] = {}
    for text in texts:
        by_topic[text.topic] = by_topic.get(text.topic, 0) + 1
    topics = sorted(topic for topic, number in by_topic.items() if number >= least)
    if n is not None and n < len(topics):
        topics = sorted(topics[index] for index in rng.choice(len(topics), n, replace=False))
    kept = set(topics)
    return [text for text in texts if text.topic in kept]


def chosen_pairs(texts: Iterable[ResponseText], chosen: Iterable[tuple[str, str]]) -> list[DrawnItem]:
    """Return chosen pairs of responses, by their ids, as far as both are among the texts and answer the same topic."""
    by_key = {text.key: text for text in texts}
    names = {
        name: by_key[pk]
        for pk, name in Response.objects.filter(pk__in=by_key).values_list("pk", "external_id")
    }  # fmt: skip
    sides = [(names.get(first), names.get(second)) for first, second in chosen]
    return [DrawnItem(a, b) for a, b in sides if a is not None and b is not None and a.topic == b.topic]


def excluded_responses(campaign: Campaign) -> set[tuple[int, ...]]:
    """Return the keys of responses that are not drawn because they are training or gold items."""
    kept = known_labels.chosen_items(campaign).select_related("pair")
    return {_texts_of(item) for item in kept}


@dataclass(frozen=True)
class HardItem:
    """A judged item and how far the judges agreed on it.

    Attributes
    ----------
    majorities, dimensions
        number of dimensions on which more than half of the judges gave the same answer, and of all dimensions.
    agreement
        share of the most frequent answer, averaged over dimensions.
    is_minimal
        minimally differentiable: a majority on no more than 4/7 of the dimensions (design 7.2).
    """

    item: int
    both: tuple[int, ...]
    majorities: int
    dimensions: int
    judges: float
    agreement: float
    is_minimal: bool


def hardest_items(source: Campaign) -> list[HardItem]:
    """Return a campaign's judged items, those with the least agreement first.

    Both orders of a pair are included. Items that fewer than two people judged on some dimension are not.
    """
    counted = Judgment.objects.filter(item__campaign=source).counted()
    rows = list(counted.values_list("item", "dimension__name", "value").annotate(n=Count("pk")))
    items, names, values = (sorted({row[index] for row in rows}) for index in range(3))
    if not rows:
        return []
    votes = np.zeros((len(items), len(names), len(values)), dtype=np.int64)
    places = tuple({each: index for index, each in enumerate(known)} for known in (items, names, values))
    for item, name, value, n in rows:
        votes[places[0][item], places[1][name], places[2][value]] = n
    judges = votes.sum(axis=2)
    enough = (judges >= 2).all(axis=1)
    agreement = (votes.max(axis=2) / np.maximum(judges, 1)).mean(axis=1)
    decided, told_apart = majority(votes).sum(axis=1), differentiable(votes)
    texts = {item.pk: _texts_of(item) for item in Item.objects.filter(pk__in=items).select_related("pair")}
    judgments = [
        HardItem(
            item=item,
            both=texts[item],
            majorities=int(decided[n]),
            dimensions=len(names),
            judges=float(judges[n].mean()),
            agreement=float(agreement[n]),
            is_minimal=not told_apart[n],
        )
        for n, item in enumerate(items)
        if enough[n]
    ]
    return sorted(judgments, key=lambda each: (each.majorities, each.agreement, each.item))


def items_by_rule(campaign: Campaign, design: Design, *, rng: Generator) -> list[int]:
    """Return the items of its source that an expert campaign asks again, each pair in one order.

    `least`: those with the least agreement; `minimal`: a random sample of the minimally differentiable ones; `picked`:
    those that a researcher picked, in the orders that were picked.
    """
    source = campaign.source
    if source is None:
        return []
    if design.rule == PICKED:
        return list(
            Item.objects.filter(campaign=source, pk__in=design.picked).order_by("pk").values_list("pk", flat=True)
        )
    once: dict[tuple[int, ...], HardItem] = {}
    for each in hardest_items(source):
        once.setdefault(each.both, each)
    items = list(once.values())
    if design.rule == LEAST:
        return [each.item for each in items[: design.rule_items]]
    minimal = [each.item for each in items if each.is_minimal]
    drawn = rng.permutation(len(minimal))[: design.rule_items]
    return sorted(minimal[index] for index in drawn)


def drawn_items(items: Iterable[int]) -> dict[int, DrawnItem]:
    """Return items as they are shown, by key, without those whose response was erased or excluded."""
    # Texts are not loaded, because a campaign has thousands.
    columns = [f"{path}__{name}" for path in _PATHS for name in _COLUMNS]
    rows = Item.objects.filter(pk__in=list(items)).order_by("pk").values_list("pk", "statement", "retrieved", *columns)
    shown: dict[int, DrawnItem] = {}
    for pk, statement, retrieved, *values in rows:
        width = len(_COLUMNS)
        texts = [values[start : start + width] for start in range(0, len(values), width)]
        known_texts = [text for text in texts if text[0] is not None]
        if known_texts and all(is_included and erased_at is None for *_text, is_included, erased_at in known_texts):
            responses = [ResponseText(*text[:4]) for text in known_texts]
            a, b = responses[0], responses[1] if len(responses) > 1 else None
            shown[pk] = DrawnItem(a, b, statement, retrieved)
    return _with_words(shown)


def _with_words(shown: dict[int, DrawnItem]) -> dict[int, DrawnItem]:
    """Return the items with the numbers of words of statements and their passages."""
    cited = {
        pk: (each.a.key, each.statement, each.retrieved)
        for pk, each in shown.items()
        if each.statement is not None and each.retrieved is not None
    }
    if not cited:
        return shown
    texts = statement_texts.load_texts(cited.values())
    return {
        pk: replace(each, words_shown=texts[cited[pk]].words) if pk in cited else each for pk, each in shown.items()
    }


def existing_pairs(drawn: Iterable[DrawnItem]) -> dict[tuple[int, int], int]:
    """Return the keys of existing presented pairs, by the keys of the left and the right response."""
    lefts = {each.a.key for each in drawn}
    return {(a, b): pk for pk, a, b in Pair.objects.filter(a__in=lefts).values_list("pk", "a_id", "b_id")}


def _texts_of(item: Item) -> tuple[int, ...]:
    if item.pair is not None:
        return tuple(sorted((item.pair.a_id, item.pair.b_id)))
    if item.response_id is not None and item.statement is not None and item.retrieved_id is not None:
        return (item.response_id, item.statement, item.retrieved_id)
    return (item.response_id or -item.pk,)
