"""Answers that are sent ten times at once, or again after an acknowledgement was lost: they are stored once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.domain import assignments
from annotation.enums import AssignmentState
from annotation.models import Assignment, CheckAnswer, ItemTime, Judgment
from tests.annotation.campaigns import world
from tests.annotation.judging import answer_all
from tests.annotation.judging_page import JudgingPage
from tests.participants import as_participant
from tests.writing.at_once import together

pytestmark = pytest.mark.django_db(transaction=True)
S = AssignmentState
AT_ONCE = 10


# What a page sends, and what there is of it afterwards.
KINDS: dict[str, tuple[Callable[[JudgingPage], Any], Callable[[JudgingPage], Any]]] = {
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


@pytest.mark.parametrize("name", KINDS)
def test_an_answer_that_got_lost_is_asked_for_again_alone_and_ten_times_at_once(name: str) -> None:
    sheet = JudgingPage()
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


@pytest.mark.parametrize("name", KINDS)
def test_ten_at_once_are_one(name: str) -> None:
    sheet = JudgingPage()
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


def test_an_answer_is_acknowledged_after_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks from another connection when the answer is out, sees it."""
    sheet = JudgingPage()
    seen: list[int] = []
    left = assignments.left

    def look(assignment: Assignment) -> int:
        # What is said is put together after the store: from another connection the answer must be there by then.
        seen.extend(together([lambda: Judgment.objects.count()]))
        return left(assignment)

    monkeypatch.setattr(assignments, "left", look)
    assert sheet.post("answer", sheet.answer()).status_code == 200
    assert seen == [1]
