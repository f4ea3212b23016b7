"""Experiments, files for them and exports, by scripts: estimated, started, read."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from crowdrag.accounts.enums import Scope
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("no_broker", "experiment", "endpoint")]
TOLD = {"collection": {"source": "study"}, "generator": "endpoint:odd", "queries": 0, "parameters": {"k": 2}}


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path


def script(study: Study, role: Role = Role.EDITOR, *scopes: Scope) -> APIClient:
    return by_token(MembershipFactory(study=study, role=role).user, *scopes)


def at(study: Study, path: str = "") -> str:
    return f"/api/v1/studies/{study.slug}/{path}"


def post(client: APIClient, address: str, data: Any, **headers: str) -> Any:
    return client.post(address, data, format="json", headers=headers)


def test_experiments_say_what_they_ask_for(study: Study) -> None:
    said = script(study, Role.VIEWER).get(at(study, "experiments/")).json()
    planted = next(each for each in said["results"] if each["name"] == "planted")
    assert "study" in planted["sources"]
    k = next(each for each in planted["parameters"] if each["name"] == "k")
    assert (k["kind"], k["least"], k["most"], k["default"]) == ("integer", 1, 5, 2)
    assert "endpoint:odd" in said["generators"]
    assert {"fair", "uplift", "self_preference"} <= {each["name"] for each in said["results"]}


def test_an_estimate_says_what_it_comes_to_and_stores_nothing(study: Study) -> None:
    said = post(script(study), at(study, "experiments/planted/estimate/"), TOLD)
    assert said.status_code == 200, said.content
    assert (said.json()["calls"], said.json()["questions"], said.json()["problem"]) == (10, 5, "")
    assert not Run.objects.exists()
    fewer = post(script(study), at(study, "experiments/planted/estimate/"), TOLD | {"queries": 2})
    assert fewer.json()["calls"] == 4


def test_what_starts_is_what_was_estimated_and_starts_once(study: Study) -> None:
    client = script(study)
    order = post(client, at(study, "experiments/planted/estimate/"), TOLD).json()["order"]
    other = post(client, at(study, "experiments/planted/"), TOLD | {"seed": 1, "order": order})
    assert (other.status_code, other.json()["errors"][0]["pointer"]) == (422, "#/order")
    first, again = (
        post(client, at(study, "experiments/planted/"), TOLD | {"order": order}, **{"Idempotency-Key": "a"})
        for _ in "ab"
    )
    assert first.status_code == 202, first.content
    assert again.json() == first.json()
    run = Run.objects.get()
    assert first["Location"].endswith(at(study, f"runs/{run.key}/"))
    assert (run.kind, run.parameters["k"], run.parameters["generator"]) == ("experiment.planted", 2, "endpoint:odd")


@pytest.mark.parametrize("address", ["experiments/planted/", "experiments/planted/estimate/"])
def test_an_order_that_cannot_be_is_refused(study: Study, address: str) -> None:
    client = script(study)
    for given, status, pointer in (
        ({"parameters": {"k": 9}}, 422, "#/parameters"),
        ({"parameters": {"queries": 9}}, 422, "#/parameters"),
        ({"parameters": {"words": "a\x00"}}, 422, "#/parameters"),
        ({"generator": "endpoint:none"}, 422, "#/parameters"),
        ({"collection": {"source": "qa"}}, 422, "#/collection"),
        ({"collection": {"source": "qa", "upload": 1}}, 422, "#/collection"),
        ({"collection": {}}, 400, "#/collection/source"),
        ({"queries": -1}, 400, "#/queries"),
        ({"parameters": []}, 400, "#/parameters"),
    ):
        answer = post(client, at(study, address), TOLD | given)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer), given
    assert post(client, at(study, address.replace("planted", "nothing")), TOLD).status_code == 404
    assert not Run.objects.exists()


@pytest.mark.parametrize("name", ["fair", "uplift", "self_preference"])
def test_the_three_experiments_are_estimated_on_what_they_take(study: Study, name: str) -> None:
    client = script(study)
    said = client.get(at(study, "experiments/")).json()["results"]
    sources = next(each for each in said if each["name"] == name)["sources"]
    own = next((each for each in sources if each in {"study", "responses"}), None)
    assert own, sources
    answer = post(
        client, at(study, f"experiments/{name}/estimate/"), TOLD | {"collection": {"source": own}, "parameters": {}}
    )
    assert answer.status_code == 200, answer.content
    assert answer.json()["order"]


def test_a_file_is_handed_in_and_asked_about(study: Study) -> None:
    client = script(study)
    line = b'{"id": "q1", "question": "ok:wrong", "answers": ["right"], "documents": [{"id": "d", "text": "ok:right"}]}'
    answer = client.post(at(study, "uploads/"), {"file": SimpleUploadedFile("qa.jsonl.gz", gzip.compress(line))})
    assert answer.status_code == 201, answer.content
    assert client.get(at(study, "uploads/")).json()["results"] == [answer.json()]
    assert Upload.objects.get().name == "qa.jsonl.gz"
    collection = {"source": "qa", "upload": answer.json()["id"]}
    strange = post(
        script(StudyFactory(slug="other")), at(Study.objects.get(slug="other"), "experiments/planted/"),
        TOLD | {"collection": collection},
    )  # fmt: skip
    assert (strange.status_code, strange.json()["errors"][0]["pointer"]) == (422, "#/collection")
    assert client.post(at(study, "uploads/"), {}).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_an_export_is_started_and_listed_once_it_is_done(study: Study) -> None:
    client = script(study)
    assert post(client, at(study, "exports/"), {"format": "tape"}).json()["errors"][0]["pointer"] == "#/format"
    started = post(client, at(study, "exports/"), {"format": "archive"})
    assert (started.status_code, started.json()["kind"]) == (202, "export.archive")
    assert client.get(at(study, "exports/")).json()["results"] == []
    lifecycle.wait(Run.objects.get())
    (row,) = client.get(at(study, "exports/")).json()["results"]
    assert (row["run"], row["format"]) == (started.json()["key"], "archive")
