"""Costs of a campaign: spent, committed, expected. Money in minor units of the study's currency."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..enums import AssignmentState
from ..models import Campaign
from .queries import AssignmentFacts, StateCounts

S = AssignmentState


@dataclass(frozen=True)
class Spending:
    """Costs, with the campaign's current fee and tax.

    Attributes
    ----------
    granted
        owed or paid to judges, regardless of the outcome.
    charges
        fee and tax of paid questionnaires.
    waiting, in_work
        cost of questionnaires that await review or are in progress, if they are accepted.
    surplus
        cost of late questionnaires that were not needed, if they were paid; part of no sum.
    to_come
        cost of the free slots.
    """

    granted: int
    charges: int
    waiting: int
    in_work: int
    surplus: int
    to_come: int

    @property
    def so_far(self) -> int:
        """Amount spent."""
        return self.granted + self.charges

    @property
    def committed(self) -> int:
        """Amount committed for work that is submitted or in progress."""
        return self.waiting + self.in_work

    @property
    def total(self) -> int:
        """Total cost if everything that waits is accepted and all requested judgments come in."""
        return self.so_far + self.committed + self.to_come


@dataclass(frozen=True)
class Extension:
    """Size and cost if k people in total judge each questionnaire."""

    k: int
    more: int
    places: int
    cost: int


def charge(campaign: Campaign) -> int:
    """Return fee and tax of one questionnaire."""
    return (campaign.fee or 0) + (campaign.tax or 0)


def spending(rows: Iterable[AssignmentFacts], campaign: Campaign, whole: StateCounts) -> Spending:
    """Return the amounts spent, committed and expected."""
    extra = charge(campaign)
    granted = charges = 0
    due = dict.fromkeys((S.SUBMITTED, S.ASSIGNED, S.SURPLUS), 0)
    for row in rows:
        granted += row.paid
        charges += extra if row.paid else 0
        if row.state in due and row.pay:
            # A part may have been paid already.
            due[AssignmentState(row.state)] += max(row.pay - row.paid, 0) + (0 if row.paid else extra)
    each = campaign.pay + extra if campaign.pay else 0
    return Spending(granted, charges, due[S.SUBMITTED], due[S.ASSIGNED], due[S.SURPLUS], whole.free * each)


def extension(campaign: Campaign, whole: StateCounts, questionnaires: int, k: int) -> Extension:
    """Return the cost if k people in total judge each questionnaire, without the slots that are free already."""
    more = max(k - campaign.k, 0)
    added = max(questionnaires * k - whole.planned, 0)
    each = campaign.pay + charge(campaign) if campaign.pay else 0
    return Extension(k=k, more=more, places=added, cost=added * each)
