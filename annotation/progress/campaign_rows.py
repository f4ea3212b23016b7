"""The rows that figures of a campaign are computed from."""

from functools import cached_property

from ..models import Campaign, LiveCompetence
from . import queries
from .judges import JudgeSummary, judges
from .queries import AssignmentFacts, StateCounts


class CampaignRows:
    """A campaign's rows. Each list is read once, when it is needed: a large campaign has very many."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign

    @cached_property
    def assignments(self) -> list[AssignmentFacts]:
        """All assignments, in order of creation."""
        return queries.load_assignments(self.campaign)

    @cached_property
    def questionnaires(self) -> list[StateCounts]:
        """The counts of each questionnaire, in the order of assignment."""
        return queries.counts_by_questionnaire(self.assignments, queries.load_questionnaires(self.campaign))

    @cached_property
    def competence(self) -> list[LiveCompetence]:
        """The last computed competence of everybody on each dimension."""
        return list(LiveCompetence.objects.filter(campaign=self.campaign).order_by("participant", "dimension"))

    @cached_property
    def judges(self) -> list[JudgeSummary]:
        """Everybody who was assigned a questionnaire, lowest competence first."""
        return judges(self.assignments, self.competence)
