"""Rows for every list: `ROWS[name]` makes so many in a study, and returns what else the address names."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Artifact, Run, Unit, Upload
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Membership, Participant, StaffNote, Study
from tests.api import rows_of_judging as judged
from tests.factories import (
    NOW,
    ParticipantFactory,
    PassageFactory,
    ResponseFactory,
    StyleFactory,
    TopicFactory,
    UserFactory,
)
from writing.enums import AnswerOutcome, Origin, TaskState
from writing.models import (
    Citation,
    ModelAnswer,
    PlanStyle,
    Response,
    RetrievedPassage,
    Statement,
    Style,
    TaskPayment,
    Topic,
    WritingPlan,
    WritingTask,
)


def _run(study: Study, **fields: Any) -> Run:
    usual = {"kind": "import.topics", "code_version": "1", "created_at": NOW, "finished_at": NOW}
    return Run(study=study, state=RunState.DONE, **(usual | fields))


def members(study: Study, count: int) -> dict[str, Any]:
    users = UserFactory.create_batch(count)
    Membership.objects.bulk_create(
        [Membership(study=study, user=user, role=Role.VIEWER, added_at=NOW) for user in users]
    )
    return {}


def notes(study: Study, count: int) -> dict[str, Any]:
    person, by = ParticipantFactory(study=study), UserFactory()
    StaffNote.objects.bulk_create([StaffNote(participant=person, text="Ask.", by=by, at=NOW) for _ in range(count)])
    return {}


def runs(study: Study, count: int) -> dict[str, Any]:
    made = Run.objects.bulk_create([_run(study) for _ in range(count)])
    Unit.objects.bulk_create([Unit(run=run, position=0, due_at=NOW) for run in made])
    return {}


def artifacts(study: Study, count: int) -> dict[str, Any]:
    run = Run.objects.bulk_create([_run(study)])[0]
    Artifact.objects.bulk_create(
        [
            Artifact(run=run, name=f"file-{n}", size=1, sha256="0" * 64, file=f"somewhere/{uuid4()}", created_at=NOW)
            for n in range(count)
        ]
    )
    return {"key": run.key}


def exports(study: Study, count: int) -> dict[str, Any]:
    made = [_run(study, kind="export.archive") for _ in range(count)]
    Artifact.objects.bulk_create(
        [
            Artifact(run=run, name="a.zip", size=1, sha256="0" * 64, file=f"somewhere/{uuid4()}", created_at=NOW)
            for run in Run.objects.bulk_create(made)
        ]
    )
    return {}


def uploads(study: Study, count: int) -> dict[str, Any]:
    Upload.objects.bulk_create(
        [
            Upload(study=study, name="qa.jsonl", size=1, sha256="0" * 64, file=f"somewhere/{n}", uploaded_at=NOW)
            for n in range(count)
        ]
    )
    return {}


def topics(study: Study, count: int) -> dict[str, Any]:
    Topic.objects.bulk_create(TopicFactory.build_batch(count, study=study))
    return {}


def passages(study: Study, count: int) -> dict[str, Any]:
    topic = TopicFactory(study=study)
    made = PassageFactory.create_batch(count, study=study)
    RetrievedPassage.objects.bulk_create(
        [RetrievedPassage(topic=topic, passage=passage, rank=rank) for rank, passage in enumerate(made)]
    )
    return {"external_id": topic.external_id}


def responses(study: Study, count: int) -> dict[str, Any]:
    topic, style = TopicFactory(study=study), StyleFactory(study=study)
    retrieved = RetrievedPassage.objects.create(topic=topic, passage=PassageFactory(study=study), rank=0)
    made = ResponseFactory.create(topic=topic, style=style)
    rest = [
        Response(
            study=study,
            topic=topic,
            style=style,
            participant=made.participant,
            external_id=f"{topic.external_id}-{n}",
            origin=made.origin,
            text=made.text,
            words=made.words,
            created_at=NOW + timedelta(seconds=n),
        )
        for n in range(1, count)
    ]
    found = [made, *Response.objects.bulk_create(rest)]
    statements = Statement.objects.bulk_create([Statement(response=one, position=0, start=0, end=13) for one in found])
    Citation.objects.bulk_create([Citation(statement=statement, retrieved=retrieved) for statement in statements])
    return {}


def model_answers(study: Study, count: int) -> dict[str, Any]:
    responses(study, count)
    run, style = Run.objects.bulk_create([_run(study, kind="write.model")])[0], StyleFactory(study=study)
    written = list(Response.objects.filter(study=study).order_by("-pk")[:count])
    asked = Topic.objects.bulk_create(TopicFactory.build_batch(count, study=study))
    ModelAnswer.objects.bulk_create(
        [
            ModelAnswer(
                run=run, participant=response.participant, topic=topic, style=style, outcome=AnswerOutcome.WRITTEN,
                text=response.text, words=3, response=response, answered_at=NOW,
            )
            for topic, response in zip(asked, written, strict=True)
        ]
    )  # fmt: skip
    return {"key": run.key}


def handed_in(study: Study, count: int) -> dict[str, Any]:
    topic, style = TopicFactory(study=study), StyleFactory(study=study)
    people = Participant.objects.bulk_create(ParticipantFactory.build_batch(count, study=study))
    made = WritingTask.objects.bulk_create(
        [
            WritingTask(
                study=study, topic=topic, style=style, participant=one, external_id=f"t-{one.pk}",
                state=TaskState.SUBMITTED, created_at=NOW, submitted_at=NOW, pay=100,
            )
            for one in people
        ]
    )  # fmt: skip
    Response.objects.bulk_create(
        [
            Response(
                study=study, topic=topic, style=style, participant=task.participant, task=task, text="So.", words=1,
                external_id=f"r-{task.pk}", origin=Origin.HUMAN, created_at=NOW,
            )
            for task in made
        ]
    )  # fmt: skip
    TaskPayment.objects.bulk_create([TaskPayment(task=task, amount=1, reason="Sorry.", at=NOW) for task in made])
    return {}


def styles(study: Study, count: int) -> dict[str, Any]:
    plan = WritingPlan.objects.get_or_create(study=study, defaults={"updated_at": NOW})[0]
    made = Style.objects.bulk_create(
        [
            Style(study=study, name=f"style_{uuid4().hex}", label="Style", instructions="So.", created_at=NOW)
            for _ in range(count)
        ]
    )
    PlanStyle.objects.bulk_create([PlanStyle(plan=plan, style=style, position=n) for n, style in enumerate(made)])
    return {}


ROWS: dict[str, Callable[[Study, int], dict[str, Any]]] = {
    "api_members": members,
    "api_notes": notes,
    "api_runs": runs,
    "api_artifacts": artifacts,
    "api_topics": topics,
    "api_passages": passages,
    "api_responses": responses,
    "api_review": handed_in,
    "api_writers": handed_in,
    "api_plan_styles": styles,
    "api_model_writers_answers": model_answers,
    "api_campaigns": judged.campaigns,
    "api_known_labels": judged.known,
    "api_campaign_goal_looks": judged.goal_looks,
    "api_assignments": judged.assignments,
    "api_judgments": judged.judgments,
    "api_model_judges_answers": judged.model_answers,
    "api_results": judged.results,
    "api_releases": judged.releases,
    "api_release_files": judged.release_files,
    "api_release_links": judged.release_links,
    "api_personal_data": judged.findings,
    "api_exports": exports,
    "api_uploads": uploads,
    "api_webhooks": judged.webhooks,
    "api_deliveries": judged.deliveries,
}
