"""Machines and their devices. Each reports to the database about once a minute."""

import os
import shutil
import socket
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from django.conf import settings

from .models import SILENT_AFTER, Machine

# Fields requested from nvidia-smi, and our names for them.
NVIDIA_FIELDS: Final = {
    "index": "index",
    "name": "name",
    "memory.total": "memory",
    "memory.used": "used",
    "utilization.gpu": "busy",
    "temperature.gpu": "celsius",
}
MEBIBYTE: Final = 1024 * 1024
COMMAND_TIMEOUT: Final = 5


def report(*, now: datetime, name: str = "") -> Machine:
    """Store the state that this machine reports."""
    machine, _made = Machine.objects.update_or_create(
        name=name or socket.gethostname(), defaults={"at": now, "facts": collect_facts()}
    )
    return machine


def report_this_machine(now: datetime) -> None:
    """Store the state of the machine on which the sweep runs (a scheduled task)."""
    report(now=now)


def list_machines(*, now: datetime) -> list[dict[str, Any]]:
    """Return all machines with their last report, and whether it is too old."""
    return [
        {"machine": machine, "is_silent": now - machine.at > SILENT_AFTER}
        for machine in Machine.objects.order_by("name", "id")
    ]


def collect_facts() -> dict[str, Any]:
    """Return processors, load, memory and disk in bytes, and devices."""
    disk = shutil.disk_usage(_nearest_existing(Path(settings.DATA_DIR)))
    memory = _memory()
    return {
        "cpus": os.cpu_count() or 0,
        "load": round(os.getloadavg()[0], 2),
        "memory": memory.get("MemTotal", 0),
        "memory_free": memory.get("MemAvailable", 0),
        "disk": disk.total,
        "disk_free": disk.free,
        "devices": list_devices(),
    }


def list_devices(command: str = "nvidia-smi") -> list[dict[str, Any]]:
    """Return the devices of this machine from its driver's tool; none if there is no such tool."""
    if not (program := shutil.which(command)):
        return []
    arguments = [program, f"--query-gpu={','.join(NVIDIA_FIELDS)}", "--format=csv,noheader,nounits"]
    try:
        output = subprocess.run(arguments, capture_output=True, text=True, timeout=COMMAND_TIMEOUT, check=True).stdout  # noqa: S603 -- a fixed command
    except (OSError, subprocess.SubprocessError):
        return []
    return [_device(line) for line in output.splitlines() if line.strip()]


def _device(line: str) -> dict[str, Any]:
    """Parse one line of the tool's output; values that a device does not report are None. Memory is in MiB."""
    values = dict(zip(NVIDIA_FIELDS.values(), (part.strip() for part in line.split(",")), strict=False))
    device: dict[str, Any] = {"name": values.pop("name", "")}
    for name, value in values.items():
        number = int(value) if value.isdecimal() else None
        device[name] = number * MEBIBYTE if number is not None and name in {"memory", "used"} else number
    return device


def _memory() -> dict[str, int]:
    """Return the kernel's memory figures in bytes; empty if there are none."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return {}
    parts = [line.split() for line in lines]
    return {part[0].rstrip(":"): int(part[1]) * 1024 for part in parts if len(part) == 3}


def _nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())
