"""Items with known labels: where the labels come from, and where the items stand.

A gold item is an item of the campaign with at least one known label that is no training item. It is shown like any
other; what people answer to it counts as judgments. Each questionnaire gets some, in turn, so that people who answer
several questionnaires meet others, and each gold item is met about as often.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils.translation import gettext as _
from numpy.random import Generator

from writing.models import Response

from ...enums import CampaignKind
from ...models import Campaign, GoldLabel, Item, Pair, Questionnaire, QuestionnaireItem, TrainingItem
from . import drafts
from .problems import BadLabel, BadPair

# Positions are unique in a questionnaire: entries step aside by this much while they are put in another order.
ASIDE = 10_000


@dataclass(frozen=True)
class Label:
    """A label that is known, and why."""

    value: int
    explanation: str = ""


def items(campaign: Campaign) -> QuerySet[Item]:
    """Return the campaign's gold items, in the order in which they were made."""
    labelled = GoldLabel.objects.filter(item__campaign=campaign).values("item")
    taught = TrainingItem.objects.filter(campaign=campaign).values("item")
    found = Item.objects.filter(campaign=campaign, pk__in=labelled).exclude(pk__in=taught)
    return found.select_related("topic", *Response.label_needs("pair__a", "pair__b", "response")).order_by("pk")


def kept_items(campaign: Campaign) -> QuerySet[Item]:
    """Return the items that a researcher has chosen: gold and training. Building anew must not remove them."""
    labelled = GoldLabel.objects.filter(item__campaign=campaign).values("item")
    taught = TrainingItem.objects.filter(campaign=campaign).values("item")
    return Item.objects.filter(campaign=campaign, pk__in=labelled.union(taught))


def labels(campaign: Campaign) -> dict[tuple[int, int], int]:
    """Return the known labels of a campaign's gold items, by item and dimension: what MACE may be told."""
    rows = GoldLabel.objects.filter(item__in=items(campaign)).values_list("item_id", "dimension_id", "value")
    return {(item, dimension): value for item, dimension, value in rows}


@transaction.atomic
def add_pair(*, campaign: Campaign, left: Response, right: Response) -> Item:
    """Make two responses an item of the campaign, in this order; the item that it has already, where it has one.

    Raises
    ------
    NotDraft, BadPair
    """
    drafts.held(campaign)
    if campaign.kind == CampaignKind.POINTWISE:
        raise BadPair(_("This campaign shows one response at a time."))
    studies = {left.study_id, right.study_id, campaign.study_id}
    if left.pk == right.pk or left.topic_id != right.topic_id or len(studies) > 1:
        raise BadPair(_("Choose two different responses of this study to the same topic."))
    pair = Pair.objects.get_or_create(a=left, b=right, defaults={"study_id": campaign.study_id})[0]
    return Item.objects.get_or_create(campaign=campaign, pair=pair, defaults={"topic_id": left.topic_id})[0]


@transaction.atomic
def add_response(*, campaign: Campaign, response: Response) -> Item:
    """Make a response an item of a campaign that shows one at a time.

    Raises
    ------
    NotDraft, BadPair
    """
    drafts.held(campaign)
    if campaign.kind != CampaignKind.POINTWISE or response.study_id != campaign.study_id:
        raise BadPair(_("This campaign compares two responses of its study."))
    defaults = {"topic_id": response.topic_id}
    return Item.objects.get_or_create(campaign=campaign, response=response, defaults=defaults)[0]


@transaction.atomic
def set_labels(*, item: Item, known: Mapping[int, Label]) -> list[GoldLabel]:
    """Say which labels of an item are known, by dimension; those that are not named are known no more.

    Raises
    ------
    NotDraft, BadLabel
    """
    drafts.undraw(drafts.held(item.campaign))
    asked = {each.dimension_id: each.dimension for each in item.campaign.asked.select_related("dimension")}
    for dimension, label in known.items():
        if dimension not in asked or label.value not in asked[dimension].values:
            raise BadLabel(_("Choose one of the options that the campaign offers."))
    item.gold_labels.exclude(dimension__in=known).delete()
    for dimension, label in known.items():
        GoldLabel.objects.update_or_create(
            item=item,
            dimension_id=dimension,
            defaults={"value": label.value, "explanation": label.explanation.strip()},
        )
    return list(item.gold_labels.select_related("dimension").order_by("dimension"))


@transaction.atomic
def remove(*, item: Item) -> None:
    """Let an item be gold or training no more. Where it is judged like others, it is drawn again.

    Raises
    ------
    NotDraft
    """
    drafts.undraw(drafts.held(item.campaign))
    item.gold_labels.all().delete()
    item.training.all().delete()
    item.delete()


@transaction.atomic
def place_gold(
    *, questionnaires: Iterable[Questionnaire], per_questionnaire: int, rng: Generator
) -> list[QuestionnaireItem]:
    """Put gold items into each questionnaire of a campaign, at places drawn by chance, in turn.

    An item whose two responses stand in the questionnaire already is passed over. Fewer are placed where the campaign
    has no more. The words of a questionnaire grow by those of its gold items.
    """
    chosen = sorted(questionnaires, key=lambda each: (each.position is None, each.position, each.pk))
    if not chosen or per_questionnaire < 1:
        return []
    known = list(items(chosen[0].campaign))
    rng.shuffle(known)
    if not known:
        return []
    held = _entries(chosen)
    turn = 0
    moved: list[QuestionnaireItem] = []
    made: list[QuestionnaireItem] = []
    for questionnaire in chosen:
        entries = held[questionnaire.pk]
        picked, turn = _in_turn(known, turn, {_sides(entry.item) for entry in entries}, per_questionnaire)
        fresh = [QuestionnaireItem(questionnaire=questionnaire, item=item, is_gold=True) for item in picked]
        moved += entries
        made += fresh
        _mix(entries, fresh, rng)
        if questionnaire.words is not None:
            questionnaire.words += sum(_words(item) for item in picked)
    entries_of_all = QuestionnaireItem.objects.filter(questionnaire__in=[each.pk for each in chosen])
    entries_of_all.update(position=F("position") + ASIDE)
    QuestionnaireItem.objects.bulk_update(moved, ["position"], batch_size=1000)
    Questionnaire.objects.bulk_update(chosen, ["words"], batch_size=1000)
    return QuestionnaireItem.objects.bulk_create(made, batch_size=2000)


def questionnaires_apart(gold: int, per_questionnaire: int) -> int | None:
    """Return how many questionnaires one person can answer before gold items come again; None without gold items.

    Nobody is given an item twice, so few gold items limit how much one person can do.
    """
    return gold // per_questionnaire if per_questionnaire else None


def _in_turn(known: Sequence[Item], turn: int, taken: set[frozenset[int]], n: int) -> tuple[list[Item], int]:
    """Return the next n gold items whose responses are not in the questionnaire yet, and where to go on."""
    picked: list[Item] = []
    seen = set(taken)
    for step in range(len(known)):
        item = known[(turn + step) % len(known)]
        if _sides(item) in seen:
            continue
        seen.add(_sides(item))
        picked.append(item)
        if len(picked) == n:
            return picked, (turn + step + 1) % len(known)
    return picked, turn


def _mix(entries: Sequence[QuestionnaireItem], fresh: Sequence[QuestionnaireItem], rng: Generator) -> None:
    """Number entries anew, the others in their order, with the fresh ones at places drawn by chance."""
    size = len(entries) + len(fresh)
    places = set(rng.choice(size, len(fresh), replace=False).tolist())
    old, new = iter(entries), iter(fresh)
    for position in range(size):
        (next(new) if position in places else next(old)).position = position


def _entries(questionnaires: Sequence[Questionnaire]) -> dict[int, list[QuestionnaireItem]]:
    held: dict[int, list[QuestionnaireItem]] = defaultdict(list)
    rows = QuestionnaireItem.objects.filter(questionnaire__in=[each.pk for each in questionnaires])
    for entry in rows.select_related("item__pair", "item__response").order_by("questionnaire", "position"):
        held[entry.questionnaire_id].append(entry)
    return held


def _sides(item: Item) -> frozenset[int]:
    """Return which responses an item shows, whatever their order."""
    if item.pair is not None:
        return frozenset((item.pair.a_id, item.pair.b_id))
    return frozenset((item.response_id or -item.pk,))


def _words(item: Item) -> int:
    shown = [item.pair.a, item.pair.b] if item.pair else [item.response] if item.response else []
    return sum(each.words for each in shown if each is not None)
