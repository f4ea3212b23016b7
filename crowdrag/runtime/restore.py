"""`crowdrag restore FILE`: give back the system of a backup, equal to the one that was saved.

Nothing is touched before every sum has been checked. The database comes back in one transaction, the files by two
renames; a note in the data folder keeps the system from starting between the two.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any

import psycopg

from crowdrag import __version__
from crowdrag.runtime import archive, embedded, environment, keys, status, valkey
from crowdrag.runtime.folder import REPOSITORY, Folder
from crowdrag.runtime.postgres import program
from crowdrag.runtime.problems import Problem

# Rows that a system has before anybody did anything with it.
FURNITURE = {
    "auth_permission",
    "django_content_type",
    "django_migrations",
    "django_session",
    "llm_endpoint",
}
# The dump makes the schema; what it says of owners and rights is left out, so initdb's are put back. COMMIT is the very
# last line: whoever is killed in between, psql's input ends without it, and nothing has happened.
BEFORE = b"BEGIN; SET LOCAL lock_timeout = '30s'; DROP SCHEMA IF EXISTS public CASCADE;\n"
AFTER = b"\nALTER SCHEMA public OWNER TO pg_database_owner; GRANT USAGE ON SCHEMA public TO PUBLIC; COMMIT;\n"


def restore(folder: Folder, source: Path, *, force: bool) -> dict[str, Any]:
    """Give back the system in `source`; return its manifest. Raises Problem and changes nothing if that cannot be."""
    folder.create()
    if status.is_running(folder) and not status.read(folder).get("stores"):
        raise Problem("CrowdRAG runs on this data folder. Stop it first: crowdrag down")
    staging = folder.root / "restore.new"
    shutil.rmtree(staging, ignore_errors=True)
    try:
        manifest = unpack(source, staging)
        _check(manifest, staging)
        with embedded.lent(folder) as env:
            url = archive.libpq(env["DATABASE_URL"])
            if not force:
                _refuse_if_used(folder, url)
            note = folder.root / "restoring"
            note.write_text(f"{source.resolve()}\n")
            try:
                load_database(url, staging / archive.DUMP)
            except Problem:
                note.unlink()
                raise
            _verify_rows(url, manifest)
            _move_in(folder, staging)
            note.unlink()
            _forget_messages(folder)
            _prepare(folder, env)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return manifest


def unpack(source: Path, staging: Path) -> dict[str, Any]:
    """Unpack a backup beside the data and check every sum; return the manifest."""
    if not source.is_file():
        raise Problem(f"{source} is not there.")
    sums: dict[str, tuple[str, int]] = {}
    try:
        with tarfile.open(source, "r:*") as tar:
            for member in tar:
                sums[member.name] = _unpack_member(tar, member, staging)
        manifest = json.loads((staging / archive.MANIFEST).read_text())
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise Problem(f"{source} is not a whole CrowdRAG backup ({error}). Nothing was changed.") from error
    expected = {name: (entry["sha256"], entry["size"]) for name, entry in manifest["members"].items()}
    sums.pop(archive.MANIFEST, None)
    if wrong := sorted(name for name in expected.keys() | sums.keys() if expected.get(name) != sums.get(name)):
        raise Problem(f"{source} is damaged: {', '.join(wrong[:5])} differ from the manifest. Nothing was changed.")
    return dict(manifest)


def _unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, staging: Path) -> tuple[str, int]:
    """Write one member below `staging`; return its sum and size. A name that leads elsewhere is refused."""
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
        for chunk in archive.chunks(content):
            digest.update(chunk)
            size += len(chunk)
            file.write(chunk)
    return digest.hexdigest(), size


def _check(manifest: dict[str, Any], staging: Path) -> None:
    """Refuse what this release cannot read, and keys that the environment has and the backup does not mean."""
    if manifest["format"] != archive.FORMAT or _release(manifest["crowdrag"]) > _release(__version__):
        raise Problem(
            f"The backup was made by CrowdRAG {manifest['crowdrag']}, and this is {__version__}: install that first."
        )
    for name, file in keys.KEYS.items():
        given, meant = os.environ.get(name), manifest["keys"][name]
        if given and archive.fingerprint(given) != meant:
            raise Problem(f"{name} is not the key of the backed up system (fingerprint {meant}): set that one.")
        if not given and not (staging / "keys" / file).exists():
            raise Problem(
                f"The backup does not hold {name}, as its operator kept it outside: set it (fingerprint {meant})."
            )


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:3] if part.isdigit())


def _refuse_if_used(folder: Folder, url: str) -> None:
    with psycopg.connect(url) as connection:
        counts = archive.row_counts(connection)
    used = {name: count for name, count in counts.items() if count and name not in FURNITURE}
    files = len(archive.files_below(folder.files))
    if used or files:
        rows = sum(used.values())
        raise Problem(
            f"This system is in use ({rows:,} rows, {files:,} files), and a restore replaces it. "
            "Make a backup of it, then say so: crowdrag restore FILE --force"
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
    said = b""
    with suppress(BrokenPipeError):
        server.stdin.write(BEFORE)
        for chunk in archive.chunks(script.stdout):
            server.stdin.write(chunk)
        said = script.stderr.read()
        if script.wait() == 0:
            server.stdin.write(AFTER)
    script.kill()
    with suppress(BrokenPipeError):
        server.stdin.close()
    complaint = server.stderr.read()
    if server.wait() != 0 or script.wait() != 0:
        why = (said + complaint).decode(errors="replace").strip()
        raise Problem(f"The database could not be restored, and is as it was:\n{why}")


def _verify_rows(url: str, manifest: dict[str, Any]) -> None:
    with psycopg.connect(url) as connection:
        found = archive.row_counts(connection)
    if found != manifest["tables"]:
        differing = sorted(
            name for name in found.keys() | manifest["tables"].keys() if found.get(name) != manifest["tables"].get(name)
        )
        raise Problem(f"The restored database has other rows than the backup names, in {', '.join(differing[:5])}.")


def _move_in(folder: Folder, staging: Path) -> None:
    """Put the files and the keys in their places."""
    for place in (folder.files, folder.keys):
        fresh, old = staging / place.name, folder.root / f"{place.name}.old"
        if place == folder.keys and not fresh.exists():
            continue  # the operator keeps them outside
        fresh.mkdir(mode=0o700, exist_ok=True)
        fresh.chmod(0o700)
        shutil.rmtree(old, ignore_errors=True)
        if place.exists():
            place.rename(old)
        fresh.rename(place)
        shutil.rmtree(old, ignore_errors=True)


def _forget_messages(folder: Folder) -> None:
    """Empty our own broker: its messages are about work of the system that was replaced."""
    if environment.embeds_valkey():
        with valkey.client(folder) as connection:
            connection.flushall()


def _prepare(folder: Folder, env: dict[str, str]) -> None:
    """Bring a backup of an older release up to date."""
    made = subprocess.run(
        [sys.executable, "-m", "crowdrag.runtime.prepare"],
        env={**environment.of_child(folder), **env, **keys.read(folder)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise Problem(f"All is restored, but could not be brought up to date:\n{made.stderr.strip()}")
