"""Problems of checks, gold items and training, and the lock of a draft."""

from ..enums import CampaignState
from ..models import Campaign, Questionnaire


class ChecksProblem(Exception):  # noqa: N818 -- it says what is the matter, and is no fault of the program
    """Something that a researcher or a judge has to be told."""


class NotDraft(ChecksProblem):
    """Somebody has been asked already: what is asked must stay as it is."""

    def __init__(self, campaign: Campaign):
        super().__init__(
            f"This campaign is {campaign.get_state_display()}. You can change checks, known labels and training only "
            "in a draft."
        )


class BadText(ChecksProblem):
    """A check's text that would not be fair, or could not be shown."""


class BadPair(ChecksProblem):
    """Two responses that cannot be shown side by side."""


class BadLabel(ChecksProblem):
    """A label that is no option of its dimension."""


class Unanswered(ChecksProblem):
    """Some questions of a training item have no answer."""

    def __init__(self, dimensions: list[int]):
        self.dimensions = dimensions
        super().__init__("Answer every question to see the expected answers.")


class NotTaught(ChecksProblem):
    """A training item without a known label: it would teach nothing."""

    def __init__(self) -> None:
        super().__init__("Enter the expected answer to at least one question. Training needs it.")


def lock_draft(campaign: Campaign) -> Campaign:
    """Return a campaign that is a draft, with its row locked.

    Raises
    ------
    NotDraft
    """
    campaign_locked = (
        Campaign.objects.select_for_update(no_key=True, of=("self",)).select_related("study").get(pk=campaign.pk)
    )
    if campaign_locked.state != CampaignState.DRAFT:
        raise NotDraft(campaign_locked)
    return campaign_locked


def undraw(campaign: Campaign) -> None:
    """Remove what was drawn before a change: it is drawn anew, with the change, before the campaign opens."""
    Questionnaire.objects.filter(campaign=campaign).delete()
