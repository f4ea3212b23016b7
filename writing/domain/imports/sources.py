"""Where an import reads from: a folder, single files, or an archive whose members are read as streams.

Nothing is ever unpacked to disk, so no name in an archive can lead anywhere; members are found by their file name.
"""

import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from .problems import Problems
from .streams import Pieces, TooLarge, unpacked

SUFFIXES = (".gz", ".jsonl", ".json")
MAX_MEMBERS = 10_000
MAX_ARCHIVE = 4 * 1024**3
# What the headers of so many files take, generously.
MAX_HEADERS = 32 * 1024**2
# Of others, Python's reader unpacks as much at once as there is.
ZIP_EXPECTED = "a zip archive whose files are stored or deflated"
ZIP_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# What Python's readers raise on archives and compressed files that are cut short, damaged or of an unknown method.
UNREADABLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RecursionError,
    TooLarge,
)


@dataclass(frozen=True)
class Member:
    """One readable file: its name for messages, its size as stored, and how to open it."""

    name: str
    size: int
    opener: Callable[[], BinaryIO]

    def open(self) -> BinaryIO:
        """Open it for reading from its start."""
        return self.opener()

    @property
    def stem(self) -> str:
        """Its name without folders and suffixes: what it is found by."""
        name = PurePosixPath(self.name).name
        changed = True
        while changed:
            changed = False
            for suffix in SUFFIXES:
                if name.endswith(suffix) and name != suffix:
                    name, changed = name.removesuffix(suffix), True
        return name


class Source:
    """The files of one import by name without folder and suffix. Whatever nobody asks for is left alone."""

    def __init__(self, members: Iterable[Member]):
        self._members: dict[str, list[Member]] = {}
        for member in members:
            if not is_hidden(member.name):
                self._members.setdefault(member.stem, []).append(member)

    @property
    def names(self) -> list[str]:
        """The names that files can be found by."""
        return sorted(self._members)

    def find(self, stem: str) -> list[Member]:
        """Return the files of this name."""
        return self._members.get(stem, [])


def of_path(path: Path) -> Member:
    """Return a file of this machine."""
    return Member(path.name, path.stat().st_size, lambda: path.open("rb"))


def of_folder(folder: Path) -> Iterator[Member]:
    """Yield the files of a folder and of the folders in it."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield Member(path.relative_to(folder).as_posix(), path.stat().st_size, _path_opener(path))


def is_archive(file: BinaryIO, name: str) -> bool:
    """Say whether a file is an archive: zip by content, tar by name (a gzipped one looks like any gzip)."""
    if name.lower().endswith((".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")):
        return True
    found = zipfile.is_zipfile(file)
    file.seek(0)
    return found


@contextmanager
def of_archive(file: BinaryIO, name: str, problems: Problems) -> Iterator[list[Member]]:
    """Give the members of a zip or tar archive, readable until the block ends."""
    try:
        if zipfile.is_zipfile(file):
            file.seek(0)
            with open_zip(file) as zipped:
                yield _zip_members(zipped, name, problems)
        else:
            pieces = Pieces(unpacked(file))
            pieces.allow(MAX_HEADERS)
            with tarfile.TarFile(fileobj=pieces) as tarred:  # type: ignore[arg-type] # all that it calls is there
                members = _tar_members(tarred, name, problems)
                pieces.allow(None)
                yield members
    except UNREADABLE as error:
        problems.add(file=name, expected="a zip or tar archive that is whole", message=f"cannot be read: {error}")
        problems.refuse_any()


def open_zip(file: IO[bytes]) -> zipfile.ZipFile:
    """Open a zip archive; its list of files is read only if it is of a size that its files can need."""
    return zipfile.ZipFile(Pieces(file))


def _zip_members(zipped: zipfile.ZipFile, name: str, problems: Problems) -> list[Member]:
    infos = [info for info in zipped.infolist() if not info.is_dir()]
    if len(infos) > MAX_MEMBERS or sum(info.file_size for info in infos) > MAX_ARCHIVE:
        problems.add(file=name, expected="at most 10,000 files with 4 GB", message="the archive holds more")
        return []
    encrypted = [info.filename for info in infos if info.flag_bits & 1]
    if encrypted:
        problems.add(file=name, expected="an archive without a password", message=f"{encrypted[0]} is encrypted")
        return []
    if any(info.compress_type not in ZIP_METHODS for info in infos):
        problems.add(file=name, expected=ZIP_EXPECTED, message="it is compressed with another method")
        return []
    return [Member(info.filename, info.file_size, _zip_opener(zipped, info)) for info in infos]


def _tar_members(tarred: tarfile.TarFile, name: str, problems: Problems) -> list[Member]:
    members: list[Member] = []
    total = 0
    for info in tarred:  # its size is known before it is skipped, so a bomb is refused before it goes off
        # Headers may hold much beside, and the archive keeps all of them.
        info.pax_headers = {}
        tarred.pax_headers = {}
        total += info.size
        if len(members) >= MAX_MEMBERS or total > MAX_ARCHIVE:
            problems.add(file=name, expected="at most 10,000 files with 4 GB", message="the archive holds more")
            return []
        if info.isfile():  # no links, no devices
            members.append(Member(info.name, info.size, _tar_opener(tarred, info)))
    return members


def _path_opener(path: Path) -> Callable[[], BinaryIO]:
    return lambda: path.open("rb")


def _zip_opener(zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: zipped.open(info)  # type: ignore[return-value]


def _tar_opener(tarred: tarfile.TarFile, info: tarfile.TarInfo) -> Callable[[], BinaryIO]:
    def opened() -> BinaryIO:
        stream = tarred.extractfile(info)
        assert stream is not None  # a regular file
        return stream  # type: ignore[return-value]

    return opened


def is_hidden(name: str) -> bool:
    """Say whether an operating system left it (._file, .DS_Store, __MACOSX)."""
    parts = PurePosixPath(name).parts
    return not parts or parts[-1].startswith(".") or "__MACOSX" in parts
