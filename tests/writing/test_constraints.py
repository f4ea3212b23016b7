"""What must be true of topics, passages, responses and logs, and what happens to whoever tries otherwise."""

import hashlib

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from crowdrag.studies.enums import Verdict
from tests.factories import (
    NOW,
    ParticipantFactory,
    PassageFactory,
    ResponseFactory,
    RetrievedPassageFactory,
    StudyFactory,
    StyleFactory,
    TopicFactory,
)
from writing.enums import LogSource, SurveyKind, TaskState
from writing.models import (
    Citation,
    LogBatch,
    Response,
    ResponseDecision,
    Statement,
    Survey,
    SurveyAnswers,
    Topic,
    WritingLog,
    WritingTask,
)

pytestmark = pytest.mark.django_db


def task(**fields) -> WritingTask:
    topic = fields.pop("topic", None) or TopicFactory()
    style = fields.pop("style", None) or StyleFactory(study=topic.study)
    return WritingTask.objects.create(study=topic.study, topic=topic, style=style, created_at=NOW, **fields)


def test_topic_version_unique() -> None:
    topic = TopicFactory()
    TopicFactory(study=topic.study, external_id=topic.external_id, version=2, query="changed")
    TopicFactory(external_id=topic.external_id)  # the sample and the whole corpus live side by side
    with pytest.raises(IntegrityError, match="topic_version_unique"):
        TopicFactory(study=topic.study, external_id=topic.external_id)


def test_current_keeps_the_latest_version() -> None:
    first = TopicFactory()
    latest = TopicFactory(study=first.study, external_id=first.external_id, version=2)
    other = TopicFactory(study=first.study)
    assert set(Topic.objects.current()) == {latest, other}


@pytest.mark.parametrize("field", ["query", "external_id"])
def test_topic_fields_are_not_empty(field: str) -> None:
    with pytest.raises(IntegrityError, match=f"topic_{field}_not_empty"):
        TopicFactory(**{field: ""})


@pytest.mark.parametrize(
    ("factory", "field"), [(TopicFactory, "query"), (PassageFactory, "text"), (StyleFactory, "label")]
)
def test_what_was_read_is_never_updated(factory, field: str) -> None:
    row = factory()
    setattr(row, field, "something else")
    with pytest.raises(ProgrammingError, match="Cannot update"):
        row.save()


def test_passage_version_unique_and_named() -> None:
    passage = PassageFactory()
    with pytest.raises(IntegrityError, match="passage_version_unique"), transaction.atomic():
        PassageFactory(study=passage.study, external_id=passage.external_id)
    with pytest.raises(IntegrityError, match="passage_external_id_not_empty"):
        PassageFactory(external_id="")


def test_a_list_ranks_each_passage_once() -> None:
    retrieved = RetrievedPassageFactory(rank=0)
    with pytest.raises(IntegrityError, match="retrieved_rank_once_per_topic"), transaction.atomic():
        RetrievedPassageFactory(topic=retrieved.topic, rank=0)
    with pytest.raises(IntegrityError, match="retrieved_passage_once_per_topic"):
        RetrievedPassageFactory(topic=retrieved.topic, passage=retrieved.passage, rank=1)


def test_a_list_holds_passages_of_its_own_study() -> None:
    with pytest.raises(IntegrityError, match="retrieved_passage_same_study"):
        RetrievedPassageFactory(passage=PassageFactory(study=StudyFactory()))


def test_a_task_that_is_taken_has_a_participant() -> None:
    task(external_id="open")
    with pytest.raises(IntegrityError, match="task_taken_has_a_participant"):
        task(external_id="taken", state=TaskState.CLAIMED, lease_until=NOW)


def test_a_task_has_a_known_state_and_an_id_of_its_own() -> None:
    first = task(external_id="1")
    with pytest.raises(IntegrityError, match="task_external_id_unique"), transaction.atomic():
        task(topic=first.topic, external_id="1")
    with pytest.raises(IntegrityError, match="task_state_known"):
        task(external_id="2", state="LOST", participant=ParticipantFactory())


def test_nobody_writes_twice_on_a_topic() -> None:
    topic = TopicFactory()
    writer = ParticipantFactory(study=topic.study)
    task(topic=topic, external_id="given back", participant=writer, state=TaskState.RETURNED)
    task(topic=topic, external_id="1", participant=writer, state=TaskState.CLAIMED, lease_until=NOW)
    with pytest.raises(IntegrityError, match="nobody_writes_twice"):
        task(topic=topic, external_id="2", participant=writer, state=TaskState.CLAIMED, lease_until=NOW)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("response_origin_known", {"origin": "ALIEN"}),
        ("response_external_id_not_empty", {"external_id": ""}),
        ("response_erased_has_no_text", {"erased_at": NOW}),
    ],
)
def test_response_constraints_bite(name: str, fields: dict) -> None:
    with pytest.raises(IntegrityError, match=name):
        ResponseFactory(**fields)


def test_response_external_id_unique_per_study() -> None:
    response = ResponseFactory()
    with pytest.raises(IntegrityError, match="response_external_id_unique"):
        ResponseFactory(topic=response.topic, external_id=response.external_id)


def test_the_text_of_a_response_never_changes() -> None:
    response = ResponseFactory()
    Response.objects.filter(pk=response.pk).update(is_included=False)
    with pytest.raises(IntegrityError, match="response_text_never_changes"), transaction.atomic():
        Response.objects.filter(pk=response.pk).update(text="another")
    with pytest.raises(IntegrityError, match="response_text_never_changes"):
        Response.objects.filter(pk=response.pk).update(style=StyleFactory(study=response.study))


def test_the_text_of_a_response_can_be_erased() -> None:
    response = ResponseFactory()
    Response.objects.filter(pk=response.pk).update(text="", erased_at=NOW)
    response.refresh_from_db()
    assert (response.text, response.erased_at) == ("", NOW)


def test_statements_and_citations_bite() -> None:
    response = ResponseFactory()
    statement = Statement.objects.create(response=response, position=0, start=0, end=10)
    with pytest.raises(IntegrityError, match="statement_position_once"), transaction.atomic():
        Statement.objects.create(response=response, position=0, start=0, end=10)
    with pytest.raises(IntegrityError, match="statement_end_after_start"), transaction.atomic():
        Statement.objects.create(response=response, position=1, start=5, end=4)
    retrieved = RetrievedPassageFactory(topic=response.topic, rank=0)
    Citation.objects.create(statement=statement, retrieved=retrieved)
    with pytest.raises(IntegrityError, match="citation_once_per_statement"):
        Citation.objects.create(statement=statement, retrieved=retrieved)


def test_a_decision_has_a_reason_and_stands() -> None:
    response = ResponseFactory()
    fields = {"response": response, "about": Verdict.INCLUDE, "holds": False, "decided_at": NOW}
    with pytest.raises(IntegrityError, match="responsedecision_has_a_reason"), transaction.atomic():
        ResponseDecision.objects.create(**fields, reason="")
    with pytest.raises(IntegrityError, match="responsedecision_about_known"), transaction.atomic():
        ResponseDecision.objects.create(**(fields | {"about": "MOOD"}), reason="off topic")
    decision = ResponseDecision.objects.create(**fields, reason="off topic")
    decision.holds = True
    with pytest.raises(ProgrammingError, match="Cannot update"):
        decision.save()


def test_survey_constraints_bite() -> None:
    slot = task(external_id="1")
    survey = Survey.objects.create(study=slot.study, name="entry", kind=SurveyKind.ENTRY, created_at=NOW)
    SurveyAnswers.objects.create(task=slot, survey=survey)
    with pytest.raises(IntegrityError, match="survey_answered_once_per_task"), transaction.atomic():
        SurveyAnswers.objects.create(task=slot, survey=survey)
    with pytest.raises(IntegrityError, match="survey_kind_known"):
        Survey.objects.create(study=slot.study, name="x", kind="LATER", created_at=NOW)


def test_a_log_only_grows() -> None:
    log = WritingLog.objects.create(task=task(external_id="1"), source=LogSource.EDITOR, created_at=NOW)
    fields = {
        "log": log,
        "codec": "splices/1",
        "payload": b"x",
        "digest": hashlib.sha256(b"x").digest(),
        "received_at": NOW,
        "event_count": 2,
    }
    batch = LogBatch.objects.create(**fields, number=0, first_event=0)
    with pytest.raises(IntegrityError, match="log_batch_number_once"), transaction.atomic():
        LogBatch.objects.create(**fields, number=0, first_event=2)
    with pytest.raises(IntegrityError, match="log_batch_first_event_once"), transaction.atomic():
        LogBatch.objects.create(**fields, number=1, first_event=0)
    with pytest.raises(IntegrityError, match="log_batch_not_empty"), transaction.atomic():
        LogBatch.objects.create(**(fields | {"event_count": 0}), number=1, first_event=2)
    with pytest.raises(IntegrityError, match="log_source_known"), transaction.atomic():
        WritingLog.objects.create(task=task(external_id="2"), source="RUMOUR", created_at=NOW)
    batch.payload = b"y"
    with pytest.raises(ProgrammingError, match="Cannot update"):
        batch.save()
