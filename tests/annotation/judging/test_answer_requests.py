"""Answers over the wire: stored, acknowledged, and refused where they do not fit."""

from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from annotation.enums import AssignmentState
from annotation.judging import answers, leases
from annotation.models import Assignment, CheckAnswer, ItemTime, Judgment
from tests.annotation.judge_actions import answer_all
from tests.annotation.judging.judging_page import JudgingPage
from tests.annotation.shared import client_of, made_once
from tests.participants import as_participant

pytestmark = pytest.mark.django_db
S = AssignmentState


def test_what_is_sent_is_stored_and_acknowledged(sheet: JudgingPage) -> None:
    response = sheet.post("answer", sheet.answer(justification="a\0b\ud800c"))
    given = response.json()
    assert (response.status_code, given["saved"], given["revision"]) == (200, True, 1)
    assert given["lease_until"]
    assert "late" not in given
    answer = Judgment.objects.get()
    assert (answer.value, answer.justification, answer.assignment) == (1, "a\ufffdb?c", sheet.mine)
    assert sheet.post("check", sheet.attend()).json()["saved"]
    assert sheet.post("time", sheet.times()).status_code == 200
    assert (CheckAnswer.objects.get().value, ItemTime.objects.get().looks) == (1, 2)


def test_an_answer_can_be_changed_and_an_older_one_does_not_come_back(sheet: JudgingPage) -> None:
    sheet.post("answer", sheet.answer())
    assert sheet.post("answer", sheet.answer(value=-1, revision=2)).json()["revision"] == 2
    late = sheet.post("answer", sheet.answer(value=0, revision=2))
    assert late.status_code == 409
    assert late.json() == {"problem": "other", "value": -1, "justification": "", "revision": 2}
    sheet.post("check", sheet.attend())
    assert sheet.post("check", sheet.attend(value=-1)).json()["value"] == 1


stored, sheet = made_once(JudgingPage)
BAD = [
    " ",
    "[]",
    "{",
    "null",
    '"\\ud800"',
    "[" * 10_000,
    {},
    {"item": True, "dimension": 1, "value": 1, "revision": 1},
    {"item": "1", "dimension": 1, "value": 1, "revision": 1},
    {"item": 10**30, "dimension": 1, "value": 1, "revision": 1},
    {"item": 2_000_000_000, "dimension": 1, "value": 1, "revision": 1},
]


def test_what_cannot_be_read_changes_nothing(sheet: JudgingPage) -> None:
    found, expected = [], []
    for name, (number, body) in product(["answer", "check", "time", "submit"], enumerate(BAD)):
        response = sheet.post(name, body)
        is_open = name == "submit" and isinstance(body, dict)
        found.append((name, number, response.status_code, response.json().get("problem") == "bad"))
        expected.append((name, number, 422, False) if is_open else (name, number, 400, True))
    assert found == expected
    assert sheet.post("answer", sheet.answer(justification="x" * 300_000)).status_code == 400
    assert not Judgment.objects.exists()
    assert not CheckAnswer.objects.exists()
    assert not ItemTime.objects.exists()


def test_who_is_late_is_told_and_kept(sheet: JudgingPage) -> None:
    Assignment.objects.filter(pk=sheet.mine.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    leases.expire(now=timezone.now())
    assert sheet.post("answer", sheet.answer()).json()["late"] is True
    assert sheet.post("time", sheet.times()).json()["late"] is True
    assert Judgment.objects.count() == 1


def test_what_was_handed_in_is_closed(sheet: JudgingPage) -> None:
    answer_all(sheet.mine, timezone.now())
    for comment in ("fine", "other"):
        assert sheet.post("submit", {"comment": comment}).json() == {"next": sheet.address("done")}
    response = sheet.post("answer", sheet.answer(value=-1, revision=2))
    closed = {"problem": "closed", "next": sheet.address("questionnaire")}
    assert (response.status_code, response.json()) == (409, closed)
    sheet.mine.refresh_from_db()
    assert sheet.mine.comment == "fine"
    assert set(Judgment.objects.values_list("value", flat=True)) == {1}


def test_what_is_open_is_named(sheet: JudgingPage) -> None:
    response = sheet.post("submit", {})
    assert response.status_code == 422
    missing = response.json()["missing"]
    assert len(missing) == 7
    assert [sheet.questions[0][0].pk, sheet.questions[0][1].pk, None] in missing
    assert [sheet.questions[0][0].pk, None, sheet.check.pk] in missing
    sheet.mine.refresh_from_db()
    assert sheet.mine.state == S.ASSIGNED


def test_nobody_answers_for_somebody_else(sheet: JudgingPage) -> None:
    other, stranger = client_of(sheet.world.judge()), client_of(sheet.world.stranger())
    bodies = {"answer": sheet.answer(), "check": sheet.attend(), "time": sheet.times(), "submit": {}}
    for name, body in bodies.items():
        assert sheet.post(name, body, other).status_code == 404
        assert sheet.post(name, body, stranger).status_code == 404
        assert sheet.post(name, body, Client()).status_code == 403
        assert sheet.client.get(sheet.address(name)).status_code == 405
    assert not Judgment.objects.exists()


def test_a_text_about_consent_that_changes_stops_nobody_in_the_middle(sheet: JudgingPage) -> None:
    campaign = sheet.world.campaign
    newer = type(campaign.consent_text).objects.create(
        study=sheet.world.study, name=campaign.consent_text.name, version=2, text="More.", created_at=timezone.now()
    )
    sheet.world.change(consent_text=newer)
    assert sheet.post("answer", sheet.answer()).status_code == 200


def test_without_the_token_against_forgery_nothing_is_taken(sheet: JudgingPage) -> None:
    strict = Client(enforce_csrf_checks=True)
    as_participant(strict, sheet.judge)
    assert sheet.post("answer", sheet.answer(), strict).status_code == 403
    assert not Judgment.objects.exists()


def test_a_database_that_is_away_is_something_to_try_again(sheet: JudgingPage, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_fields: Any) -> None:
        raise OperationalError("the connection is lost")

    for name in ("answer", "answer_at_once"):
        monkeypatch.setattr(answers, name, away)
    response = sheet.post("answer", sheet.answer())
    assert (response.status_code, response.json()["problem"], response["Retry-After"]) == (503, "busy", "1")
