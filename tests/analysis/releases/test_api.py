"""Private links and places that look like personal data, by scripts."""

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from analysis.models import PersonalDataFinding, ReleaseFile, ReleaseLink
from analysis.releases.choices import Choices
from analysis.releases.personal_data import detection
from crowdrag.audit.models import AccessLogEntry
from crowdrag.jobs import lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from tests.analysis.releases.consents import all_agree, study
from tests.api.conftest import by_token
from tests.factories import NOW, MembershipFactory, StudyFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]
PHONE = "+44 20 7946 0123"
TEXT = f"Leaves fall [0]. Call {PHONE} in Ashby."


@pytest.fixture(scope="module")
def taken_part(shared_rows: None) -> int:
    return all_agree(study(text=TEXT)).pk


@pytest.fixture
def made(taken_part: int, db: None) -> Study:
    return Study.objects.get(pk=taken_part)


def script(made: Study, role: Role = Role.EDITOR) -> APIClient:
    return by_token(MembershipFactory(study=made, role=role).user)


def at(made: Study, path: str) -> str:
    return f"/api/v1/studies/{made.slug}/{path}"


def looked(made: Study) -> list[int]:
    detection.look(study=made, choices=Choices(comments=True), now=NOW)()
    return list(PersonalDataFinding.objects.filter(study=made).order_by("pk").values_list("pk", flat=True))


def post(client: APIClient, address: str, data: Any, **headers: str) -> Any:
    return client.post(address, data, format="json", headers=headers)


def pointer(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["pointer"]


def test_places_are_listed_with_their_text_and_decided_on(made: Study) -> None:
    keys, client = looked(made), script(made, Role.REVIEWER)
    place, decide = at(made, "personal-data/"), at(made, "personal-data/decide/")
    rows = client.get(place).json()["results"]
    assert [row["id"] for row in rows] == keys
    phone = next(row for row in rows if row["kind"] == "PHONE")
    assert (phone["before"], phone["found"], phone["after"]) == ("Leaves fall [0]. Call ", PHONE, " in Ashby.")
    assert (phone["source"], phone["verdict"], phone["by"]) == ("RESPONSE", "", None)
    keep = {"findings": [phone["id"]], "verdict": "KEEP"}
    assert pointer(post(client, decide, keep)) == (422, "#/reason")
    for given, wrong in (({"findings": []}, "#/findings"), ({"findings": ["x"]}, "#/findings/0"),
                         ({"verdict": "BURN"}, "#/verdict")):  # fmt: skip
        assert pointer(post(client, decide, keep | given)) == (400, wrong)
    for key in ("a", "a"):
        answer = post(client, decide, keep | {"reason": "A public line."}, **{"Idempotency-Key": key})
        assert answer.json() == {"decided": 1}
    (row,) = client.get(place, {"verdict": "KEEP"}).json()["results"]
    assert (row["id"], row["reason"]) == (phone["id"], "A public line.")
    waiting = client.get(place, {"undecided": "true"}).json()["results"]
    assert {each["id"] for each in waiting} == set(keys) - {phone["id"]}


def test_places_of_another_study_are_neither_shown_nor_decided_on(made: Study) -> None:
    keys, other = looked(made), StudyFactory(slug="other")
    client = script(other, Role.OWNER)
    assert client.get(at(other, "personal-data/")).json()["results"] == []
    done = post(client, at(other, "personal-data/decide/"), {"findings": keys, "verdict": "REDACT"})
    assert done.json() == {"decided": 0}
    assert not PersonalDataFinding.objects.exclude(verdict="").exists()


def drafted(made: Study, client: APIClient) -> str:
    """The address of the first release."""
    post(client, at(made, "releases/"), {"title": "Leaves"})
    return at(made, "releases/1/")


def built(made: Study, client: APIClient) -> str:
    """The same of one that was built."""
    address = drafted(made, client)
    lifecycle.wait(Run.objects.get(key=client.post(address + "build/").data["run"]))
    return address


@pytest.mark.extended
def test_a_private_link_is_given_once_opens_the_release_and_is_ended(made: Study) -> None:
    client = script(made)
    early = post(client, drafted(made, client) + "links/", {})
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    client.delete(at(made, "releases/1/"))
    links = built(made, client) + "links/"
    assert pointer(post(client, links, {"days": 400}))[1] == "#/days"
    first, again = (post(client, links, {"label": "Reviewers", "days": 7}, **{"Idempotency-Key": "a"}) for _ in "ab")
    assert (first.status_code, first.json()["label"]) == (201, "Reviewers")
    assert again.json() == first.json() | {"address": None}
    link = ReleaseLink.objects.get()
    assert abs(link.expires_at - link.created_at - timedelta(days=7)) < timedelta(minutes=1)
    assert Client().get(first.json()["address"]).status_code == 200
    (row,) = client.get(links).json()["results"]
    assert "address" not in row
    one = first["Location"].removeprefix("http://testserver")
    assert client.get(one).json() == row
    for _ in range(2):
        assert client.delete(one).status_code == 204
    assert client.get(one).json()["revoked_at"]
    assert Client().get(first.json()["address"]).status_code == 404


@pytest.mark.extended
def test_files_are_got_before_a_release_is_published_and_no_more_when_they_were_taken_out(made: Study) -> None:
    rows = script(made).get(f"{built(made, script(made))}files/?limit=200").json()["results"]
    row, client = next(row for row in rows if row["path"] == "jsonl/responses.jsonl.gz"), script(made, Role.VIEWER)
    sent = client.get(row["address"], headers={"Accept": "application/gzip"})
    held = b"".join(sent.streaming_content)
    assert (len(held), sha256(held).hexdigest()) == (row["size"], row["sha256"])
    part = client.get(row["address"], headers={"Range": "bytes=0-1"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, held[:2])
    assert client.get(f"{row['address']}x").status_code == 404
    assert set(AccessLogEntry.objects.filter(page="api_release_file").values_list("content", flat=True)) == {
        AuditedContent.FILE
    }
    ReleaseFile.objects.filter(path=row["path"]).update(file="", removed_at=NOW)
    gone = client.get(row["address"])
    assert (gone.status_code, gone.json()["code"]) == (410, "gone")


def test_a_new_version_holds_the_results_of_the_latest_analysis_unless_others_are_named(made: Study) -> None:
    run = Run.objects.create(study=made, kind="analysis", state="DONE", seed=1, created_at=NOW, finished_at=NOW)
    for given, runs in (({}, [str(run.key)]), ({"choices": {"runs": []}}, [])):
        new = post(script(made), at(made, "releases/"), {"title": "T"} | given).json()
        assert new["choices"]["runs"] == runs
