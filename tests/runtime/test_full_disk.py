"""A full disk: the status says so, readiness and the doctor see it, and the database waits for room.

On a small file system of its own, where this account may mount one.
"""

import contextlib
import json
import os
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import _disk
from crowdrag.runtime import data_folder
from crowdrag.runtime.data_folder import DataFolder
from tests.runtime.conftest import System, eventually

pytestmark = pytest.mark.extended


@contextlib.contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """Mount a small file system there."""
    place.mkdir()
    with _disk.small_disk(place, megabytes) as is_there:
        if not is_there:
            pytest.skip("this account may not mount a file system")
        yield place


def test_the_status_is_written_on_a_full_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 16) as disk:
        folder = DataFolder(disk / "var")
        folder.create()
        data_folder.write_status(folder, {"phase": "running"})
        filler = _disk.fill(disk)
        data_folder.write_status(folder, {"phase": "running", "space": "0 MB left"})
        assert data_folder.read_status(folder)["space"] == "0 MB left"
        assert not (folder.run / "reserve").exists(), "its room is in use"
        filler.unlink()
        data_folder.write_status(folder, {"phase": "running"})
        assert (folder.run / "reserve").stat().st_size == data_folder.RESERVE_BYTES


def ready(system: System) -> tuple[int, dict[str, str]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{system.port}/readyz", timeout=30) as answer:
            return answer.status, json.load(answer)["checks"]
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)["checks"]


def test_a_system_on_a_full_disk_says_so_and_comes_back(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 400) as disk:
        system = System(disk / "var")
        try:
            system.up("--only", "web,sweep")
            assert ready(system)[0] == 200
            filler = _disk.fill(disk)
            status_code, checks = eventually(lambda: found if (found := ready(system))[0] == 503 else None)
            assert (status_code, checks["writing"]) == (503, "missing")
            # What a database without room does sooner or later.
            os.kill(system.pid("postgres"), signal.SIGKILL)
            entry = eventually(lambda: _waiting(system))
            eventually(lambda: "space" in system.status)
            restarts = entry["restarts"]
            time.sleep(6)
            assert system.status["services"]["postgres"]["restarts"] == restarts, "started again and again"
            began = time.monotonic()
            said = system.crowdrag("doctor", fails=True)
            assert time.monotonic() - began < 30, "ten seconds, and what starting Python takes on a busy machine"
            assert "WRONG  System" in said
            filler.unlink()
            eventually(lambda: system.ready("postgres") and ready(system)[0] == 200)
        finally:
            system.end()


def _waiting(system: System) -> dict[str, object] | None:
    entry: dict[str, object] = system.status["services"]["postgres"]
    return entry if entry["state"] == "down" and entry["reason"] else None
