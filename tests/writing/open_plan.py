"""A study that asks for responses, and people who write them, for tests."""

import hashlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from crowdrag.studies.enums import Role
from crowdrag.studies.models import Consent, Participant, Study, User
from tests.factories import NOW, MembershipFactory, ParticipantFactory, StyleFactory, TopicFactory, WritingPlanFactory
from writing.assignments import claims, slots, submission
from writing.editor import event_validation, ingestion, sessions
from writing.models import PlanStyle, PlanTrialTopic, Response, Style, Topic, WritingPlan, WritingTask
from writing.plans import services

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
TEXT = "A claim [0]. Another one."


@dataclass
class World:
    """A plan with its topics and styles."""

    plan: WritingPlan
    styles: list[Style]
    topics: list[Topic]
    trial: list[Topic] = field(default_factory=list)

    @property
    def study(self) -> Study:
        return self.plan.study

    def writer(self, **fields: object) -> Participant:
        """Somebody who consented."""
        person = ParticipantFactory(study=self.study, **fields)
        Consent.objects.create(participant=person, text=self.plan.consent_text, given_at=NOW)
        return person

    def reviewer(self) -> User:
        return MembershipFactory(study=self.study, role=Role.REVIEWER).user

    def claim(self, person: Participant, now: datetime = NOW) -> WritingTask:
        return claims.claim(study=self.study, participant=person, now=now)

    def change(self, **fields: object) -> None:
        """Change the plan as its page does: slots are made at once."""
        WritingPlan.objects.filter(pk=self.plan.pk).update(**fields)
        self.plan.refresh_from_db()
        slots.ensure(self.plan, NOW)

    def reword(self, instructions: str = "Otherwise.") -> Style:
        """Change how the first style is worded, as the plan's page does; return the new version."""
        old = self.styles[0]
        return services.add_style(
            plan=self.plan, name=old.name, label=old.label, instructions=instructions, target_words=100, now=NOW
        )


def world(*, topics: int = 2, styles: int = 1, trial: int = 0, **plan: object) -> World:
    """An open plan, its slots made."""
    made = WritingPlanFactory(**plan)
    chosen = [StyleFactory(study=made.study, name=f"style_{n}") for n in range(styles)]
    for position, style in enumerate(chosen):
        PlanStyle.objects.create(plan=made, style=style, position=position)
    asked = [TopicFactory(study=made.study) for _ in range(topics)]
    tried = [TopicFactory(study=made.study) for _ in range(trial)]
    for position, topic in enumerate(tried):
        PlanTrialTopic.objects.create(plan=made, topic=topic, position=position)
    slots.ensure(made, NOW)
    return World(made, chosen, asked, tried)


def write(task: WritingTask, text: str = TEXT, *, now: datetime = NOW) -> sessions.SessionStart:
    """Open the editor and type; the text replaces nothing, it comes at the end."""
    opened = sessions.open_session(task=task, device={}, now=now)
    at = opened.elapsed
    events = [
        ["s", at + 150 * i, len(opened.text) + i, 0, letter, "typed", "insertText"] for i, letter in enumerate(text)
    ]
    if events:
        batch = event_validation.Batch(number=0, first=0, events=events, extent=event_validation.check_events(events))
        ingestion.receive(token=opened.token, batch=batch, now=now)
    return opened


def finish(task: WritingTask, text: str = TEXT, *, now: datetime = NOW) -> WritingTask:
    """Write, and say that the text is done."""
    opened = write(task, text, now=now)
    whole = opened.text + text
    digest = hashlib.sha256(whole.encode()).hexdigest()
    said = event_validation.Finish(session=opened.session.number, events=len(text), digest=digest)
    sessions.finish(task=task, finished=said, now=now)
    return WritingTask.objects.get(pk=task.pk)


def hand_in(task: WritingTask, text: str = TEXT, *, now: datetime = NOW) -> Response:
    """Write, finish, and submit."""
    finish(task, text, now=now)
    return submission.submit(task=task, answers={}, now=now)
