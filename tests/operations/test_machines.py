"""Machines say how they are, with their devices."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from crowdrag.jobs import schedules
from crowdrag.operations import machines, tasks
from crowdrag.operations.models import Machine

# As NVIDIA's tool prints it; a device that is shared does not tell everything.
SAID = """\
0, NVIDIA H200, 143771, 1024, 87, 41
1, NVIDIA H200 MIG 1g.18gb, 18432, 12, [N/A], [Not Supported]
"""


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put a program called nvidia-smi onto the path."""

    def put(script: str) -> None:
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return put


def test_devices_are_what_the_drivers_tool_says(tool: Any) -> None:
    tool(f"cat <<END\n{SAID}END")
    whole, part = machines.list_devices()
    mebibyte = 1024 * 1024
    assert whole.pop("name") == "NVIDIA H200"
    assert whole == {"index": 0, "memory": 143771 * mebibyte, "used": 1024 * mebibyte, "busy": 87, "celsius": 41}
    assert (part["busy"], part["celsius"], part["used"]) == (None, None, 12 * mebibyte)


@pytest.mark.parametrize("script", ["exit 9", "echo", "kill -9 $$"])
def test_a_tool_that_fails_shows_no_device(tool: Any, script: str) -> None:
    tool(script)
    assert machines.list_devices() == []


def test_without_the_tool_there_is_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machines.list_devices() == []


@pytest.mark.django_db
def test_a_machine_says_the_latest_and_is_silent_after_a_while() -> None:
    now = timezone.now()
    machines.report(now=now - timedelta(minutes=10), name="one")
    machines.report(now=now, name="one")
    machines.report(now=now - timedelta(minutes=10), name="two")
    silent = {row["machine"].name: row["is_silent"] for row in machines.list_machines(now=now)}
    assert silent == {"one": False, "two": True}
    facts = Machine.objects.get(name="one").facts
    assert facts["cpus"] >= 1
    assert facts["disk"] > facts["disk_free"] > 0
    assert facts["memory"] > 0


@pytest.mark.django_db
def test_a_worker_says_it_once_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "_last_report", {"at": -1000.0})
    # The worker's own process closes its connection; a test's stays open.
    monkeypatch.setattr("django.db.connection.close", lambda: None)
    tasks.report_machine()
    first = Machine.objects.get().at
    tasks.report_machine()
    assert Machine.objects.get().at == first


def test_the_sweep_reports_its_machine_and_forgets_old_failures() -> None:
    names = {duty.name for duty in schedules.all_schedules()}
    assert {"operations.machine", "audit.forget"} <= names
