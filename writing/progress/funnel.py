"""The funnel of writers, from invited to accepted.

From the second step, each counts the people who have reached at least this step. For example, somebody who submitted a
response has claimed a task, even if that record no longer exists. So each of these steps is a subset of the one before.
People whose data were erased are not counted because their links and arrivals no longer exist.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from crowdrag.studies.models import Arrival, Consent, EntryLink, Participant, Study

from ..enums import SurveyKind, TaskState
from ..models import SurveyAnswers, WritingPlan, WritingTask
from .queries import HANDED_IN

# The purpose of entry links to writing (`crowdrag.studies.activities`).
PURPOSE = "writing"


@dataclass(frozen=True)
class Stage:
    """The number of people at a stage, as shares of those who arrived and of the previous stage."""

    name: str
    label: str
    people: int
    of_arrived: float | None
    of_before: float | None


def funnel(study: Study, plan: WritingPlan | None) -> list[Stage]:
    """Return the stages. If people came by an open link, there is no share of the invited."""
    links = EntryLink.objects.invitations().filter(study=study, purpose=PURPOSE)
    tasks = WritingTask.objects.filter(study=study, is_imported=False, participant__isnull=False)
    consents = Consent.objects.filter(participant__study=study)
    consents = consents.filter(text__name=plan.consent_text.name) if plan and plan.consent_text else consents.none()
    answers = SurveyAnswers.objects.filter(task__in=tasks, survey__kind=SurveyKind.ENTRY)
    steps = [
        (
            "arrived",
            "Arrived",
            people_of(Arrival.objects.filter(link__study=study, link__purpose=PURPOSE)),
        ),
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
    """Return the number of people at each stage: those invited by name, then each step (name, label, people).

    People who took a step are also counted in all earlier steps.
    """
    reached = _at_least([people for _name, _label, people in steps])
    arrived, before = reached[0], invited
    stages = [Stage("invited", "Invited by name", len(invited), None, None)]
    for (name, label, _own), people in zip(steps, reached, strict=True):
        stages.append(Stage(name, label, len(people), _share(people, arrived), _share(people, before)))
        before = people
    return stages


def count_erased(study: Study) -> int:
    """Return the number of people of a study whose data were erased, and who are not counted in any stage."""
    return Participant.objects.filter(study=study, erased_at__isnull=False).count()


def _at_least(steps: list[set[int]]) -> list[set[int]]:
    """Add the people of later steps to each step."""
    reached: list[set[int]] = []
    beyond: set[int] = set()
    for people in reversed(steps):
        beyond = beyond | people
        reached.append(beyond)
    return reached[::-1]


def people_of(rows: "QuerySet[Any, Any]", path: str = "participant") -> set[int]:
    """Return the keys of the people in these rows, except those whose data were erased."""
    rows = rows.filter(**{f"{path}__erased_at__isnull": True})
    return set(rows.order_by().values_list(path, flat=True).distinct())


def _share(people: set[int], of: set[int]) -> float | None:
    """Return the share; None if `of` is empty or does not contain all the people."""
    return len(people) / len(of) if of and people <= of else None
