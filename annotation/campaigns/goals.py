"""What a campaign is to find out: set, check and clone it; and the systems that it may be about.

A goal is fixed when the first look was taken at its judgments: a question chosen after seeing the answers would be
decided wrongly more often than stated (docs/methods/sequential.md). Only whether the campaign is closed may change.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import transaction

from analysis.stats import goals as stats_goals
from analysis.stats.goals import PEOPLE
from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.models import Response

from ..enums import CampaignKind, GoalKind, Judges
from ..models import Campaign, CampaignGoal, Dimension
from . import questionnaires, questions
from .problems import BadCampaign

MOST_SYSTEMS: Final = 20
MOST_GRADES: Final = 1000.0


@dataclass(frozen=True)
class GoalTerms:
    """A goal as entered; `dimension` is a name."""

    kind: str
    dimension: str
    systems: tuple[str, ...]
    margin: float = 0.0
    width: float | None = None
    confidence: float = 0.95
    closes_campaign: bool = False


def system_of(origin: str, participant: str) -> str:
    """Return the name of the system that wrote a response: its participant, and one name for all people."""
    return PEOPLE if origin == Origin.HUMAN else participant


def systems_of(study: Study) -> list[str]:
    """Return the systems of a study's responses, people first."""
    rows = Response.objects.filter(study=study, erased_at__isnull=True).order_by()
    named = {system_of(*row) for row in rows.values_list("origin", "participant__external_id").distinct()}
    return sorted(named, key=lambda name: (name != PEOPLE, name))


def label_of(system: str) -> str:
    """Return a system's name for pages."""
    return "People" if system == PEOPLE else system


def describe(goal: CampaignGoal) -> str:
    """Return a goal's question in words."""
    named = [label_of(name) for name in goal.systems]
    listed = f"{', '.join(named[:-1])} or {named[-1]}"
    if goal.kind == GoalKind.BEST:
        return f"Which is best: {listed}?"
    if goal.kind == GoalKind.BETTER:
        margin = f" by more than {goal.margin:g} grades" if goal.margin else ""
        return f"Is {named[0]} better than {named[1]}{margin}?"
    if goal.kind == GoalKind.RANKING:
        return f"How do these rank: {', '.join(named)}?"
    return f"Mean grades of {', '.join(named)}, each to {goal.width:g} grades."


def find_goal(campaign: Campaign) -> CampaignGoal | None:
    """Return a campaign's goal; None if it has none."""
    return CampaignGoal.objects.select_related("dimension").filter(campaign=campaign).first()


def may_have_goal(campaign: Campaign) -> bool:
    """Return whether people compare pairs in this campaign, in this system: only then judgments come in one by one."""
    kind = campaign.source.kind if campaign.source is not None else campaign.kind
    return kind == CampaignKind.PAIRWISE and campaign.judges != Judges.MODEL


def terms_of(goal: CampaignGoal) -> GoalTerms:
    """Return a stored goal as it was entered."""
    return GoalTerms(
        goal.kind, goal.dimension.name, tuple(goal.systems), goal.margin, goal.width, goal.confidence,
        goal.closes_campaign,
    )  # fmt: skip


def statistical_goal(goal: CampaignGoal) -> stats_goals.Goal:
    """Return a stored goal as the analysis takes it."""
    return stats_goals.Goal(
        stats_goals.GoalKind(goal.kind), tuple(goal.systems), goal.margin, goal.width, goal.confidence
    )


@transaction.atomic
def set_goal(*, campaign: Campaign, terms: GoalTerms) -> CampaignGoal:
    """Set a campaign's goal. Idempotent.

    Raises
    ------
    BadCampaign
        if it is impossible, or a look was taken at the judgments and more than `closes_campaign` differs.
    """
    campaign = questionnaires.lock_campaign(campaign)
    if not may_have_goal(campaign):
        raise BadCampaign({"": "Only campaigns in which people compare pairs can have a goal."})
    before = find_goal(campaign)
    if campaign.goal_looks.exists() and (before is None or _question(terms) != _question(terms_of(before))):
        raise BadCampaign({"": "Judgments were already evaluated for the goal. You can only change whether it closes."})
    by_name = {dimension.name: dimension for dimension in questions.questions_of(campaign)}
    if problems := _problems(campaign.study, terms, by_name):
        raise BadCampaign(problems)
    goal = CampaignGoal(
        pk=before.pk if before else None,
        campaign=campaign,
        dimension=by_name[terms.dimension],
        kind=terms.kind,
        systems=list(terms.systems),
        margin=terms.margin,
        width=terms.width,
        confidence=terms.confidence,
        closes_campaign=terms.closes_campaign,
    )
    goal.save()
    return goal


@transaction.atomic
def remove_goal(*, campaign: Campaign) -> None:
    """Remove a campaign's goal. Idempotent.

    Raises
    ------
    BadCampaign
        if a look was taken at the judgments.
    """
    campaign = questionnaires.lock_campaign(campaign)
    if campaign.goal_looks.exists():
        raise BadCampaign({"": "Judgments were already evaluated for the goal, so it stays."})
    CampaignGoal.objects.filter(campaign=campaign).delete()


def copy_goal(campaign: Campaign, copy: Campaign) -> None:
    """Give a copy the goal of its original; its questions must be there already."""
    if (goal := find_goal(campaign)) is not None:
        set_goal(campaign=copy, terms=terms_of(goal))


def _question(terms: GoalTerms) -> tuple[Any, ...]:
    return (terms.kind, terms.dimension, terms.systems, terms.margin, terms.width, terms.confidence)


def _problems(study: Study, terms: GoalTerms, by_name: Mapping[str, Dimension]) -> dict[str, str]:
    problems: dict[str, str] = {}
    if terms.dimension not in by_name:
        problems["dimension"] = "Choose one of the campaign's questions."
    if terms.kind not in GoalKind.values:
        problems["kind"] = "Choose one of the questions."
    if unknown := [name for name in terms.systems if name not in systems_of(study)]:
        problems["systems"] = f"Not in this study: {', '.join(unknown)}."
    elif len(set(terms.systems)) != len(terms.systems) or not 2 <= len(terms.systems) <= MOST_SYSTEMS:
        problems["systems"] = f"Choose from 2 to {MOST_SYSTEMS} different systems."
    elif terms.kind == GoalKind.BETTER and len(terms.systems) != 2:
        problems["systems"] = "Choose exactly two systems."
    if not 0 <= terms.margin <= MOST_GRADES or (terms.margin and terms.kind != GoalKind.BETTER):
        problems["margin"] = "Enter a margin of at least 0, and only to compare two systems."
    if (terms.kind == GoalKind.WIDTH) != (terms.width is not None):
        problems["width"] = "Enter a width if the goal is a width, and only then."
    elif terms.width is not None and not 0 < terms.width <= MOST_GRADES:
        problems["width"] = "Enter a width above 0."
    if not 0.5 < terms.confidence < 1:
        problems["confidence"] = "Enter a confidence between 50 and 100 %."
    return problems
