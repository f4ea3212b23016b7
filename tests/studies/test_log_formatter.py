"""What people wrote stands in no line of a log, whatever went wrong."""

import io
import logging
from typing import Any

import pytest
from celery.app.trace import build_tracer
from django.conf import settings
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils.module_loading import import_string

from crowdrag.jobs import completion
from crowdrag.log_formatter import LogFormatter
from crowdrag.studies.access import OperatorsOnlyError
from crowdrag.studies.models import ParticipantMessage
from tests.factories import NOW, ParticipantFactory, UserFactory

pytestmark = pytest.mark.django_db
NEEDLE = "qzheronlogged"


@pytest.fixture
def lines() -> Any:
    """What the processes would write, in the form that the settings name."""
    said = settings.LOGGING["formatters"]["line"]
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(import_string(said["()"])(said["fmt"]))
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def refused() -> DatabaseError:
    """What the database says when a row with somebody's words breaks a rule: it quotes the row."""
    person, words = ParticipantFactory(), f"{NEEDLE}\n\nand {NEEDLE}"
    with pytest.raises(DatabaseError) as raised, transaction.atomic():
        ParticipantMessage.objects.create(participant=person, kind="NONE", text=words, asked_at=NOW)
    assert NEEDLE in str(raised.value)
    return raised.value


def test_the_settings_name_the_form_that_cuts_values_off() -> None:
    assert import_string(settings.LOGGING["formatters"]["line"]["()"]) is LogFormatter


def test_a_traceback_keeps_what_went_wrong_and_not_the_row(lines: io.StringIO) -> None:
    error = refused()

    def store() -> None:
        raise RuntimeError("Could not be stored") from error

    try:
        store()
    except RuntimeError:
        logging.getLogger("crowdrag").exception("It failed: %s", error)
    assert NEEDLE not in lines.getvalue()
    assert "RuntimeError: Could not be stored" in lines.getvalue()
    assert lines.getvalue().count("violates check constraint") >= 3


def test_a_task_that_fails_says_so_without_the_row(lines: io.StringIO) -> None:
    from crowdrag.celery import app

    error = refused()

    @app.task(name="tests.fails", bind=False)
    def fails() -> None:
        raise error

    build_tracer("tests.fails", fails, app=app)("an-id", (), {}, request={})
    assert "violates check constraint" in lines.getvalue()
    assert NEEDLE not in lines.getvalue()


def test_a_page_that_fails_says_so_without_the_row(lines: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    error = refused()

    def fail(*_args: Any, **_named: Any) -> None:
        raise error

    monkeypatch.setattr("crowdrag.studies.participants.views.links.find", fail)
    answer = Client(raise_request_exception=False).post("/withdraw/", {"key": "k" * 43})
    assert answer.status_code == 500
    assert "Internal Server Error: /withdraw/" in lines.getvalue()
    assert NEEDLE not in lines.getvalue()


def test_a_refused_page_is_one_line_with_its_reason(lines: io.StringIO, client: Client) -> None:
    client.force_login(UserFactory())
    assert client.get("/operations/").status_code == 403
    (line,) = lines.getvalue().splitlines()
    assert "/operations/" in line
    assert str(OperatorsOnlyError()) in line


def test_a_wrong_host_is_one_line_that_names_the_setting(lines: io.StringIO, client: Client) -> None:
    page = client.get("/login/", headers={"host": "study.example.net"})
    assert page.status_code == 400
    assert "ALLOWED_HOSTS" not in page.content.decode()
    (line,) = lines.getvalue().splitlines()
    assert "study.example.net" in line
    assert f"ALLOWED_HOSTS is {','.join(settings.ALLOWED_HOSTS)}" in line


def test_a_run_that_fails_tells_the_first_line_alone() -> None:
    told = completion.describe_error(refused())
    assert "violates check constraint" in told
    assert NEEDLE not in told


def test_other_failures_are_told_in_full() -> None:
    assert completion.describe_error(ValueError("One.\nTwo.")) == "ValueError: One.\nTwo."
