"""How many people come how far: from invited to accepted."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from crowdrag.studies.models import Arrival, Consent, EntryLink, Study

from ...enums import SurveyKind, TaskState
from ...models import SurveyAnswers, WritingPlan, WritingTask
from .rows import HANDED_IN

# What entry links to writing call it (`crowdrag.studies.ways`).
PURPOSE = "writing"


@dataclass(frozen=True)
class Stage:
    """How many people came so far, and which share of those who arrived and of the stage before they are."""

    name: str
    label: str
    people: int
    of_arrived: float | None
    of_before: float | None


def funnel(study: Study, plan: WritingPlan | None) -> list[Stage]:
    """Return the stages. Who comes by an open link was not invited by name, so more may arrive than were invited."""
    # A key that somebody was given who came by an open link is no invitation: nobody made or named it.
    invited = EntryLink.objects.personal().filter(study=study, purpose=PURPOSE)
    invited = invited.filter(Q(created_by__isnull=False) | ~Q(label=""))
    tasks = WritingTask.objects.filter(study=study, is_imported=False, participant__isnull=False)
    consents = Consent.objects.filter(participant__study=study)
    consents = consents.filter(text__name=plan.consent_text.name) if plan and plan.consent_text else consents.none()
    answers = SurveyAnswers.objects.filter(task__in=tasks, survey__kind=SurveyKind.ENTRY)
    counted: list[tuple[str, str, int]] = [
        ("invited", _("Invited by name"), _people(invited)),
        ("arrived", _("Opened a link"), _people(Arrival.objects.filter(link__study=study, link__purpose=PURPOSE))),
        ("consented", _("Agreed"), _people(consents)),
        ("claimed", _("Took a task"), _people(tasks)),
        ("answered", _("Answered the first questions"), _people(answers, "task__participant")),
        ("submitted", _("Handed in a response"), _people(tasks.filter(state__in=HANDED_IN))),
        ("accepted", _("Had one accepted"), _people(tasks.filter(state=TaskState.ACCEPTED))),
    ]
    arrived = counted[1][2]
    stages = []
    for number, (name, label, people) in enumerate(counted):
        before = counted[number - 1][2] if number else 0
        is_asked = name != "answered" or bool(plan and plan.entry_survey_id)
        if is_asked:
            stages.append(
                Stage(name, label, people, _share(people, arrived) if number else None, _share(people, before))
            )
    return stages


def _people(rows: "QuerySet[Any, Any]", path: str = "participant") -> int:
    return rows.order_by().values(path).distinct().count()


def _share(people: int, of: int) -> float | None:
    return people / of if of and people <= of else None
