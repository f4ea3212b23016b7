"""Results and releases by scripts: the tables as the pages give them, and a release from draft to withdrawal."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from analysis.analyses.api import Parameters
from analysis.enums import ReleaseState
from analysis.methods.settings import AnalysisSettings
from analysis.models import Release
from analysis.releases.api import Chosen
from analysis.releases.choices import Choices
from analysis.tables import run_tables
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks import services
from crowdrag.webhooks.models import Message
from tests.analysis.small_study import make
from tests.api.conftest import by_token
from tests.factories import NOW, MembershipFactory, StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files")]
NEW = {"title": "Tides", "creators": [{"name": "Ada Lovelace"}], "choices": {"timing": "HOUR", "comments": True}}


@pytest.fixture(scope="module")
def made(shared_rows: None) -> int:
    return make(study=StudyFactory(slug="mine")).pk


@pytest.fixture
def study(made: int, db: None) -> Study:
    return Study.objects.get(pk=made)


@pytest.fixture
def client(study: Study) -> APIClient:
    return by_token(MembershipFactory(study=study, role=Role.OWNER).user)


def at(path: str) -> str:
    return f"/api/v1/studies/mine/{path}"


def first_problem(answer: Any) -> str | None:
    return answer.json().get("errors", [{"pointer": None}])[0]["pointer"]


def test_an_analysis_is_started_and_its_tables_are_those_of_the_pages(client: APIClient) -> None:
    assert client.get(at("results/")).data["results"] == []
    parameters = {"resamples": 5, "restarts": 1, "refine": 0}
    answer = client.post(at("results/"), {"seed": 7, "parameters": parameters}, format="json")
    assert answer.status_code == 202, answer.content
    run = lifecycle.wait(Run.objects.get(key=answer.data["key"]))
    assert (run.seed, run.parameters["resamples"]) == (7, 5)
    (row,) = client.get(at("results/"), {"kind": "analysis", "seed": 7}).json()["results"]
    assert row == client.get(at(f"results/{run.key}/")).json()
    assert "gold" in row["tables"]
    assert row["tables"] == run_tables.names(run)
    for name in row["tables"]:
        table = client.get(at(f"results/{run.key}/tables/{name}/")).json()
        assert (table["name"], table["rows"]) == (name, json.loads(run_tables.write(run, name, "json")))
        assert all(set(each) <= set(table["columns"]) for each in table["rows"])
    assert client.get(at(f"results/{run.key}/tables/nothing/")).status_code == 404
    assert client.get(at("results/"), {"seed": 8}).json()["results"] == []


def test_a_parameter_that_cannot_be_is_refused_by_its_field(client: APIClient) -> None:
    for given, pointer in (
        ({"seed": -1}, "#/seed"),
        ({"parameters": {"resamples": 0}}, "#/parameters/resamples"),
        ({"parameters": {"speed": 1}}, "#/parameters/speed"),
        ({"parameters": {"spam_threshold": "nan"}}, "#/parameters/spam_threshold"),
        ({"parameters": []}, "#/parameters"),
    ):
        answer = client.post(at("results/"), given, format="json")
        assert answer.status_code in {400, 422}
        assert first_problem(answer) == pointer
    assert not Run.objects.exists()


def test_a_study_with_nothing_to_analyse_is_a_conflict() -> None:
    empty = MembershipFactory(study=StudyFactory(slug="empty"), role=Role.OWNER).user
    answer = by_token(empty).post("/api/v1/studies/empty/results/", {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_scripts_can_set_every_parameter_and_choice() -> None:
    assert set(Parameters().fields) == set(AnalysisSettings.__dataclass_fields__)
    assert set(Chosen().fields) == set(Choices.__dataclass_fields__)


@pytest.mark.usefixtures("one_transaction")
def test_a_release_goes_from_draft_to_withdrawal_and_subscribers_hear_of_its_publication(
    study: Study, client: APIClient
) -> None:
    services.create(study=study, address="https://example.org/", events=["release.published"], by=None, now=NOW)
    made = client.post(at("releases/"), NEW, format="json")
    assert (made.status_code, made.data["number"], made.data["state"]) == (201, 1, "DRAFT")
    address = at("releases/1/")
    assert made["Location"].endswith(address)
    assert (made.data["choices"]["timing"], made.data["choices"]["comments"]) == ("HOUR", True)
    same = {"If-Match": client.get(address)["ETag"]}
    changed = client.patch(address, {"choices": {"timing": "MINUTE"}}, format="json", headers=same)
    assert (changed.data["choices"]["timing"], changed.data["choices"]["comments"]) == ("MINUTE", True)
    assert client.patch(address, {}, format="json", headers=same).status_code == 412
    assert client.post(address + "publish/").status_code == 409
    building = client.post(address + "build/")
    assert (building.status_code, building.data["state"]) == (202, "BUILDING")
    lifecycle.wait(Run.objects.get(key=building.data["run"]))
    assert client.get(address).data["state"] == "READY"
    files = client.get(address + "files/").data["results"]
    assert {"README.md", "SHA256SUMS"} <= {file["path"] for file in files}
    assert client.post(address + "publish/").data["state"] == "PUBLISHED"
    (message,) = Message.objects.all()
    body = json.loads(message.body)
    assert (body["type"], body["data"]["version"]) == ("release.published", 1)
    assert body["data"]["address"] == "http://testserver/releases/mine/1/"
    assert client.patch(address, {"title": "x"}, format="json").status_code == 409
    assert client.delete(address).status_code == 409
    assert client.post(address + "embargo/lift/").status_code == 409
    assert client.post(address + "withdraw/", {"reason": ""}, format="json").status_code == 400
    gone = client.post(address + "withdraw/", {"reason": "A mistake."}, format="json")
    assert (gone.data["state"], gone.data["withdrawn_reason"]) == ("WITHDRAWN", "A mistake.")
    assert client.get(at("releases/"), {"state": "WITHDRAWN"}).data["results"] == [gone.data]


def test_a_build_is_stopped_and_a_draft_thrown_away(client: APIClient) -> None:
    client.post(at("releases/"), NEW, format="json")
    address = at("releases/1/")
    assert client.delete(address + "build/").status_code == 409
    client.post(address + "build/")
    assert client.delete(address).status_code == 409
    assert client.delete(address + "build/").data["state"] == ReleaseState.DRAFT
    assert client.delete(address).status_code == 204
    assert not Release.objects.exists()


def test_what_a_release_cannot_be_is_refused_by_its_field(client: APIClient) -> None:
    for given, status, pointer in (
        ({"title": ""}, 400, "#/title"),
        ({"doi": "tides"}, 400, "#/doi"),
        ({"creators": [{"orcid": "1"}]}, 400, "#/creators/0/name"),
        ({"creators": [{"name": "Bo", "orcid": "0000-0002-1825-0098"}]}, 400, "#/creators/0/orcid"),
        ({"choices": {"logs": "SOME"}}, 400, "#/choices/logs"),
        ({"choices": {"cats": True}}, 400, "#/choices/cats"),
        ({"choices": {"log_licence": "", "timing_licence": "bananas"}}, 400, "#/choices/timing_licence"),
        ({"choices": {"topics": False}}, 422, None),
        ({"embargo_until": "2020-01-01T00:00:00Z"}, 422, None),
    ):
        answer = client.post(at("releases/"), NEW | given, format="json")
        assert (answer.status_code, first_problem(answer)) == (status, pointer)
    assert not Release.objects.exists()
    client.post(at("releases/"), NEW, format="json")
    for given in ({"choices": {"topics": False}}, {"embargo_until": "2020-01-01T00:00:00Z"}):
        assert client.patch(at("releases/1/"), given, format="json").status_code == 422
