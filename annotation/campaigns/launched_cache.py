"""What is computed from all questionnaires of a large campaign, kept in memory for a while.

The questionnaires of a launched campaign stay the same, so it is computed again only if the campaign's terms change,
or if an import adds questionnaires.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.core.cache import cache
from django.db.models import Count, Max

from ..enums import CampaignState
from ..models import Campaign

T = TypeVar("T")
#: Fewer questionnaires are read faster than anybody notices.
MANY: Final = 1_000
SECONDS: Final = 3_600


def look_up(name: str, campaign: Campaign, compute: Callable[[], T]) -> T:
    """Return what `compute` returns for this campaign, stored under this name if the campaign is large."""
    drawn = campaign.questionnaires.aggregate(n=Count("pk"), newest=Max("pk"))
    if campaign.state == CampaignState.DRAFT or drawn["n"] < MANY:
        return compute()
    terms: list[Any] = [getattr(campaign, field.attname) for field in Campaign._meta.concrete_fields]
    key = f"campaign-{name}-{campaign.pk}-{hash(repr((terms, drawn)))}"
    result: T = cache.get_or_set(key, compute, SECONDS)  # type: ignore[assignment]
    return result
