"""Figures of a running campaign's page."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from analysis.stats.agreement import FEWEST_CODERS
from analysis.stats.bootstrap import Interval
from writing.progress.funnel import Stage

from ..enums import CampaignState, Judges
from ..models import Campaign, Dimension, LiveAgreement
from . import figures as progress_figures
from . import queries
from . import wages as progress_wages
from .campaign_rows import CampaignRows
from .costs import Spending
from .goal_progress import GoalProgress, goal_progress
from .queries import Rate, StateCounts
from .time_left import Pace


class Phase(StrEnum):
    """What can be seen and done. More detailed than the campaign's state: it also shows completion."""

    IMPORTED = "imported"
    MODEL = "model"
    DRAFT = "draft"
    OPEN = "open"
    COMPLETE = "complete"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True)
class DimensionAgreement:
    """The last computed agreement on one dimension; `problem` says why there is none."""

    dimension: Dimension
    latest: LiveAgreement | None
    problem: str


@dataclass(frozen=True)
class Overview:
    """The progress of a campaign. `kept_at` is when its figures were computed, None if just now.

    `below` are the questionnaires paid least, of all that are paid below the minimum hourly pay.
    """

    campaign: Campaign
    phase: Phase
    rows: CampaignRows
    whole: StateCounts
    work: progress_wages.WorkTimes
    below: list[progress_wages.PaidQuestionnaire]
    stages: list[Stage]
    spending: Spending
    pace: Pace | None
    agreement: list[DimensionAgreement]
    goal: GoalProgress | None
    kept_at: datetime | None

    @property
    def computed_at(self) -> datetime | None:
        """When agreement and competence were computed; None if they were not."""
        return max((each.latest.computed_at for each in self.agreement if each.latest), default=None)

    @property
    def rates(self) -> list[Rate]:
        """Outcomes of questionnaires, all that are possible."""
        return queries.rates(self.whole)

    @property
    def outcomes(self) -> list[Rate]:
        """Outcomes of questionnaires, without those that have not occurred."""
        return [rate for rate in self.rates if rate.count]

    @property
    def fewest_judges(self) -> int:
        """Minimum number of judges for an interval of the agreement."""
        return FEWEST_CODERS

    @property
    def times(self) -> list[tuple[str, Interval | None]]:
        """Duration of a questionnaire."""
        return [("Total time, from start to submission", self.work.whole), ("Active time", self.work.active)]

    @property
    def wages(self) -> list[tuple[str, Interval | None]]:
        """Hourly pay of a questionnaire."""
        return [
            ("Hourly pay for active time", self.work.wage),
            ("Hourly pay for total time", self.work.wage_of_whole),
        ]

    @property
    def digest(self) -> str:
        """A hash of everything shown, so that the page is updated only if it has changed."""
        terms = (self.campaign.state, self.campaign.k, self.campaign.wage_floor, self.campaign.minutes)
        rows = self.kept_at or self.rows.assignments
        goal = self.goal.mark if self.goal else None
        shown = (terms, rows, self.whole, self.stages, self.spending, self.computed_at, goal)
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def overview(campaign: Campaign, now: datetime) -> Overview:
    """Return the progress of a campaign, with a fixed number of queries."""
    rows = CampaignRows(campaign)
    figures, kept_at = progress_figures.figures(campaign, rows, now)
    return Overview(
        campaign=campaign,
        phase=phase(campaign, figures.whole),
        rows=rows,
        whole=figures.whole,
        work=figures.work,
        below=figures.below,
        stages=figures.stages,
        spending=figures.spending,
        pace=figures.pace,
        agreement=agreement(campaign),
        goal=goal_progress(campaign, figures.whole),
        kept_at=kept_at,
    )


def phase(campaign: Campaign, whole: StateCounts | None = None) -> Phase:
    """Return the phase of a campaign. Without counts, complete campaigns have the phase of their state."""
    if campaign.judges == Judges.MODEL:
        return Phase.MODEL
    if campaign.state == CampaignState.DRAFT:
        return Phase.DRAFT
    if not campaign.has_slots:
        return Phase.IMPORTED
    if whole is not None and whole.is_complete and not whole.in_work:
        return Phase.CLOSED if campaign.state == CampaignState.CLOSED else Phase.COMPLETE
    return Phase(campaign.state.lower())


def agreement(campaign: Campaign) -> list[DimensionAgreement]:
    """Return the agreement by dimension, in the campaign's order."""
    computed = {each.dimension_id: each for each in LiveAgreement.objects.filter(campaign=campaign)}
    dimensions = campaign.campaign_dimensions.select_related("dimension").order_by("position")
    return [
        DimensionAgreement(each.dimension, figure := computed.get(each.dimension_id), _problem(figure))
        for each in dimensions
    ]


def _problem(live: LiveAgreement | None) -> str:
    if live is None:
        return "not computed yet"
    if live.alpha is not None:
        return ""
    if not live.judgments:
        return "nothing submitted yet"
    if not live.items:
        return "no item with two judges yet"
    return "all answers are the same so far"
