"""Files of a storage as one ZIP, made while it is sent: as they are, in little memory, never cut short in silence."""

import io
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from django.core.files.storage import FileSystemStorage

from crowdrag.jobs import file_storage
from crowdrag.jobs.file_storage import BrokenPartError, ZipPart

TEXT = b"Leaves fall. " * 5000
SENT = {"a/README.md": TEXT, "a/part.parquet": bytes(range(256)) * 400, "a/empty.csv": b"", "a/log.jsonl.gz": TEXT}


@pytest.fixture
def storage(tmp_path: Path) -> FileSystemStorage:
    return FileSystemStorage(tmp_path)


def parts(storage: FileSystemStorage, files: dict[str, bytes]) -> list[ZipPart]:
    """These files in the storage, under other names than they are to have."""
    found = []
    for number, (path, content) in enumerate(files.items()):
        Path(storage.path(f"kept-{number}")).write_bytes(content)
        found.append(ZipPart(path, f"kept-{number}", len(content)))
    return found


def opened(sent: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(sent))


def test_files_come_out_as_they_went_in_and_only_text_is_compressed(storage: FileSystemStorage) -> None:
    these = parts(storage, SENT)
    sent = b"".join(file_storage.stream_zip(storage, these))
    archive = opened(sent)
    assert archive.testzip() is None
    assert {name: archive.read(name) for name in archive.namelist()} == SENT
    assert {entry.external_attr >> 16 & 0o777 for entry in archive.infolist()} == {0o644}
    assert b"".join(file_storage.stream_zip(storage, these)) == sent, "the same files give the same bytes"
    kinds = {entry.filename: entry.compress_type for entry in archive.infolist()}
    assert kinds["a/part.parquet"] == kinds["a/log.jsonl.gz"] == zipfile.ZIP_STORED
    assert kinds["a/README.md"] == zipfile.ZIP_DEFLATED
    assert archive.getinfo("a/README.md").compress_size < len(TEXT) / 20


def test_files_too_large_for_four_bytes_are_read_all_the_same(
    storage: FileSystemStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = b"".join(file_storage.stream_zip(storage, parts(storage, SENT)))
    monkeypatch.setattr(file_storage, "ZIP64_FROM", 0)
    sent = b"".join(file_storage.stream_zip(storage, parts(storage, SENT)))
    assert len(sent) > len(near)  # sizes take eight bytes
    assert {name: opened(sent).read(name) for name in SENT} == SENT


@pytest.mark.parametrize("path", ["large.parquet", "large.csv"])
def test_a_large_file_is_never_in_memory(storage: FileSystemStorage, path: str) -> None:
    size = 48 * file_storage.CHUNK
    with Path(storage.path("large")).open("wb") as file:
        file.truncate(size)
    tracemalloc.start()
    try:
        longest = max(len(chunk) for chunk in file_storage.stream_zip(storage, [ZipPart(path, "large", size)]))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert longest < 3 * file_storage.CHUNK
    assert peak < 12 * file_storage.CHUNK


def test_what_ends_too_soon_or_is_not_there_is_no_zip(storage: FileSystemStorage) -> None:
    these = parts(storage, SENT)
    for broken, error in (
        (ZipPart("b", these[0].place, len(TEXT) + 1), BrokenPartError),
        (ZipPart("b", "nowhere", 5), FileNotFoundError),
    ):
        sent = []
        with pytest.raises(error):
            sent += file_storage.stream_zip(storage, [these[1], broken, these[2]])
        with pytest.raises(zipfile.BadZipFile):
            opened(b"".join(sent))
