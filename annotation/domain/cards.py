"""What a study's home says of judging."""

from typing import Any

from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import EntryLink, Study

from ..enums import CampaignState
from ..models import Campaign
from . import assignments, live

# A home is no list: of a study with hundreds of campaigns it shows those of which one most likely wants to know.
SHOWN = 10


def card(study: Study) -> dict[str, Any]:
    """Return campaigns with how each stands (open ones first, then the latest), how many more there are, and the link
    by which anybody may try to judge."""
    ours = Campaign.objects.filter(study=study)
    shown = live.glance(ours.with_counts().open_first()[:SHOWN])
    return {"campaigns": shown, "more": ours.count() - len(shown), "link": _link(study)}


def _link(study: Study) -> EntryLink | None:
    """Return the latest open link to a campaign that is open, if there is one that does not end."""
    judged = Campaign.objects.filter(study=study, has_places=True, state=CampaignState.OPEN)
    purposes = [assignments.purpose(pk) for pk in judged.values_list("pk", flat=True)]
    found = EntryLink.objects.filter(
        study=study, purpose__in=purposes, kind=EntryKind.OPEN, closed_at__isnull=True, expires_at__isnull=True
    )
    return found.order_by("-pk").first()
