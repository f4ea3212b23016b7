"""A whole release as one ZIP: whoever may have its files may have it, and nobody else."""

import io
import zipfile
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.models import Release
from analysis.releases import services
from crowdrag.audit.models import AccessLogEntry
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.studies.participants import withdrawal
from tests.analysis.releases.release_actions import built, drafted, published
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, ResponseFactory

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_files", "one_transaction")]


@pytest.fixture
def study() -> Study:
    return ResponseFactory(text="Wombats dig [0].", topic__study__slug="mine").study


def at(name: str, release: Release, *more: str) -> str:
    return reverse(name, args=[release.study.slug, release.number, *more])


def holds(answer: Any) -> dict[str, str]:
    """The sums of the files in a ZIP that was answered, by their names."""
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        assert archive.testzip() is None
        return {name: sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def listed(release: Release) -> dict[str, str]:
    """What is still given out of a release."""
    files = release.files.filter(removed_at__isnull=True)
    return {f"{release.study.slug}-v{release.number}/{file.path}": file.sha256 for file in files}


def test_anybody_gets_all_files_of_a_published_version_at_once(study: Study) -> None:
    release, anybody = published(study), Client()
    address = at("public_release_zip", release)
    assert address in anybody.get(at("public_release", release)).content.decode()
    answer = anybody.get(address)
    assert answer["Content-Disposition"] == 'attachment; filename="mine-v1.zip"'
    assert (answer["Access-Control-Allow-Origin"], answer["Cache-Control"]) == ("*", "public, no-cache")
    assert holds(answer) == listed(release)
    again = anybody.get(address, headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again["Cache-Control"]) == (304, "public, no-cache")
    head = anybody.head(address)
    assert (head.status_code, b"".join(head), head["ETag"]) == (200, b"", answer["ETag"])


def test_nothing_can_be_sent_to_a_release(study: Study) -> None:
    release, anybody = published(study), Client(enforce_csrf_checks=True)
    _link, key = services.create_link(release=release, expires_at=timezone.now() + timedelta(days=1))
    for address in (
        at("public_release", release),
        at("public_release_file", release, "README.md"),
        at("public_release_zip", release),
        reverse("private_release", args=[key]),
        reverse("private_release_file", args=[key, "README.md"]),
        reverse("private_release_zip", args=[key]),
    ):
        for method in ("post", "put", "patch", "delete"):
            answer = getattr(anybody, method)(address)
            assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD"), (method, address)
        assert anybody.get(address).status_code == 200, address


@pytest.mark.extended
def test_what_was_taken_out_is_not_in_it_and_its_tag_is_another(study: Study) -> None:
    release, anybody = published(study), Client()
    address = at("public_release_zip", release)
    whole = anybody.get(address)
    before = holds(whole)
    withdrawal.erase(participant=release.people.get().participant, now=timezone.now())
    answer = anybody.get(address, headers={"If-None-Match": whole["ETag"]})
    after = holds(answer)
    assert after == listed(release)
    assert {*after} < {*before}
    release.files.filter(removed_at__isnull=True).update(file="", removed_at=timezone.now())
    assert anybody.get(address).status_code == 410
    assert address not in anybody.get(at("public_release", release)).content.decode()


@pytest.mark.extended
def test_scripts_get_it_before_it_is_published_and_who_got_it_is_noted(study: Study) -> None:
    release = built(study)
    client = by_token(MembershipFactory(study=study, role=Role.VIEWER).user)
    address = at("api_release_zip", release)
    answer = client.get(address, headers={"Accept": "application/json"})
    assert holds(answer) == listed(release)
    assert client.get(address, headers={"If-None-Match": answer["ETag"]}).status_code == 304
    assert AccessLogEntry.objects.filter(content=AuditedContent.FILE, page="api_release_zip").exists()
    empty = client.get(at("api_release_zip", drafted(study)))
    assert (empty.status_code, empty.json()["code"]) == (410, "gone")
