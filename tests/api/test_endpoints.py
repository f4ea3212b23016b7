"""What the endpoints of studies, members, runs, topics, responses and imports show and do."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from crowdrag.audit.models import AccessLogEntry
from crowdrag.jobs import lifecycle, run_files
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Membership, Study
from tests.api.rows import passages, responses
from tests.factories import MembershipFactory, ResponseFactory, TopicFactory, UserFactory, WritingTaskFactory
from writing.editor import codec, logs
from writing.enums import LogSource
from writing.models import Response, Topic

pytestmark = pytest.mark.django_db
MINE = "/api/v1/studies/mine/"
TOPIC = b'{"topic": "1", "query": "Why?", "passages": [{"id": "a", "text": "So."}]}\n'
Script = Callable[..., APIClient]


def imported(client: APIClient, content: bytes, name: str = "topics") -> Any:
    return client.post(f"{MINE}imports/{name}/", {"file": SimpleUploadedFile("topics.jsonl", content)})


def test_who_makes_a_study_owns_it(script: Script) -> None:
    answer = script(Role.VIEWER).post(
        "/api/v1/studies/", {"slug": "fresh", "title": "New", "currency": "EUR"}, format="json"
    )
    assert answer.status_code == 201
    assert (answer.json()["role"], answer.json()["currency"]) == ("OWNER", "EUR")
    assert Study.objects.get(slug="fresh").memberships.get().role == Role.OWNER


def test_a_name_that_a_page_or_another_study_has_is_refused(script: Script) -> None:
    for slug, code in (("new", "reserved"), ("mine", "unique")):
        answer = script().post("/api/v1/studies/", {"slug": slug, "title": "x"}, format="json")
        errors = [(error["pointer"], error["code"]) for error in answer.json()["errors"]]
        assert (answer.status_code, errors) == (400, [("#/slug", code)])


def test_owners_say_who_is_a_member(script: Script, study: Study) -> None:
    client, user = script(), UserFactory(email="Someone@example.org")
    made = client.post(f"{MINE}members/", {"email": "someone@EXAMPLE.org", "role": "EDITOR"}, format="json")
    assert made.status_code == 201, made.content
    assert Membership.objects.get(study=study, user=user).role == Role.EDITOR
    listed = client.get(f"{MINE}members/").json()["results"]
    assert ("Someone@example.org", "EDITOR") in [(row["email"], row["role"]) for row in listed]
    changed = client.put(f"{MINE}members/{user.pk}/", {"role": "VIEWER"}, format="json")
    assert changed.json()["role"] == "VIEWER"
    assert client.delete(f"{MINE}members/{user.pk}/").status_code == 204
    assert client.get(f"{MINE}members/{user.pk}/").status_code == 404


def test_nobody_is_made_a_member_who_has_no_account(script: Script) -> None:
    answer = script().post(f"{MINE}members/", {"email": "nobody@example.org", "role": "EDITOR"}, format="json")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "#/email"
    assert script().post(f"{MINE}members/", {"email": "a@b.org", "role": "KING"}, format="json").status_code == 400


def test_a_study_keeps_an_owner(script: Script, study: Study) -> None:
    client = script()
    owner = Membership.objects.get(study=study, role=Role.OWNER)
    for answer in (
        client.delete(f"{MINE}members/{owner.user_id}/"),
        client.put(f"{MINE}members/{owner.user_id}/", {"role": "VIEWER"}, format="json"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_an_import_is_started_and_followed(script: Script, study: Study) -> None:
    client = script(Role.EDITOR)
    started = imported(client, TOPIC)
    assert started.status_code == 202, started.content
    address = started["Location"]
    before = client.get(address)
    assert before.json()["state"] == "PLANNED"
    lifecycle.wait(Run.objects.get())
    after = client.get(address, headers={"If-None-Match": before["ETag"]})
    assert after.json()["state"] == "DONE"
    assert after.json()["units_done"] == 1
    assert Topic.objects.get(study=study).query == "Why?"


def test_what_is_wrong_with_a_file_stands_in_the_run(script: Script) -> None:
    client = script(Role.EDITOR)
    address = imported(client, b'{"topic": "1"}\n')["Location"]
    lifecycle.wait(Run.objects.get())
    said = client.get(address).json()
    assert said["state"] == "FAILED"
    assert said["problems"][0]["line"] == 1


def test_an_import_says_what_it_asks_for(script: Script) -> None:
    client = script(Role.EDITOR)
    kinds = {kind["name"]: kind for kind in client.get(f"{MINE}imports/").json()["results"]}
    assert kinds["topics"]["files"][0]["field"] == "file"
    assert client.post(f"{MINE}imports/topics/", {}).json()["errors"][0]["pointer"] == "#/file"
    assert client.post(f"{MINE}imports/topics/", {"flie": "x"}).json()["errors"][0]["code"] == "unknown"
    assert imported(client, b"x", "nothing").status_code == 404


def test_a_run_is_cancelled_and_resumed(script: Script) -> None:
    client = script(Role.EDITOR)
    address = imported(client, TOPIC)["Location"]
    assert client.post(f"{address}resume/").json()["code"] == "conflict"
    assert client.post(f"{address}cancel/").json()["state"] == "CANCELLED"
    assert client.post(f"{address}cancel/").status_code == 409
    assert client.post(f"{address}resume/").json()["state"] == "PLANNED"
    assert [row["state"] for row in client.get(f"{MINE}runs/?state=PLANNED").json()["results"]] == ["PLANNED"]
    assert client.get(f"{MINE}runs/?kind=other").json()["results"] == []
    assert client.get(f"{MINE}runs/?state=NONE").status_code == 400


def test_a_runs_file_comes_whole_or_in_part_and_is_noted(script: Script, study: Study, tmp_path: Any) -> None:
    client = script(Role.EDITOR)
    address = imported(client, TOPIC)["Location"]
    (tmp_path / "table.csv").write_text("0123456789")
    run_files.publish_artifact(
        run=Run.objects.get(), name="table.csv", path=tmp_path / "table.csv", media_type="text/csv"
    )
    row = client.get(f"{address}artifacts/").json()["results"][0]
    assert (row["name"], row["size"]) == ("table.csv", 10)
    whole = client.get(f"{address}artifacts/table.csv", headers={"Accept": "text/csv"})
    assert b"".join(whole.streaming_content) == b"0123456789"
    part = client.get(f"{address}artifacts/table.csv", headers={"Range": "bytes=2-4"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, b"234")
    assert client.get(f"{address}artifacts/other.csv").status_code == 404
    assert {(look.content, look.page) for look in AccessLogEntry.objects.all()} == {
        (AuditedContent.FILE, "api_artifact")
    }


def test_topics_are_found_with_their_passages(script: Script, study: Study) -> None:
    topic = TopicFactory(study=study, query="Why do leaves fall?")
    TopicFactory(study=study, external_id=topic.external_id, version=2, query="Why do leaves fall in autumn?")
    client = script(Role.VIEWER)
    assert [row["version"] for row in client.get(f"{MINE}topics/?q=leaves").json()["results"]] == [2]
    assert client.get(f"{MINE}topics/{topic.external_id}/").json()["query"].endswith("autumn?")
    other = passages(study, 3)["external_id"]
    found = client.get(f"{MINE}topics/{other}/passages/").json()["results"]
    assert [row["rank"] for row in found] == [0, 1, 2]
    assert all(row["text"] for row in found)
    assert client.get(f"{MINE}topics/none/passages/").status_code == 404


def test_responses_come_with_what_they_cite_and_who_reads_them_is_noted(script: Script, study: Study) -> None:
    responses(study, 3)
    one = Response.objects.order_by("id")[0]
    client = script(Role.VIEWER)
    found = client.get(f"{MINE}responses/?topic={one.topic.external_id}&origin=HUMAN").json()["results"]
    assert len(found) == 3
    assert found[0]["statements"] == [{"start": 0, "end": 13, "cites": [0]}]
    assert found[0]["participant"] == one.participant.external_id
    assert client.get(f"{MINE}responses/?participant=nobody").json()["results"] == []
    assert client.get(f"{MINE}responses/{one.external_id}/").json()["text"] == one.text
    look = AccessLogEntry.objects.get(content=AuditedContent.RESPONSE)
    assert (look.page, look.participant_id, look.work_key) == ("api_response", one.participant_id, one.pk)
    assert AccessLogEntry.objects.filter(content=AuditedContent.PEOPLE, page="api_responses").exists()


def test_a_log_comes_as_its_events(script: Script, study: Study) -> None:
    response = ResponseFactory(topic=TopicFactory(study=study))
    assert script(Role.REVIEWER).get(f"{MINE}responses/{response.external_id}/log/").status_code == 404
    task = WritingTaskFactory(topic=response.topic, style=response.style, claimed=True)
    Response.objects.filter(pk=response.pk).update(task=task)
    events: list[Any] = codec.encode([(0, "a"), (5, "ab")])
    packed = logs.PackedLog(task, response.created_at, (logs.PackedEvents(len(events), codec.pack(events)),))
    logs.store_packed([packed], source=LogSource.SNAPSHOTS, now=response.created_at)
    said = script(Role.REVIEWER).get(f"{MINE}responses/{response.external_id}/log/").json()
    assert said["events"] == json.loads(json.dumps(events))
    assert said["source"] == "SNAPSHOTS"
    assert AccessLogEntry.objects.get(content=AuditedContent.LOG).work_key == response.pk


def test_members_of_other_studies_stay_there(script: Script) -> None:
    other = MembershipFactory()
    assert script().get(f"{MINE}members/{other.user_id}/").status_code == 404
