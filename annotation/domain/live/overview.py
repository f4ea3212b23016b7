"""All that the page of a running campaign shows."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from django.utils.translation import gettext as _

from analysis.stats.agreement import FEWEST_CODERS
from analysis.stats.bootstrap import Interval
from writing.domain.progress.funnel import Stage

from ...enums import CampaignState, Judges
from ...models import Campaign, Dimension, LiveAgreement, LiveCompetence
from . import counting, funnel, rows, working
from .counting import Rate, Standing
from .judges import Judge, judges
from .rows import Row
from .spending import Spending, spending


class Phase(StrEnum):
    """What there is to be seen and done; beside the campaign's state it knows when all has come in."""

    IMPORTED = "imported"
    MODEL = "model"
    DRAFT = "draft"
    OPEN = "open"
    COMPLETE = "complete"
    PAUSED = "paused"
    CLOSED = "closed"


@dataclass(frozen=True)
class Agreed:
    """The agreement on one dimension as it was computed last; `problem` says why there is none."""

    dimension: Dimension
    found: LiveAgreement | None
    problem: str


@dataclass(frozen=True)
class Overview:
    """How a campaign stands."""

    campaign: Campaign
    phase: Phase
    rows: list[Row]
    questionnaires: list[Standing]
    whole: Standing
    rates: list[Rate]
    work: working.Work
    below: list[working.Paid]
    stages: list[Stage]
    spending: Spending
    agreement: list[Agreed]
    competence: list[LiveCompetence]

    @property
    def computed_at(self) -> datetime | None:
        """When agreement and competence were computed; None where they were not yet."""
        return max((each.found.computed_at for each in self.agreement if each.found), default=None)

    @cached_property
    def judges(self) -> list[Judge]:
        """Everybody who was given a questionnaire."""
        return judges(self.rows, self.competence)

    @property
    def fewest_judges(self) -> int:
        """From how many judges on agreement has an interval."""
        return FEWEST_CODERS

    @property
    def times(self) -> list[tuple[str, Interval | None]]:
        """How long a questionnaire takes."""
        return [(_("Whole time, from beginning to end"), self.work.whole), (_("Active time"), self.work.active)]

    @property
    def wages(self) -> list[tuple[str, Interval | None]]:
        """What a questionnaire pays an hour."""
        return [
            (_("Wage per hour of active time"), self.work.wage),
            (_("Wage per hour of whole time"), self.work.wage_of_whole),
        ]

    @property
    def digest(self) -> str:
        """Stands for all that is shown: as long as it is the same, the page need not change."""
        terms = (self.campaign.state, self.campaign.k, self.campaign.wage_floor, self.campaign.minutes)
        shown = (terms, self.rows, self.whole, self.stages, self.spending, self.computed_at)
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def overview(campaign: Campaign) -> Overview:
    """Return how a campaign stands: a fixed number of queries, however much there is."""
    found = rows.load(campaign)
    sheets = counting.by_questionnaire(found, rows.sheets(campaign))
    whole = counting.total(sheets)
    return Overview(
        campaign=campaign,
        phase=phase(campaign, whole),
        rows=found,
        questionnaires=sheets,
        whole=whole,
        rates=counting.rates(whole),
        work=working.work(found, campaign.wage_floor),
        below=working.below(found, campaign.wage_floor),
        stages=funnel.funnel(campaign),
        spending=spending(found, campaign, whole),
        agreement=agreement(campaign),
        competence=list(LiveCompetence.objects.filter(campaign=campaign).order_by("participant", "dimension")),
    )


def standing(campaign: Campaign) -> Standing:
    """Return how a campaign stands in all."""
    return counting.total(counting.by_questionnaire(rows.load(campaign), rows.sheets(campaign)))


def phase(campaign: Campaign, whole: Standing | None = None) -> Phase:
    """Return where a campaign stands; without counts, complete ones count as what their state says."""
    if campaign.judges == Judges.MODEL:
        return Phase.MODEL
    if campaign.state == CampaignState.DRAFT:
        return Phase.DRAFT
    if not campaign.has_places:
        return Phase.IMPORTED
    if whole is not None and whole.is_complete and not whole.in_work:
        return Phase.CLOSED if campaign.state == CampaignState.CLOSED else Phase.COMPLETE
    return Phase(campaign.state.lower())


def agreement(campaign: Campaign) -> list[Agreed]:
    """Return the agreement by dimension, in the order in which the campaign asks."""
    computed = {each.dimension_id: each for each in LiveAgreement.objects.filter(campaign=campaign)}
    asked = campaign.asked.select_related("dimension").order_by("position")
    return [Agreed(each.dimension, found := computed.get(each.dimension_id), _problem(found)) for each in asked]


def _problem(found: LiveAgreement | None) -> str:
    if found is None:
        return _("not computed yet")
    if found.alpha is not None:
        return ""
    if not found.judgments:
        return _("nothing was submitted yet")
    if not found.items:
        return _("no item was judged by two people yet")
    return _("all answers are the same so far")
