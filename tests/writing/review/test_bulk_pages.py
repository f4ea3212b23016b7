"""The queue of review: many are decided together and undone, and its filters stay."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from crowdrag.assignments.lifecycle import total_paid
from crowdrag.studies.enums import Role
from tests.factories import MembershipFactory, StyleFactory
from tests.submitted_responses import submitted
from writing.enums import TaskState as S
from writing.models import WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture
def member() -> Any:
    return MembershipFactory(role=Role.REVIEWER)


@pytest.fixture
def client(member: Any) -> Client:
    client = Client()
    client.force_login(member.user)
    return client


@pytest.fixture
def at(member: Any) -> Callable[[str], str]:
    return lambda page: f"/studies/{member.study.slug}/review/{page}"


def states(*tasks: WritingTask) -> list[str]:
    return [WritingTask.objects.get(pk=task.pk).state for task in tasks]


def test_selected_responses_are_accepted_at_once_and_undone_as_one(member: Any, client: Client, at: Any) -> None:
    tasks = [submitted(member.study, minutes=number, pay=150) for number in range(3)]
    selected = [task.external_id for task in tasks[:2]]
    asked = client.post(at("bulk/"), {"decision": "reject", "selected": selected})
    assert (asked.context["selection"].count, asked.context["selection"].owed) == (2, 300)
    assert states(*tasks) == [S.SUBMITTED] * 3
    assert client.post(at("bulk/"), {"decision": "accept", "selected": selected})["Location"] == at("")
    assert states(*tasks) == [S.ACCEPTED, S.ACCEPTED, S.SUBMITTED]
    [recent] = client.get(at("")).context["recent"]
    for moment in ("yesterday", recent.at.isoformat(), recent.at.isoformat()):
        client.post(at("undo/"), {"at": moment})
    assert states(*tasks) == [S.SUBMITTED] * 3
    assert total_paid(tasks[0]) == 0


def test_a_decision_about_many_needs_a_reason_and_a_selection(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    wrong = [{"decision": "reject"}, {"decision": "pay", "selected": task.external_id}]
    assert [client.post(at("bulk/"), fields)["Location"] for fields in wrong] == [at("")] * 2
    fields = {"decision": "reject", "selected": task.external_id, "confirmed": "yes", "reason": " ", "pay": "none"}
    assert client.post(at("bulk/"), fields).status_code == 422
    assert states(task) == [S.SUBMITTED]
    client.post(at("bulk/"), {**fields, "reason": "No citations.", "pay": "all"})
    assert states(task) == [S.REJECTED]
    assert task.transitions.latest("pk").note == "No citations."
    revised = submitted(member.study)
    client.post(at("bulk/"), {"decision": "send_back", "selected": revised.external_id, "confirmed": "1", "note": "?"})
    assert states(revised) == [S.REVISION]


def test_one_decision_is_undone_from_its_page_by_whoever_reviews(member: Any, client: Client, at: Any) -> None:
    task = submitted(member.study)
    client.post(at(f"{task.external_id}/decide/"), {"decision": "accept"})
    colleague = Client()
    colleague.force_login(MembershipFactory(study=member.study, role=Role.REVIEWER).user)
    page = colleague.get(at(f"{task.external_id}/"))
    moment = page.context["undoable"].at.isoformat()
    assert page.context["recent"] == []
    assert colleague.post(at(f"{task.external_id}/undo/"), {"at": moment}).status_code == 302
    assert states(task) == [S.SUBMITTED]
    client.post(at(f"{task.external_id}/decide/"), {"decision": "accept"})
    assert colleague.post(at(f"{task.external_id}/undo/"), {"at": moment}).status_code == 409
    assert states(task) == [S.ACCEPTED]


def test_filters_are_remembered_until_they_are_cleared(member: Any, client: Client, at: Any) -> None:
    StyleFactory(study=member.study, name="news")
    assert client.get(at("")).status_code == 200
    client.get(at("?list=waiting&style=news&writer="))
    assert client.get(at(""))["Location"] == at("?style=news")
    assert client.get(at("?all")).status_code == 200
    assert client.get(at("")).status_code == 200
