"""Backup and restore give back an equal system."""

import io
import json
import os
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from crowdrag import __version__
from crowdrag.runtime import backups, restore
from crowdrag.runtime.data_folder import DataFolder, Problem
from crowdrag.runtime.postgres import program
from tests.runtime.conftest import System, rows_of

SEED = """
from django.contrib.auth import get_user_model
user = get_user_model()
for n in range(20):
    user.objects.create_user(f"person{n}@example.org", password="a long pass phrase")
"""


@pytest.fixture(scope="package")
def saved(running: System, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a system in use, made while it runs, with files and a draft of a row in flight."""
    running.query("CREATE TABLE IF NOT EXISTS draft (id serial PRIMARY KEY, text text, log bytea)")
    running.query("INSERT INTO draft (text, log) VALUES ('half a sen', '\\x00ff'), (E'line\\nline ä 𝄞', NULL)")
    artifact = running.folder.files / "artifacts" / "7" / "report.json"
    artifact.parent.mkdir(parents=True, exist_ok=True)
    artifact.write_bytes(os.urandom(100_000))
    target = tmp_path_factory.mktemp("backups") / "crowdrag.tar"
    said = running.crowdrag("backup", str(target))
    assert target.stat().st_mode & 0o077 == 0, "it holds keys"
    assert [path.name for path in target.parent.iterdir()] == ["crowdrag.tar"]
    assert str(running.folder.root) in said
    return target


@pytest.mark.extended
def test_a_restored_system_is_equal(saved: Path, running: System, system: System) -> None:
    system.crowdrag("restore", str(saved))
    system.up("--only", "web")
    assert system.query("SELECT file, at = made_at FROM operations_backup") == [(saved.name, True)]
    ours, theirs = (rows_of(s.folder.database_url()) for s in (system, running))
    assert ours == theirs
    assert len(ours) > 10
    for place in ("files", "keys"):
        found, expected = (
            {p.relative_to(s.folder.root): p.read_bytes() for p in backups.files_below(s.folder.root / place)}
            for s in (system, running)
        )
        assert found == expected
    assert system.get() == 200
    assert system.folder.keys.stat().st_mode & 0o077 == 0


@pytest.mark.extended
def test_a_system_in_use_is_not_replaced_unasked(saved: Path, system: System) -> None:
    system.crowdrag("restore", str(saved))
    assert "--force" in system.crowdrag("restore", str(saved), fails=True)
    system.crowdrag("restore", str(saved), "--force")


@pytest.mark.extended
def test_a_running_system_is_not_replaced(saved: Path, running: System) -> None:
    before = running.status["pid"]
    running.crowdrag("restore", str(saved), "--force", fails=True)
    assert (running.status["pid"], running.get()) == (before, 200)


@pytest.mark.extended
@pytest.mark.parametrize("damage", ["bit", "cut", "other", "missing"])
def test_a_damaged_backup_changes_nothing(saved: Path, system: System, tmp_path: Path, damage: str) -> None:
    broken = tmp_path / "broken.tar"
    content = bytearray(saved.read_bytes())
    if damage == "bit":
        content[len(content) // 2] ^= 1
    elif damage == "cut":
        content = content[: len(content) // 2]
    elif damage == "other":
        content = bytearray(b"no tar at all")
    if damage != "missing":
        broken.write_bytes(content)
    said = system.crowdrag("restore", str(broken), fails=True)
    assert "Traceback" not in said
    assert not system.folder.postgres.exists(), "checked before anything starts"
    assert not (system.folder.root / "restore.new").exists()


@pytest.fixture
def used(running: System) -> Iterator[str]:
    """A database with a table that a restore would replace."""
    url = running.folder.database_url("used")
    with psycopg.connect(running.folder.database_url(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE used")
        with psycopg.connect(url) as own:
            own.execute("CREATE TABLE mine AS SELECT generate_series(1, 10) AS n")
        yield url
        connection.execute("DROP DATABASE used")


@pytest.mark.extended
def test_a_dump_that_breaks_off_leaves_the_database_as_it_was(saved: Path, used: str, tmp_path: Path) -> None:
    """The sums would tell before; the transaction holds even so."""
    dump = tmp_path / "broken.dump"
    with tarfile.open(saved) as tar:
        content = tar.extractfile(backups.DUMP).read()
    for share in (0.0, 0.3, 0.6, 0.95):
        dump.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(Problem):
            restore.load_database(used, dump)
        assert psycopg.connect(used).execute("SELECT sum(n) FROM mine").fetchone() == (55,)


@pytest.mark.extended
def test_a_restore_that_is_killed_leaves_the_database_as_it_was(saved: Path, used: str, tmp_path: Path) -> None:
    """Whoever feeds psql and dies ends its input without COMMIT."""
    with tarfile.open(saved) as tar:
        dump = tar.extractfile(backups.DUMP)
        assert dump is not None
        (tmp_path / backups.DUMP).write_bytes(dump.read())
    script = subprocess.run(
        [program("pg_restore"), "--file=-", tmp_path / backups.DUMP], capture_output=True, check=True
    )
    fed = restore.SQL_BEFORE + script.stdout
    for part in (fed, fed[: len(fed) // 2]):
        psql = [program("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", os.devnull, "-f", "-", used]
        subprocess.run(psql, input=part, capture_output=True, check=False)
        assert psycopg.connect(used).execute("SELECT sum(n) FROM mine").fetchone() == (55,)


def test_a_folder_without_a_system_is_not_backed_up(system: System, tmp_path: Path) -> None:
    target = tmp_path / "b.tar"
    for command in (("backup", str(target)), ("check_invariants",)):
        said = system.crowdrag(*command, fails=True)
        assert str(system.folder.root) in said
        assert "CROWDRAG_DATA_DIR" in said
    assert not target.exists()
    assert not system.folder.root.exists()


def test_a_folder_of_backups_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(Problem):
        backups.backup(DataFolder(tmp_path / "var"), tmp_path / "typo" / "b.tar")
    assert not (tmp_path / "typo").exists()


def test_a_backup_without_tables_is_not_restored(system: System, tmp_path: Path) -> None:
    empty = tmp_path / "empty.tar"
    manifest = {"format": backups.FORMAT, "crowdrag": __version__, "tables": {}, "keys": {}, "members": {}}
    content = json.dumps(manifest).encode()
    with tarfile.open(empty, "w") as tar:
        info = tarfile.TarInfo(backups.MANIFEST)
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    system.folder.create()
    assert not restore.drill(system.folder, empty).is_good


def test_the_reason_of_a_failed_command_is_all_of_its_last_exception() -> None:
    said = "Traceback (most recent call last):\n  ...\nx.y.ProgrammingError: no table\nLINE 1: INSERT\n     ^\n"
    assert backups.reason_of(said) == "x.y.ProgrammingError: no table\nLINE 1: INSERT\n     ^"
    assert backups.reason_of("CommandError: bad\n") == "CommandError: bad"


def test_a_name_that_leads_out_of_the_folder_is_refused(system: System, tmp_path: Path) -> None:
    bad = tmp_path / "bad.tar"
    with tarfile.open(bad, "w") as tar:
        info = tarfile.TarInfo("files/../../escaped")
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    system.crowdrag("restore", str(bad), fails=True)
    assert not (system.folder.root.parent / "escaped").exists()


@pytest.mark.extended
def test_a_backup_of_a_later_release_is_refused(saved: Path, system: System, tmp_path: Path) -> None:
    later = tmp_path / "later.tar"
    with tarfile.open(saved) as old, tarfile.open(later, "w") as new:
        for member in old:
            content = old.extractfile(member).read()
            if member.name == backups.MANIFEST:
                content = json.dumps(json.loads(content) | {"crowdrag": "99.0.0"}).encode()
                member.size = len(content)
            new.addfile(member, io.BytesIO(content))
    assert "99.0.0" in system.crowdrag("restore", str(later), fails=True)


@pytest.mark.extended
def test_keys_that_the_operator_keeps_stay_with_the_operator(saved: Path, system: System) -> None:
    said = system.crowdrag("restore", str(saved), fails=True, CROWDRAG_IDENTITY_KEY="another")
    assert "CROWDRAG_IDENTITY_KEY" in said


def test_an_interrupted_restore_keeps_the_system_from_starting(system: System) -> None:
    system.folder.create()
    (system.folder.root / "restoring").write_text("/backups/crowdrag.tar\n")
    said = system.crowdrag("up", "--port", str(system.port), fails=True)
    assert "crowdrag restore /backups/crowdrag.tar --force" in said
