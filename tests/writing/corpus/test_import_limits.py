"""Small files that unpack to much, or say that they do, are refused in little memory: measured in a process each."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

MIB = 1024**2
LARGE = 128 * MIB
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")

PROGRAM = """
import sys
from django.conf import settings
settings.configure(USE_I18N=False)
from pathlib import Path
from writing.corpus.imports import json_lines, sources
from writing.corpus.imports.problems import BadInput, Problems
path = Path(sys.argv[1])
problems = Problems()
limits = json_lines.Limits(file=64 * json_lines.MIB)
rows = 0
try:
    with path.open("rb") as file:
        if sources.is_archive(file, path.name):
            with sources.of_archive(file, path.name, problems) as members:
                for member in members:
                    rows += sum(1 for _ in json_lines.lines(member, problems, limits=limits))
        else:
            rows = sum(1 for _ in json_lines.lines(sources.of_path(path), problems, limits=limits))
except BadInput:
    pass
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(rows, len(problems.found), peak)
"""


def read(path: Path) -> tuple[int, int, int]:
    """Read a file as an import does. Return its lines, the number of problems, and the peak of memory in bytes."""
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)],
        capture_output=True, text=True, check=True, cwd=root, env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    rows, problems, peak = map(int, done.stdout.split())
    return rows, problems, peak * 1024


def zeros(size: int = LARGE) -> bytes:
    return bytes(size)


def pax(size: int) -> bytes:
    """Return a tar archive whose extended header is so long, and true."""
    header = tarfile.TarInfo("PaxHeader/x")
    header.type, header.size = tarfile.XHDTYPE, size
    record = b"%d comment=" % size
    content = record + b"x" * (size - len(record) - 1) + b"\n"
    return header.tobuf() + content + bytes(-size % 512)


def tar_of(name: str, size: int) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tarred:
        info = tarfile.TarInfo(name)
        info.size = size
        tarred.addfile(info, io.BytesIO(zeros(size)))
    return file.getvalue()


def long_name(size: int) -> bytes:
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, size
    return header.tobuf() + b"n" * size + bytes(-size % 512)


def many_headers(count: int) -> bytes:
    """Return a tar archive of many files, each with an extended header of its own."""
    record = b"%d a=" % 100_000 + b"x" * (100_000 - 10) + b"\n"
    header = tarfile.TarInfo("PaxHeader/x")
    header.type, header.size = tarfile.XHDTYPE, len(record)
    one = header.tobuf() + record + bytes(-len(record) % 512) + tarfile.TarInfo("x.jsonl").tobuf()
    return one * count


def zip_of(method: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as zipped:
        zipped.writestr("topics.jsonl", zeros())
    return file.getvalue()


def zip_of_many() -> bytes:
    """Return a zip archive with a list of 400,000 files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as zipped:
        zipped.writestr("x", b"")
    data = file.getvalue()
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    listed = data[start:end] * 400_000
    size = len(listed).to_bytes(4, "little")
    return data[:start] + listed + data[end : end + 8] + b"\xff\xff\xff\xff" + size + data[end + 16 :]


def big_dictionary(data: bytes) -> bytes:
    """Pack with a dictionary so large that unpacking takes its size in memory."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 192 * MIB}]
    return lzma.compress(data, lzma.FORMAT_XZ, filters=filters)


BOMBS: dict[str, Callable[[], bytes]] = {
    "pax.tar": lambda: pax(64 * MIB),
    "pax.tar.gz": lambda: gzip.compress(pax(LARGE), 6),
    "pax.tar.bz2": lambda: bz2.compress(pax(LARGE)),
    "pax.tar.xz": lambda: lzma.compress(pax(LARGE), preset=0),
    "long-name.tar.gz": lambda: gzip.compress(long_name(LARGE), 6),
    "headers.tar.gz": lambda: gzip.compress(many_headers(4000), 6),
    "nested.tar.gz": lambda: gzip.compress(pax(1024) * 20_000, 6),
    "dictionary.tar.xz": lambda: big_dictionary(tar_of("topics.jsonl", MIB)),
    "deflated.zip": lambda: zip_of(zipfile.ZIP_DEFLATED),
    "bzip2.zip": lambda: zip_of(zipfile.ZIP_BZIP2),
    "lzma.zip": lambda: zip_of(zipfile.ZIP_LZMA),
    "many.zip": zip_of_many,
    "plain.jsonl.gz": lambda: gzip.compress(zeros(), 6),
}


@pytest.mark.extended
@pytest.mark.parametrize("name", list(BOMBS))
def test_a_bomb_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())

    _rows, problems, peak = read(path)

    assert problems
    assert peak < 100 * MIB


@pytest.mark.extended
@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_an_archive_that_is_none_is_read_line_by_line(suffix: str, tmp_path: Path) -> None:
    mode = "w:" + suffix.removeprefix("tar").removeprefix(".")
    path = tmp_path / f"corpus.{suffix}"
    with tarfile.open(path, mode, format=tarfile.PAX_FORMAT) as tarred:
        for name in ("raw/a.jsonl", "raw/" + "long" * 40 + ".jsonl"):
            info = tarfile.TarInfo(name)
            info.size = 30_000
            tarred.addfile(info, io.BytesIO(b"{}\n" * 10_000))

    rows, problems, _peak = read(path)

    assert (rows, problems) == (20_000, 0)
