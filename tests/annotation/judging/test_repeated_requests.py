"""Answers that are sent ten times at once, or again after an acknowledgement was lost: they are stored once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.enums import AssignmentState
from annotation.judging import views
from annotation.models import Assignment, CheckAnswer, ItemTime, Judgment
from tests.annotation.judge_actions import answer_all
from tests.annotation.judging.judging_page import JudgingPage
from tests.annotation.open_campaign import world
from tests.annotation.shared import client_of
from tests.writing.assignments.concurrency import together

pytestmark = pytest.mark.django_db(transaction=True)
S = AssignmentState
AT_ONCE = 10


# What a page sends, what there is of it afterwards, and what that is.
KINDS: dict[str, tuple[Callable[[JudgingPage], Any], Callable[[JudgingPage], Any], list[Any]]] = {
    "answer": (JudgingPage.answer, lambda _sheet: Judgment.objects.values_list("value", "revision"), [(1, 1)]),
    "check": (JudgingPage.attend, lambda _sheet: CheckAnswer.objects.values_list("value", "revision"), [(1, 1)]),
    "time": (
        lambda sheet: sheet.times(visit="one"),
        lambda _sheet: ItemTime.objects.values_list("visit", "active_seconds", "looks"),
        [("one", 0.5, 2)],
    ),
    "submit": (lambda _sheet: {"comment": "once"}, lambda sheet: states_of(sheet), [S.ASSIGNED, S.SUBMITTED]),
    "return": (lambda _sheet: {}, lambda sheet: states_of(sheet), [S.ASSIGNED, S.RETURNED]),
}


def states_of(sheet: JudgingPage) -> Any:
    return sheet.mine.transitions.order_by("pk").values_list("after", flat=True)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.extended] if name != "submit" else []) for name in KINDS]
)
def test_ten_at_once_and_again_after_a_lost_acknowledgement_are_one(name: str) -> None:
    sheet = JudgingPage()
    Assignment.objects.update(assigned_at=timezone.now() - timedelta(minutes=5))
    if name == "submit":
        answer_all(sheet.mine, timezone.now())
    body, effect, expected = KINDS[name]
    sent = body(sheet)

    def send(client: Client) -> tuple[int, Any]:
        if name == "return":
            response = client.post(sheet.address(name), {"reason": ""})
            return response.status_code, response["Location"]
        response = sheet.post(name, sent, client)
        return response.status_code, {key: value for key, value in response.json().items() if key != "lease_until"}

    clients = [sheet.fresh() for _ in range(AT_ONCE)]
    answers = together([lambda client=client: send(client) for client in clients])
    assert answers[0][0] in {200, 302}
    assert [*answers, send(sheet.client)] == [answers[0]] * (AT_ONCE + 1)
    assert list(effect(sheet)) == expected


def test_starting_ten_times_at_once_gives_one_questionnaire() -> None:
    here = world()
    judge = here.judge()
    clients = [client_of(judge) for _ in range(AT_ONCE)]
    url = reverse("judging_start", args=[here.study.slug, here.campaign.pk])
    places = set(together([lambda client=client: client.post(url)["Location"] for client in clients]))
    mine = Assignment.objects.get()
    assert places == {reverse("judging_questionnaire", args=[here.study.slug, here.campaign.pk, mine.external_id])}


def test_an_answer_is_acknowledged_after_its_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks from another connection when the answer is out, sees it."""
    sheet = JudgingPage()
    seen: list[int] = []
    acknowledge = views._saved

    def look(stored: Judgment) -> dict[str, Any]:
        # What is said is put together after the store: from another connection the answer must be there by then.
        seen.extend(together([lambda: Judgment.objects.count()]))
        return acknowledge(stored)

    monkeypatch.setattr(views, "_saved", look)
    assert sheet.post("answer", sheet.answer()).status_code == 200
    assert seen == [1]
