"""Lists: the same number of queries whatever their size, a page at a time, nothing twice and nothing left out."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from rest_framework.test import APIClient

from crowdrag.api.endpoints import ListEndpoint
from crowdrag.api.pagination import MAX_LIMIT
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.api.rows import ROWS, topics
from tests.api.test_matrix import ENDPOINTS, endpoint
from tests.factories import MembershipFactory, StudyFactory, TopicFactory

pytestmark = pytest.mark.django_db
LISTS = [pattern.name for _, pattern in ENDPOINTS if issubclass(endpoint(pattern), ListEndpoint)]

# Lists of something in a study, whose address names it.
OF_SOMETHING = {
    "api_assignments",
    "api_artifacts",
    "api_campaign_goal_looks",
    "api_known_labels",
    "api_model_judges_answers",
    "api_model_writers_answers",
    "api_passages",
    "api_deliveries",
    "api_release_files",
    "api_release_links",
}


def cursor(said: object) -> str:
    """A cursor as the API makes them, of whatever was to be said."""
    return base64.urlsafe_b64encode(json.dumps(said).encode()).decode().rstrip("=")


def asked(client: APIClient, address: str) -> tuple[int, int]:
    """How many rows a list gives, and with how many queries."""
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(address)
    assert answer.status_code == 200, answer.content
    return len(answer.json()["results"]), len(queries)


def test_rows_can_be_made_for_every_list() -> None:
    assert set(LISTS) - {"api_studies"} == set(ROWS)


@pytest.mark.extended
@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_list_costs_the_same_queries_whatever_its_size(name: str) -> None:
    user = MembershipFactory(role=Role.OWNER).user
    script = by_token(user)
    script.get("/api/v1/studies/")  # notes that the token is used
    found = []
    for count in (1, 3, MAX_LIMIT):
        study = MembershipFactory(user=user, role=Role.OWNER).study
        more = ROWS[name](study, count)
        address = reverse(name, kwargs={"study": study.slug, **more})
        rows, queries = asked(script, f"{address}?limit={MAX_LIMIT}")
        assert rows >= min(count, MAX_LIMIT)
        found.append(queries)
    assert len(set(found)) == 1, found


def test_the_list_of_studies_costs_the_same_queries_whatever_its_size() -> None:
    user = MembershipFactory(role=Role.OWNER).user
    script = by_token(user)
    script.get("/api/v1/studies/")
    first = asked(script, "/api/v1/studies/")
    for _ in range(30):
        MembershipFactory(user=user)
    assert asked(script, "/api/v1/studies/") == (31, first[1])


def every(client: APIClient, address: str | None) -> list[dict[str, Any]]:
    """All rows of a list, page after page."""
    rows = []
    while address:
        page = client.get(address).json()
        rows += page["results"]
        address = page["next"]
    return rows


def test_all_pages_together_are_the_list(script: Callable[..., APIClient], study: Study) -> None:
    names, client = sorted(f"t-{n:02}" for n in range(10)), script(Role.VIEWER)
    for name in names[::-1]:
        TopicFactory(study=study, external_id=name)
    for limit in (1, 3, 7, 10):
        rows = every(client, f"/api/v1/studies/mine/topics/?limit={limit}")
        assert [row["external_id"] for row in rows] == names


def test_rows_of_one_moment_come_each_once(script: Callable[..., APIClient]) -> None:
    user = MembershipFactory(role=Role.OWNER).user
    for _ in range(8):
        MembershipFactory(user=user)  # all studies of the factory are made at the same moment
    found = every(by_token(user), "/api/v1/studies/?limit=2")
    slugs = [row["slug"] for row in found]
    assert len(slugs) == len(set(slugs)) == 9
    assert slugs == list(Study.objects.for_user(user).order_by("-created_at", "-id").values_list("slug", flat=True))


def test_what_comes_meanwhile_moves_nothing(script: Callable[..., APIClient], study: Study) -> None:
    for n in range(6):
        TopicFactory(study=study, external_id=f"t-{n}")
    client = script(Role.VIEWER)
    first = client.get("/api/v1/studies/mine/topics/?limit=3").json()
    TopicFactory(study=study, external_id="a-new-one-before")
    study.topics.get(external_id="t-1").delete()
    rest = every(client, first["next"])
    assert [row["external_id"] for row in first["results"] + rest] == [f"t-{n}" for n in range(6)]


def test_the_next_page_keeps_the_filters(script: Callable[..., APIClient], study: Study) -> None:
    for n in range(4):
        TopicFactory(study=study, external_id=f"t-{n}", query="leaves" if n % 2 else "stones")
    found = every(script(Role.VIEWER), "/api/v1/studies/mine/topics/?limit=1&q=leaves")
    assert [row["external_id"] for row in found] == ["t-1", "t-3"]


@pytest.mark.parametrize(
    "query",
    [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=x",
        "limit=²",
        "limit=" + "9" * 5000,
        "limit=",
        "cursor=",
        "cursor=x",
        "cursor=%00",
        "cursor=ä",
        f"cursor={cursor([])}",
        f"cursor={cursor([1])}",
        f"cursor={cursor(['a', 'no number'])}",
        f"cursor={cursor([chr(0), 1])}",
        f"cursor={cursor([None, None])}",
        f"cursor={cursor([[], 1])}",
        f"cursor={cursor({})}",
        "cursor=" + "W1tb" * 2000,
    ],
)
def test_a_page_that_there_cannot_be_is_refused(script: Callable[..., APIClient], study: Study, query: str) -> None:
    answer = script(Role.VIEWER).get(f"/api/v1/studies/mine/topics/?{query}")
    assert answer.status_code == 400, answer.content
    assert answer.json()["errors"][0]["parameter"] == query.partition("=")[0]


def test_a_cursor_beyond_all_numbers_leads_to_nothing(script: Callable[..., APIClient], study: Study) -> None:
    topics(study, 3)
    far = cursor(["a", 10**30])
    answer = script(Role.VIEWER).get(f"/api/v1/studies/mine/topics/?cursor={far}")
    assert answer.status_code == 200


def test_a_list_of_one_study_holds_nothing_of_another(script: Callable[..., APIClient], study: Study) -> None:
    other = StudyFactory(slug="other")
    for name, make in ROWS.items():
        make(other, 2)
        if name in OF_SOMETHING:
            continue
        rows = script(Role.OWNER).get(reverse(name, kwargs={"study": "mine"})).json()["results"]
        assert all(name == "api_members" for _ in rows), name
