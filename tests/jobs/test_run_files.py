"""Files of runs and uploads: whole or not there, never in memory, and their sums right."""

import hashlib
import io
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.files.base import ContentFile, File
from django.core.files.storage import InMemoryStorage, default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction

from crowdrag.jobs import file_storage, lifecycle, run_files
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.models import Study
from tests.factories import StudyFactory, UserFactory

TEXT = b"a,b\n1,2\n"
SUM = hashlib.sha256(TEXT).hexdigest()


def made(folder: Path, content: bytes = TEXT) -> Path:
    path = folder / "made.csv"
    path.write_bytes(content)
    return path


def all_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def run(study: Study) -> Run:
    return lifecycle.start(study=study, kind="test.tiny")


@pytest.mark.django_db
def test_publishing_moves_the_file_and_keeps_its_sum(run: Run, files: Path, tmp_path: Path) -> None:
    path = made(tmp_path)
    artifact = run_files.publish_artifact(run=run, name="table.csv", path=path, media_type="text/csv")
    assert (artifact.size, artifact.sha256, artifact.media_type) == (8, SUM, "text/csv")
    assert not path.exists()
    assert all_files(files) == ["table.csv"]
    assert artifact.file.read() == TEXT


@pytest.mark.django_db
def test_publishing_again_takes_the_earlier_ones_place(
    run: Run, files: Path, tmp_path: Path, django_capture_on_commit_callbacks
) -> None:
    first = run_files.publish_artifact(run=run, name="t.csv", path=made(tmp_path))
    same = run_files.publish_artifact(run=run, name="t.csv", path=made(tmp_path))
    assert (same.pk, same.file.name) == (first.pk, first.file.name)
    with django_capture_on_commit_callbacks(execute=True):
        other = run_files.publish_artifact(run=run, name="t.csv", path=made(tmp_path, b"new"))
    assert other.pk == first.pk
    assert all_files(files) == ["t.csv"]
    assert other.file.read() == b"new"


@pytest.mark.django_db(transaction=True)
def test_an_effect_that_is_rolled_back_publishes_nothing_and_can_be_done_again(files: Path, tmp_path: Path) -> None:
    run = lifecycle.start(study=StudyFactory(), kind="test.tiny")

    @transaction.atomic
    def effect() -> None:
        run_files.publish_artifact(run=run, name="t.csv", path=made(tmp_path))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        effect()
    assert not Artifact.objects.exists()
    run_files.publish_artifact(run=run, name="t.csv", path=made(tmp_path))
    assert all_files(files) == ["t.csv"]


@pytest.mark.django_db
def test_a_name_with_a_folder_is_refused(run: Run, files: Path, tmp_path: Path) -> None:
    for name in ("../t.csv", "a/t.csv", "a\\t.csv", "", "..", "."):
        with pytest.raises(ValueError, match=re.escape(repr(name))):
            run_files.publish_artifact(run=run, name=name, path=made(tmp_path))
    assert all_files(files) == []


def test_a_file_is_under_its_name_only_when_whole(files: Path) -> None:
    def breaking() -> Iterator[bytes]:
        yield b"half"
        assert [path for path in files.rglob("*") if path.is_file() and not path.name.endswith(".part")] == []
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        file_storage.stream_in(default_storage, chunks=breaking(), name="x/y.bin")
    assert all_files(files) == []


def test_storages_without_paths_get_files_too(tmp_path: Path) -> None:
    storage = InMemoryStorage()
    file_storage.move_in(storage, path=made(tmp_path), name="a.csv")
    file_storage.move_in(storage, path=made(tmp_path), name="a.csv")
    assert storage.open("a.csv").read() == TEXT
    stored = file_storage.stream_in(storage, chunks=iter([TEXT[:3], TEXT[3:]]), name="b.csv")
    assert (stored.size, stored.sha256) == (8, SUM)
    assert storage.open("b.csv").read() == TEXT


def test_a_stream_can_be_read_in_any_portions() -> None:
    counting = file_storage._Counting([b"abc", b"", b"defg"])
    assert [counting.read(2), counting.read(4), counting.read(), counting.read()] == [b"ab", b"cdef", b"g", b""]
    assert (counting.size, counting.sha256) == (7, hashlib.sha256(b"abcdefg").hexdigest())


@pytest.mark.django_db
def test_an_upload_is_kept_with_its_sum(study: Study, files: Path, tmp_path: Path) -> None:
    user = UserFactory()
    upload = run_files.store_upload(study=study, source=SimpleUploadedFile("ümläut data.jsonl", TEXT), by=user)
    assert (upload.name, upload.size, upload.sha256, upload.uploaded_by) == ("ümläut data.jsonl", 8, SUM, user)
    assert upload.file.read() == TEXT
    from_disk = run_files.store_upload(study=study, source=made(tmp_path), name="else.csv")
    assert (from_disk.name, from_disk.sha256) == ("else.csv", SUM)
    assert (tmp_path / "made.csv").exists()


@pytest.mark.django_db
def test_an_upload_cannot_choose_its_place(study: Study, files: Path) -> None:
    upload = run_files.store_upload(study=study, source=ContentFile(TEXT, name="x"), name="../../etc/passwd")
    assert upload.name == "passwd"
    assert Path(upload.file.path).resolve().is_relative_to(files.resolve())
    for name in ("..", "...", "\0", "/", " "):
        nameless = run_files.store_upload(study=study, source=ContentFile(TEXT), name=name)
        assert nameless.name == "upload"
        assert Path(nameless.file.path).resolve().is_relative_to(files.resolve())


@pytest.mark.django_db
def test_a_large_upload_takes_little_memory(study: Study, files: Path) -> None:
    class Large(io.RawIOBase):
        left = 200 * 1024 * 1024

        def read(self, size: int = -1) -> bytes:
            size = min(size, self.left)
            self.left -= size
            return bytes(size)

        def seek(self, *_: object) -> int:
            return 0

    tracemalloc.start()
    try:
        upload = run_files.store_upload(study=study, source=File(Large(), name="large.bin"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert upload.size == 200 * 1024 * 1024
    assert peak < 20 * 1024 * 1024
