"""Summaries of campaigns, for the list and the study's home page."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone

from crowdrag.studies.checklist import Action, Progress, StepPart
from crowdrag.studies.enums import EntryKind
from crowdrag.studies.models import EntryLink, Study
from crowdrag.studies.study.costs import SpendingLine
from crowdrag.ui import markdown
from writing.models import Response

from ..enums import CampaignState
from ..judging import claims, slots
from ..models import Assignment, Campaign, Dimension
from . import answer_tallies, figures
from .campaign_rows import CampaignRows
from .overview import Phase, phase
from .queries import StateCounts, total, total_counts


@dataclass(frozen=True)
class CampaignSummary:
    """A campaign with its counts and, if this system assigns its questionnaires, its progress."""

    campaign: Campaign
    phase: Phase
    whole: StateCounts
    judgments: int


def summarise(campaigns: Iterable[Campaign]) -> list[CampaignSummary]:
    """Return a summary of each campaign, in order, with five queries in total. The campaigns come `with_counts`."""
    campaigns_listed = list(campaigns)
    whole = total_counts(each.pk for each in campaigns_listed)
    judged = answer_tallies.count_stored(whole)
    return [
        CampaignSummary(each, phase(each, whole[each.pk]), whole[each.pk], judged[each.pk]) for each in campaigns_listed
    ]


# The home page shows only the most relevant of possibly hundreds of campaigns.
SHOWN = 10


def study_card(study: Study) -> dict[str, Any] | None:
    """Return the context of the home page's card; None without a campaign.

    It contains summaries (open campaigns first, then the newest), the number of further campaigns, and an open entry
    link.
    """
    ours = Campaign.objects.filter(study=study).current()
    shown = summarise(ours.with_counts().open_first()[:SHOWN])
    if not shown:
        return None
    return {"campaigns": shown, "more": ours.count() - len(shown), "link": _link(study)}


def judging_part(study: Study) -> StepPart | None:
    """Return the judging step of the study's checklist; None while there is nothing to judge."""
    campaigns = Campaign.objects.filter(study=study)
    if not campaigns.exists():
        if not Response.objects.filter(study=study).exists():
            return None
        action = Action("Create a campaign", reverse("campaign_new", args=[study.slug]))
        return StepPart("No campaign yet", Progress.TO_DO, action)
    opened = [each for each in campaigns if each.has_slots and each.state != CampaignState.DRAFT]
    action = Action("Open judging", reverse("campaigns", args=[study.slug]))
    if opened:
        whole = total(total_counts(each.pk for each in opened).values())
        text = f"{whole.collected} of {whole.planned} questionnaires completed"
        return StepPart(text, Progress.DONE if whole.share == 1 else Progress.STARTED, action, action.url)
    others = [each for each in campaigns if not each.has_slots]
    if not others:
        return StepPart("The campaign is a draft", Progress.TO_DO, action)
    judgments = answer_tallies.count_stored(each.pk for each in others).total()
    text = f"{judgments:,} judgment{'' if judgments == 1 else 's'}"
    return StepPart(text, Progress.DONE if judgments else Progress.STARTED, action, action.url)


def spending_line(study: Study) -> SpendingLine | None:
    """Return the cost of judging in all campaigns, for the study's overview; None if there is none."""
    now = timezone.now()
    so_far = waiting = 0
    hourly: list[float] = []
    campaigns = Campaign.objects.filter(study=study, has_slots=True)
    simulated = campaigns.filter(is_simulated=True)
    for campaign in campaigns.exclude(pk__in=simulated.values("pk")):
        rows = CampaignRows(campaign)
        costs = figures.spending_of(campaign, rows, now)
        so_far, waiting = so_far + costs.so_far, waiting + costs.waiting
        hourly += figures.hourly_pay(campaign, rows, now)
    has_simulated = simulated.exists()
    if not so_far and not waiting and not has_simulated:
        return None
    return SpendingLine("Judging", "campaigns", so_far, waiting, wages=tuple(hourly), without_simulated=has_simulated)


def _link(study: Study) -> EntryLink | None:
    """Return the newest open entry link without an end date to an open campaign that needs judges, or None."""
    judged = Campaign.objects.filter(study=study, has_slots=True, state=CampaignState.OPEN)
    judged = judged.filter(Exists(slots.unfinished_slots().filter(campaign=OuterRef("pk"))))
    purposes = [claims.purpose(pk) for pk in judged.values_list("pk", flat=True)]
    link = EntryLink.objects.filter(
        study=study, purpose__in=purposes, kind=EntryKind.OPEN, closed_at__isnull=True, expires_at__isnull=True
    )
    return link.order_by("-pk").first()


def describe_campaign(campaign: Campaign) -> dict[str, Any]:
    """Return the judgment count, dimensions with counts of answers, assignments by state, and instructions as HTML.

    The counts of answers are of the judgments that count in the agreement.
    """
    dimensions = campaign.campaign_dimensions.select_related("dimension").order_by("position", "id")
    tally = answer_tallies.tally(campaign.pk)
    counts: dict[int, dict[int, int]] = {}
    for (dimension, value, is_counted), n in tally.items():
        if is_counted:
            counts.setdefault(dimension, {})[value] = n
    return {
        "judgments": answer_tallies.count_stored([campaign.pk])[campaign.pk],
        "dimensions": [_with_answers(entry.dimension, counts.get(entry.dimension_id, {})) for entry in dimensions],
        "states": count_states(campaign),
        "instructions": markdown.render(campaign.instructions.text) if campaign.instructions else "",
    }


def count_states(campaign: Campaign) -> list[tuple[str, int]]:
    """Return the number of assignments in each state that has some, by displayed label."""
    counts = total_counts([campaign.pk])[campaign.pk].counts
    labels = dict(Assignment._meta.get_field("state").flatchoices)
    return [(str(labels[state]), counts[state]) for state in sorted(counts) if counts[state]]


def _with_answers(dimension: Dimension, counts: dict[int, int]) -> dict[str, Any]:
    answers = [{"label": option["label"], "n": counts.get(option["value"], 0)} for option in dimension.options]
    return {"dimension": dimension, "answers": answers, "n": sum(counts.values())}
