"""Asking for more judgments of each questionnaire: what it costs is said before it is done."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from ...enums import CampaignState
from ...models import Campaign
from .. import places
from ..campaigns import building
from ..campaigns.problems import BadCampaign, WrongState
from . import spending
from .overview import standing
from .spending import Extension


def extension(campaign: Campaign, k: int) -> Extension:
    """Return what it comes to if each questionnaire is judged by k people in all.

    Raises
    ------
    BadCampaign, WrongState
    """
    _check(campaign, k)
    return spending.extension(campaign, standing(campaign), campaign.questionnaires.count(), k)


@transaction.atomic
def extend(*, campaign: Campaign, k: int, now: datetime) -> int:
    """Have each questionnaire judged by k people in all; return how many places were made. Again it makes none.

    The campaign's state stays: places of one that is closed are taken once it is reopened.

    Raises
    ------
    BadCampaign
        if it is fewer than people were promised, or more than there can be.
    WrongState
        if it was not opened yet, or its questionnaires are not handed out here.
    """
    held = building.hold(campaign)
    _check(held, k)
    return places.extend(campaign=held, k=k, now=now)


def _check(campaign: Campaign, k: int) -> None:
    if not campaign.has_places or campaign.state == CampaignState.DRAFT:
        raise WrongState(campaign, CampaignState.OPEN)
    if k < campaign.k:
        raise BadCampaign({"k": str(places.FewerPlaces(campaign.k))})
    if k > places.RANKS:
        raise BadCampaign({"k": _("At most %(most)s people can judge each questionnaire.") % {"most": places.RANKS}})
