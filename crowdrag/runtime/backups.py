"""`crowdrag backup FILE`: the database, the files and the keys, in one file that appears when it is complete.

The database is read in one snapshot while people continue to work; files are written once and never changed, so those
of the snapshot still exist when they are copied after it. The layout of the file, which a restore reads, is defined
here too.
"""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, LiteralString

import psycopg
from psycopg import sql

from analysis.durable_files import sync
from crowdrag import __version__
from crowdrag.runtime import embedded_stores, environment
from crowdrag.runtime.data_folder import MEGABYTE, REPOSITORY, DataFolder, Problem
from crowdrag.runtime.postgres import program

FORMAT = 1
MANIFEST = "manifest.json"
DUMP = "database.dump"
CHUNK = 1024 * 1024


def libpq(url: str) -> str:
    """Return a database URL in the form of PostgreSQL's own programs; Django accepts more schemes."""
    return "postgresql://" + url.split("://", 1)[1]


def digest_of(file: IO[bytes]) -> tuple[str, int]:
    """Return SHA-256 and length of the rest of a file."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks(file):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def chunks(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file in chunks."""
    while chunk := file.read(CHUNK):
        yield chunk


def files_below(root: Path) -> list[Path]:
    """Return every file below a folder, in a fixed order."""
    return sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())


def tables(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the names of our tables."""
    rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
    return [row[0] for row in rows]


def row_counts(connection: psycopg.Connection[Any]) -> dict[str, int]:
    """Return the number of rows of each table."""
    return {name: _one(connection, "SELECT count(*) FROM {}", name) for name in tables(connection)}


def _one(connection: psycopg.Connection[Any], query: LiteralString, table: str) -> int:
    row = connection.execute(sql.SQL(query).format(sql.Identifier("public", table))).fetchone()
    assert row is not None
    return int(row[0])


def backup(folder: DataFolder, target: Path) -> dict[str, Any]:
    """Write a backup; return its manifest. Raises Problem if there is no system or any part of it is unavailable."""
    if target.is_dir():
        raise Problem(f"{target} is a folder. Name a file: crowdrag backup {target / 'crowdrag.tar'}")
    if not target.parent.is_dir():
        raise Problem(f"There is no folder {target.parent}. Create it, or name a file in another folder.")
    embedded_stores.require_system(folder)
    partial = target.with_name(f"{target.name}.partial")
    with (
        embedded_stores.borrow(folder) as env,
        tempfile.TemporaryDirectory(dir=target.parent, prefix=".backup-") as staging,
    ):
        dump = Path(staging) / DUMP
        try:
            counts, version = dump_database(libpq(env["DATABASE_URL"]), dump)
            manifest = _write(folder, partial, dump, {"tables": counts, "postgresql": version})
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise Problem(f"The backup could not be written to {target.parent}: {error.strerror}") from error
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
    partial.replace(target)
    sync(target.parent)
    return manifest


def dump_database(url: str, dump: Path) -> tuple[dict[str, int], str]:
    """Dump the database; return the row count of each table from the same snapshot, and the server's version."""
    with psycopg.connect(url) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        row = connection.execute("SELECT pg_export_snapshot(), current_setting('server_version')").fetchone()
        assert row is not None
        counts = row_counts(connection)
        if not counts:
            raise Problem("The database contains no tables, so there is nothing to back up. Is DATABASE_URL correct?")
        options = ["--format=custom", "--no-owner", "--no-privileges", "--schema=public", f"--snapshot={row[0]}"]
        completed = subprocess.run(
            [program("pg_dump"), *options, f"--file={dump}", f"--dbname={url}"],
            capture_output=True,
            text=True,
            check=False,
        )
    if completed.returncode != 0:
        raise Problem(f"The database could not be read completely:\n{completed.stderr.strip()}")
    return counts, str(row[1])


class _Measured(io.RawIOBase):
    """A file that is read once, with its checksum computed on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self.digest.update(chunk)
        return chunk


def _write(folder: DataFolder, partial: Path, dump: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """Write the archive, the manifest last: it contains the checksums of everything before it."""
    members: dict[str, dict[str, object]] = {}
    mode = "w:gz" if partial.name.removesuffix(".partial").endswith(("gz", "tgz")) else "w"
    fd = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "wb") as output:
        with tarfile.open(fileobj=output, mode=mode) as tar:  # type: ignore[call-overload]
            _add(tar, members, DUMP, dump)
            for path in files_below(folder.files):
                with suppress(FileNotFoundError):  # removed meanwhile, by somebody who was allowed to
                    _add(tar, members, f"files/{path.relative_to(folder.files)}", path)
            kept = _add_keys(folder, tar, members)
            manifest = {
                "format": FORMAT,
                "crowdrag": __version__,
                "made_at": datetime.now(UTC).isoformat(timespec="seconds"),  # noqa: TID251 - no Django here
                **facts,
                "keys": kept,
                "members": members,
            }
            _add_bytes(tar, MANIFEST, json.dumps(manifest, indent=1).encode())
        output.flush()
        os.fsync(output.fileno())
    return manifest


def _add_keys(folder: DataFolder, tar: tarfile.TarFile, members: dict[str, dict[str, object]]) -> dict[str, str]:
    """Add the keys stored in our files; for keys that the operator keeps, only their fingerprints."""
    stored = environment.read_keys(folder)
    for name, file in environment.KEYS.items():
        if not os.environ.get(name):
            _add(tar, members, f"keys/{file}", folder.keys / file)
    return {name: environment.fingerprint(value) for name, value in stored.items()}


def _add(tar: tarfile.TarFile, members: dict[str, dict[str, object]], name: str, path: Path) -> None:
    with path.open("rb") as file:
        info = tar.gettarinfo(arcname=name, fileobj=file)
        info.uid = info.gid = 0
        info.uname = info.gname = ""
        measured = _Measured(file)
        tar.addfile(info, measured)
        members[name] = {"sha256": measured.digest.hexdigest(), "size": info.size}


def _add_bytes(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    tar.addfile(info, io.BytesIO(content))


def summary(folder: DataFolder, target: Path, manifest: dict[str, Any]) -> str:
    """Return the lines that the command prints."""
    rows = sum(manifest["tables"].values())
    files = sum(name.startswith("files/") for name in manifest["members"])
    size = target.stat().st_size / MEGABYTE
    what = f"{rows:,} rows in {len(manifest['tables'])} tables, {files:,} files, {size:,.1f} MB"
    keys = "It contains the secret keys: store it safely."
    return f"{target}: {what}. {keys}\nData folder: {folder.root}"


def record(folder: DataFolder, facts: dict[str, Any]) -> str:
    """Record a backup, a drill or a restore in the system; return why that failed, or nothing.

    What was done is valid even if it was not recorded.
    """
    try:
        embedded_stores.require_system(folder)
        with embedded_stores.borrow(folder) as env:
            completed = subprocess.run(
                [sys.executable, "-m", "django", "note_backup"],
                input=json.dumps(facts),
                env={**environment.child_environment(folder), **env, **environment.read_keys(folder)},
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                check=False,
            )
    except Problem as problem:
        return str(problem)
    return "" if completed.returncode == 0 else reason_of(completed.stderr)


# The first line of an exception in a traceback, or of an error of a management command.
_EXCEPTION = re.compile(r"^(?:[\w.]+(?:Error|Exception)|ImproperlyConfigured\S*|[\w.]+\.[A-Z]\w+): ")


def reason_of(stderr: str) -> str:
    """Return the reason in a failed command's output: the last exception, which may continue on further lines."""
    lines = stderr.strip().splitlines()
    starts = [number for number, line in enumerate(lines) if _EXCEPTION.match(line)]
    return "\n".join(lines[starts[-1] :] if starts else lines[-5:]) or "no reason was given"
