"""Responses are assigned to reviewers: who gets them next, how they are filtered and counted."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from crowdrag.assignments import assignees
from crowdrag.assignments.problems import NotAllowed, NotAReviewer
from crowdrag.studies import navigation
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Membership, Study, User
from tests.api.conftest import by_token
from tests.factories import NOW, MembershipFactory, StudyFactory
from tests.submitted_responses import submitted
from writing.assignments.lifecycle import TASKS
from writing.models import WritingTask
from writing.review import queue, services

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture
def me(study: Study) -> User:
    return MembershipFactory(study=study, role=Role.REVIEWER).user


@pytest.fixture
def colleague(study: Study) -> User:
    return MembershipFactory(study=study, role=Role.EDITOR).user


def assign(task: WritingTask, to: User | None) -> WritingTask:
    return assignees.assign(TASKS, task, task.study, to)


def take(study: Study, by: User) -> WritingTask | None:
    return queue.take_next(study=study, by=by, now=timezone.now())


def test_work_is_assigned_to_reviewers_while_it_awaits_review(study: Study, me: User) -> None:
    task = submitted(study)
    for _ in range(2):
        assert assign(task, me).assignee == me
    viewer = MembershipFactory(study=study, role=Role.VIEWER).user
    for nobody in (viewer, MembershipFactory(role=Role.OWNER).user):
        with pytest.raises(NotAReviewer):
            assign(task, nobody)
    services.accept(task=task, by=me, now=NOW)
    with pytest.raises(NotAllowed):
        assign(task, None)


def test_the_next_response_is_not_a_colleagues(study: Study, me: User, colleague: User) -> None:
    theirs, free = submitted(study, minutes=9), submitted(study, minutes=5)
    assign(theirs, colleague)
    assert take(study, me) == free
    assert take(study, colleague) == theirs
    # It is nobody's any more when they review no longer; and everybody may decide.
    queue.release(task=theirs, by=colleague)
    queue.release(task=free, by=me)
    Membership.objects.filter(user=colleague).update(role=Role.VIEWER)
    assert take(study, me) == theirs


def test_filter_and_inbox_know_what_is_mine(study: Study, me: User, colleague: User, client: Client) -> None:
    client.force_login(me)
    mine, theirs, free = (submitted(study, minutes=minutes) for minutes in (9, 5, 1))
    address = f"/studies/{study.slug}/review/"
    fields = {"decision": "assign", "selected": [mine.external_id], "to": me.pk}
    client.post(f"{address}bulk/", fields)
    client.post(f"{address}{theirs.external_id}/assign/", {"to": colleague.pk})
    client.post(f"{address}{free.external_id}/assign/", {"to": MembershipFactory().user.pk})

    def listed(assigned: str) -> list[Any]:
        return [row[0] for row in client.get(address, {"assigned": assigned}).context["rows"]]

    assert (listed("me"), listed("nobody")) == ([mine], [free])
    [entry] = navigation.inbox(study, me)
    assert (entry.count, entry.assigned, entry.oldest) == (3, 1, mine.submitted_at)
    assert [row[0] for row in client.get(entry.assigned_url).context["rows"]] == [mine]


@pytest.mark.extended
def test_assignees_by_the_api(study: Study, me: User, colleague: User) -> None:
    task, client = submitted(study), by_token(me)
    address = f"/api/v1/studies/{study.slug}/review/{task.external_id}/"
    answer = client.put(f"{address}assignee/", {"assignee": colleague.email}, format="json")
    assert answer.json()["assignee"] == colleague.email
    assert client.put(f"{address}assignee/", {"assignee": "x@example.org"}, format="json").status_code == 400
    rows = client.get(f"/api/v1/studies/{study.slug}/review/", {"assignee": colleague.email}).json()["results"]
    assert [row["external_id"] for row in rows] == [task.external_id]
    client.post(f"{address}accept/", {}, format="json")
    assert [client.post(f"{address}undo/").json()["state"] for _ in range(2)] == ["SUBMITTED"] * 2
    assert client.put(f"{address}assignee/", {"assignee": None}, format="json").json()["assignee"] is None
