"""What a request may bring is decided by its head, for each page and whoever asks, before its body is read."""

import errno
import io
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from psycopg import errors
from rest_framework.test import APIClient

from crowdrag import request_limits
from crowdrag.jobs.models import Upload
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import MembershipFactory, StudyFactory
from tests.studies.activity import member
from tests.studies.test_access import ROUTES, filled

pytestmark = pytest.mark.django_db
GIGABYTE = 1024**3
MULTIPART = "multipart/form-data; boundary=x"


class BodyRead(BaseException):
    """A body was read that must not be; nothing that handles errors takes this for one."""


class Unreadable(io.BytesIO):
    """A body that must not be read."""

    def read(self, *_size: Any) -> bytes:
        raise BodyRead

    readline = readinto = read  # type: ignore[assignment]


def send(client: Client, path: str, **head: Any) -> Any:
    """Send the head of a request whose body must not be read."""
    head = {"CONTENT_LENGTH": str(GIGABYTE), **head, "wsgi.input": Unreadable()}
    return client.generic("POST", path, b"", content_type=MULTIPART, **head)


@pytest.fixture
def study() -> Study:
    return StudyFactory(slug="mine")


def test_nobody_unknown_has_a_large_body_read(study: Study) -> None:
    wrong = []
    for route, _pattern in ROUTES:
        probes = {200, 503} if route in {"healthz", "readyz"} else set()
        try:
            status = send(Client(enforce_csrf_checks=True), filled(route, study.slug)).status_code
        except BodyRead:
            status = "read"
        if status not in {302, 401, 403, 404, 405, 413} | probes:
            wrong.append(f"{route}: {status}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["import_form", "experiment_new"])
def test_whoever_may_not_upload_has_no_body_read(study: Study, name: str) -> None:
    (path,) = [filled(route, "mine") for route, pattern in ROUTES if pattern.name == name]
    assert send(member(study, Role.VIEWER), path).status_code == 403
    answer = send(member(study), path, CONTENT_LENGTH=str(3 * GIGABYTE))
    assert answer.status_code == 413
    assert answer["X-Problem"]


@pytest.mark.parametrize("path", ["uploads/", "imports/topics/"])
@pytest.mark.parametrize(("role", "status"), [(None, 401), (Role.VIEWER, 403)])
def test_scripts_that_may_not_upload_have_no_body_read(study: Study, path: str, role: Role | None, status: int) -> None:
    """By the session of somebody who is signed in: looking for a form's token must not read it either."""
    client = APIClient(enforce_csrf_checks=True)
    head = {"CONTENT_LENGTH": str(100 * 1024**2)}
    if role is not None:
        client.login(username=(user := MembershipFactory(study=study, role=role).user).email, password="x")
        client.force_login(user)
        client.cookies[settings.CSRF_COOKIE_NAME] = "c" * 32
        head["HTTP_X_CSRFTOKEN"] = "c" * 32
    assert send(client, f"/api/v1/studies/mine/{path}", **head).status_code == status
    assert not Upload.objects.exists()


@pytest.mark.parametrize("path", ["/login/", "/api/v1/studies/"])
def test_a_body_without_a_length_is_refused(study: Study, path: str) -> None:
    """Django would take it for none, and answer something that helps nobody."""
    head = {"HTTP_TRANSFER_ENCODING": "chunked", "CONTENT_LENGTH": ""}
    assert send(Client(), path, **head).status_code == 411


def test_what_a_form_needs_is_taken() -> None:
    answer = Client().post("/login/", {"username": "x" * 2_000_000, "password": "y"})
    assert answer.status_code in {200, 422}


def test_a_large_body_is_refused_while_the_disk_has_no_room(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = member(study)
    monkeypatch.setattr(request_limits, "has_room_for", lambda size: size < 1000)
    (path,) = [filled(route, "mine") for route, pattern in ROUTES if pattern.name == "import_form"]
    answer = send(editor, path)
    assert (answer.status_code, bool(answer["X-Problem"])) == (507, True)
    script = APIClient(raise_request_exception=False)
    script.force_authenticate(MembershipFactory(study=study, role=Role.EDITOR).user)
    answer = send(script, "/api/v1/studies/mine/uploads/", CONTENT_LENGTH=str(100 * 1024**2))
    assert (answer.status_code, answer.json()["code"]) == (507, "no-room")


def test_a_file_stops_coming_in_when_the_reserve_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = request_limits.DiskReserveUploadHandler()
    handler.new_file("file", "a", "text/plain", None)
    monkeypatch.setattr(settings, "DISK_RESERVE", 0)
    handler.receive_data_chunk(b"x" * 20_000_000, 0)
    monkeypatch.setattr(settings, "DISK_RESERVE", 10**18)
    with pytest.raises(OSError) as caught:  # noqa: PT011 - which one is asked below
        handler.receive_data_chunk(b"x" * 20_000_000, 0)
    assert request_limits.is_disk_full(caught.value)
    handler.file.close()


def _topics() -> SimpleUploadedFile:
    return SimpleUploadedFile("topics.jsonl", b'{"id": "1", "text": "a"}\n')


def _full_database() -> OperationalError:
    error = OperationalError("could not extend file")
    error.__cause__ = errors.DiskFull()
    return error


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), _full_database()], ids=["files", "database"])
def test_a_full_disk_is_told_from_other_errors(study: Study, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    editor = Client(raise_request_exception=False)
    editor.force_login(user := MembershipFactory(study=study, role=Role.OWNER).user)
    monkeypatch.setattr("writing.corpus.imports.importers.start", fails)
    (path,) = [filled(route, "mine") for route, pattern in ROUTES if pattern.name == "import_form"]
    path = path.replace(path.rstrip("/").rsplit("/", 1)[1], "topics")
    assert editor.post(path, {"file": _topics()}).status_code == 507
    script = APIClient(raise_request_exception=False)
    script.force_authenticate(user)
    monkeypatch.setattr("crowdrag.jobs.run_files.store_upload", fails)
    answer = script.post("/api/v1/studies/mine/uploads/", {"file": _topics()})
    assert (answer.status_code, answer.json()["code"]) == (507, "no-room")
