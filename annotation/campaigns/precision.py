"""Expected precision of a campaign: the width of the interval of a win rate, before there are judgments.

A win rate compares two systems: how often the responses of one are preferred. The judgments of one pair of responses
agree more than those of different pairs, so they carry less information. The agreement is estimated from other
campaigns of the study, or assumed.
"""

from collections import Counter
from dataclasses import dataclass
from math import isnan
from statistics import mean
from typing import Final

from analysis.stats.proportions import planned_width
from writing.enums import Origin
from writing.models import Response

from ..campaign_types.drawn_items import DrawnItem
from ..campaign_types.registry import item_type
from ..models import Campaign, LiveAgreement
from . import candidates, launched_cache, questionnaires
from .design import read_design

#: Agreement (alpha) assumed if the study has no judgments yet; typical of crowd workers on text quality.
ASSUMED: Final = 0.3


@dataclass(frozen=True)
class Precision:
    """The expected width of a win rate's 95 % interval, and its assumptions.

    Attributes
    ----------
    width
        if both systems win equally often, where the interval is widest.
    pairs
        mean number of pairs of responses per pair of systems.
    agreement
        Krippendorff's alpha of the judgments of one pair.
    is_assumed
        whether the agreement is assumed because the study has no judgments yet.
    """

    width: float
    pairs: float
    agreement: float
    is_assumed: bool


def expected_precision(campaign: Campaign) -> Precision | None:
    """Return the expected precision; None if no two systems are compared."""
    if not item_type(campaign).compares:
        return None
    pairs, orders = launched_cache.look_up("comparisons", campaign, lambda: _comparisons(campaign))
    if not pairs:
        return None
    agreement, is_assumed = _agreement(campaign)
    width = planned_width(pairs, campaign.k * orders, agreement)
    return None if isnan(width) else Precision(width, pairs, agreement, is_assumed)


def _comparisons(campaign: Campaign) -> tuple[float, float]:
    """Return the mean number of pairs of two systems, 0 if there are none, and how often each pair is shown."""
    items = _items(campaign)
    systems = _systems(items)
    units = {each.both: frozenset(systems[key] for key in each.both) for each in items}
    comparisons = Counter(two for two in units.values() if len(two) == 2)
    return (mean(comparisons.values()), len(items) / len(units)) if comparisons else (0.0, 0.0)


def _items(campaign: Campaign) -> list[DrawnItem]:
    if questionnaires.is_drawn(campaign):
        drawn = campaign.questionnaires.filter(entries__has_known_label=False).values_list("entries__item", flat=True)
        items = list(candidates.drawn_items(drawn).values())
    else:
        items = questionnaires.draw(campaign, read_design(campaign.design), sided=False)
    return [each for each in items if each.b is not None]


def _systems(items: list[DrawnItem]) -> dict[int, tuple[str, int]]:
    """Return the system of each response: people are one system, each model is one."""
    keys = {key for each in items for key in each.both}
    rows = Response.objects.filter(pk__in=keys).order_by().values_list("pk", "origin", "participant")
    return {key: (origin, 0 if origin == Origin.HUMAN else participant) for key, origin, participant in rows}


def _agreement(campaign: Campaign) -> tuple[float, bool]:
    alphas = LiveAgreement.objects.filter(
        campaign__study=campaign.study_id, campaign__kind=campaign.kind, alpha__isnull=False
    ).values_list("alpha", flat=True)
    known = [min(max(alpha, 0.0), 1.0) for alpha in alphas if alpha is not None]
    return (mean(known), False) if known else (ASSUMED, True)
