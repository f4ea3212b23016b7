"""Costs of a campaign: spent, promised, expected. Money in minor units of the study's currency."""

from collections.abc import Iterable
from dataclasses import dataclass

from crowdrag.studies.models import Study
from crowdrag.studies.study.costs import SpendingLine

from ..enums import AssignmentState
from ..models import Campaign
from . import wages
from .queries import AssignmentFacts, StateCounts, load_assignments

S = AssignmentState


@dataclass(frozen=True)
class Spending:
    """Money, with fee and tax as the campaign has them now.

    Attributes
    ----------
    granted
        what judges are owed or were paid, whatever became of their work.
    charges
        fee and tax of the questionnaires that were paid.
    waiting, in_work
        what those cost that wait for a reviewer or are in work, if they are accepted.
    surplus
        what those would cost that were handed in late and not needed, if they were paid: in no sum.
    to_come
        what the free places cost.
    """

    granted: int
    charges: int
    waiting: int
    in_work: int
    surplus: int
    to_come: int

    @property
    def so_far(self) -> int:
        """What is spent."""
        return self.granted + self.charges

    @property
    def committed(self) -> int:
        """What is promised: people work or have worked for it."""
        return self.waiting + self.in_work

    @property
    def total(self) -> int:
        """What it will have cost if all is accepted that waits, and all that is asked for comes in."""
        return self.so_far + self.committed + self.to_come


@dataclass(frozen=True)
class Extension:
    """What it comes to if each questionnaire is judged by k people in all."""

    k: int
    more: int
    places: int
    cost: int


def charge(campaign: Campaign) -> int:
    """Return fee and tax of one questionnaire."""
    return (campaign.fee or 0) + (campaign.tax or 0)


def spending(rows: Iterable[AssignmentFacts], campaign: Campaign, whole: StateCounts) -> Spending:
    """Return what was spent, what is promised and what is to come."""
    extra = charge(campaign)
    granted = charges = 0
    due = dict.fromkeys((S.SUBMITTED, S.ASSIGNED, S.SURPLUS), 0)
    for row in rows:
        granted += row.paid
        charges += extra if row.paid else 0
        if row.state in due and row.pay:
            # A part may be paid already.
            due[AssignmentState(row.state)] += max(row.pay - row.paid, 0) + (0 if row.paid else extra)
    each = campaign.pay + extra if campaign.pay else 0
    return Spending(granted, charges, due[S.SUBMITTED], due[S.ASSIGNED], due[S.SURPLUS], whole.free * each)


def extension(campaign: Campaign, whole: StateCounts, questionnaires: int, k: int) -> Extension:
    """Return what it costs to have each questionnaire judged by k people in all; free places are in no extension."""
    more = max(k - campaign.k, 0)
    added = max(questionnaires * k - whole.planned, 0)
    each = campaign.pay + charge(campaign) if campaign.pay else 0
    return Extension(k=k, more=more, places=added, cost=added * each)


def spending_line(study: Study) -> SpendingLine | None:
    """Return what judging has cost in all campaigns, for the study's overview; None if nothing."""
    so_far = waiting = 0
    hourly: list[float] = []
    for campaign in Campaign.objects.filter(study=study, has_slots=True, is_simulated=False):
        rows = load_assignments(campaign)
        costs = spending(rows, campaign, StateCounts())
        so_far, waiting = so_far + costs.so_far, waiting + costs.waiting
        rates = (wages.wage(row, row.active_seconds) for row in wages.keep_valid(rows))
        hourly += [rate for rate in rates if rate is not None]
    return SpendingLine("Judging", "campaigns", so_far, waiting, wages=tuple(hourly)) if so_far or waiting else None
