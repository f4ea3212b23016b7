"""Models that write, ordered by scripts: the same order as on the page, and nothing starts but what was estimated."""

from copy import deepcopy
from typing import Any

import pytest
from rest_framework.test import APIClient

from crowdrag.jobs.models import Run
from crowdrag.llm.models import Attempt, Endpoint
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, RetrievedPassageFactory, StudyFactory, StyleFactory, TopicFactory
from writing.llm_writers import prompts
from writing.models import WritingPrompt

pytestmark = pytest.mark.django_db
NEW = "/api/v1/studies/mine/writing/models/"
ORDER = {"endpoint": "somewhere", "styles": ["essay"], "which": "all"}


@pytest.fixture(scope="module")
def stored(shared_rows: None) -> Study:
    study = StudyFactory(slug="mine")
    StyleFactory(study=study, name="essay", label="Essay", instructions="Argue.")
    for number in range(4):
        topic = TopicFactory(study=study, external_id=f"t{number}")
        RetrievedPassageFactory(topic=topic, rank=0, passage__text=f"passage {number}")
    Endpoint.objects.create(
        name="somewhere", base_url="https://api.example.org/v1", model="m-1", is_allowed=True, concurrency=3
    )
    Endpoint.objects.create(name="elsewhere", base_url="https://api.example.org/v1", model="m-2", is_allowed=False)
    return study


@pytest.fixture
def study(stored: Study, db: None) -> Study:
    return deepcopy(stored)


@pytest.fixture
def client(study: Study) -> APIClient:
    return by_token(MembershipFactory(study=study, role=Role.EDITOR).user)


def post(client: APIClient, step: str = "", **given: Any) -> Any:
    return client.post(NEW + step, {**ORDER, **given}, format="json")


def test_what_is_offered_is_what_the_page_offers(study: Study, client: APIClient) -> None:
    offered = client.get(NEW).json()
    assert offered["endpoints"] == ["somewhere"]
    assert offered["styles"] == ["essay", "bullet", "news"]
    assert offered["prompt"] == prompts.latest_text(study)


def test_the_estimate_comes_first_and_nothing_else_starts(study: Study, client: APIClient) -> None:
    estimate = post(client, "estimate/")
    assert estimate.status_code == 200, estimate.content
    told = estimate.json()
    assert (told["wanted"], told["calls"], told["stored"], told["problem"]) == (4, 4, 0, "")
    assert "passage 0" in told["prompts"][0]
    assert not Run.objects.exists()
    other = post(client, words=100, order=told["order"])
    assert (other.status_code, other.json()["errors"][0]["pointer"]) == (422, "#/order")
    started = post(client, order=told["order"])
    assert started.status_code == 202, started.content
    run = Run.objects.get()
    assert started["Location"].endswith(f"/api/v1/studies/mine/runs/{run.key}/")
    assert (started.json()["kind"], started.json()["units_total"]) == ("write.model", 1)
    assert not Attempt.objects.exists()


def test_all_that_the_page_asks_for_can_be_said(study: Study, client: APIClient) -> None:
    text = "Answer {query} in {words} words from {passages}."
    given = {
        "which": "chosen", "topics": ["t1", "t2"], "form": "statements", "prompt": text, "words": 80, "overlong": 3.5,
        "accept_overlong": True, "temperature": 0.5, "max_tokens": 400, "frequency_penalty": 0.6, "seed": 7,
    }  # fmt: skip
    assert post(client, **given).status_code == 202
    kept = Run.objects.get().parameters
    assert kept["topics"] == ["t1", "t2"]
    assert (kept["form"], kept["words"], kept["overlong"], kept["accept_overlong"]) == ("statements", 80, 3.5, True)
    assert kept["parameters"] == {"temperature": 0.5, "max_tokens": 400, "frequency_penalty": 0.6, "seed": 7}
    assert WritingPrompt.objects.get().text == text


def test_the_same_request_under_its_key_starts_one_run(study: Study, client: APIClient) -> None:
    for _ in range(2):
        answer = client.post(NEW, ORDER, format="json", headers={"Idempotency-Key": "a"})
        assert answer.status_code == 202
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("given", "status", "pointer"),
    [
        ({"endpoint": "elsewhere"}, 422, "#/endpoint"),
        ({"styles": ["sonnet"]}, 422, "#/styles"),
        ({"which": "chosen", "topics": ["nothing"]}, 422, "#/topics"),
        ({"which": "some"}, 400, "#/which"),
        ({"prompt": "Write."}, 422, "#/prompt"),
        ({"max_token": 100}, 400, "#/max_token"),
    ],
)
def test_what_cannot_be_ordered_is_refused_by_field(
    client: APIClient, given: dict[str, Any], status: int, pointer: str
) -> None:
    for step in ("", "estimate/"):
        answer = post(client, step, **given)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer), answer.content
    assert not Run.objects.exists()
