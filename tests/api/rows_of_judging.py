"""Rows for the lists of judging, results, releases and webhooks: as `rows.py` makes those of the rest."""

from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import uuid4

from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from analysis.enums import PersonalKind, ReleaseState, TextSource
from analysis.models import PersonalDataFinding, Release, ReleaseFile, ReleaseLink, ResultTable
from annotation.enums import CampaignState, GoalOutcome, JudgingOutcome
from annotation.models import (
    Assignment,
    AssignmentPayment,
    Campaign,
    CampaignDimension,
    GoalLook,
    Item,
    JudgingAnswer,
    Judgment,
    KnownLabel,
    Pair,
    Questionnaire,
    QuestionnaireItem,
    TrainingItem,
)
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.llm.enums import CallState
from crowdrag.llm.models import Call, Endpoint
from crowdrag.studies.models import Participant, Study
from crowdrag.webhooks.enums import Event
from crowdrag.webhooks.models import Delivery, Message, Webhook
from tests.factories import (
    NOW,
    AssignmentFactory,
    CampaignFactory,
    DimensionFactory,
    ParticipantFactory,
    QuestionnaireFactory,
    ResponseFactory,
    StyleFactory,
    TopicFactory,
)
from writing.models import Response


def campaigns(study: Study, count: int) -> dict[str, Any]:
    dimension = DimensionFactory(study=study)
    made = Campaign.objects.bulk_create(CampaignFactory.build_batch(count, study=study))
    CampaignDimension.objects.bulk_create(
        [CampaignDimension(campaign=campaign, dimension=dimension, position=0) for campaign in made]
    )
    return {}


def judgments(study: Study, count: int) -> dict[str, Any]:
    _judged(study, count)
    return {}


def _judged(study: Study, count: int) -> tuple[Assignment, list[Item]]:
    """Make so many items that somebody judged by one question."""
    topic, style = TopicFactory(study=study), StyleFactory(study=study)
    first = ResponseFactory(topic=topic, style=style)
    rest = ResponseFactory.build_batch(count, study=study, topic=topic, style=style, participant=first.participant)
    seconds = Response.objects.bulk_create(rest)
    campaign, dimension = CampaignFactory(study=study), DimensionFactory(study=study)
    pairs = Pair.objects.bulk_create([Pair(study=study, a=first, b=second) for second in seconds])
    items = Item.objects.bulk_create([Item(campaign=campaign, pair=pair, topic=topic) for pair in pairs])
    questionnaire: Questionnaire = QuestionnaireFactory(campaign=campaign)
    QuestionnaireItem.objects.bulk_create(
        [QuestionnaireItem(questionnaire=questionnaire, item=item, position=n) for n, item in enumerate(items)]
    )
    assignment: Assignment = AssignmentFactory(questionnaire=questionnaire)
    Judgment.objects.bulk_create(
        [Judgment(assignment=assignment, item=item, dimension=dimension, value=1) for item in items]
    )
    return assignment, items


def model_answers(study: Study, count: int) -> dict[str, Any]:
    assignment, items = _judged(study, count)
    run = _done(study)
    run.kind = "judge.model"
    run.save()
    model = Endpoint.objects.get_or_create(
        name="judge", defaults={"base_url": "https://api.example.org/v1", "model": "m"}
    )[0]
    digests = [sha256(f"{run.key} {item.pk}".encode()).hexdigest() for item in items]
    Call.objects.bulk_create(
        [
            Call(
                digest=digest, endpoint=model, model="m", purpose="judge", study=study, state=CallState.ANSWERED,
                request={}, text="A.", prompt_tokens=1, completion_tokens=1, cost=0, created_at=NOW, answered_at=NOW,
            )
            for digest in digests
        ]
    )  # fmt: skip
    JudgingAnswer.objects.bulk_create(
        [
            JudgingAnswer(
                run=run, participant=assignment.participant, item=item, outcome=JudgingOutcome.JUDGED, digest=digest,
                answered_at=NOW,
            )
            for item, digest in zip(items, digests, strict=True)
        ]
    )  # fmt: skip
    return {"key": run.key}


def known(study: Study, count: int) -> dict[str, Any]:
    topic, style = TopicFactory(study=study), StyleFactory(study=study)
    first = ResponseFactory(topic=topic, style=style)
    rest = ResponseFactory.build_batch(count, study=study, topic=topic, style=style, participant=first.participant)
    seconds = Response.objects.bulk_create(rest)
    campaign, dimension = CampaignFactory(study=study, state=CampaignState.DRAFT), DimensionFactory(study=study)
    pairs = Pair.objects.bulk_create([Pair(study=study, a=first, b=second) for second in seconds])
    items = Item.objects.bulk_create([Item(campaign=campaign, pair=pair, topic=topic) for pair in pairs])
    KnownLabel.objects.bulk_create([KnownLabel(item=item, dimension=dimension, value=1) for item in items])
    TrainingItem.objects.create(campaign=campaign, item=items[0], position=0)
    return {"campaign": campaign.pk}


def goal_looks(study: Study, count: int) -> dict[str, Any]:
    campaign = CampaignFactory(study=study)
    GoalLook.objects.bulk_create(
        GoalLook(
            campaign=campaign, at=NOW + timedelta(minutes=n), judgments=n, votes=n, topics=1, judges=1,
            outcome=GoalOutcome.UNDECIDED, comparisons=[], grades=[],
        )
        for n in range(count)
    )  # fmt: skip
    return {"campaign": campaign.pk}


def assignments(study: Study, count: int) -> dict[str, Any]:
    questionnaire: Questionnaire = QuestionnaireFactory(campaign=CampaignFactory(study=study))
    people = Participant.objects.bulk_create(ParticipantFactory.build_batch(count, study=study))
    made = Assignment.objects.bulk_create(
        [Assignment(questionnaire=questionnaire, participant=one, external_id=f"a-{one.pk}") for one in people]
    )
    AssignmentPayment.objects.bulk_create(
        [AssignmentPayment(assignment=one, amount=100, reason="accepted", at=NOW) for one in made]
    )
    return {"campaign": questionnaire.campaign_id}


def _done(study: Study) -> Run:
    return Run(
        study=study, kind="analysis", code_version="1", created_at=NOW, finished_at=NOW, started_at=NOW,
        state=RunState.DONE,
    )  # fmt: skip


def results(study: Study, count: int) -> dict[str, Any]:
    runs = Run.objects.bulk_create([_done(study) for _ in range(count)])
    ResultTable.objects.bulk_create(
        [ResultTable(run=run, name=name, rows=[]) for run in runs for name in ("gold", "grades")]
    )
    return {}


def releases(study: Study, count: int) -> dict[str, Any]:
    last = Release.objects.filter(study=study).count()
    Release.objects.bulk_create(
        [Release(study=study, number=last + n, title="Tides", created_at=NOW) for n in range(1, count + 1)]
    )
    return {}


def release_files(study: Study, count: int) -> dict[str, Any]:
    run = Run.objects.bulk_create([_done(study)])[0]
    number = Release.objects.filter(study=study).count() + 1
    release = Release.objects.create(
        study=study, number=number, title="Tides", created_at=NOW, run=run, state=ReleaseState.BUILDING
    )
    stored = default_storage.save("part.csv", ContentFile(b"x"))
    ReleaseFile.objects.bulk_create(
        [
            ReleaseFile(release=release, path=f"part-{n}.csv", size=1, sha256=sha256(b"x").hexdigest(), file=stored)
            for n in range(count)
        ]
    )
    return {"number": number}


def release_links(study: Study, count: int) -> dict[str, Any]:
    releases(study, 1)
    release = Release.objects.filter(study=study).latest("number")
    ReleaseLink.objects.bulk_create(
        [
            ReleaseLink(release=release, digest=uuid4().bytes, created_at=NOW, expires_at=NOW + timedelta(days=1))
            for _ in range(count)
        ]
    )
    return {"number": release.number}


def findings(study: Study, count: int) -> dict[str, Any]:
    response = ResponseFactory(study=study, topic__study=study, style__study=study)
    PersonalDataFinding.objects.bulk_create(
        [
            PersonalDataFinding(
                study=study,
                participant=response.participant,
                source=TextSource.RESPONSE,
                row=response.pk,
                kind=PersonalKind.PHONE,
                start=0,
                end=n + 1,
                found_at=NOW,
            )
            for n in range(count)
        ]
    )
    return {}


def webhooks(study: Study, count: int) -> dict[str, Any]:
    there = Webhook.objects.filter(study=study).count()
    Webhook.objects.bulk_create(
        [
            Webhook(
                study=study,
                address=f"https://example.org/{there + n}",
                events=[Event.RUN_ENDED],
                secret=b"sealed",
                created_at=NOW,
            )
            for n in range(count)
        ]
    )
    return {}


def deliveries(study: Study, count: int) -> dict[str, Any]:
    webhooks(study, 1)
    webhook = Webhook.objects.filter(study=study).latest("pk")
    told = Message.objects.bulk_create(
        [Message(study=study, event=Event.RUN_ENDED, body="{}", created_at=NOW) for _ in range(count)]
    )
    Delivery.objects.bulk_create([Delivery(webhook=webhook, message=message, due_at=NOW) for message in told])
    return {"key": webhook.key}
