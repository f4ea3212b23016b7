"""ETags: who has it already gets nothing, who changes what has changed since is told; and how much may be asked."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from crowdrag.api import rate_limits
from crowdrag.api.models import RateLimitState
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.concurrency import together
from tests.factories import MembershipFactory, UserFactory

STUDY = "/api/v1/studies/mine/"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize("address", [STUDY, "/api/v1/studies/", f"{STUDY}members/"])
def test_who_has_it_already_gets_nothing(script: Callable[..., APIClient], study: Study, address: str) -> None:
    client = script()
    first = client.get(address)
    for held in (first["ETag"], f"W/{first['ETag']}", f'"x", {first["ETag"]}', "*"):
        again = client.get(address, headers={"If-None-Match": held})
        assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert client.head(address)["ETag"] == first["ETag"]
    Study.objects.update(title="Another")
    MembershipFactory(study=study)
    changed = client.get(address, headers={"If-None-Match": first["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != first["ETag"]


@pytest.mark.django_db
def test_answers_are_for_nobody_else(script: Callable[..., APIClient]) -> None:
    answer = script().get(STUDY)
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Authorization" in answer["Vary"]


@pytest.mark.django_db
def test_a_change_of_what_has_changed_since_is_refused(script: Callable[..., APIClient], study: Study) -> None:
    client = script()
    read = client.get(STUDY)["ETag"]
    first = client.patch(STUDY, {"title": "First"}, format="json", headers={"If-Match": read})
    assert first.status_code == 200
    assert first["ETag"] == client.get(STUDY)["ETag"] != read
    late = client.patch(STUDY, {"title": "Late"}, format="json", headers={"If-Match": read})
    assert (late.status_code, late.json()["code"]) == (412, "changed")
    study.refresh_from_db()
    assert study.title == "First"
    # A script that lost the quotation marks relies on it no less.
    for unread in (read.strip('"'), "changed"):
        answer = client.patch(STUDY, {"title": "Unread"}, format="json", headers={"If-Match": unread})
        assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    study.refresh_from_db()
    assert study.title == "First"
    for held in (first["ETag"], "*"):
        answer = client.patch(STUDY, {"description": "x"}, format="json", headers={"If-Match": held})
        assert answer.status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_changes_at_the_same_moment_one_is_refused(script: Callable[..., APIClient]) -> None:
    clients = [script() for _ in range(4)]
    read = clients[0].get(STUDY)["ETag"]

    def change(client: APIClient, n: int) -> int:
        answer = client.patch(STUDY, {"title": f"Title {n}"}, format="json", headers={"If-Match": read})
        return answer.status_code

    found = together([lambda n=n, client=client: change(client, n) for n, client in enumerate(clients)])
    assert sorted(found) == [200, 412, 412, 412]


@pytest.mark.django_db
def test_a_role_changes_only_as_it_was_read(script: Callable[..., APIClient], study: Study) -> None:
    member = MembershipFactory(study=study, role=Role.VIEWER)
    address = f"{STUDY}members/{member.user_id}/"
    client = script()
    read = client.get(address)["ETag"]
    assert client.put(address, {"role": "EDITOR"}, format="json", headers={"If-Match": read}).status_code == 200
    assert client.put(address, {"role": "VIEWER"}, format="json", headers={"If-Match": read}).status_code == 412


@pytest.mark.django_db
def test_so_many_at_once_and_then_as_many_as_grow_back(settings: Any) -> None:
    settings.API_PER_MINUTE, settings.API_AT_ONCE = 60, 3
    user = UserFactory()

    def take(seconds: float) -> rate_limits.RateLimitStatus:
        standing = rate_limits.take(user=user, now=NOW + timedelta(seconds=seconds))
        assert standing is not None
        return standing

    assert [take(0).left for _ in range(3)] == [2, 1, 0]
    refused = take(0)
    assert (refused.passes, refused.left, refused.wait, refused.full) == (False, 0, 1.0, 3.0)
    assert not take(0.5).passes
    assert take(1).passes
    assert not take(1.5).passes
    assert [take(60).left for _ in range(3)] == [2, 1, 0]
    assert not take(60).passes


@pytest.mark.django_db
def test_nothing_is_counted_where_there_is_no_limit(settings: Any) -> None:
    settings.API_PER_MINUTE = 0
    assert rate_limits.take(user=UserFactory(), now=NOW) is None
    assert not RateLimitState.objects.exists()


@pytest.mark.django_db
def test_who_asks_too_much_is_told_when_to_come_again(settings: Any) -> None:
    settings.API_PER_MINUTE, settings.API_AT_ONCE = 6, 2
    user, other = UserFactory(), UserFactory()
    clients = [by_token(user), by_token(user)]
    answers = [client.get("/api/v1/studies/") for client in [*clients, clients[0]]]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0]["RateLimit-Policy"] == '"person";q=6;w=60'
    assert answers[0]["RateLimit"].startswith('"person";r=1;t=')
    assert answers[2].json()["code"] == "limit"
    assert 1 <= int(answers[2]["Retry-After"]) <= 10
    assert by_token(other).get("/api/v1/studies/").status_code == 200
    # What is not found is counted as well: nobody tries names for nothing.
    assert by_token(user).get("/api/v1/studies/none/").status_code == 429


@pytest.mark.django_db(transaction=True)
def test_of_many_at_the_same_moment_no_more_pass_than_may(settings: Any) -> None:
    settings.API_PER_MINUTE, settings.API_AT_ONCE = 60, 5
    user = UserFactory()
    found = together([lambda: rate_limits.take(user=user, now=NOW) for _ in range(12)])
    assert sum(standing.passes for standing in found) == 5
