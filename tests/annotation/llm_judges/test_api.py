"""Models that judge, ordered by scripts: the same orders as on the pages, and nothing starts but what was estimated."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.models import Campaign
from crowdrag.audit.models import AccessLogEntry
from crowdrag.jobs.models import Run
from crowdrag.llm.models import Attempt, Endpoint
from crowdrag.studies.enums import AuditedContent
from crowdrag.studies.models import Study
from tests.annotation.campaigns.test_api import script
from tests.annotation.llm_judges import source_campaign
from tests.annotation.shared import made_once
from tests.factories import CampaignFactory, StudyFactory

pytestmark = pytest.mark.django_db
JUDGES = "/api/v1/studies/mine/judges/"
PROMPT = "{query} {questions} {form} {responses}"


def asked_study() -> Study:
    Endpoint.objects.create(
        name="somewhere", base_url="https://api.example.org/v1", model="m-1", is_allowed=True, concurrency=3
    )
    return StudyFactory(slug="mine")


stored, study = made_once(asked_study)


@pytest.fixture
def source(study: Study) -> Campaign:
    made = source_campaign.campaign(study)
    for _pair in range(3):
        source_campaign.pair(made, a="A text.", b="Other.")
    return made


@pytest.fixture
def client(study: Study) -> APIClient:
    return script(study)


def post(client: APIClient, source: Campaign, step: str = "", **given: Any) -> Any:
    order = {"endpoint": "somewhere", "campaign": source.pk, "prompt": PROMPT, **given}
    return client.post(JUDGES + step, order, format="json")


def test_what_is_offered_is_what_the_page_offers(source: Campaign, client: APIClient) -> None:
    offered = client.get(JUDGES).json()
    assert (offered["endpoints"], offered["campaigns"]) == (["somewhere"], [source.pk])
    assert "{responses}" in offered["prompt"]


def test_the_estimate_comes_first_and_nothing_else_starts(source: Campaign, client: APIClient) -> None:
    estimate = post(client, source, "estimate/")
    assert estimate.status_code == 200, estimate.content
    told = estimate.json()
    assert (told["wanted"], told["calls"], told["problem"], told["sampled"]) == (6, 6, "", None)
    assert "A text." in told["prompts"][0]
    assert AccessLogEntry.objects.filter(content=AuditedContent.RESPONSE).exists()
    assert post(client, source, "estimate/", repeats=2).json()["calls"] == 12
    other = post(client, source, repeats=2, order=told["order"])
    assert (other.status_code, other.json()["errors"][0]["pointer"]) == (422, "#/order")
    assert not Run.objects.exists()
    started = post(client, source, order=told["order"])
    assert started.status_code == 202, started.content
    run = Run.objects.get()
    assert started["Location"].endswith(f"/api/v1/studies/mine/runs/{run.key}/")
    assert (run.kind, run.parameters["source"], run.parameters["parameters"]) == (
        "judge.model",
        source.pk,
        {"temperature": 0.0},
    )
    assert not Attempt.objects.exists()


def test_all_that_the_page_asks_for_can_be_said(source: Campaign, client: APIClient) -> None:
    given = {
        "which": "sample", "n": 2, "both": False, "repeats": 3, "inference": "INDIVIDUAL", "justify": True,
        "temperature": None, "max_tokens": 300, "seed": 5,
    }  # fmt: skip
    answer = post(client, source, **given)
    assert answer.status_code == 202, answer.content
    kept = Run.objects.get().parameters
    assert kept["parameters"] == {"max_tokens": 300}
    said = {name: kept[name] for name in ("which", "n", "both", "repeats", "inference", "justify", "seed")}
    assert said == {name: given[name] for name in said}


def test_a_judge_is_measured(source: Campaign, client: APIClient) -> None:
    dimension = source.campaign_dimensions.order_by("position").values_list("dimension__name", flat=True)[0]
    told = post(client, source, "measure/estimate/", dimension=dimension, n=2).json()
    assert told["calls"] > 0
    assert told["prompts"] == []
    started = post(client, source, "measure/", dimension=dimension, n=2, order=told["order"])
    assert started.status_code == 202, started.content
    assert (Run.objects.get().kind, Run.objects.get().parameters["n"]) == ("judge.injection", 2)
    wrong = post(client, source, "measure/", dimension="beauty")
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (422, "#/dimension")


@pytest.mark.parametrize(
    ("given", "status", "pointer"),
    [
        ({"endpoint": "elsewhere"}, 422, "#/endpoint"),
        ({"campaign": 10**9}, 422, "#/campaign"),
        ({"which": "sample"}, 422, "#/n"),
        ({"prompt": "Judge."}, 422, "#/prompt"),
        ({"repeats": 0}, 400, "#/repeats"),
        ({"model": "m-1"}, 400, "#/model"),
    ],
)
def test_what_cannot_be_ordered_is_refused_by_field(
    source: Campaign, client: APIClient, given: dict[str, Any], status: int, pointer: str
) -> None:
    strange = CampaignFactory().pk  # of another study
    for step in ("", "estimate/"):
        answer = post(client, source, step, **{**given, "campaign": strange} if "campaign" in given else given)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer), answer.content
        assert answer.json()["remedy"]
    assert not Run.objects.exists()
