"""Looking for words everywhere that the system keeps anything: the database as dumped, files, the broker, the cache.

What is packed is unpacked: columns of bytes, sessions, archives, Parquet. So "nothing is found" means what it says.
"""

import base64
import gzip
import io
import os
import re
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow.parquet
import redis
import zstandard
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from psycopg.conninfo import make_conninfo

from crowdrag.runtime import postgres

_TABLE = re.compile(r"COPY (\S+) \(")
_BYTES = re.compile(rb"\\\\x([0-9a-f]+)")
# What Django's sessions look like: signed, and packed where that is shorter.
_SESSION = re.compile(rb"(?:^|\t)\.?(eJ[\w-]+):")
DEEPEST = 4


class Words:
    """What is looked for, whatever its case."""

    def __init__(self, *words: str) -> None:
        self._sought = re.compile("|".join(map(re.escape, sorted(words))).encode() + rb"\w*", re.IGNORECASE)

    def said_in(self, content: bytes) -> set[str]:
        """Return what of it is said in some bytes, packed or not."""
        return {hit.decode().lower() for layer in _layers(content) for hit in self._sought.findall(layer)}


def in_database(words: Words) -> dict[str, set[str]]:
    """Return what is found in a dump of the database, by table; bytes and sessions as the code reads them."""
    table, found = "", {}
    for line in _dumped().split(b"\n"):
        if begins := _TABLE.match(line.decode(errors="replace")):
            table = begins[1].removeprefix("public.")
        said = set[str]()
        for content in (line, *_packed(line)):
            said |= words.said_in(content)
        if said:
            found[table] = found.get(table, set()) | said
    return found


def in_files(words: Words, folders: Iterable[Path]) -> dict[str, set[str]]:
    """Return what is found in files below folders, and in their names."""
    found = {}
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        if said := words.said_in(path.name.encode()) | words.said_in(path.read_bytes()):
            found[str(path)] = said
    return found


def in_broker(words: Words) -> dict[str, set[str]]:
    """Return what is found in any key of the broker, whatever its type."""
    found = {}
    # As Celery writes the address of a socket, and as its own client does.
    with redis.Redis.from_url(settings.BROKER_URL.replace("redis+socket:", "unix:")) as client:
        for key in client.scan_iter(count=1000):
            try:
                content = bytes(client.dump(key) or b"")
            except redis.RedisError:
                continue  # gone in this moment: another's
            if said := words.said_in(key) | words.said_in(content) | words.said_in(_unquoted(content)):
                found[key.decode(errors="replace")] = said
    return found


def in_cache(words: Words) -> set[str]:
    """Return what is found in this process's cache."""
    kept = getattr(cache, "_cache", {})
    return {hit for key, value in kept.items() for hit in words.said_in(key.encode()) | words.said_in(bytes(value))}


def _dumped() -> bytes:
    known = connection.get_connection_params()
    address = make_conninfo(**{name: known[name] for name in ("dbname", "user", "host", "port") if known.get(name)})
    told = {**os.environ, "PGPASSWORD": str(known.get("password") or "")}
    command = [str(postgres.program("pg_dump")), "--data-only", "--dbname", address]
    return subprocess.run(command, env=told, check=True, capture_output=True).stdout


def _packed(line: bytes) -> Iterator[bytes]:
    for hit in _BYTES.findall(line):
        yield bytes.fromhex(hit.decode())
    for hit in _SESSION.findall(line):
        yield base64.urlsafe_b64decode(hit + b"=" * (-len(hit) % 4))


def _unquoted(content: bytes) -> bytes:
    """Messages of Celery hold their body in base64."""
    parts = re.findall(rb"[A-Za-z0-9+/]{24,}={0,2}", content)
    return b"\n".join(base64.b64decode(part + b"=" * (-len(part) % 4)) for part in parts if len(part) % 4 != 1)


def _layers(content: bytes, depth: int = 0) -> Iterator[bytes]:
    yield content
    if depth < DEEPEST:
        for inner in _unpacked(content):
            yield from _layers(inner, depth + 1)


def _unpacked(content: bytes) -> Iterator[bytes]:
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    elif content[:4] == b"\x28\xb5\x2f\xfd":
        yield zstandard.ZstdDecompressor().decompressobj().decompress(content)
    elif content[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                yield name.encode()
                yield archive.read(name)
    elif content[:4] == b"PAR1":
        rows = pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
        yield repr(rows).encode()
    elif content[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive.getmembers():
                yield member.name.encode()
                if (file := archive.extractfile(member)) is not None:
                    yield file.read()
    elif content[:1] == b"\x78":
        try:
            yield zlib.decompress(content)
        except zlib.error:
            return
