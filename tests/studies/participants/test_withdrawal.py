"""Withdrawing and erasing: without a login, twice is once, and nothing of the person is left but the tombstone."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.analyses import services as analyses_services
from annotation.models import Assignment, AssignmentDecision, Judgment, PlatformSubmission
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Artifact, Run
from crowdrag.llm.models import Call, Endpoint
from crowdrag.studies.access import SESSION_PARTICIPANTS
from crowdrag.studies.entry import links
from crowdrag.studies.enums import DecisionKind, MessageKind, Outcome
from crowdrag.studies.messages import services as messages_services
from crowdrag.studies.models import Arrival, Consent, EntryLink, Participant, ParticipantMessage
from crowdrag.studies.participants import identity, withdrawal
from tests import erasures
from tests.factories import JudgmentFactory, RetrievedPassageFactory, WritingTaskFactory
from tests.participants import as_participant
from tests.studies.activity import PERSON, WAY, agree, door, knock, offered_study, personal_link, platform_link, text_of
from writing.corpus import responses
from writing.enums import LogSource, TaskState
from writing.models import (
    EditingSession,
    LogBatch,
    PlanStyle,
    Response,
    ResponseDecision,
    Statement,
    Survey,
    SurveyAnswers,
    TaskPayment,
    TaskTransition,
    WritingLog,
    WritingTask,
)

pytestmark = pytest.mark.django_db

NEEDLE = "quicksilver heron"
WRITTEN = f"The {NEEDLE} stands in the shallow water all day [0]. Nobody knows why it does [1]."
DRAFT = f"A second {NEEDLE}, never handed in, stood somewhere else the whole of that day"
NOW = timezone.now()


def everywhere(needle: str) -> dict[str, int]:
    """In which tables of the database, whoever owns them, some column says this; and in how many rows."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")
        tables = [name for (name,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(
                f"SELECT count(*) FROM {table} AS row WHERE strpos(lower(row::text), lower(%s)) > 0", [needle]
            )
            if count := cursor.fetchone()[0]:
                found[table] = count
    return found


def task_of(person: Participant, text: str, **fields: Any) -> WritingTask:
    """A task with all that belongs to one: log, answers, moves, pay."""
    made = WritingTaskFactory(
        claimed=True, topic__study=person.study, participant=person, draft=text, seconds=700.0, **fields
    )
    log = WritingLog.objects.create(task=made, source=LogSource.EDITOR, started_at=NOW, created_at=NOW)
    EditingSession.objects.create(log=log, number=0, opened_at=NOW, last_at=NOW)
    LogBatch.objects.create(
        log=log, number=0, first_event=0, event_count=1, codec="none", payload=text.encode(), digest=b"0" * 32,
        received_at=NOW,
    )  # fmt: skip
    survey, _made = Survey.objects.get_or_create(
        study=person.study, name="exit", version=1, kind="EXIT", defaults={"created_at": NOW}
    )
    SurveyAnswers.objects.create(task=made, survey=survey, answers={"comment": f"I like the {NEEDLE}"})
    TaskTransition.objects.create(task=made, after="CLAIMED", cause="claimed", note=f"the {NEEDLE} is fine", at=NOW)
    return made


@pytest.fixture
def person() -> Participant:
    """Somebody from a platform who wrote, asked, and was asked about by a model."""
    study = offered_study()
    knock(Client(), door(platform_link(study)))
    person = Participant.objects.get(study=study)
    agree(person, text_of(study))
    links.first_key(participant=person, purpose=WAY, now=NOW)
    Participant.objects.filter(pk=person.pk).update(platform_facts={"country": NEEDLE})
    task = task_of(person, WRITTEN, slot=0)
    PlanStyle.objects.create(plan=study.writing_plan, style=task.style)
    for rank in range(2):
        RetrievedPassageFactory(topic=task.topic, rank=rank)
    response = responses.submit(
        study=study, topic=task.topic, style=task.style, participant=person, external_id=task.external_id,
        text=WRITTEN, task=task, now=NOW,
    )  # fmt: skip
    ResponseDecision.objects.create(
        response=response, about=DecisionKind.INCLUDE, holds=True, reason=f"good, the {NEEDLE}",
        evidence={"quote": NEEDLE}, decided_at=NOW,
    )  # fmt: skip
    WritingTask.objects.filter(pk=task.pk).update(state=TaskState.ACCEPTED, submitted_at=NOW)
    TaskPayment.objects.create(task=task, amount=1250, reason="accepted", at=NOW)
    WritingTaskFactory(claimed=True, topic__study=study, participant=person, draft=DRAFT)
    messages_services.ask(participant=person, kind=MessageKind.QUESTION, text=f"Is the {NEEDLE} well?", now=NOW)
    endpoint = Endpoint.objects.create(
        name="m", base_url="http://127.0.0.1:1/v1", model="m", is_local=True, created_at=NOW
    )
    # The last one holds no words long enough to be anybody's.
    for number, text in enumerate((f"Judge this:\n{WRITTEN}", DRAFT, "something else")):
        Call.objects.create(
            digest=f"{number:064x}", endpoint=endpoint, model="m", purpose="judge", study=study,
            request={"messages": [{"content": text}]}, created_at=NOW,
        )  # fmt: skip
    WritingTaskFactory(claimed=True, topic__study=study, participant=person, draft="something")
    person.refresh_from_db()
    return person


def erase(person: Participant) -> Participant:
    return withdrawal.erase(participant=person, now=NOW + timedelta(hours=1))


def test_before_it_is_there_and_after_only_the_tombstone(person: Participant) -> None:
    """D25: the search would find it, and finds nothing."""
    assert {"writing_response", "writing_writingtask", "llm_call", "studies_participantmessage"} <= set(
        everywhere(NEEDLE)
    )
    identities = [bytes(person.identity).decode(), bytes(person.identity_hash).hex()]
    assert everywhere(person.external_id) == {"studies_participant": 1}
    erase(person)
    assert everywhere(NEEDLE) == {}
    assert everywhere(PERSON) == {}
    assert everywhere(person.external_id) == {"studies_participant": 1}
    assert [everywhere(one) for one in identities] == [{}, {}]
    # Compressed and binary columns too: what a payload held is gone with its row.
    assert everywhere(NEEDLE.encode().hex()) == {}
    tombstone = Participant.objects.get(pk=person.pk)
    assert tombstone.erased_at
    assert tombstone.withdrawn_at
    assert (tombstone.platform_facts, tombstone.identity, tombstone.identity_hash) == ({}, None, None)


def test_what_goes_and_what_is_left(person: Participant, client: Client) -> None:
    as_participant(client, person)
    filled = WritingTask.objects.get(slot=0)
    erase(person)
    response = Response.objects.get()
    assert (response.text, response.words, response.is_included) == ("", 0, False)
    assert response.erased_at
    left = [
        WritingLog,
        EditingSession,
        LogBatch,
        SurveyAnswers,
        Statement,
        ParticipantMessage,
        EntryLink.objects.personal(),
        Arrival,
    ]
    assert [getattr(each, "objects", each).count() for each in left] == [0] * len(left)
    assert Consent.objects.get().withdrawn_at
    # Money that is owed stays, with the task that it is owed for; its slot is free again.
    assert TaskPayment.objects.get().amount == 1250
    mine = WritingTask.objects.filter(participant=person)
    assert set(mine.values_list("draft", "seconds", "active_seconds")) == {("", None, None)}
    free = WritingTask.objects.get(slot=0)
    assert (free.state, free.topic, free.style) == (TaskState.OPEN, filled.topic, filled.style)
    decisions = ResponseDecision.objects.order_by("pk")
    assert [(one.holds, one.evidence) for one in decisions] == [(True, {}), (False, {})]
    calls = Call.objects.order_by("pk")
    assert [call.erased_at is not None for call in calls] == [True, True, False]
    # A session of theirs is over.
    assert client.get(reverse("participant_dashboard", args=[person.study.slug])).status_code == 403
    assert person.external_id not in json.dumps(dict(client.session.items()))


def test_who_only_stops_leaves_what_they_gave_and_gives_back_what_they_began(
    person: Participant, client: Client
) -> None:
    withdrawal.withdraw(participant=person, now=NOW)
    assert Response.objects.get().text == WRITTEN
    assert WritingTask.objects.get(draft=DRAFT).state == TaskState.RETURNED
    assert Consent.objects.get().withdrawn_at is None
    assert not WritingTask.objects.filter(participant=person, state=TaskState.CLAIMED).exists()
    as_participant(client, person)
    assert "12.50" in client.get(reverse("participant_dashboard", args=[person.study.slug])).content.decode()


def test_twice_is_once(person: Participant) -> None:
    first = withdrawal.withdraw(participant=person, now=NOW)
    assert withdrawal.withdraw(participant=person, now=NOW + timedelta(days=1)).withdrawn_at == first.withdrawn_at
    erased = erase(person)
    again = withdrawal.erase(participant=person, now=NOW + timedelta(days=2))
    assert (again.erased_at, again.withdrawn_at) == (erased.erased_at, first.withdrawn_at)
    assert ResponseDecision.objects.count() == 2


def test_others_keep_what_they_gave(person: Participant) -> None:
    made = personal_link(person.study)
    other = made.link.participant
    assert other is not None
    agree(other, text_of(person.study))
    messages_services.ask(participant=other, kind=MessageKind.QUESTION, text="mine", now=NOW)
    theirs = task_of(other, "Another text altogether, which has nothing to do with birds.")
    erase(person)
    assert links.find(made.key) is not None
    assert other.messages.count() == 1
    theirs.refresh_from_db()
    assert (theirs.state, theirs.log.batches.count()) == (TaskState.CLAIMED, 1)


# What was judged, and the results


def judged(person: Participant) -> Run:
    """A judgment of the person's, and a run that used it, with a file and an export."""
    judgment = JudgmentFactory(
        entry__item__pair__a__topic__study=person.study, assignment__participant=person, justification=NEEDLE
    )
    JudgmentFactory(entry=judgment.item.entries.get(), dimension=judgment.dimension)
    campaign = judgment.item.campaign
    PlatformSubmission.objects.create(campaign=campaign, external_id="s-1", participant=person)
    Assignment.objects.update(seconds=300.0, submitted_at=NOW)
    run = lifecycle.wait(
        analyses_services.start(study=person.study, by=None, parameters={"resamples": 20, "restarts": 2})
    )
    assert run.state == "DONE", run.error
    export = Run.objects.create(
        study=person.study, kind="export.archive", state="DONE", code_version="1", created_at=NOW, finished_at=NOW
    )
    for of, name in ((run, "competence.csv"), (export, "archive.tar")):
        path = default_storage.save(f"tests/{name}", ContentFile(f"…{person.external_id}…".encode()))
        Artifact.objects.create(run=of, name=name, size=1, sha256="0" * 64, file=path, created_at=NOW)
    return run


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_runs_that_used_it_are_stale_and_name_nobody() -> None:
    study = offered_study()
    knock(Client(), door(platform_link(study)))
    person = Participant.objects.get()
    run = judged(person)
    assert "analysis_resulttable" in everywhere(person.external_id)
    other = Run.objects.create(
        study=study, kind="analysis", state="DONE", code_version="1", created_at=NOW, finished_at=NOW
    )
    files = [Path(default_storage.path(file.file.name)) for file in Artifact.objects.filter(name__contains=".")]
    erase(person)
    run.refresh_from_db()
    other.refresh_from_db()
    assert run.stale_reason
    assert other.stale_at is None
    assert everywhere(person.external_id) == {"studies_participant": 1}
    assert everywhere(NEEDLE) == {}
    assert not [path for path in files if path.exists() and person.external_id.encode() in path.read_bytes()]
    mine = Assignment.objects.get(participant=person)
    assert (mine.is_included, mine.seconds, mine.submitted_at) == (False, None, None)
    assert AssignmentDecision.objects.get(assignment=mine).holds is False
    # The bare vote stays, outside the analysis.
    assert Judgment.objects.filter(assignment=mine).exists()
    assert not Judgment.objects.counted().filter(assignment=mine).exists()
    assert not PlatformSubmission.objects.exists()


# The pages


def test_withdrawing_needs_the_personal_link_alone(client: Client) -> None:
    made, page = personal_link(offered_study()), reverse("withdraw")
    chosen = {"key": made.key, "choice": "erase"}
    assert client.post(page, {"key": made.key}).status_code == 200
    refused = client.post(page, chosen)
    assert (refused.status_code, made.key in refused.content.decode()) == (422, True)
    assert Participant.objects.get().withdrawn_at is None
    for _twice in range(2):  # asked for twice, it is done once
        assert client.post(page, chosen | {"is_sure": "on"}).status_code == 200
        asked = Participant.objects.get()
        assert (asked.withdrawn_at, asked.erased_at) == (asked.erasure_requested_at, None)
    assert erasures.carry_out() == 1
    assert Participant.objects.get().erased_at
    assert client.post(page, {"key": made.key}).status_code == 422
    assert client.get(reverse("join", args=[made.key])).status_code == 404


def test_withdrawing_in_the_session_ends_it(person: Participant, client: Client) -> None:
    end = "https://app.prolific.com/x?cc=W"
    EntryLink.objects.update(completion={Outcome.WITHDRAWN: end})
    as_participant(client, person)
    address = reverse("participant_withdraw", args=[person.study.slug])
    assert client.get(address).status_code == 200
    assert client.post(address, {"choice": "all", "is_sure": "on"}).status_code == 422
    done = client.post(address, {"choice": "erase", "is_sure": "on"})
    assert f'href="{end}"' in done.content.decode()
    assert client.session[SESSION_PARTICIPANTS] == {}
    assert client.get(address).status_code == 403


def test_whoever_did_not_agree_can_only_have_the_record_erased(client: Client) -> None:
    study = offered_study()
    knock(client, door(platform_link(study)))
    address = reverse("participant_withdraw", args=[study.slug])
    shown = client.get(address)
    assert not shown.context["has_agreed"]
    assert [value for value, _label in shown.context["form"]["choice"].field.choices] == ["erase"]
    assert client.post(address, {"choice": "stop", "is_sure": "on"}).status_code == 422
    assert client.post(address, {"choice": "erase", "is_sure": "on"}).status_code == 200
    assert Participant.objects.get().erasure_requested_at


def test_whoever_was_erased_does_not_come_in_again(person: Participant) -> None:
    address = door(EntryLink.objects.get(platform="prolific"))
    erase(person)
    for method in ("get", "post"):
        assert getattr(Client(), method)(address).status_code == 410
    # No second row of the same person appears: the tombstone is found by the pseudonym.
    assert Participant.objects.filter(study=person.study, kind="CROWD").count() == 1
    assert identity.pseudonym(person.study, f"prolific:{PERSON}") == person.external_id


@pytest.mark.parametrize("choice", ["stop", "erase"])
def test_what_is_owed_is_said_before_and_after(client: Client, choice: str) -> None:
    study = offered_study()
    knock(client, door(platform_link(study)))
    person = Participant.objects.get()
    agree(person, text_of(study))
    task = WritingTaskFactory(claimed=True, topic__study=study, participant=person)
    TaskPayment.objects.create(task=task, amount=650, reason="accepted", at=timezone.now())
    address = reverse("participant_withdraw", args=[study.slug])
    for answer in (client.get(address), client.post(address, {"choice": choice, "is_sure": "on"})):
        page = answer.content.decode()
        assert [each in page for each in ("6.50", person.external_id, "Prolific")] == [True] * 3
