"""A release on S3-compatible storage: built, got by a signed address, gone when somebody in it is erased."""

import hashlib
import io
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from analysis.releases import services
from analysis.releases import storage as releases_storage
from crowdrag.storage.s3 import S3Storage
from crowdrag.studies.participants import withdrawal
from tests.analysis.releases.release_actions import built, published
from tests.factories import ResponseFactory

pytestmark = pytest.mark.django_db(transaction=True)


def keys(storage: S3Storage) -> set[str]:
    return {each.key for each in storage.bucket.objects.all()}


def test_a_release_lies_in_the_bucket_is_got_there_and_goes_with_who_is_in_it(
    s3: S3Storage, tmp_path: Path, settings
) -> None:
    settings.DATA_DIR = tmp_path
    study = ResponseFactory(text="Wombats dig [0].").study
    release = published(study)
    assert keys(s3) == {f"kept/{file.file.name}" for file in release.files.all()}
    for file in release.files.all():
        answer = Client().get(reverse("public_release_file", args=[study.slug, release.number, file.path]))
        assert answer.status_code == 307
        found = httpx2.get(answer["Location"])
        assert hashlib.sha256(found.content).hexdigest() == file.sha256, file.path
    withdrawal.erase(participant=release.people.get().participant, now=timezone.now())
    assert keys(s3) == {f"kept/{file.file.name}" for file in release.files.filter(removed_at__isnull=True)}
    # What is gone is not there (404) or not for this address (403): either way nobody gets it.
    assert (httpx2.get(answer["Location"]).status_code == 200) != file.of_people
    assert urlsplit(answer["Location"]).query  # it was signed


@pytest.mark.extended
def test_what_is_left_in_a_bucket_is_tidied_away(s3: S3Storage, tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path
    release = built(ResponseFactory().study)
    (tmp_path / "left").write_bytes(b"left")
    s3.bucket.upload_file(str(tmp_path / "left"), f"kept/{releases_storage.FOLDER}/{release.run.key}/{'0' * 16}/left")
    assert releases_storage.tidy(timezone.now()) == 1
    assert len(keys(s3)) == release.files.count()
    services.discard(release=release)
    assert keys(s3) == set()


def test_a_whole_release_comes_out_of_the_bucket_through_us(s3: S3Storage, tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path
    release = published(ResponseFactory(text="Wombats dig [0].").study)
    answer = Client().get(reverse("public_release_zip", args=[release.study.slug, release.number]))
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        found = {name.partition("/")[2]: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
    assert found == dict(release.files.values_list("path", "sha256"))
