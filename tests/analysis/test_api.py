"""Results and releases by scripts: the tables as the pages give them, and a release from draft to withdrawal."""

import json
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from analysis.api.releases import Chosen
from analysis.api.results import Parameters
from analysis.domain import tables
from analysis.domain.releases.choices import Choices
from analysis.domain.results.settings import Settings
from analysis.enums import ReleaseState
from analysis.models import Release
from crowdrag.api.enums import Scope
from crowdrag.runs.domain import running
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from crowdrag.webhooks.domain import subscribing
from crowdrag.webhooks.models import Message
from tests.api.conftest import by_token
from tests.factories import NOW, MembershipFactory, StudyFactory

from .small_study import make

pytestmark = pytest.mark.django_db
FAST = {"resamples": 5, "restarts": 1, "refine": 0}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path


def script(study: Study, role: Role = Role.OWNER, *scopes: Scope) -> APIClient:
    """A script of a new member of a study."""
    return by_token(MembershipFactory(study=study, role=role).user, *scopes)


def at(study: Study, path: str) -> str:
    return f"/api/v1/studies/{study.slug}/{path}"


def analysed(study: Study, client: APIClient) -> Run:
    """Start an analysis as scripts do, and wait for it."""
    answer = client.post(at(study, "results/"), {"seed": 7, "parameters": FAST}, format="json")
    assert answer.status_code == 202, answer.content
    return running.wait(Run.objects.get(key=answer.data["key"]))


def test_an_analysis_is_started_and_its_tables_are_those_of_the_pages() -> None:
    study = make()
    client = script(study)
    assert client.get(at(study, "results/")).data["results"] == []
    run = analysed(study, client)
    assert (run.seed, run.parameters["resamples"]) == (7, 5)
    (row,) = client.get(at(study, "results/"), {"kind": "analysis", "seed": 7}).json()["results"]
    assert row == client.get(at(study, f"results/{run.key}/")).json()
    assert row["tables"] == tables.names(run)
    assert "gold" in row["tables"]
    for name in row["tables"]:
        found = client.get(at(study, f"results/{run.key}/tables/{name}/")).json()
        assert found["name"] == name
        assert found["rows"] == json.loads(tables.write(run, name, "json"))
        assert all(set(each) <= set(found["columns"]) for each in found["rows"])
    assert client.get(at(study, f"results/{run.key}/tables/nothing/")).status_code == 404
    assert client.get(at(study, "results/"), {"seed": 8}).json()["results"] == []


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"seed": -1}, "#/seed"),
        ({"parameters": {"resamples": 0}}, "#/parameters/resamples"),
        ({"parameters": {"speed": 1}}, "#/parameters/speed"),
        ({"parameters": {"preset": "newest"}}, "#/parameters/preset"),
        ({"parameters": {"spam_threshold": "nan"}}, "#/parameters/spam_threshold"),
        ({"parameters": []}, "#/parameters"),
    ],
)
def test_a_parameter_that_cannot_be_is_said_by_field(given: dict[str, Any], pointer: str) -> None:
    study = make()
    answer = script(study).post(at(study, "results/"), given, format="json")
    assert answer.status_code in {400, 422}
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert not Run.objects.exists()


def test_a_study_with_nothing_to_analyse_says_so() -> None:
    study = StudyFactory()
    answer = script(study).post(at(study, "results/"), {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")


def test_scripts_can_set_every_parameter_and_choice() -> None:
    assert set(Parameters().fields) == set(Settings.__dataclass_fields__)
    assert set(Chosen().fields) == set(Choices.__dataclass_fields__)


NEW = {"title": "Tides", "creators": [{"name": "Ada Lovelace"}], "choices": {"timing": "HOUR", "comments": True}}


@pytest.mark.django_db(transaction=True)
def test_a_release_goes_from_draft_to_withdrawal_and_its_publication_is_told() -> None:
    study = make(study=StudyFactory(slug="mine"))
    subscribing.subscribe(study=study, address="https://example.org/", events=["release.published"], by=None, now=NOW)
    client = script(study)
    made = client.post(at(study, "releases/"), NEW, format="json")
    assert (made.status_code, made.data["number"], made.data["state"]) == (201, 1, "DRAFT")
    address = at(study, "releases/1/")
    assert made["Location"].endswith(address)
    assert (made.data["choices"]["timing"], made.data["choices"]["comments"]) == ("HOUR", True)
    seen = client.get(address)
    changed = client.patch(
        address, {"choices": {"timing": "MINUTE"}}, format="json", headers={"If-Match": seen["ETag"]}
    )
    assert (changed.data["choices"]["timing"], changed.data["choices"]["comments"]) == ("MINUTE", True)
    assert client.patch(address, {}, format="json", headers={"If-Match": seen["ETag"]}).status_code == 412
    assert client.post(address + "publish/").status_code == 409
    building = client.post(address + "build/")
    assert (building.status_code, building.data["state"]) == (202, "BUILDING")
    running.wait(Run.objects.get(key=building.data["run"]))
    assert client.get(address).data["state"] == "READY"
    files = client.get(address + "files/").data["results"]
    assert {"README.md", "SHA256SUMS"} <= {file["path"] for file in files}
    assert client.post(address + "publish/").data["state"] == "PUBLISHED"
    (message,) = Message.objects.all()
    told = json.loads(message.body)
    assert told["type"] == "release.published"
    assert told["data"]["version"] == 1
    assert told["data"]["address"] == "http://testserver/releases/mine/1/"
    assert client.patch(address, {"title": "x"}, format="json").status_code == 409
    assert client.delete(address).status_code == 409
    assert client.post(address + "embargo/lift/").status_code == 409
    assert client.post(address + "withdraw/", {"reason": ""}, format="json").status_code == 400
    gone = client.post(address + "withdraw/", {"reason": "A mistake."}, format="json")
    assert (gone.data["state"], gone.data["withdrawn_reason"]) == ("WITHDRAWN", "A mistake.")
    assert client.get(at(study, "releases/"), {"state": "WITHDRAWN"}).data["results"] == [gone.data]


def test_a_build_is_stopped_and_a_draft_thrown_away() -> None:
    study = make()
    client = script(study)
    client.post(at(study, "releases/"), NEW, format="json")
    address = at(study, "releases/1/")
    assert client.delete(address + "build/").status_code == 409
    client.post(address + "build/")
    assert client.delete(address).status_code == 409
    assert client.delete(address + "build/").data["state"] == ReleaseState.DRAFT
    assert client.delete(address).status_code == 204
    assert not Release.objects.exists()


@pytest.mark.parametrize(
    ("given", "status", "pointer"),
    [
        ({"title": ""}, 400, "#/title"),
        ({"doi": "tides"}, 400, "#/doi"),
        ({"creators": [{"orcid": "1"}]}, 400, "#/creators/0/name"),
        ({"choices": {"logs": "SOME"}}, 400, "#/choices/logs"),
        ({"choices": {"cats": True}}, 400, "#/choices/cats"),
        ({"choices": {"topics": False}}, 422, None),
    ],
)
def test_what_a_release_cannot_be_is_said(given: dict[str, Any], status: int, pointer: str | None) -> None:
    study = make()
    answer = script(study).post(at(study, "releases/"), NEW | given, format="json")
    assert answer.status_code == status
    assert answer.json().get("errors", [{"pointer": None}])[0]["pointer"] == pointer
    assert not Release.objects.exists()


def test_who_may_do_what_with_results_and_releases() -> None:
    study = make()
    script(study).post(at(study, "releases/"), NEW, format="json")
    release = at(study, "releases/1/")
    viewer, editor = script(study, Role.VIEWER), script(study, Role.EDITOR)
    stranger = script(StudyFactory(slug="other"))
    writes = script(study, Role.OWNER, Scope.WRITE)
    for path in ("results/", "releases/", "releases/1/", "releases/1/files/"):
        found = [client.get(at(study, path)).status_code for client in (viewer, editor, writes, stranger, APIClient())]
        assert found == [200, 200, 200, 404, 401], path
    for client in (viewer, stranger):
        status = 403 if client is viewer else 404
        assert client.post(at(study, "results/"), {}, format="json").status_code == status
        assert client.post(at(study, "releases/"), NEW, format="json").status_code == status
        assert client.patch(release, {}, format="json").status_code == status
        assert client.delete(release).status_code == status
        assert client.delete(release + "build/").status_code == status
        for step in ("build/", "publish/", "embargo/lift/", "withdraw/"):
            assert client.post(release + step, {"reason": "x"}, format="json").status_code == status
    for step in ("publish/", "embargo/lift/", "withdraw/"):  # for owners, and tokens that manage
        assert editor.post(release + step, {"reason": "x"}, format="json").status_code == 403
        assert writes.post(release + step, {"reason": "x"}, format="json").status_code == 403
    assert writes.post(release + "build/").status_code == 403
    assert writes.post(at(study, "results/"), {}, format="json").status_code == 403
