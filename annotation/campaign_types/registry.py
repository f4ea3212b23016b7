"""All types of campaigns. Forms, pages, the API and analyses read them here."""

from typing import Final

from django.db.models import Q

from ..enums import CampaignKind
from ..models import Campaign
from . import expert, pairwise, pointwise, support
from .campaign_type import CampaignType

TYPES: Final[dict[str, CampaignType]] = {
    each.TYPE.kind.value: each.TYPE for each in (pairwise, pointwise, support, expert)
}
assert set(TYPES) == set(CampaignKind.values)
#: The kinds that ask another campaign's items again.
ASKING_AGAIN: Final = frozenset(kind for kind, each in TYPES.items() if each.asks_again)
#: The kinds that compare two responses.
COMPARING: Final = frozenset(kind for kind, each in TYPES.items() if each.compares)
CHOICES: Final = tuple((kind, each.choice) for kind, each in TYPES.items())


def type_of(campaign: Campaign) -> CampaignType:
    """Return the type of a campaign."""
    return TYPES[campaign.kind]


def item_type(campaign: Campaign) -> CampaignType:
    """Return the type whose items a campaign asks: of an expert campaign, that of its source."""
    own_type = type_of(campaign)
    return type_of(campaign.source) if own_type.asks_again and campaign.source is not None else own_type


def of_pairs(campaign: str = "") -> Q:
    """Return the condition that a campaign compares two responses.

    Parameters
    ----------
    campaign
        the path to the campaign with its separator, such as `questionnaire__campaign__`; empty for campaigns.
    """
    again = Q(**{f"{campaign}kind__in": ASKING_AGAIN})
    of_source = Q(**{f"{campaign}source__isnull": True}) | Q(**{f"{campaign}source__kind__in": COMPARING})
    return Q(**{f"{campaign}kind__in": COMPARING}) & (~again | of_source)
