"""Problems of campaigns, with messages for researchers."""

from collections.abc import Iterable, Mapping

from ..enums import CampaignState
from ..models import Campaign


class CampaignProblem(ValueError):  # noqa: N818 -- it says what the campaign is
    """An operation on a campaign that was refused. Nothing was changed."""


class BadCampaign(CampaignProblem):
    """An invalid change; `problems` maps fields to messages."""

    def __init__(self, problems: Mapping[str, str]):
        self.problems = dict(problems)
        super().__init__("; ".join(f"{field}: {problem}" for field, problem in problems.items()))


class NotReady(CampaignProblem):
    """Something is missing to draw or open the campaign; `problems` lists it."""

    def __init__(self, problems: Iterable[str]):
        self.problems = list(problems)
        super().__init__(" ".join(self.problems))


class NotDraft(CampaignProblem):
    """The campaign was opened, so what people are told or asked cannot change."""

    def __init__(self, campaign: Campaign):
        self.campaign = campaign
        super().__init__(f"“{campaign.name}” has been launched. You cannot change its items, questions or terms.")


class WrongState(CampaignProblem):
    """The campaign's state does not allow this transition."""

    def __init__(self, campaign: Campaign, needed: CampaignState):
        self.campaign, self.wanted = campaign, needed
        words = {"name": campaign.name, "state": CampaignState(campaign.state).label, "wanted": needed.label}
        super().__init__("“{name}” is {state} and cannot become {wanted}.".format(**words))
