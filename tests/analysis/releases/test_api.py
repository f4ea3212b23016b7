"""Private links and places that look like personal data, by scripts."""

from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from rest_framework.test import APIClient

from analysis.domain import analysing
from analysis.domain.releases.choices import Choices
from analysis.domain.releases.personal import searching
from analysis.enums import PersonalVerdict
from analysis.models import PersonalFinding, Release, ReleaseFile, ReleaseLink
from crowdrag.api.enums import Scope
from crowdrag.audit.models import Look
from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role, Shown
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import NOW, MembershipFactory, StudyFactory

from .taken_part import all_agree, study

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = "+44 20 7946 0123"
TEXT = f"Leaves fall [0]. Call {PHONE} in Ashby."


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"
    settings.DATA_DIR = tmp_path


@pytest.fixture
def made() -> Study:
    return all_agree(study(text=TEXT))


def script(made: Study, role: Role = Role.EDITOR, *scopes: Scope) -> APIClient:
    return by_token(MembershipFactory(study=made, role=role).user, *scopes)


def at(made: Study, path: str) -> str:
    return f"/api/v1/studies/{made.slug}/{path}"


def looked(made: Study) -> list[int]:
    searching.look(study=made, choices=Choices(comments=True), now=NOW)()
    return list(PersonalFinding.objects.filter(study=made).order_by("pk").values_list("pk", flat=True))


def post(client: APIClient, address: str, data: Any, **headers: str) -> Any:
    return client.post(address, data, format="json", headers=headers)


def test_places_are_listed_with_their_text_and_decided_on(made: Study) -> None:
    keys, client = looked(made), script(made, Role.REVIEWER)
    rows = client.get(at(made, "personal-data/")).json()["results"]
    assert [row["id"] for row in rows] == keys
    phone = next(row for row in rows if row["kind"] == "PHONE")
    assert (phone["before"], phone["found"], phone["after"]) == ("Leaves fall [0]. Call ", PHONE, " in Ashby.")
    assert (phone["source"], phone["verdict"], phone["by"]) == ("RESPONSE", "", None)
    keep = {"findings": [phone["id"]], "verdict": "KEEP"}
    silent = post(client, at(made, "personal-data/decide/"), keep)
    assert (silent.status_code, silent.json()["errors"][0]["pointer"]) == (422, "#/reason")
    for key in ("a", "a"):
        answer = post(
            client, at(made, "personal-data/decide/"), keep | {"reason": "A public line."}, **{"Idempotency-Key": key}
        )
        assert answer.json() == {"decided": 1}
    (row,) = client.get(at(made, "personal-data/"), {"verdict": "KEEP"}).json()["results"]
    assert (row["id"], row["reason"]) == (phone["id"], "A public line.")
    waiting = client.get(at(made, "personal-data/"), {"undecided": "true"}).json()["results"]
    assert phone["id"] not in [each["id"] for each in waiting]
    assert len(waiting) == len(keys) - 1


def test_places_of_another_study_are_neither_shown_nor_decided_on(made: Study) -> None:
    keys, other = looked(made), StudyFactory(slug="other")
    client = script(other, Role.OWNER)
    assert client.get(at(other, "personal-data/")).json()["results"] == []
    done = post(client, at(other, "personal-data/decide/"), {"findings": keys, "verdict": "REDACT"})
    assert done.json() == {"decided": 0}
    assert not PersonalFinding.objects.exclude(verdict="").exists()


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"findings": [], "verdict": "REDACT"}, "#/findings"),
        ({"findings": ["x"], "verdict": "REDACT"}, "#/findings/0"),
        ({"findings": [1], "verdict": "BURN"}, "#/verdict"),
    ],
)
def test_a_decision_that_is_none_is_refused(made: Study, given: Any, pointer: str) -> None:
    answer = post(script(made), at(made, "personal-data/decide/"), given)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, pointer)


def test_only_reviewers_read_places(made: Study) -> None:
    assert script(made, Role.VIEWER).get(at(made, "personal-data/")).status_code == 403
    given = {"findings": looked(made), "verdict": PersonalVerdict.RELEASE}
    assert post(script(made, Role.OWNER, Scope.READ), at(made, "personal-data/decide/"), given).status_code == 403


def built(made: Study, client: APIClient) -> str:
    """Build the first release; return its address."""
    address = at(made, "releases/1/")
    post(client, at(made, "releases/"), {"title": "Leaves"})
    running.wait(Run.objects.get(key=client.post(address + "build/").data["run"]))
    return address


def test_a_private_link_is_told_once_opens_the_release_and_is_ended(made: Study) -> None:
    client = script(made)
    post(client, at(made, "releases/"), {"title": "Leaves"})
    early = post(client, at(made, "releases/1/links/"), {})
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    Release.objects.all().delete()
    links = built(made, client) + "links/"
    first, again = (post(client, links, {"label": "Reviewers", "days": 7}, **{"Idempotency-Key": "a"}) for _ in "ab")
    assert (first.status_code, first.json()["label"]) == (201, "Reviewers")
    assert again.json() == first.json() | {"address": None}
    link = ReleaseLink.objects.get()
    assert abs(link.expires_at - link.created_at - timedelta(days=7)) < timedelta(minutes=1)
    shown = Client().get(first.json()["address"])
    assert shown.status_code == 200
    (row,) = client.get(links).json()["results"]
    assert "address" not in row
    one = first["Location"].removeprefix("http://testserver")
    assert client.get(one).json() == row
    for _ in range(2):
        assert client.delete(one).status_code == 204
    assert client.get(one).json()["revoked_at"]
    assert Client().get(first.json()["address"]).status_code == 404


def test_a_token_that_only_changes_the_study_gives_nothing_to_people_outside(made: Study) -> None:
    client = script(made)
    links = built(made, client) + "links/"
    link = post(client, links, {"days": 1})["Location"]
    for other in (script(made, Role.EDITOR, Scope.WRITE), script(made, Role.REVIEWER)):
        assert post(other, links, {}).status_code == 403
        assert other.delete(link).status_code == 403
    assert post(client, links, {"days": 400}).json()["errors"][0]["pointer"] == "#/days"
    assert ReleaseLink.objects.count() == 1


def test_files_are_got_before_a_release_is_published_and_no_more_when_they_were_taken_out(made: Study) -> None:
    rows = script(made).get(f"{built(made, script(made))}files/?limit=200").json()["results"]
    row, client = next(row for row in rows if row["path"] == "jsonl/responses.jsonl.gz"), script(made, Role.VIEWER)
    sent = client.get(row["address"], headers={"Accept": "application/gzip"})
    held = b"".join(sent.streaming_content)
    assert (len(held), sha256(held).hexdigest()) == (row["size"], row["sha256"])
    part = client.get(row["address"], headers={"Range": "bytes=0-1"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, held[:2])
    assert client.get(f"{row['address']}x").status_code == 404
    ReleaseFile.objects.filter(path=row["path"]).update(file="", removed_at=NOW)
    gone = client.get(row["address"])
    assert (gone.status_code, gone.json()["code"]) == (410, "gone")
    looks = Look.objects.filter(page="api_release_file")
    assert {look.what for look in looks} == {Shown.FILE}
    assert looks.count() >= 1
    assert by_token(MembershipFactory(study=StudyFactory()).user).get(row["address"]).status_code == 404


def test_a_new_version_holds_the_results_of_the_latest_analysis_unless_others_are_named(made: Study) -> None:
    run = Run.objects.create(
        study=made, kind=analysing.KIND, state=RunState.DONE, seed=1, created_at=NOW, finished_at=NOW, key=uuid4()
    )
    client = script(made)
    usual = post(client, at(made, "releases/"), {"title": "T"}).json()
    assert usual["choices"]["runs"] == [str(run.key)]
    none = post(client, at(made, "releases/"), {"title": "T", "choices": {"runs": []}}).json()
    assert none["choices"]["runs"] == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"choices": {"topics": False}}, "release the topics too"),
        ({"embargo_until": "2020-01-01T00:00:00Z"}, "An embargo ends in the future"),
    ],
)
def test_what_does_not_go_together_is_refused_alike_when_it_is_made_and_changed(
    made: Study, given: dict[str, Any], said: str
) -> None:
    client = script(made)
    number = post(client, at(made, "releases/"), {"title": "T"}).json()["number"]
    new = post(client, at(made, "releases/"), {"title": "T"} | given)
    changed = client.patch(at(made, f"releases/{number}/"), given, format="json")
    assert (new.status_code, changed.status_code) == (422, 422)
    assert said in new.json()["detail"]
    assert said in changed.json()["detail"]


def test_a_licence_that_no_standard_knows_is_refused(made: Study) -> None:
    client = script(made)
    given = {"title": "T", "choices": {"licence": "CC-BY-4.0", "log_licence": "", "timing_licence": "bananas"}}
    answer = post(client, at(made, "releases/"), given)
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/choices/timing_licence"]
    given["choices"]["timing_licence"] = "CC0-1.0"
    assert post(client, at(made, "releases/"), given).status_code == 201


def test_a_mistyped_orcid_is_named(made: Study) -> None:
    creators = [{"name": "Ada", "orcid": "0000-0002-1825-0097"}, {"name": "Bo", "orcid": "0000-0002-1825-0098"}]
    answer = post(script(made), at(made, "releases/"), {"title": "T", "creators": creators})
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["pointer"]) == (400, "#/creators/1/orcid")
    assert "check digit" in error["detail"]
