"""A study with something on each of its pages."""

from django.utils import timezone

from analysis.analyses import services
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import ParticipantKind, Role
from crowdrag.studies.models import Participant, Study, User
from crowdrag.webhooks import outbox
from crowdrag.webhooks import services as webhooks_services
from crowdrag.webhooks.enums import CHOSEN
from tests.factories import (
    AssignmentFactory,
    CampaignDimensionFactory,
    CampaignFactory,
    ItemFactory,
    JudgmentFactory,
    MembershipFactory,
    PairFactory,
    ParticipantFactory,
    QuestionnaireFactory,
    QuestionnaireItemFactory,
    RetrievedPassageFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from tests.pages.full_study_judging import furnish_judging
from tests.pages.full_study_people import furnish_people
from tests.pages.full_study_writing import furnish_writing
from tests.pages.llm_judge_rows import furnish_model_judges
from tests.pages.llm_writer_rows import campaign
from tests.submitted_responses import submitted
from writing.corpus import responses
from writing.models import Response, Style, Topic
from writing.review import queue
from writing.review import services as review_services

TEXT = (
    "The sun's tide adds to the moon's at new moon [0, 2]. Harbours far up a funnel see more of it [1]. Some see none."
)
TOPICS = 3
JUDGES = 3


def furnished_study(owner: User) -> Study:
    """Make it: topics, passages, responses (one without text), judged pairs, and a run that analysed them."""
    study = StudyFactory(
        slug="tides", title="Tides and harbours of the northern seas, a study of five topics", is_simulated=True
    )
    MembershipFactory(study=study, user=owner, role=Role.OWNER)
    MembershipFactory(study=study, role=Role.VIEWER)
    style = StyleFactory(study=study, name="essay")
    people = [ParticipantFactory(study=study, kind=kind) for kind in (ParticipantKind.CROWD, ParticipantKind.MODEL)]
    topics = TopicFactory.create_batch(TOPICS, study=study, query="Why do tides differ from harbour to harbour?")
    _judge(study, [_written(topic, style, people) for topic in topics])
    _submit(TopicFactory(study=study, query="A topic to which nobody said a word"), style, people[0], "wordless", "")
    analyse(study, owner)
    _put_into_review(study, style)
    furnish_people(study)
    furnish_writing(study)
    furnish_model_judges(furnish_judging(study))
    campaign(study)
    _tell(study, owner)
    return study


def _tell(study: Study, owner: User) -> None:
    """Have another system told when something ends; a test is on its way to it."""
    now = timezone.now()
    made = webhooks_services.create(study=study, address="https://example.org/hook", events=CHOSEN, by=owner, now=now)
    outbox.publish_test(webhook=made.webhook, now=now)


def _put_into_review(study: Study, style: Style) -> None:
    """Hand in responses with logs: one waits, one is open with another reviewer, one was rejected."""
    now = timezone.now()
    colleague = MembershipFactory(study=study, role=Role.REVIEWER).user
    held, rejected, _waiting = (submitted(study, minutes=minutes, style=style) for minutes in (60, 40, 20))
    queue.hold(task=held, by=colleague, now=now)
    review_services.reject(task=rejected, reason="No citation fits its claim.", pay_part=100, by=colleague, now=now)


def analyse(study: Study, by: User) -> Run:
    """Analyse it in this process, with few resamples."""
    run = lifecycle.wait(services.start(study=study, by=by, parameters={"resamples": 20, "restarts": 2}))
    assert run.state == "DONE", run.error
    return run


def _submit(topic: Topic, style: Style, writer: Participant, name: str, text: str) -> Response:
    return responses.submit(
        study=topic.study,
        topic=topic,
        style=style,
        participant=writer,
        external_id=f"{topic.external_id}-{name}",
        text=text,
        now=timezone.now(),
    )


def _written(topic: Topic, style: Style, people: list[Participant]) -> list[Response]:
    for rank in range(3):
        RetrievedPassageFactory(topic=topic, rank=rank, score=12.5 - rank)
    return [_submit(topic, style, writer, writer.kind.lower(), TEXT) for writer in people]


def _judge(study: Study, pairs: list[list[Response]]) -> None:
    campaign = CampaignFactory(study=study, k=JUDGES)
    dimensions = [CampaignDimensionFactory(campaign=campaign, dimension__study=study).dimension for _ in range(2)]
    questionnaire = QuestionnaireFactory(campaign=campaign)
    entries = [
        QuestionnaireItemFactory(
            questionnaire=questionnaire, item=ItemFactory(campaign=campaign, pair=PairFactory(a=a, b=b))
        )
        for a, b in pairs
    ]
    for judge in range(JUDGES):
        assignment = AssignmentFactory(questionnaire=questionnaire)
        for number, entry in enumerate(entries):
            for dimension in dimensions:
                value = -1 if judge < number else 1
                JudgmentFactory(entry=entry, assignment=assignment, dimension=dimension, value=value)
