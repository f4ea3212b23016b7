"""The planner and BERTScores, started by scripts: as on their pages."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from annotation.models import Pair
from crowdrag.jobs import lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, ResponseFactory, StudyFactory

pytestmark = pytest.mark.django_db
PLANNER = "/api/v1/studies/mine/planner/"
BERTSCORE = "/api/v1/studies/mine/bertscore/"
EXPECTED = {"competence": 0.6, "competence_spread": 0.15, "preferred": 0.6, "neutral": 0.2}
SMALL = {**EXPECTED, "topics": 6, "responses": 2, "k": 3, "more_topics": [], "more_k": [5], "dimensions": 1,
         "forced": 0, "simulations": 2, "pay": 400}  # fmt: skip


@pytest.fixture
def study() -> Study:
    return StudyFactory(slug="mine", currency="USD")


@pytest.fixture
def client(study: Study) -> APIClient:
    return by_token(MembershipFactory(study=study, role=Role.EDITOR).user)


def post(client: APIClient, address: str, given: dict[str, Any]) -> Any:
    return client.post(address, given, format="json")


def test_what_a_plan_is_made_of_can_be_sent_back(client: APIClient) -> None:
    usual = client.get(PLANNER).json()
    assert (usual["topics"], usual["k"], usual["source"], usual["competence"]) == (65, 5, None, None)
    assert usual["more_k"] == [3, 7]
    answer = post(client, PLANNER, {**usual, **EXPECTED})
    assert answer.status_code == 202, answer.content
    assert Run.objects.get().parameters["topics"] == 65


def test_a_plan_is_started_and_its_tables_are_results(client: APIClient) -> None:
    started = post(client, PLANNER, {**SMALL, "seed": 3})
    assert started.status_code == 202, started.content
    run = Run.objects.get()
    assert (run.kind, run.seed, run.parameters["more_k"], run.parameters["currency"]) == ("plan", 3, [5], "USD")
    assert started["Location"].endswith(f"/api/v1/studies/mine/runs/{run.key}/")
    assert lifecycle.wait(run).state == RunState.DONE
    result = client.get(f"/api/v1/studies/mine/results/{run.key}/").json()
    assert {"plan", "plan_costs", "plan_next"} <= set(result["tables"])
    costs = client.get(f"/api/v1/studies/mine/results/{run.key}/tables/plan_costs/").json()
    assert {row["k"] for row in costs["rows"]} == {3, 5}


def test_a_plan_that_cannot_be_made_is_refused(client: APIClient) -> None:
    for given, status, pointer in (
        ({}, 422, "#"),  # nothing says what to expect
        ({**SMALL, "topics": 1}, 400, "#/topics"),
        ({**SMALL, "preferred": 60}, 400, "#/preferred"),
        ({**SMALL, "more_topics": list(range(2, 40))}, 422, "#"),
        ({**SMALL, "source": "latest"}, 400, "#/source"),
        ({**SMALL, "judges": 3}, 400, "#/judges"),
    ):
        answer = post(client, PLANNER, given)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer), answer.content
    assert not Run.objects.exists()


def test_bertscores_are_estimated_and_started(study: Study, client: APIClient, settings: Any) -> None:
    settings.BERTSCORE_MODELS = ["roberta-large", "microsoft/deberta-xlarge-mnli"]
    none = post(client, BERTSCORE, {})
    assert (none.status_code, none.json()["code"]) == (409, "conflict")
    one = ResponseFactory(study=study, topic__study=study, style__study=study, text="A text.")
    other = ResponseFactory(study=study, topic=one.topic, style=one.style, text="Another text.")
    Pair.objects.create(study=study, a=one, b=other)
    offered = client.get(BERTSCORE).json()["results"]
    assert [row["model"].partition(":")[0] for row in offered] == settings.BERTSCORE_MODELS
    assert {(row["texts"], row["missing"]) for row in offered} == {(2, 2)}
    wrong = post(client, BERTSCORE, {"model": "somebody/else"})
    assert (wrong.status_code, wrong.json()["errors"][0]["pointer"]) == (422, "#/model")
    started = post(client, BERTSCORE, {"model": offered[1]["model"]})
    assert started.status_code == 202, started.content
    assert Run.objects.get().parameters["model"] == "microsoft/deberta-xlarge-mnli"
