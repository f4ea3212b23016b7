"""Build a campaign's questionnaires from its design, and measure them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import numpy as np
from django.db import transaction
from django.db.models import Q
from numpy.random import Generator

from ..campaign_types.drawn_items import DrawnItem, ResponseText
from ..campaign_types.registry import type_of
from ..enums import CampaignState
from ..models import Campaign, Item, Pair, Questionnaire, QuestionnaireItem
from ..quality import attention_checks, known_labels
from . import allocation, candidates, side_balance
from . import pairs as campaigns_pairs
from .design import FILL, SHORT, Design, dump_design, read_design
from .problems import NotDraft, NotReady

BATCH: Final = 2000
# Each kind of draw has its own random stream, so that more gold items do not change the rest.
TOPICS, PAIRS, ORDERS, SIDES, PACKING, ORDER, GOLD, CHECKS, ITEMS = range(9)


@dataclass(frozen=True)
class Pool:
    """The responses that can be drawn."""

    texts: tuple[ResponseText, ...]
    # Number of topics with only one response, which cannot be compared.
    single: int = 0

    @property
    def topics(self) -> int:
        """Number of topics with responses."""
        return len({text.topic for text in self.texts})


def lock_campaign(campaign: Campaign) -> Campaign:
    """Return a campaign with its row locked, so that its changes are serialized."""
    return Campaign.objects.select_for_update(no_key=True, of=("self",)).select_related("study").get(pk=campaign.pk)


def rng_of(design: Design, number: int) -> Generator:
    """Return the random generator of one kind of draw."""
    return np.random.default_rng([design.seed, number])


def pool(campaign: Campaign, design: Design) -> Pool:
    """Return the responses that a design draws from, and the number of topics with only one."""
    admitted = candidates.responses(campaign, design)
    if not type_of(campaign).compares:
        return Pool(tuple(candidates.sample_topics(admitted, design.topic_sample, rng=rng_of(design, TOPICS))))
    comparable = candidates.sample_topics(admitted, None, rng=rng_of(design, TOPICS), least=2)
    single = len({text.topic for text in admitted}) - len({text.topic for text in comparable})
    return Pool(tuple(candidates.sample_topics(comparable, design.topic_sample, rng=rng_of(design, TOPICS))), single)


def draw(campaign: Campaign, design: Design, *, sided: bool = True) -> list[DrawnItem]:
    """Draw the items as they are shown. Nothing is stored. Without `sided`, sides are not balanced."""
    if type_of(campaign).asks_again:
        chosen = candidates.items_by_rule(campaign, design, rng=rng_of(design, ITEMS))
        return list(candidates.drawn_items(chosen).values())
    apart = candidates.excluded_responses(campaign)
    texts = pool(campaign, design).texts
    if not type_of(campaign).compares:
        return [each for each in type_of(campaign).items_of(texts) if each.both not in apart]
    if design.chosen_pairs:
        every = candidates.chosen_pairs(texts, design.chosen_pairs)
    else:
        every = campaigns_pairs.pairs(texts, per_topic=design.pairs_per_topic, rng=rng_of(design, PAIRS))
    pairs = [each for each in every if each.both not in apart]
    number = campaigns_pairs.reversed_count(
        len(pairs), design.reverse_share, fill_to=design.items_per_questionnaire if design.remainder == FILL else None
    )
    twice = campaigns_pairs.both_orders(pairs, number, rng=rng_of(design, ORDERS))
    chosen_twice = set(twice)
    once = [each for index, each in enumerate(pairs) if index not in chosen_twice]
    if sided:
        once = side_balance.balance_sides(once, rng=rng_of(design, SIDES))
    return [*once, *(each for index in twice for each in (pairs[index], pairs[index].reverse))]


def sizes(design: Design, items: int, *, both_orders: int) -> list[int]:
    """Return the number of items of each questionnaire, without gold items.

    Parameters
    ----------
    both_orders
        number of pairs that are shown in both orders; their orders go to different questionnaires.
    """
    remainder = allocation.SHORT if design.remainder == SHORT else allocation.EVEN
    return allocation.sizes(items, design.items_per_questionnaire, remainder=remainder, twice=both_orders)


def count_units(shown: Sequence[DrawnItem]) -> int:
    """Return the number of pairs or responses, counting the two orders of a pair once."""
    return len({each.both for each in shown})


@transaction.atomic
def build(*, campaign: Campaign, now: datetime, seed: int | None = None) -> Campaign:
    """Draw a campaign's questionnaires from its design and replace earlier ones.

    The same seed and responses give the same questionnaires. Items that a researcher chose (gold, training) are kept.

    Parameters
    ----------
    seed
        replaces the design's seed and is stored in the design.

    Raises
    ------
    NotDraft
        if the campaign was opened.
    NotReady
        if there is nothing to draw, or both orders of a pair cannot be separated.
    """
    campaign = lock_campaign(campaign)
    if campaign.state != CampaignState.DRAFT:
        raise NotDraft(campaign)
    design = read_design(campaign.design)
    if seed is not None:
        design = replace(design, seed=seed)
        campaign.design = dump_design(design, campaign.design)
        campaign.save(update_fields=["design"])
    shown = draw(campaign, design)
    if not shown:
        raise NotReady([nothing_to_draw(campaign)])
    try:
        numbers = sizes(design, len(shown), both_orders=len(shown) - count_units(shown))
        packed = allocation.pack(shown, numbers, rng=rng_of(design, PACKING))
    except allocation.CannotSeparate:
        raise NotReady(
            [
                (
                    "The two orders of a pair do not fit into different questionnaires, so someone would see a pair "
                    "twice. Lower “Pairs shown in both orders (%)” or “Items per questionnaire”."
                )
            ]
        ) from None
    clear(campaign)
    items = _items(campaign, shown)
    rng = rng_of(design, ORDER)
    ordered = [allocation.order(held, rng=rng) for held in packed]
    questionnaires = _questionnaires(campaign, [[shown[index] for index in held] for held in ordered], now)
    entries = [
        QuestionnaireItem(questionnaire=questionnaire, item=items[index], position=position)
        for questionnaire, held in zip(questionnaires, ordered, strict=True)
        for position, index in enumerate(held)
    ]
    QuestionnaireItem.objects.bulk_create(entries, batch_size=BATCH)
    known_labels.place_gold(questionnaires=questionnaires, per_questionnaire=design.gold, rng=rng_of(design, GOLD))
    attention_checks.place_checks(
        questionnaires=questionnaires, per_questionnaire=design.checks, rng=rng_of(design, CHECKS)
    )
    return campaign


def clear(campaign: Campaign) -> None:
    """Delete what was drawn, but keep items that a researcher chose. The caller has locked the draft."""
    Questionnaire.objects.filter(campaign=campaign).delete()
    kept = known_labels.chosen_items(campaign).values_list("pk", flat=True)
    Item.objects.filter(campaign=campaign).exclude(pk__in=list(kept)).delete()


def is_drawn(campaign: Campaign) -> bool:
    """Return whether a campaign has questionnaires."""
    return campaign.questionnaires.exists()


def is_current(campaign: Campaign) -> bool:
    """Return whether everything that was drawn can still be judged: no response was erased or excluded since."""
    gone = Q()
    for path in ("item__response", "item__pair__a", "item__pair__b"):
        gone |= Q(**{f"{path}__is_included": False}) | Q(**{f"{path}__erased_at__isnull": False})
    return not QuestionnaireItem.objects.filter(gone, questionnaire__campaign=campaign).exists()


def measures(campaign: Campaign) -> allocation.Measures:
    """Measure a campaign's questionnaires, without gold items."""
    rows = QuestionnaireItem.objects.filter(questionnaire__campaign=campaign, has_known_label=False)
    placements = list(rows.order_by("questionnaire", "position").values_list("questionnaire", "item"))
    shown = candidates.drawn_items(item for _questionnaire, item in placements)
    held: dict[int, list[DrawnItem]] = {}
    for questionnaire, item in placements:
        if item in shown:
            held.setdefault(questionnaire, []).append(shown[item])
    return allocation.measure(list(held.values()))


def nothing_to_draw(campaign: Campaign) -> str:
    """Return a message that explains why nothing can be drawn."""
    return type_of(campaign).nothing_to_draw


def _items(campaign: Campaign, shown: Sequence[DrawnItem]) -> list[Item]:
    """Return the items of the drawn pairs or responses; create those that are missing."""
    rows = [Item(campaign=campaign, topic_id=each.topic) for each in shown]
    if any(each.b for each in shown):
        pairs = _pairs(campaign, shown)
        for row, each in zip(rows, shown, strict=True):
            row.pair_id = pairs[(each.a.key, each.b.key)] if each.b else None
            row.response_id = None if each.b else each.a.key
    else:
        for row, each in zip(rows, shown, strict=True):
            row.response_id, row.statement, row.retrieved_id = each.a.key, each.statement, each.retrieved
    known = {_content(item): item for item in Item.objects.filter(campaign=campaign)}
    items = [known.get(_content(row), row) for row in rows]
    Item.objects.bulk_create([row for row in items if row.pk is None], batch_size=BATCH)
    return items


def _content(item: Item) -> tuple[int | None, ...]:
    return (item.pair_id, item.response_id, item.statement, item.retrieved_id)


def _pairs(campaign: Campaign, shown: Sequence[DrawnItem]) -> dict[tuple[int, int], int]:
    """Return the keys of the presented pairs; create those that are missing. Other campaigns' pairs are reused."""
    known = candidates.existing_pairs(shown)
    new_pairs = [each for each in shown if each.b and (each.a.key, each.b.key) not in known]
    rows = [Pair(study_id=campaign.study_id, a_id=each.a.key, b_id=each.b.key) for each in new_pairs if each.b]
    Pair.objects.bulk_create(rows, batch_size=BATCH, ignore_conflicts=True)
    return candidates.existing_pairs(shown) if rows else known


def _questionnaires(campaign: Campaign, held: Sequence[Sequence[DrawnItem]], now: datetime) -> list[Questionnaire]:
    rows = [
        Questionnaire(
            campaign=campaign,
            external_id=f"{campaign.pk}-{number + 1:04d}",
            created_at=now,
            position=number,
            words=sum(each.words for each in items),
        )
        for number, items in enumerate(held)
    ]
    return Questionnaire.objects.bulk_create(rows, batch_size=BATCH)
