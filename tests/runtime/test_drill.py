"""A restore is rehearsed: in a folder of its own, and what came of it is noted."""

from pathlib import Path

import pytest

from tests.runtime.conftest import System, rows_of

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def saved(running: System, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup of a system that runs."""
    target = tmp_path_factory.mktemp("backups") / "drilled.tar"
    running.crowdrag("backup", str(target))
    return target


def noted(system: System) -> list[tuple[object, ...]]:
    return system.query("SELECT kind, file, is_good, rows > 0, message FROM operations_backup ORDER BY id DESC LIMIT 1")


def test_a_backup_is_noted(saved: Path, running: System) -> None:
    assert noted(running) == [("BACKUP", "drilled.tar", True, True, "")]


def test_a_drill_restores_looks_and_leaves_nothing_but_a_note(saved: Path, running: System, tmp_path: Path) -> None:
    before, folders = rows_of(running.folder.database_url()), set(running.folder.root.iterdir())
    running.crowdrag("drill", str(saved))
    assert [row[:4] for row in noted(running)] == [("DRILL", "drilled.tar", True, True)]
    assert rows_of(running.folder.database_url()) == before
    assert set(running.folder.root.iterdir()) == folders
    assert running.get() == 200


def test_a_drill_of_a_damaged_backup_fails_and_says_so(saved: Path, running: System, tmp_path: Path) -> None:
    broken = tmp_path / "broken.tar"
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 1
    broken.write_bytes(content)
    said = running.crowdrag("drill", str(broken), "--place", str(tmp_path / "room"), fails=True)
    assert "Traceback" not in said
    ((kind, file, is_good, _rows, why),) = noted(running)
    assert (kind, file, is_good) == ("DRILL", "broken.tar", False)
    assert str(why).startswith("restore: ")
    assert list((tmp_path / "room").iterdir()) == []


def test_a_drill_of_nothing_is_refused(running: System) -> None:
    assert "/no/such/file" in running.crowdrag("drill", "/no/such/file", fails=True)
