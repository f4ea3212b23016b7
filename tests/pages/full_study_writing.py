"""A study in which people write: a plan that is open, tasks in every state, writers who earn too little."""

from datetime import timedelta

from django.utils import timezone

from crowdrag.studies.entry import links
from crowdrag.studies.models import Arrival, Consent, Study
from tests.factories import ParticipantFactory, WritingTaskFactory
from writing.corpus import responses
from writing.enums import TaskState
from writing.models import TaskPayment, WritingPlan
from writing.plans import services

# State, active minutes: of one writer each.
TASKS = (
    (TaskState.ACCEPTED, 22.0),
    (TaskState.ACCEPTED, 31.5),
    (TaskState.ACCEPTED, 58.0),
    (TaskState.SUBMITTED, 27.0),
    (TaskState.CLAIMED, None),
    (TaskState.REJECTED, 4.0),
    (TaskState.REVISION, 19.0),
    (TaskState.RETURNED, None),
)


def furnish_writing(study: Study) -> WritingPlan:
    """Give a study with topics a plan that is open, and writers who got as far as writers get."""
    now = timezone.now()
    plan = services.ensure_plan(study, now)
    topics = list(study.topics.order_by("id"))
    names = [each.style.name for each in plan.plan_styles.all()]
    terms = {
        "slots": 3, "pay": 650, "fee": 65, "tax": 12, "wage_floor": 1200, "minutes": 25, "lease_hours": 24,
        "tasks_per_person": 5,
    }  # fmt: skip
    tried = [topic.external_id for topic in topics if topic.retrieved.exists()][:1]
    services.change_terms(plan=plan, terms=terms, style_names=names, trial_topics=tried, now=now)
    plan = services.open_plan(plan=plan, now=now)
    link = links.create_open(study=study, purpose="writing", label="mailing list", by=None, now=now)
    styles = list(plan.styles.order_by("name"))
    for number, (state, minutes) in enumerate(TASKS):
        writer = ParticipantFactory(study=study, external_id=f"writer-{number}")
        Arrival.objects.create(link=link, participant=writer, arrived_at=now, last_at=now)
        Consent.objects.create(participant=writer, text=plan.consent_text, given_at=now)
        task = WritingTaskFactory(
            topic=topics[number % len(topics)], style=styles[number % len(styles)], participant=writer, state=state,
            claimed_at=now, lease_until=now + timedelta(days=1) if state == TaskState.CLAIMED else None,
            pay=650, active_seconds=minutes and minutes * 60, seconds=minutes and minutes * 90,
            submitted_at=now if minutes else None, draft="The sun's tide adds to the moon's [0].",
        )  # fmt: skip
        if minutes:
            responses.submit(
                study=study, topic=task.topic, style=task.style, participant=writer, external_id=task.external_id,
                text=task.draft, task=task, now=now,
            )  # fmt: skip
        if state == TaskState.ACCEPTED:
            TaskPayment.objects.create(task=task, amount=650, reason="accepted", at=now)
    return plan
