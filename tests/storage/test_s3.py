"""Files on S3-compatible storage, over HTTP: what comes out is what went in, whole and in parts."""

import gzip
import hashlib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from crowdrag import storage
from crowdrag.jobs import file_storage, lifecycle, run_files
from crowdrag.jobs.models import Artifact
from crowdrag.storage.s3 import S3Storage
from tests.factories import MembershipFactory, StudyFactory
from tests.jobs.kinds_app import kinds as test_kinds

BYTES = bytes(range(256)) * 20_000


@pytest.fixture
def kept(s3: S3Storage, tmp_path: Path, db: None) -> Artifact:
    """A file of a run, on the server."""
    test_kinds.register_all()
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(BYTES, mtime=0))
    run = lifecycle.start(study=StudyFactory(), kind="test.tiny")
    return run_files.publish_artifact(run=run, name="log.jsonl.gz", path=path, media_type="application/gzip")


@pytest.fixture
def viewer(kept: Artifact) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=kept.run.study).user)
    return client


def place(kept: Artifact) -> str:
    return reverse("run_file", args=[kept.run.study.slug, kept.run.key, kept.name])


def through_us(settings, s3_address: str) -> None:
    settings.STORAGES = settings.STORAGES | {"default": storage.storage_settings(f"{s3_address}&redirect=no")}


def test_a_file_comes_back_byte_for_byte_and_is_gone_from_the_machine(kept: Artifact, tmp_path: Path) -> None:
    with default_storage.open(kept.file.name) as file:
        found = file.read()
    # Not unpacked on the way, although its name ends in .gz.
    assert hashlib.sha256(found).hexdigest() == kept.sha256
    assert gzip.decompress(found) == BYTES
    assert list(tmp_path.iterdir()) == []


def test_a_file_under_the_same_name_takes_the_earlier_ones_place(s3: S3Storage, tmp_path: Path) -> None:
    for text in (b"one", b"two"):
        path = tmp_path / "new"
        path.write_bytes(text)
        file_storage.move_in(default_storage, path=path, name="a/b.txt")
    assert s3.listdir("a") == ([], ["b.txt"])
    assert s3.open("a/b.txt").read() == b"two"


def test_a_stream_of_any_length_goes_in_as_it_comes(s3: S3Storage) -> None:
    stored = file_storage.stream_in(default_storage, chunks=(BYTES for _ in range(3)), name="up/load.bin")
    assert (stored.size, stored.sha256) == (3 * len(BYTES), hashlib.sha256(3 * BYTES).hexdigest())
    assert s3.size("up/load.bin") == 3 * len(BYTES)


def test_a_browser_is_sent_to_the_storage_with_an_address_that_opens_this_file(kept: Artifact, viewer: Client) -> None:
    answer = viewer.get(place(kept))
    assert answer.status_code == 307
    assert answer["Cache-Control"] == "no-store"
    asked = parse_qs(urlsplit(answer["Location"]).query)
    assert asked["X-Amz-Expires"] == ["3600"]
    found = httpx2.get(answer["Location"])
    assert found.headers["Content-Disposition"] == 'attachment; filename="log.jsonl.gz"'
    assert "Content-Encoding" not in found.headers
    assert hashlib.sha256(found.content).hexdigest() == kept.sha256


def test_a_broken_download_goes_on_at_the_storage(kept: Artifact, viewer: Client) -> None:
    answer = viewer.get(place(kept), headers={"Range": "bytes=10-"})
    rest = httpx2.get(answer["Location"], headers={"Range": "bytes=10-"})
    assert rest.status_code == 206
    assert len(rest.content) == kept.size - 10


def test_what_is_asked_for_with_head_is_answered_by_us(kept: Artifact, viewer: Client) -> None:
    answer = viewer.head(place(kept))
    assert (answer.status_code, int(answer["Content-Length"])) == (200, kept.size)
    assert answer["ETag"] == f'"{kept.sha256}"'


def test_where_browsers_cannot_reach_the_storage_parts_come_through_us(
    kept: Artifact, viewer: Client, settings, s3_address: str
) -> None:
    through_us(settings, s3_address)
    whole = b"".join(viewer.get(place(kept)))
    assert hashlib.sha256(whole).hexdigest() == kept.sha256
    part = viewer.get(place(kept), headers={"Range": "bytes=5-9"})
    assert (part.status_code, b"".join(part)) == (206, whole[5:10])
    default_storage.delete(kept.file.name)
    assert viewer.get(place(kept)).status_code == 404


def test_an_address_for_the_outside_names_the_server_that_the_outside_knows(s3_address: str) -> None:
    options = storage.storage_settings(f"{s3_address}&public=https://files.example.org")["OPTIONS"]
    signed = S3Storage(**options).signed("a.txt", filename="a.txt", media_type="text/plain")
    assert urlsplit(signed).netloc == "files.example.org"
