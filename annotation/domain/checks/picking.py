"""Pairs whose labels may be taken for known: those that experts, or nearly all of a crowd, agreed on.

Only judgments that count, of other campaigns of the study, are looked at. A label is proposed for each dimension on
which enough people judged and enough of them agree; what a researcher does not believe, they change.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Final

from django.db.models import Count

from ...enums import CampaignKind, Judges
from ...models import Campaign, Dimension, Item, Judgment, Pair

# How many must have judged, and which share of them alike: of two experts both, of a crowd four of five.
LEAST: Final = {Judges.EXPERT: 2, Judges.CROWD: 4}
SHARE: Final = 0.8
LISTED: Final = 50


@dataclass(frozen=True)
class Proposal:
    """A pair with the labels that were agreed on, by dimension of the campaign that is to ask them."""

    pair: Pair
    labels: dict[int, int]
    judges: int
    agreement: float


def proposals(campaign: Campaign, pool: Judges, *, listed: int = LISTED) -> list[Proposal]:
    """Return pairs on which a pool agreed, those with the most labels and the clearest first.

    The campaign's own items are left out, and so are pairs on whose labels MACE alone would have to be asked.
    """
    if campaign.kind == CampaignKind.POINTWISE or pool not in LEAST:
        return []
    asked = {each.dimension.name: each.dimension for each in campaign.asked.select_related("dimension")}
    own = Item.objects.filter(campaign=campaign).values("pair")
    votes = (
        Judgment.objects.of_study(campaign.study)
        .pool(pool)
        .pairwise()
        .filter(dimension__name__in=asked)
        .exclude(item__campaign=campaign)
        .exclude(item__pair__in=own)
        .order_by()
        .values("item__pair", "dimension__name", "value")
        .annotate(n=Count("pk"))
    )
    counts: dict[int, dict[str, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
    for row in votes:
        counts[row["item__pair"]][row["dimension__name"]][row["value"]] += row["n"]
    found = [each for each in (_proposed(pair, found, asked, pool) for pair, found in counts.items()) if each]
    found.sort(key=lambda each: (-len(each[1]), -each[3], each[0]))
    pairs = Pair.objects.select_related("a__topic", "a__style", "b__style").in_bulk(
        [each[0] for each in found[:listed]]
    )
    return [Proposal(pairs[pair], labels, judges, agreement) for pair, labels, judges, agreement in found[:listed]]


def _proposed(
    pair: int, counts: dict[str, Counter[int]], asked: dict[str, Dimension], pool: Judges
) -> tuple[int, dict[int, int], int, float] | None:
    labels, shares, judges = {}, [], 0
    for name, answers in counts.items():
        value, most = answers.most_common(1)[0]
        total = answers.total()
        if total >= LEAST[pool] and most / total >= SHARE and value in asked[name].values:
            labels[asked[name].pk] = value
            shares.append(most / total)
            judges = max(judges, total)
    return (pair, labels, judges, sum(shares) / len(shares)) if labels else None
