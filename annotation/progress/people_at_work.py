"""The people who work on a questionnaire of a campaign now."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from ..enums import AssignmentState
from ..models import Assignment, Campaign


@dataclass(frozen=True)
class PersonAtWork:
    """A questionnaire that somebody has: since when, until when without activity, and how many answers are in."""

    participant: str
    questionnaire: str
    assigned_at: datetime | None
    due: datetime | None
    answers: int
    last_answer_at: datetime | None


def people_at_work(campaign: Campaign) -> list[PersonAtWork]:
    """Return who has a questionnaire now, who started first at the top."""
    rows = (
        Assignment.objects.filter(questionnaire__campaign=campaign, state=AssignmentState.ASSIGNED)
        .annotate(answers=Count("judgments"), last=Max("judgments__judged_at"))
        .order_by("assigned_at", "pk")
    )
    columns = (
        "participant__external_id", "questionnaire__external_id", "assigned_at", "lease_until", "answers", "last",
    )  # fmt: skip
    return [PersonAtWork(*row) for row in rows.values_list(*columns)]
