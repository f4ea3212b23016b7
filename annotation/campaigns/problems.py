"""Problems of campaigns, with messages for researchers."""

from collections.abc import Iterable, Mapping

from ..enums import CampaignState
from ..models import Campaign


class CampaignProblem(ValueError):  # noqa: N818 -- it says what the campaign is
    """Something that cannot be done with a campaign; nothing was changed."""


class BadCampaign(CampaignProblem):
    """A change that cannot be made; `problems` maps a field to what is wrong with it."""

    def __init__(self, problems: Mapping[str, str]):
        self.problems = dict(problems)
        super().__init__("; ".join(f"{field}: {problem}" for field, problem in problems.items()))


class NotReady(CampaignProblem):
    """The campaign lacks something before it can be drawn or opened; `problems` says what."""

    def __init__(self, problems: Iterable[str]):
        self.problems = list(problems)
        super().__init__(" ".join(self.problems))


class NotDraft(CampaignProblem):
    """What people were told or are asked cannot change: the campaign was opened."""

    def __init__(self, campaign: Campaign):
        self.campaign = campaign
        super().__init__(f"“{campaign.name}” has been launched. You cannot change its items, questions or terms.")


class WrongState(CampaignProblem):
    """The campaign cannot go from the state that it is in to the one that was asked for."""

    def __init__(self, campaign: Campaign, needed: CampaignState):
        self.campaign, self.wanted = campaign, needed
        words = {"name": campaign.name, "state": CampaignState(campaign.state).label, "wanted": needed.label}
        super().__init__("“{name}” is {state} and cannot become {wanted}.".format(**words))
