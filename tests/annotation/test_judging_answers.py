"""Answers over the wire: stored once however often they are sent, acknowledged only when they are there."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain import assignments
from annotation.enums import AssignmentState
from annotation.models import Assignment, CheckAnswer, ItemTime, Judgment
from tests.annotation.campaigns import World, world
from tests.annotation.judging import add_check, answer_all
from tests.participants import as_participant
from tests.writing.at_once import together

S = AssignmentState
AT_ONCE = 10


class Sheet:
    """Somebody's questionnaire with the addresses that its page sends to."""

    def __init__(self, **fields: Any):
        self.world: World = world(**fields)
        self.check = add_check(self.world.questionnaires[0])
        self.judge = self.world.judge()
        self.mine = assignments.claim(campaign=self.world.campaign, participant=self.judge, now=timezone.now())
        self.questions = list(self.world.questions(self.mine))
        self.client = self.fresh()

    def fresh(self) -> Client:
        client = Client()
        as_participant(client, self.judge)
        return client

    def address(self, name: str) -> str:
        study = self.world.study.slug
        return reverse(f"judging_{name}", args=[study, self.world.campaign.pk, self.mine.external_id])

    def post(self, name: str, body: Any, client: Client | None = None) -> Any:
        sent = body if isinstance(body, str) else json.dumps(body)
        return (client or self.client).post(self.address(name), sent, content_type="application/json")

    def answer(self, **fields: Any) -> dict[str, Any]:
        item, dimension = self.questions[0]
        return {"item": item.pk, "dimension": dimension.pk, "value": 1, "revision": 1, **fields}

    def attend(self, **fields: Any) -> dict[str, Any]:
        return {"check": self.check.pk, "value": 1, "revision": 1, **fields}

    def times(self, **fields: Any) -> dict[str, Any]:
        item, _dimension = self.questions[0]
        numbers = {"active": 0.5, "away": 0.2, "looks": 2, "leaves": 1, "changes": 3}
        return {"visit": str(uuid4()), "times": [{"item": item.pk, **numbers}], **fields}


@pytest.fixture
def sheet(db: None) -> Sheet:
    return Sheet()


def test_an_answer_is_stored_and_acknowledged(sheet: Sheet) -> None:
    response = sheet.post("answer", sheet.answer(justification="because"))
    said = response.json()
    stored = Judgment.objects.get()
    assert response.status_code == 200
    assert (said["saved"], said["revision"], said["left"]) == (True, 1, 6)
    assert said["lease_until"]
    assert "late" not in said
    assert (stored.value, stored.justification, stored.assignment) == (1, "because", sheet.mine)


def test_an_answer_can_be_changed_and_an_older_one_does_not_come_back(sheet: Sheet) -> None:
    sheet.post("answer", sheet.answer())
    assert sheet.post("answer", sheet.answer(value=-1, revision=2)).json()["revision"] == 2
    late = sheet.post("answer", sheet.answer(value=0, revision=2))
    assert late.status_code == 409
    assert late.json() == {"problem": "other", "value": -1, "justification": "", "revision": 2}
    assert Judgment.objects.get().value == -1


def test_a_check_is_stored_the_same_way(sheet: Sheet) -> None:
    assert sheet.post("check", sheet.attend()).json()["left"] == 6
    assert sheet.post("check", sheet.attend(value=-1, revision=2)).json()["revision"] == 2
    assert sheet.post("check", sheet.attend(value=1, revision=2)).json()["value"] == -1
    assert CheckAnswer.objects.get().value == -1


def test_times_only_grow(sheet: Sheet) -> None:
    Assignment.objects.update(assigned_at=timezone.now() - timedelta(minutes=5))
    first = sheet.times()
    assert sheet.post("time", first).status_code == 200
    item = first["times"][0]["item"]
    less = {"visit": first["visit"], "times": [{"item": item, "active": 0.1, "looks": 9}]}
    assert sheet.post("time", less).status_code == 200
    stored = ItemTime.objects.get()
    assert (stored.active_seconds, stored.away_seconds, stored.looks, stored.changes) == (0.5, 0.2, 9, 3)


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
    {"item": 1, "dimension": 1, "value": 1, "revision": 1},
]


@pytest.mark.parametrize("name", ["answer", "check", "time", "submit"])
@pytest.mark.parametrize("body", BAD, ids=range(len(BAD)))
def test_what_cannot_be_read_changes_nothing(sheet: Sheet, name: str, body: Any) -> None:
    response = sheet.post(name, body)
    if name == "submit" and isinstance(body, dict):
        assert response.status_code == 422
    else:
        assert (response.status_code, response.json()["problem"]) == (400, "bad")
        assert response.json()["message"]
    assert not Judgment.objects.exists()
    assert not CheckAnswer.objects.exists()
    assert not ItemTime.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [{"value": 7}, {"item": 999_999}, {"dimension": 999_999}, {"revision": 0}, {"justification": 3},
     {"justification": "x" * 10_001}, {"justification": "x" * 300_000}],
)  # fmt: skip
def test_what_is_no_answer_to_a_question_here_changes_nothing(sheet: Sheet, fields: dict[str, Any]) -> None:
    response = sheet.post("answer", sheet.answer(**fields))
    assert (response.status_code, response.json()["problem"]) == (400, "bad")
    assert not Judgment.objects.exists()


def test_what_the_database_cannot_hold_is_replaced(sheet: Sheet) -> None:
    assert sheet.post("answer", sheet.answer(justification="a\0b\ud800c")).status_code == 200
    assert Judgment.objects.get().justification == "a\ufffdb?c"


def test_who_is_late_is_told_and_kept(sheet: Sheet) -> None:
    Assignment.objects.filter(pk=sheet.mine.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    assignments.expire(now=timezone.now())
    assert sheet.post("answer", sheet.answer()).json()["late"] is True
    assert sheet.post("time", sheet.times()).json()["late"] is True
    assert Judgment.objects.count() == 1


def test_what_was_handed_in_is_closed(sheet: Sheet) -> None:
    answer_all(sheet.mine, timezone.now())
    assert sheet.post("submit", {"comment": "fine"}).json() == {"next": sheet.address("done")}
    response = sheet.post("answer", sheet.answer(value=-1, revision=2))
    assert (response.status_code, response.json()) == (
        409,
        {"problem": "closed", "next": sheet.address("questionnaire")},
    )
    assert sheet.post("submit", {"comment": "other"}).json() == {"next": sheet.address("done")}
    sheet.mine.refresh_from_db()
    assert sheet.mine.comment == "fine"
    item, dimension = sheet.questions[0]
    assert Judgment.objects.get(item=item, dimension=dimension).value == 1


def test_what_is_open_is_named(sheet: Sheet) -> None:
    response = sheet.post("submit", {})
    assert response.status_code == 422
    missing = response.json()["missing"]
    assert len(missing) == 7
    assert [sheet.questions[0][0].pk, sheet.questions[0][1].pk, None] in missing
    assert [sheet.questions[0][0].pk, None, sheet.check.pk] in missing
    sheet.mine.refresh_from_db()
    assert sheet.mine.state == S.ASSIGNED


def test_nobody_answers_for_somebody_else(sheet: Sheet) -> None:
    other, stranger = Client(), Client()
    as_participant(other, sheet.world.judge())
    as_participant(stranger, sheet.world.stranger())
    bodies = {"answer": sheet.answer(), "check": sheet.attend(), "time": sheet.times(), "submit": {}}
    for name, body in bodies.items():
        assert sheet.post(name, body, other).status_code == 404
        assert sheet.post(name, body, stranger).status_code == 404
        assert sheet.post(name, body, Client()).status_code == 403
        assert sheet.client.get(sheet.address(name)).status_code == 405
    assert not Judgment.objects.exists()


def test_a_text_about_consent_that_changes_stops_nobody_in_the_middle(sheet: Sheet) -> None:
    campaign = sheet.world.campaign
    newer = type(campaign.consent_text).objects.create(
        study=sheet.world.study, name=campaign.consent_text.name, version=2, text="More.", created_at=timezone.now()
    )
    sheet.world.change(consent_text=newer)
    assert sheet.post("answer", sheet.answer()).status_code == 200


def test_without_the_token_against_forgery_nothing_is_taken(sheet: Sheet) -> None:
    strict = Client(enforce_csrf_checks=True)
    as_participant(strict, sheet.judge)
    assert sheet.post("answer", sheet.answer(), strict).status_code == 403
    assert not Judgment.objects.exists()


def test_a_database_that_is_away_is_something_to_try_again(sheet: Sheet, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(**_fields: Any) -> None:
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(assignments, "answer", away)
    response = sheet.post("answer", sheet.answer())
    assert (response.status_code, response.json()["problem"], response["Retry-After"]) == (503, "busy", "1")


# What a page sends, and what there is of it afterwards.
KINDS: dict[str, tuple[Callable[[Sheet], Any], Callable[[Sheet], Any]]] = {
    "answer": (lambda sheet: sheet.answer(), lambda sheet: list(Judgment.objects.values_list("value", "revision"))),
    "check": (lambda sheet: sheet.attend(), lambda sheet: list(CheckAnswer.objects.values_list("value", "revision"))),
    "time": (
        lambda sheet: sheet.times(visit="one"),
        lambda sheet: list(ItemTime.objects.values_list("visit", "active_seconds", "looks")),
    ),
    "submit": (
        lambda sheet: {"comment": "once"},
        lambda sheet: list(sheet.mine.transitions.order_by("pk").values_list("after", flat=True)),
    ),
    "return": (
        lambda sheet: {},
        lambda sheet: list(sheet.mine.transitions.order_by("pk").values_list("after", flat=True)),
    ),
}
EFFECTS = {
    "answer": [(1, 1)],
    "check": [(1, 1)],
    "time": [("one", 0.5, 2)],
    "submit": [S.ASSIGNED, S.SUBMITTED],
    "return": [S.ASSIGNED, S.RETURNED],
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", KINDS)
def test_an_answer_that_got_lost_is_asked_for_again_alone_and_ten_times_at_once(name: str) -> None:
    sheet = Sheet()
    Assignment.objects.update(assigned_at=timezone.now() - timedelta(minutes=5))
    if name == "submit":
        answer_all(sheet.mine, timezone.now())
    body, effect = KINDS[name]
    sent = body(sheet)

    def send(client: Client) -> tuple[int, Any]:
        if name == "return":
            response = client.post(sheet.address(name), {"reason": ""})
            return response.status_code, response["Location"]
        response = sheet.post(name, sent, client)
        said = response.json()
        said.pop("lease_until", None)
        return response.status_code, said

    # The first was committed, and its acknowledgement lost; then again, alone and at once.
    first = send(sheet.client)
    assert first[0] in {200, 302}
    assert send(sheet.client) == first
    clients = [sheet.fresh() for _ in range(AT_ONCE)]
    assert together([lambda client=client: send(client) for client in clients]) == [first] * AT_ONCE
    assert effect(sheet) == EFFECTS[name]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", KINDS)
def test_ten_at_once_are_one(name: str) -> None:
    sheet = Sheet()
    Assignment.objects.update(assigned_at=timezone.now() - timedelta(minutes=5))
    if name == "submit":
        answer_all(sheet.mine, timezone.now())
    body, effect = KINDS[name]
    sent = body(sheet)
    clients = [sheet.fresh() for _ in range(AT_ONCE)]

    def send(client: Client) -> int:
        if name == "return":
            return int(client.post(sheet.address(name), {"reason": ""}).status_code)
        return int(sheet.post(name, sent, client).status_code)

    statuses = set(together([lambda client=client: send(client) for client in clients]))
    assert statuses == {302 if name == "return" else 200}
    assert effect(sheet) == EFFECTS[name]


@pytest.mark.django_db(transaction=True)
def test_starting_ten_times_at_once_gives_one_questionnaire() -> None:
    here = world()
    judge = here.judge()
    clients = [Client() for _ in range(AT_ONCE)]
    for client in clients:
        as_participant(client, judge)
    url = reverse("judging_start", args=[here.study.slug, here.campaign.pk])
    places = set(together([lambda client=client: client.post(url)["Location"] for client in clients]))
    mine = Assignment.objects.get()
    assert places == {reverse("judging_questionnaire", args=[here.study.slug, here.campaign.pk, mine.external_id])}


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_acknowledged_after_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks from another connection when the answer is out, sees it."""
    sheet = Sheet()
    seen: list[int] = []
    left = assignments.left

    def look(assignment: Assignment) -> int:
        # What is said is put together after the store: from another connection the answer must be there by then.
        seen.extend(together([lambda: Judgment.objects.count()]))
        return left(assignment)

    monkeypatch.setattr(assignments, "left", look)
    assert sheet.post("answer", sheet.answer()).status_code == 200
    assert seen == [1]
