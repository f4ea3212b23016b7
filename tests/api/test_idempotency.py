"""Requests that are sent again: done once, answered the same; nothing is kept of what had no effect."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from crowdrag.api import idempotency
from crowdrag.api.models import IdempotentReply
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.studies.participants import withdrawal
from crowdrag.studies.study import services
from tests.api.conftest import by_token
from tests.concurrency import meanwhile, together
from tests.factories import ParticipantFactory, UserFactory

pytestmark = pytest.mark.django_db
STUDIES = "/api/v1/studies/"
NEW = {"slug": "fresh", "title": "New"}


def sent(client: APIClient, key: str | None, data: dict[str, Any] | None = None, to: str = STUDIES) -> Any:
    headers = {} if key is None else {"Idempotency-Key": key}
    return client.post(to, data or NEW, format="json", headers=headers)


def test_what_is_sent_again_under_a_key_is_done_once_and_answered_the_same() -> None:
    client = by_token(UserFactory())
    first, second = sent(client, "a"), sent(client, "a", dict(reversed(NEW.items())))
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.content == second.content
    assert first["Location"] == second["Location"] == "http://testserver/api/v1/studies/fresh/"
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert Study.objects.filter(slug="fresh").count() == 1
    assert sent(client, None).status_code == 400, "without a key it is another request, and the name is taken"


def test_a_key_that_came_with_another_request_is_refused() -> None:
    client = by_token(UserFactory())
    sent(client, "a")
    answer = sent(client, "a", {"slug": "other", "title": "New"})
    assert (answer.status_code, answer.json()["code"]) == (422, "key-reused")
    assert not Study.objects.filter(slug="other").exists()


def test_a_key_is_its_senders_own() -> None:
    sent(by_token(UserFactory()), "a")
    answer = sent(by_token(UserFactory()), "a", {"slug": "other", "title": "Other"})
    assert answer.status_code == 201
    assert "Idempotency-Replayed" not in answer


def test_a_request_that_failed_keeps_nothing_and_may_be_sent_again() -> None:
    client = by_token(UserFactory())
    assert sent(client, "a", {"slug": "fresh"}).status_code == 400
    assert not IdempotentReply.objects.exists()
    assert sent(client, "a").status_code == 201


@pytest.mark.django_db(transaction=True)
def test_what_was_done_before_an_error_is_undone_with_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    user, create = UserFactory(), services.create

    def breaks(**fields: Any) -> Study:
        create(**fields)
        raise RuntimeError("the process dies")

    client = by_token(user)
    client.raise_request_exception = False
    monkeypatch.setattr(services, "create", breaks)
    assert sent(client, "a").status_code == 500
    assert not Study.objects.exists()
    monkeypatch.setattr(services, "create", create)
    assert sent(client, "a").status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "ä", "a\x00b", "a\tb"])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    answer = sent(by_token(UserFactory()), key)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_a_reply_is_kept_for_a_day() -> None:
    client = by_token(UserFactory())
    sent(client, "a")
    IdempotentReply.objects.update(stored_at=timezone.now() - idempotency.REPLY_RETENTION)
    assert sent(client, "a").status_code == 400  # done anew: the name is taken
    sent(client, "b", {"slug": "b", "title": "B"})
    assert [kept.key for kept in IdempotentReply.objects.all()] == ["b"]


def test_files_are_told_apart_by_what_is_in_them(script: Callable[..., APIClient]) -> None:
    client = script(Role.EDITOR)

    def upload(content: bytes) -> Any:
        file = SimpleUploadedFile("topics.jsonl", content)
        address = f"{STUDIES}mine/imports/topics/"
        return client.post(address, {"file": file}, format="multipart", headers={"Idempotency-Key": "a"})

    first = upload(b'{"id": "1", "query": "why"}\n')
    assert first.status_code == 202, first.content
    assert upload(b'{"id": "1", "query": "why"}\n').content == first.content
    assert upload(b'{"id": "1", "query": "who"}\n').status_code == 422
    assert Run.objects.count() == 1


def test_replies_of_a_study_go_when_somebody_in_it_has_their_data_erased(
    script: Callable[..., APIClient], study: Study
) -> None:
    client = script(Role.EDITOR)
    file = SimpleUploadedFile("topics.jsonl", b'{"id": "1", "query": "why"}\n')
    client.post(f"{STUDIES}mine/imports/topics/", {"file": file}, headers={"Idempotency-Key": "a"})
    sent(client, "b")
    withdrawal.erase(participant=ParticipantFactory(study=study), now=timezone.now())
    assert [kept.key for kept in IdempotentReply.objects.all()] == ["b"]


@pytest.mark.django_db(transaction=True)
def test_while_the_first_is_answered_the_second_is_told_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    user = UserFactory()
    create = services.create
    seconds: list[Any] = []

    def slowly(**fields: Any) -> Study:
        # In the middle of the first request, on another connection.
        with meanwhile(lambda: seconds.append(sent(other, "a"))) as thread:
            thread.join()
        return create(**fields)

    client, other = by_token(user), by_token(user)
    monkeypatch.setattr(services, "create", slowly)
    assert sent(client, "a").status_code == 201
    assert [(one.status_code, one.json()["code"], one["Retry-After"]) for one in seconds] == [(409, "under-way", "1")]


@pytest.mark.django_db(transaction=True)
def test_of_many_at_the_same_moment_one_is_done() -> None:
    user = UserFactory()
    clients = [by_token(user) for _ in range(6)]
    answers = together([lambda client=client: sent(client, "a") for client in clients])
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert Study.objects.count() == 1
    assert IdempotentReply.objects.count() == 1


@pytest.mark.parametrize("broken", [{"key": ""}, {"status": 404}])
def test_the_database_keeps_replies_sensible(broken: dict[str, Any]) -> None:
    values = {"user": UserFactory(), "key": "a", "fingerprint": "0" * 64, "status": 201, "stored_at": timezone.now()}
    IdempotentReply.objects.create(**values)
    with pytest.raises(IntegrityError), transaction.atomic():
        IdempotentReply.objects.create(**values)
    with pytest.raises(IntegrityError), transaction.atomic():
        IdempotentReply.objects.create(**values | {"key": "b"} | broken)
