"""Processes that an earlier supervisor could not end, found by what they are and never by a bare process id."""

import signal
from contextlib import suppress
from pathlib import Path

import psutil


def of_folder(path: Path, name: str = "postgres") -> list[psutil.Process]:
    """Return the processes called `name` that stand in `path`, as all of PostgreSQL's do in their data folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.name() == name and process.cwd() == str(path):
                found.append(process)
    return found


def kill_all(processes: list[psutil.Process]) -> None:
    """Kill processes and wait until they are gone."""
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=5)


def stop_politely(processes: list[psutil.Process], number: int = signal.SIGINT, patience: float = 20.0) -> None:
    """Signal processes, give them time, kill what stays."""
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)
    _, alive = psutil.wait_procs(processes, timeout=patience)
    kill_all(alive)


def of_status(services: dict[str, dict[str, object]]) -> list[psutil.Process]:
    """Return what still lives of a status file's services: same process id *and* same time of birth, with children."""
    found = []
    for entry in services.values():
        pid, born = entry.get("pid"), entry.get("born")
        if not isinstance(pid, int) or not isinstance(born, float):
            continue
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if abs(process.create_time() - born) < 1.0 and process.status() != psutil.STATUS_ZOMBIE:
                found += [process, *process.children(recursive=True)]
    return found


def born(pid: int) -> float | None:
    """Return when a process was started, in seconds since 1970."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None
