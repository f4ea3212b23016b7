"""The funnel of writers, from invited to accepted.

Every line from the second on counts people who have reached at least this step: whoever handed in a response has taken
a task, whether or not the row that would say so is still there. So each of these lines is a part of the one above.
Whoever had all erased stands in no line: their links and arrivals are gone, and with them how they came.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from crowdrag.studies.models import Arrival, Consent, EntryLink, Participant, Study

from ..enums import SurveyKind, TaskState
from ..models import SurveyAnswers, WritingPlan, WritingTask
from .queries import HANDED_IN

# What entry links to writing call it (`crowdrag.studies.activities`).
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
    """Return the stages. Who comes by an open link was not invited by name: then there is no share of the invited."""
    links = EntryLink.objects.invitations().filter(study=study, purpose=PURPOSE)
    tasks = WritingTask.objects.filter(study=study, is_imported=False, participant__isnull=False)
    consents = Consent.objects.filter(participant__study=study)
    consents = consents.filter(text__name=plan.consent_text.name) if plan and plan.consent_text else consents.none()
    answers = SurveyAnswers.objects.filter(task__in=tasks, survey__kind=SurveyKind.ENTRY)
    steps = [
        ("arrived", "Opened a link", people_of(Arrival.objects.filter(link__study=study, link__purpose=PURPOSE))),
        ("consented", "Consented", people_of(consents)),
        ("claimed", "Claimed a task", people_of(tasks)),
        ("answered", "Answered the questions before writing", people_of(answers, "task__participant")),
        ("submitted", "Submitted a response", people_of(tasks.filter(state__in=HANDED_IN))),
        ("accepted", "Had a response accepted", people_of(tasks.filter(state=TaskState.ACCEPTED))),
    ]
    if not (plan and plan.entry_survey_id):
        steps = [step for step in steps if step[0] != "answered"]
    return ladder(people_of(links), steps)


def ladder(invited: set[int], steps: Sequence[tuple[str, str, set[int]]]) -> list[Stage]:
    """Return how many people came how far: who was invited by name, then steps (name, label, who took this step).

    Whoever took a step is counted in those before it.
    """
    reached = _at_least([people for _name, _label, people in steps])
    arrived, before = reached[0], invited
    stages = [Stage("invited", "Invited by name", len(invited), None, None)]
    for (name, label, _own), people in zip(steps, reached, strict=True):
        stages.append(Stage(name, label, len(people), _share(people, arrived), _share(people, before)))
        before = people
    return stages


def count_erased(study: Study) -> int:
    """Return how many people of a study had all erased, and so are in no line."""
    return Participant.objects.filter(study=study, erased_at__isnull=False).count()


def _at_least(steps: list[set[int]]) -> list[set[int]]:
    """Add to each step whoever reached a later one."""
    reached: list[set[int]] = []
    beyond: set[int] = set()
    for people in reversed(steps):
        beyond = beyond | people
        reached.append(beyond)
    return reached[::-1]


def people_of(rows: "QuerySet[Any, Any]", path: str = "participant") -> set[int]:
    """Return who is in these rows, but for those who had all erased."""
    rows = rows.filter(**{f"{path}__erased_at__isnull": True})
    return set(rows.order_by().values_list(path, flat=True).distinct())


def _share(people: set[int], of: set[int]) -> float | None:
    """Return the share; None of nobody, and where it would be the share of others."""
    return len(people) / len(of) if of and people <= of else None
