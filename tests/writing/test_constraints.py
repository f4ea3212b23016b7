"""What must be true of topics, passages, responses and logs, and what happens to whoever tries otherwise."""

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from crowdrag.studies.enums import DecisionKind
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
from writing.enums import LONGEST_TEXT, LogSource, SurveyKind, TaskState
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


def task(**fields: Any) -> WritingTask:
    topic = fields.pop("topic", None) or TopicFactory()
    style = fields.pop("style", None) or StyleFactory(study=topic.study)
    return WritingTask.objects.create(study=topic.study, topic=topic, style=style, created_at=NOW, **fields)


def refused(name: str, make: Callable[..., object], /, *args: Any, **fields: Any) -> None:
    """See to it that the database refuses a row by the constraint of this name."""
    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        make(*args, **fields)


def test_topics_and_passages_have_an_id_a_text_and_one_row_a_version() -> None:
    topic, passage = TopicFactory(), PassageFactory()
    TopicFactory(study=topic.study, external_id=topic.external_id, version=2, query="changed")
    TopicFactory(external_id=topic.external_id)  # the sample and the whole corpus live side by side
    refused("topic_version_unique", TopicFactory, study=topic.study, external_id=topic.external_id)
    refused("topic_query_not_empty", TopicFactory, query="")
    refused("topic_external_id_not_empty", TopicFactory, external_id="")
    refused("passage_version_unique", PassageFactory, study=passage.study, external_id=passage.external_id)
    refused("passage_external_id_not_empty", PassageFactory, external_id="")


def test_current_keeps_the_latest_version() -> None:
    first = TopicFactory()
    latest = TopicFactory(study=first.study, external_id=first.external_id, version=2)
    other = TopicFactory(study=first.study)
    assert set(Topic.objects.current()) == {latest, other}


@pytest.mark.parametrize(
    ("factory", "field"), [(TopicFactory, "query"), (PassageFactory, "text"), (StyleFactory, "label")]
)
def test_what_was_read_is_never_updated(factory: Any, field: str) -> None:
    row = factory()
    setattr(row, field, "something else")
    with pytest.raises(ProgrammingError, match="Cannot update"):
        row.save()


def test_a_list_ranks_each_passage_of_its_own_study_once() -> None:
    retrieved = RetrievedPassageFactory(rank=0)
    refused("retrieved_rank_once_per_topic", RetrievedPassageFactory, topic=retrieved.topic, rank=0)
    again = {"topic": retrieved.topic, "passage": retrieved.passage, "rank": 1}
    refused("retrieved_passage_once_per_topic", RetrievedPassageFactory, **again)
    refused("retrieved_passage_same_study", RetrievedPassageFactory, passage=PassageFactory(study=StudyFactory()))


def test_tasks_have_a_known_state_an_id_and_a_slot_of_their_own_and_whoever_takes_them() -> None:
    topic = TopicFactory()
    writer, taken = ParticipantFactory(study=topic.study), {"state": TaskState.CLAIMED, "lease_until": NOW}
    refused("task_taken_has_a_participant", task, external_id="taken", **taken)
    refused("task_state_known", task, external_id="lost", state="LOST", participant=writer)
    task(topic=topic, external_id="given back", participant=writer, state=TaskState.RETURNED)
    first = task(topic=topic, external_id="1", participant=writer, slot=0, **taken)
    refused("task_external_id_unique", task, topic=topic, external_id="1")
    refused("nobody_writes_twice", task, topic=topic, external_id="2", participant=writer, **taken)
    same_slot = {"topic": topic, "style": first.style, "slot": 0, "state": TaskState.OPEN}
    refused("task_one_at_a_time_per_slot", task, external_id="twin", **same_slot)


def test_responses_have_an_origin_an_id_of_their_own_and_a_text_within_the_limit() -> None:
    response = ResponseFactory(text="a" * LONGEST_TEXT)
    refused("response_origin_known", ResponseFactory, origin="ALIEN")
    refused("response_external_id_not_empty", ResponseFactory, external_id="")
    refused("response_external_id_unique", ResponseFactory, topic=response.topic, external_id=response.external_id)
    refused("response_erased_has_no_text", ResponseFactory, erased_at=NOW)
    refused("response_text_within_limit", ResponseFactory, text="a" * (LONGEST_TEXT + 1))


def test_the_text_of_a_response_is_erased_and_else_never_changes() -> None:
    response = ResponseFactory()
    row = Response.objects.filter(pk=response.pk)
    row.update(is_included=False)
    refused("response_text_never_changes", row.update, text="another")
    refused("response_text_never_changes", row.update, style=StyleFactory(study=response.study))
    row.update(text="", erased_at=NOW)
    response.refresh_from_db()
    assert (response.text, response.erased_at) == ("", NOW)


def test_statements_have_a_place_and_cite_each_passage_once() -> None:
    response = ResponseFactory()
    statement = Statement.objects.create(response=response, position=0, start=0, end=10)
    make = Statement.objects.create
    refused("statement_position_once", make, response=response, position=0, start=0, end=10)
    refused("statement_end_after_start", make, response=response, position=1, start=5, end=4)
    citation = {"statement": statement, "retrieved": RetrievedPassageFactory(topic=response.topic, rank=0)}
    Citation.objects.create(**citation)
    refused("citation_once_per_statement", Citation.objects.create, **citation)


def test_a_decision_has_a_reason_and_stands() -> None:
    fields = {"response": ResponseFactory(), "about": DecisionKind.INCLUDE, "holds": False, "decided_at": NOW}
    make = ResponseDecision.objects.create
    refused("responsedecision_has_a_reason", make, **fields, reason="")
    refused("responsedecision_about_known", make, **fields | {"about": "MOOD"}, reason="off topic")
    decision = make(**fields, reason="off topic")
    decision.holds = True
    with pytest.raises(ProgrammingError, match="Cannot update"):
        decision.save()


def test_a_survey_is_of_a_known_kind_and_answered_once_for_a_task() -> None:
    slot = task(external_id="1")
    survey = Survey.objects.create(study=slot.study, name="entry", kind=SurveyKind.ENTRY, created_at=NOW)
    SurveyAnswers.objects.create(task=slot, survey=survey)
    refused("survey_answered_once_per_task", SurveyAnswers.objects.create, task=slot, survey=survey)
    refused("survey_kind_known", Survey.objects.create, study=slot.study, name="x", kind="LATER", created_at=NOW)


def test_a_log_only_grows() -> None:
    log = WritingLog.objects.create(task=task(external_id="1"), source=LogSource.EDITOR, created_at=NOW)
    fields = {
        "log": log, "codec": "splices/1", "payload": b"x", "digest": hashlib.sha256(b"x").digest(), "received_at": NOW,
        "event_count": 2,
    }  # fmt: skip
    make = LogBatch.objects.create
    batch = make(**fields, number=0, first_event=0)
    refused("log_batch_number_once", make, **fields, number=0, first_event=2)
    refused("log_batch_first_event_once", make, **fields, number=1, first_event=0)
    refused("log_batch_not_empty", make, **fields | {"event_count": 0}, number=1, first_event=2)
    other = task(external_id="2")
    refused("log_source_known", WritingLog.objects.create, task=other, source="RUMOUR", created_at=NOW)
    batch.payload = b"y"
    with pytest.raises(ProgrammingError, match="Cannot update"):
        batch.save()
