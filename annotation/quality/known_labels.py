"""Items with known labels: sources of labels, and placement in questionnaires.

Labels come from a researcher, or from the agreement of experts or of nearly all crowd judges.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import Count, F, QuerySet
from numpy.random import Generator

from writing.models import Citation, Response

from ..campaign_types.registry import item_type
from ..enums import Judges
from ..models import (
    Campaign,
    Dimension,
    Item,
    Judgment,
    KnownLabel,
    Pair,
    Questionnaire,
    QuestionnaireItem,
    TrainingItem,
)
from . import problems, training
from .problems import BadLabel, BadPair

# Positions are unique in a questionnaire, so entries are shifted by this much while they are reordered.
ASIDE = 10_000


@dataclass(frozen=True)
class LabelWithReason:
    """A known label with its explanation."""

    value: int
    explanation: str = ""


def gold_items(campaign: Campaign) -> QuerySet[Item]:
    """Return the campaign's gold items, in order of creation."""
    labelled = KnownLabel.objects.filter(item__campaign=campaign).values("item")
    taught = TrainingItem.objects.filter(campaign=campaign).values("item")
    items = Item.objects.filter(campaign=campaign, pk__in=labelled).exclude(pk__in=taught)
    return items.select_related("topic", *Response.label_needs("pair__a", "pair__b", "response")).order_by("pk")


def chosen_items(campaign: Campaign) -> QuerySet[Item]:
    """Return the gold and training items, chosen by researchers. Building questionnaires again must not delete them."""
    labelled = KnownLabel.objects.filter(item__campaign=campaign).values("item")
    taught = TrainingItem.objects.filter(campaign=campaign).values("item")
    return Item.objects.filter(campaign=campaign, pk__in=labelled.union(taught))


def known_labels(campaign: Campaign) -> dict[tuple[int, int], int]:
    """Return the known labels of a campaign's gold items, by item and dimension, as input for MACE."""
    rows = KnownLabel.objects.filter(item__in=gold_items(campaign)).values_list("item_id", "dimension_id", "value")
    return {(item, dimension): value for item, dimension, value in rows}


@transaction.atomic
def add_pair(*, campaign: Campaign, left: Response, right: Response) -> Item:
    """Return the campaign's item for two responses in this order; create it if it is missing.

    Raises
    ------
    NotDraft, BadPair
    """
    problems.lock_draft(campaign)
    if not item_type(campaign).compares:
        raise BadPair("This campaign does not compare responses.")
    studies = {left.study_id, right.study_id, campaign.study_id}
    if left.pk == right.pk or left.topic_id != right.topic_id or len(studies) > 1:
        raise BadPair("Choose two different responses of this study to the same topic.")
    pair = Pair.objects.get_or_create(a=left, b=right, defaults={"study_id": campaign.study_id})[0]
    return Item.objects.get_or_create(campaign=campaign, pair=pair, defaults={"topic_id": left.topic_id})[0]


@transaction.atomic
def add_response(*, campaign: Campaign, response: Response) -> Item:
    """Return the item for a response of a pointwise campaign; create it if it is missing.

    Raises
    ------
    NotDraft, BadPair
    """
    problems.lock_draft(campaign)
    if item_type(campaign).responses != 1 or response.study_id != campaign.study_id:
        raise BadPair("This campaign does not rate single responses of its study.")
    defaults = {"topic_id": response.topic_id}
    return Item.objects.get_or_create(campaign=campaign, response=response, defaults=defaults)[0]


@transaction.atomic
def add_statement(*, campaign: Campaign, response: Response, statement: int | None, passage: str) -> Item:
    """Return the item for a statement with a passage that it cites; create it if it is missing.

    Raises
    ------
    NotDraft, BadPair
    """
    problems.lock_draft(campaign)
    if item_type(campaign).responses or response.study_id != campaign.study_id:
        raise BadPair("This campaign does not check statements of its study.")
    if statement is None:
        raise BadPair("Enter the position of the statement in the response.")
    cited = Citation.objects.filter(
        statement__response=response, statement__position=statement, retrieved__passage__external_id=passage
    )
    citation = cited.order_by("pk").first()
    if citation is None:
        raise BadPair(f"This statement of the response does not cite the passage “{passage}”.")
    return Item.objects.get_or_create(
        campaign=campaign, response=response, statement=statement, retrieved_id=citation.retrieved_id,
        defaults={"topic_id": response.topic_id},
    )[0]  # fmt: skip


@transaction.atomic
def set_labels(*, item: Item, known: Mapping[int, LabelWithReason]) -> list[KnownLabel]:
    """Set the known labels of an item, by dimension. Labels of other dimensions are removed.

    Raises
    ------
    NotDraft, BadLabel
    """
    problems.undraw(problems.lock_draft(item.campaign))
    dimensions = {
        each.dimension_id: each.dimension for each in item.campaign.campaign_dimensions.select_related("dimension")
    }
    for dimension, label in known.items():
        if dimension not in dimensions or label.value not in dimensions[dimension].values:
            raise BadLabel("Choose one of the answers of the question.")
    item.known_labels.exclude(dimension__in=known).delete()
    for dimension, label in known.items():
        KnownLabel.objects.update_or_create(
            item=item,
            dimension_id=dimension,
            defaults={"value": label.value, "explanation": label.explanation.strip()},
        )
    return list(item.known_labels.select_related("dimension").order_by("dimension"))


@transaction.atomic
def remove(*, item: Item) -> None:
    """Remove a gold or training item. If it is a regular item, it is drawn again.

    Raises
    ------
    NotDraft
    """
    problems.undraw(problems.lock_draft(item.campaign))
    item.known_labels.all().delete()
    item.training.all().delete()
    item.delete()


@transaction.atomic
def place_gold(
    *, questionnaires: Iterable[Questionnaire], per_questionnaire: int, rng: Generator
) -> list[QuestionnaireItem]:
    """Place gold items at random positions in each questionnaire of a campaign, taking gold items in turn.

    An item whose responses are already in the questionnaire is skipped. Fewer items are placed if the campaign has too
    few. The words of gold items are added to those of the questionnaire.
    """
    chosen = sorted(questionnaires, key=lambda each: (each.position is None, each.position, each.pk))
    if not chosen or per_questionnaire < 1:
        return []
    known = list(gold_items(chosen[0].campaign))
    rng.shuffle(known)
    if not known:
        return []
    held = _entries(chosen)
    turn = 0
    moved: list[QuestionnaireItem] = []
    placed: list[QuestionnaireItem] = []
    for questionnaire in chosen:
        entries = held[questionnaire.pk]
        picked, turn = _in_turn(known, turn, {_sides(entry.item) for entry in entries}, per_questionnaire)
        fresh = [QuestionnaireItem(questionnaire=questionnaire, item=item, has_known_label=True) for item in picked]
        moved += entries
        placed += fresh
        _mix(entries, fresh, rng)
        if questionnaire.words is not None:
            questionnaire.words += sum(_words(item) for item in picked)
    entries_of_all = QuestionnaireItem.objects.filter(questionnaire__in=[each.pk for each in chosen])
    entries_of_all.update(position=F("position") + ASIDE)
    QuestionnaireItem.objects.bulk_update(moved, ["position"], batch_size=1000)
    Questionnaire.objects.bulk_update(chosen, ["words"], batch_size=1000)
    return QuestionnaireItem.objects.bulk_create(placed, batch_size=2000)


def questionnaires_between_repeats(gold: int, per_questionnaire: int) -> int | None:
    """Return how many questionnaires one person can answer before gold items repeat; None without gold items.

    Nobody gets an item twice, so the number of gold items limits how many questionnaires one person can answer.
    """
    return gold // per_questionnaire if per_questionnaire else None


def _in_turn(known: Sequence[Item], turn: int, taken: set[frozenset[int]], n: int) -> tuple[list[Item], int]:
    """Return the next n gold items whose responses are not in the questionnaire yet, and the index of the next turn."""
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
    """Renumber the entries: the old ones keep their order, the fresh ones get random positions."""
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
    """Return the responses of an item, regardless of their order."""
    if item.pair is not None:
        return frozenset((item.pair.a_id, item.pair.b_id))
    return frozenset((item.response_id or -item.pk,))


def _words(item: Item) -> int:
    shown = [item.pair.a, item.pair.b] if item.pair else [item.response] if item.response else []
    return sum(each.words for each in shown if each is not None)


@transaction.atomic
def add_known_item(
    *, campaign: Campaign, responses: Sequence[str], statement: int | None = None, passage: str = ""
) -> Item:
    """Return the item for the responses with these ids (left and right, or a single one); create it if it is missing.

    Parameters
    ----------
    statement, passage
        in support campaigns: the position of a statement in the response, and the id of a passage that it cites.

    Raises
    ------
    NotDraft, BadPair
    """
    labels = {
        each.external_id: each for each in Response.objects.filter(study=campaign.study, external_id__in=responses)
    }
    if missing := [name for name in responses if name not in labels]:
        raise BadPair(f"The study has no response with the ID “{missing[0]}”.")
    shown = [labels[name] for name in responses]
    if not item_type(campaign).responses and len(shown) == 1:
        return add_statement(campaign=campaign, response=shown[0], statement=statement, passage=passage)
    if item_type(campaign).responses == len(shown) == 1:
        return add_response(campaign=campaign, response=shown[0])
    if len(shown) != 2:
        raise BadPair("Enter as many responses as this campaign shows at once.")
    return add_pair(campaign=campaign, left=shown[0], right=shown[1])


@transaction.atomic
def set_known_item(*, item: Item, labels: Mapping[int, LabelWithReason], teaches: bool) -> Item:
    """Set the known labels of an item, by dimension, and whether it is a training item.

    Training items are shown before the first questionnaire. Other items are placed in questionnaires.

    Raises
    ------
    NotDraft, BadLabel, NotTaught
    """
    set_labels(item=item, known=labels)
    if teaches:
        training.add_item(campaign=item.campaign, item=item)
    else:
        training.remove_item(item=item)
    return item


# Minimum number of judges and share with the same answer: both of two experts, or four of five crowd judges.
LEAST: Final = {Judges.EXPERT: 2, Judges.CROWD: 4}
SHARE: Final = 0.8
LISTED: Final = 50


@dataclass(frozen=True)
class Proposal:
    """A pair with its agreed labels, by dimension of the campaign that will ask them."""

    pair: Pair
    labels: dict[int, int]
    judges: int
    agreement: float


def proposals(campaign: Campaign, pool: Judges, *, listed: int = LISTED) -> list[Proposal]:
    """Return pairs on which a pool of judges agreed, most labels and clearest first.

    Pairs of the campaign itself are left out, and so are pairs without enough agreement, whose labels only MACE could
    estimate.
    """
    if not item_type(campaign).compares or pool not in LEAST:
        return []
    dimensions = {
        each.dimension.name: each.dimension for each in campaign.campaign_dimensions.select_related("dimension")
    }
    others = Campaign.objects.filter(study=campaign.study_id, judges=pool).exclude(pk=campaign.pk)
    if not (keys := list(others.values_list("pk", flat=True))):
        return []
    pairs_of_campaign = Item.objects.filter(campaign=campaign).values("pair")
    votes = (
        Judgment.objects.filter(item__campaign__in=keys)
        .counted()
        .pairwise()
        .filter(dimension__name__in=dimensions)
        .exclude(item__pair__in=pairs_of_campaign)
        .order_by()
        .values("item__pair", "dimension__name", "value")
        .annotate(n=Count("pk"))
    )
    counts: dict[int, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for row in votes:
        counts[row["item__pair"]][row["dimension__name"]][row["value"]] += row["n"]
    rows = [each for each in (_proposed(pair, rows, dimensions, pool) for pair, rows in counts.items()) if each]
    rows.sort(key=lambda each: (-len(each[1]), -each[3], each[0]))
    pairs = Pair.objects.select_related("a__topic", "a__style", "b__style").in_bulk([each[0] for each in rows[:listed]])
    return [Proposal(pairs[pair], labels, judges, agreement) for pair, labels, judges, agreement in rows[:listed]]


def _proposed(
    pair: int, counts: dict[str, Counter[int]], dimensions: dict[str, Dimension], pool: Judges
) -> tuple[int, dict[int, int], int, float] | None:
    labels, shares, judges = {}, [], 0
    for name, answers in counts.items():
        value, most = answers.most_common(1)[0]
        total = answers.total()
        if total >= LEAST[pool] and most / total >= SHARE and value in dimensions[name].values:
            labels[dimensions[name].pk] = value
            shares.append(most / total)
            judges = max(judges, total)
    return (pair, labels, judges, sum(shares) / len(shares)) if labels else None
