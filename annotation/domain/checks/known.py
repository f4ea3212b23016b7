"""What a researcher says of an item whose labels are known: which responses it shows, its labels, what it is for."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from writing.models import Response

from ...enums import CampaignKind
from ...models import Campaign, Item
from . import gold, training
from .gold import Label
from .problems import BadPair


@transaction.atomic
def add(*, campaign: Campaign, responses: Sequence[str]) -> Item:
    """Make an item of the responses with these ids: the left and the right one, or the one that is shown alone.

    Raises
    ------
    NotDraft, BadPair
    """
    found = {
        each.external_id: each for each in Response.objects.filter(study=campaign.study, external_id__in=responses)
    }
    if missing := [name for name in responses if name not in found]:
        raise BadPair(_("The study has no response “%(name)s”.") % {"name": missing[0]})
    shown = [found[name] for name in responses]
    if campaign.kind == CampaignKind.POINTWISE and len(shown) == 1:
        return gold.add_response(campaign=campaign, response=shown[0])
    if len(shown) != 2:
        raise BadPair(_("Name as many responses as this campaign shows at once."))
    return gold.add_pair(campaign=campaign, left=shown[0], right=shown[1])


@transaction.atomic
def say(*, item: Item, labels: Mapping[int, Label], teaches: bool) -> Item:
    """Say which labels of an item are known, by dimension, and whether new judges learn from it.

    What teaches is shown before the first questionnaire; what does not is drawn into questionnaires.

    Raises
    ------
    NotDraft, BadLabel, NotTaught
    """
    gold.set_labels(item=item, known=labels)
    if teaches:
        training.add(campaign=item.campaign, item=item)
    else:
        training.remove(item=item)
    return item
