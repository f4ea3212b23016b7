"""Changes of a campaign that nobody has been asked of yet."""

from ...enums import CampaignState
from ...models import Campaign, Questionnaire
from .problems import NotDraft


def held(campaign: Campaign) -> Campaign:
    """Return a campaign that is a draft, with its row locked.

    Raises
    ------
    NotDraft
    """
    found = Campaign.objects.select_for_update(no_key=True, of=("self",)).select_related("study").get(pk=campaign.pk)
    if found.state != CampaignState.DRAFT:
        raise NotDraft(found)
    return found


def undraw(campaign: Campaign) -> None:
    """Remove what was drawn before a change: it is drawn anew, with the change, before the campaign opens."""
    Questionnaire.objects.filter(campaign=campaign).delete()
