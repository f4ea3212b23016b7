"""What a page shows of a campaign: what is asked, and what came in."""

from typing import Any

from django.db.models import Count

from crowdrag.ui import markdown

from ..models import Assignment, Campaign, Dimension
from . import tallies


def describe(campaign: Campaign) -> dict[str, Any]:
    """Return how many judgments there are, dimensions with the count of each answer, assignments by state, and
    instructions as HTML."""
    asked = campaign.asked.select_related("dimension").order_by("position", "id")
    tally = tallies.of([campaign.pk])[campaign.pk]
    counts: dict[int, dict[int, int]] = {}
    for (dimension, value, is_repeat), n in tally.items():
        if not is_repeat:
            counts.setdefault(dimension, {})[value] = n
    return {
        "judgments": tally.total(),
        "dimensions": [_with_answers(entry.dimension, counts.get(entry.dimension_id, {})) for entry in asked],
        "states": states(campaign),
        "instructions": markdown.render(campaign.instructions.text) if campaign.instructions else "",
    }


def states(campaign: Campaign) -> list[tuple[str, int]]:
    """Return how many assignments there are in each state, as people read it."""
    rows = Assignment.objects.filter(questionnaire__campaign=campaign).values("state").annotate(n=Count("pk"))
    labels = dict(Assignment._meta.get_field("state").flatchoices)
    return [(str(labels[row["state"]]), row["n"]) for row in rows.order_by("state")]


def _with_answers(dimension: Dimension, counts: dict[int, int]) -> dict[str, Any]:
    answers = [{"label": option["label"], "n": counts.get(option["value"], 0)} for option in dimension.options]
    return {"dimension": dimension, "answers": answers, "n": sum(counts.values())}
