"""The people who are working on a questionnaire of a campaign."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max

from ..enums import AssignmentState
from ..models import Assignment, Campaign


@dataclass(frozen=True)
class PersonAtWork:
    """A questionnaire in progress: start, deadline without activity, and number of answers."""

    participant: str
    questionnaire: str
    assigned_at: datetime | None
    due: datetime | None
    answers: int
    last_answer_at: datetime | None


def people_at_work(campaign: Campaign) -> list[PersonAtWork]:
    """Return who is working on a questionnaire, earliest start first."""
    rows = (
        Assignment.objects.filter(questionnaire__campaign=campaign, state=AssignmentState.ASSIGNED)
        .annotate(answers=Count("judgments"), last=Max("judgments__judged_at"))
        .order_by("assigned_at", "pk")
    )
    columns = (
        "participant__external_id", "questionnaire__external_id", "assigned_at", "lease_until", "answers", "last",
    )  # fmt: skip
    return [PersonAtWork(*row) for row in rows.values_list(*columns)]


def awaiting_review(campaign: Campaign) -> int:
    """Return the number of questionnaires that await a decision."""
    return Assignment.objects.filter(questionnaire__campaign=campaign, state=AssignmentState.SUBMITTED).count()
