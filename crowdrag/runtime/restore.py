"""`crowdrag restore FILE`: restore the system of a backup; `crowdrag drill FILE`: rehearse it.

Nothing is changed before every checksum has been verified. The database is restored in one transaction, the files by
two renames; a marker in the data folder prevents the system from starting between the two.

A backup that was never restored is unproven. So the drill restores it with the same command, in a separate process,
folder and PostgreSQL; rows are counted and checksums verified on the way, then the invariants of the restored data are
checked. The folder is removed afterwards. Nothing of the running system changes except one row, which records the
result.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import psycopg

from crowdrag import __version__
from crowdrag.runtime import backups, data_folder, embedded_stores, environment, valkey
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem
from crowdrag.runtime.postgres import program

# Rows that a system has before anybody has used it.
TABLES_FILLED_AT_START = {
    "auth_permission",
    "django_content_type",
    "django_migrations",
    "django_session",
    "llm_endpoint",
}
# The dump creates the schema; its owners and rights are left out, so initdb's are restored. COMMIT is the very last
# line: if the process is killed before, psql's input ends without it, and nothing has changed.
SQL_BEFORE = b"BEGIN; SET LOCAL lock_timeout = '30s'; DROP SCHEMA IF EXISTS public CASCADE;\n"
SQL_AFTER = b"\nALTER SCHEMA public OWNER TO pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC; COMMIT;\n"


def restore(folder: DataFolder, source: Path, *, force: bool) -> dict[str, Any]:
    """Restore the system in `source`; return its manifest. Raises Problem and changes nothing if that is impossible."""
    folder.create()
    if data_folder.is_running(folder) and not data_folder.read_status(folder).get("stores"):
        raise Problem("CrowdRAG is running on this data folder. Stop it first: crowdrag down")
    staging = folder.root / "restore.new"
    shutil.rmtree(staging, ignore_errors=True)
    try:
        manifest = unpack(source, staging)
        _check(manifest, staging)
        with embedded_stores.borrow(folder) as env:
            url = backups.libpq(env["DATABASE_URL"])
            if not force:
                _refuse_if_used(folder, url)
            note = folder.root / "restoring"
            note.write_text(f"{source.resolve()}\n")
            try:
                load_database(url, staging / backups.DUMP)
            except Problem:
                note.unlink()
                raise
            _verify_rows(url, manifest)
            _move_in(folder, staging)
            environment.note_identity_key(folder, manifest["keys"]["CROWDRAG_IDENTITY_KEY"])
            note.unlink()
            _forget_messages(folder)
            _prepare(folder, env)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest


def unpack(source: Path, staging: Path) -> dict[str, Any]:
    """Unpack a backup beside the data and verify every checksum; return the manifest."""
    if not source.is_file():
        raise Problem(f"There is no file {source}.")
    sums: dict[str, tuple[str, int]] = {}
    try:
        with tarfile.open(source, "r:*") as tar:
            for member in tar:
                sums[member.name] = _unpack_member(tar, member, staging)
        manifest = json.loads((staging / backups.MANIFEST).read_text())
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise Problem(f"{source} is not a complete CrowdRAG backup ({error}). Nothing was changed.") from error
    expected = {name: (entry["sha256"], entry["size"]) for name, entry in manifest["members"].items()}
    sums.pop(backups.MANIFEST, None)
    if wrong := sorted(name for name in expected.keys() | sums.keys() if expected.get(name) != sums.get(name)):
        names = ", ".join(wrong[:5])
        raise Problem(f"{source} is damaged: these files do not match the manifest: {names}. Nothing was changed.")
    return dict(manifest)


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, staging: Path) -> tuple[str, int]:
    """Write one member below `staging`; return its checksum and size. A name that leads elsewhere is rejected."""
    name = PurePosixPath(member.name)
    if not member.isreg() or name.is_absolute() or ".." in name.parts:
        raise ValueError(f"it holds {member.name}, which no backup does")
    target = staging / name
    target.parent.mkdir(parents=True, exist_ok=True)
    content = tar.extractfile(member)
    assert content is not None
    digest, size = hashlib.sha256(), 0
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if name.parts[0] == "keys" else 0o644)
    with os.fdopen(fd, "wb") as file:
        for chunk in backups.chunks(content):
            digest.update(chunk)
            size += len(chunk)
            file.write(chunk)
    return digest.hexdigest(), size


def _check(manifest: dict[str, Any], staging: Path) -> None:
    """Reject a backup without tables or of a later release, and keys in the environment that differ from its own."""
    if not manifest["tables"]:
        raise Problem("The backup contains no tables: it was made of an empty database. Nothing was changed.")
    if manifest["format"] != backups.FORMAT or _release(manifest["crowdrag"]) > _release(__version__):
        raise Problem(
            f"The backup was made by CrowdRAG {manifest['crowdrag']}, and this is {__version__}: install that first."
        )
    for name, file in environment.KEYS.items():
        key, meant = os.environ.get(name), manifest["keys"][name]
        if key and environment.fingerprint(key) != meant:
            raise Problem(f"{name} is not the key of the backed up system (fingerprint {meant}): set that one.")
        if not key and not (staging / "keys" / file).exists():
            raise Problem(
                f"The backup does not hold {name}, as its operator kept it outside: set it (fingerprint {meant})."
            )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


def _refuse_if_used(folder: DataFolder, url: str) -> None:
    with psycopg.connect(url) as connection:
        counts = backups.row_counts(connection)
    used = {name: count for name, count in counts.items() if count and name not in TABLES_FILLED_AT_START}
    files = len(backups.files_below(folder.files))
    if used or files:
        rows = sum(used.values())
        raise Problem(
            f"This system is in use ({rows:,} rows, {files:,} files). A restore replaces its data. "
            "Back it up first, then run: crowdrag restore FILE --force"
        )


def load_database(url: str, dump: Path) -> None:
    """Replace the database's content by a dump's, in one transaction."""
    script = subprocess.Popen(
        [program("pg_restore"), "--no-owner", "--no-privileges", "--file=-", str(dump)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    server = subprocess.Popen(
        [program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", os.devnull, "-f", "-", url],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert script.stdout is not None
    assert script.stderr is not None
    assert server.stdin is not None
    assert server.stderr is not None
    errors = b""
    with suppress(BrokenPipeError):
        server.stdin.write(SQL_BEFORE)
        for chunk in backups.chunks(script.stdout):
            server.stdin.write(chunk)
        errors = script.stderr.read()
        if script.wait() == 0:
            server.stdin.write(SQL_AFTER)
    script.kill()
    with suppress(BrokenPipeError):
        server.stdin.close()
    complaint = server.stderr.read()
    if server.wait() != 0 or script.wait() != 0:
        why = (errors + complaint).decode(errors="replace").strip()
        raise Problem(f"The database could not be restored and has not changed:\n{why}")


def _verify_rows(url: str, manifest: dict[str, Any]) -> None:
    with psycopg.connect(url) as connection:
        counts = backups.row_counts(connection)
    if counts != manifest["tables"]:
        differing = sorted(
            name
            for name in counts.keys() | manifest["tables"].keys()
            if counts.get(name) != manifest["tables"].get(name)
        )
        raise Problem(
            f"The number of rows in the restored database differs from the backup, in {', '.join(differing[:5])}."
        )


def _move_in(folder: DataFolder, staging: Path) -> None:
    """Move the files and the keys into place."""
    for folder_in_use in (folder.files, folder.keys):
        fresh, old = staging / folder_in_use.name, folder.root / f"{folder_in_use.name}.old"
        if folder_in_use == folder.keys and not fresh.exists():
            continue  # the operator keeps them outside
        fresh.mkdir(mode=0o700, exist_ok=True)
        fresh.chmod(0o700)
        shutil.rmtree(old, ignore_errors=True)
        if folder_in_use.exists():
            folder_in_use.rename(old)
        fresh.rename(folder_in_use)
        shutil.rmtree(old, ignore_errors=True)


def _forget_messages(folder: DataFolder) -> None:
    """Empty our own broker: its messages are about work of the replaced system."""
    if environment.embeds_valkey():
        with valkey.client(folder) as connection:
            connection.flushall()


def _prepare(folder: DataFolder, env: dict[str, str]) -> None:
    """Upgrade a backup of an older release."""
    completed = subprocess.run(
        [sys.executable, "-m", "crowdrag.runtime.preparation"],
        env={**environment.child_environment(folder), **env, **environment.read_keys(folder)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode != 0:
        raise Problem(f"The backup was restored but could not be upgraded to this release:\n{completed.stderr.strip()}")


# Addresses of the running system's stores; a drill has its own.
SYSTEM_ADDRESSES = environment.ADDRESSES
STOPS_WITHIN = 60.0


@dataclass(frozen=True)
class DrillResult:
    """The result of a drill."""

    is_good: bool
    seconds: float
    message: str
    manifest: dict[str, Any] = field(default_factory=dict)

    def facts(self, source: Path) -> dict[str, Any]:
        """Return what is recorded about it."""
        return {
            "kind": "DRILL",
            "file": source.name,
            "size": source.stat().st_size if source.is_file() else 0,
            "is_good": self.is_good,
            "seconds": round(self.seconds, 1),
            "message": self.message,
            **figures(self.manifest),
        }


def figures(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest's time of backup, rows and files."""
    if not manifest:
        return {}
    files = sum(name.startswith("files/") for name in manifest["members"])
    return {"made_at": manifest["made_at"], "rows": sum(manifest["tables"].values()), "files": files}


def drill(folder: DataFolder, source: Path, *, place: Path | None = None) -> DrillResult:
    """Restore a backup into an empty system, verify it, and remove it. Raises Problem if there is no backup."""
    if not source.is_file():
        raise Problem(f"There is no file {source}.")
    where = place or folder.root
    where.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with _scratch(where) as scratch:
        for command in (["restore", str(source.resolve())], ["check_invariants"]):
            completed = _run(scratch, command)
            if completed.returncode != 0:
                output = (completed.stderr + completed.stdout).strip().replace(str(scratch.root), "the drill's folder")
                return DrillResult(
                    False, time.monotonic() - began, f"{command[0]}: {output[-2000:] or 'no reason was given'}"
                )
    manifest = _manifest(source)
    return DrillResult(
        True, time.monotonic() - began, "The backup can be restored, and all consistency checks passed.", manifest
    )


@contextmanager
def _scratch(where: Path) -> Iterator[DataFolder]:
    """Provide an empty data folder; its stores have stopped when it is removed."""
    root = Path(tempfile.mkdtemp(prefix=".drill-", dir=where))
    folder = DataFolder(root)
    try:
        yield folder
    finally:
        deadline = time.monotonic() + STOPS_WITHIN
        while data_folder.is_running(folder) and time.monotonic() < deadline:
            time.sleep(0.1)
        shutil.rmtree(root, ignore_errors=True)


def _run(scratch: DataFolder, command: list[str]) -> "subprocess.CompletedProcess[str]":
    kept = {name: value for name, value in os.environ.items() if name not in SYSTEM_ADDRESSES}
    return subprocess.run(
        [sys.executable, "-m", "crowdrag.runtime.cli", *command],
        env=kept | {"CROWDRAG_DATA_DIR": str(scratch.root)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def _manifest(source: Path) -> dict[str, Any]:
    with tarfile.open(source, "r:*") as tar:
        content = tar.extractfile(backups.MANIFEST)
        assert content is not None
        return dict(json.load(content))
