"""Flags of a campaign's judges, from the questionnaires that they submitted."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..models import Campaign
from ..quality.screening import proposals, queue
from ..quality.screening.signals import Signal
from .judges import HANDED_IN, JudgeSummary, JudgeTrust


@dataclass(frozen=True)
class FlaggedQuestionnaire:
    """A submitted questionnaire with signals against it."""

    external_id: str
    signals: list[Signal]


@dataclass(frozen=True)
class JudgeRow:
    """A judge with flagged questionnaires, and competence on each dimension in the campaign's order."""

    judge: JudgeSummary
    flagged: list[FlaggedQuestionnaire]
    trusts: list[JudgeTrust | None]

    @property
    def titles(self) -> list[str]:
        """The titles of the flags, without duplicates."""
        return list(dict.fromkeys(signal.title for each in self.flagged for signal in each.signals))


def with_flags(judges: Sequence[JudgeSummary], campaign: Campaign) -> list[JudgeRow]:
    """Return judges with the flags of their questionnaires, current or as shown to a reviewer."""
    submitted = queue.assignments_of(campaign).filter(
        participant__in=[judge.pk for judge in judges], state__in=HANDED_IN
    )
    signals = proposals.flags_of(list(submitted))
    dimensions = list(campaign.campaign_dimensions.order_by("position").values_list("dimension", flat=True))
    return [
        JudgeRow(
            judge,
            [FlaggedQuestionnaire(row.external_id, signals[row.pk]) for row in judge.rows if signals.get(row.pk)],
            [judge.trust.get(dimension) for dimension in dimensions],
        )
        for judge in judges
    ]
