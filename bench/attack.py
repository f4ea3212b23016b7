"""What an attacker or a full disk can do: slow clients, large bodies, hostile texts, a disk without room.

Everything runs on this machine only, in separate folders, with limited repetitions.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from bench._disk import fill, small_disk
from bench._system import system, web
from crowdrag.runtime import data_folder
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder

if TYPE_CHECKING:
    from tests.writing.editor.served_editor import Server

SLOW, WITHIN = 500, 1.0
STARTS = {
    "nothing": b"",
    "half a head": b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nX: ",
    "half a body": b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nusername=",
    "half a file": b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 500000000\r\n\r\n--x\r\n",
}
BODIES, BODY, SENT = 10, 500_000_000, 4_000_000
# As in tests/test_linear_time.py, which tests every text; here only each reader's slowest one is printed.
SMALL, LARGE, HARMLESS, MOST_TIMES = 10_000, 100_000, 0.3, 30
DISK_MB, DOCTOR_WITHIN, READY_WITHIN = 400, 10.0, 10.0


def run() -> list[dict]:
    """Run all attacks."""
    with system() as folder:
        rows = [*_on_the_web(folder), *_hostile_texts()]
    return [*rows, *_on_a_full_disk()]


def _on_the_web(folder: DataFolder) -> list[dict]:
    with web(folder) as server:
        for _ in range(10):
            _sign_in_page(server.port)
        return [*(_slow_clients(server, *start) for start in STARTS.items()), _large_bodies(server, folder)]


def _sign_in_page(port: int) -> float:
    """Seconds until the sign-in page is loaded."""
    began = time.perf_counter()
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(client):
        client.request("GET", "/login/", headers={"Host": "localhost"})
        answer = client.getresponse()
        assert answer.status == 200
        answer.read()
    return time.perf_counter() - began


def _slow_clients(server: Server, name: str, start: bytes) -> dict:
    clients = []
    try:
        for _ in range(SLOW):
            clients.append(client := socket.create_connection(("127.0.0.1", server.port), timeout=10))
            with contextlib.suppress(OSError):
                client.sendall(start)
        seconds = sorted(_sign_in_page(server.port) for _ in range(20))
    finally:
        for client in clients:
            client.close()
    detail = f"the page to sign in took {seconds[10] * 1000:.0f} ms at the median, {seconds[-1] * 1000:.0f} ms at most"
    return {"name": f"{SLOW} clients that sent {name}", "ratio": WITHIN / seconds[-1], "target": 1, "detail": detail}


def _large_bodies(server: Server, folder: DataFolder) -> dict:
    """Send anonymous files of 500 MB; measure the bytes written to disk and the time until they are refused."""
    most, over = 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.is_set():
            most = max(most, sum(file.stat().st_size for file in folder.temporary.glob("*.upload*")))
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    began, answers = time.perf_counter(), []
    head = STARTS["half a file"].replace(b"500000000", str(BODY).encode())
    for _ in range(BODIES):
        with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
            with contextlib.suppress(OSError):
                client.sendall(head + b'Content-Disposition: form-data; name="a"; filename="a"\r\n\r\n')
                for _ in range(SENT // 100_000):
                    client.sendall(b"x" * 100_000)
            with contextlib.suppress(OSError):
                answers.append(client.recv(100)[9:12].decode())
    seconds = time.perf_counter() - began
    over.set()
    watcher.join()
    detail = f"{len(answers)} answers ({', '.join(sorted(set(answers)))}) in {seconds:.1f} s, {most} bytes on the disk"
    refused = answers.count("413") / BODIES if most == 0 else 0.0
    return {"name": f"{BODIES} anonymous bodies of {BODY // 10**6} MB", "ratio": refused, "target": 1, "detail": detail}


def _hostile_texts() -> Iterator[dict]:
    from tests.hostile_texts import ENDINGS, READERS, UNITS, seconds, text_of

    worst, where = 0.0, ""
    longest, place = 0.0, ""
    for name, reader in READERS.items():
        seconds(reader, "Some words [0]. And more.")
        for unit in UNITS:
            for ending in ENDINGS:
                took = seconds(reader, text_of(LARGE, unit=unit, ending=ending))
                if took > longest:
                    longest, place = took, f"{name} of {unit!r}"
                if took > HARMLESS:
                    times = took / max(seconds(reader, text_of(SMALL, unit=unit, ending=ending)), 1e-6)
                    if times > worst:
                        worst, where = times, f"{name} of {unit!r}"
    count = f"{len(READERS)} readers, {len(UNITS) * len(ENDINGS)} texts each"
    yield {
        "name": f"100 kB of hostile text against 10 kB, at most {MOST_TIMES} times as long",
        "ratio": MOST_TIMES / max(worst, 1.0),
        "target": 1,
        "detail": f"{count}; longest {longest:.2f} s ({place}); steepest {worst:.0f} times ({where or 'all harmless'})",
    }


def _on_a_full_disk() -> list[dict]:
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as place, small_disk(Path(place), DISK_MB) as is_there:
        if is_there:
            return _filled(Path(place))
        print("  left out: a full disk (this account may not mount a file system)", flush=True)
        return []


def _filled(disk: Path) -> list[dict]:
    folder = DataFolder(disk / "var")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "BROKER_URL")}
    env |= {"CROWDRAG_DATA_DIR": str(folder.root), "CROWDRAG_MIN_FREE_MB": "100"}
    crowdrag = [sys.executable, "-m", "crowdrag.runtime.cli"]

    def call(*arguments: str) -> tuple[float, str]:
        began = time.perf_counter()
        made = subprocess.run(
            [*crowdrag, *arguments], env=env, cwd=REPOSITORY, capture_output=True, text=True, timeout=180, check=False
        )
        return time.perf_counter() - began, made.stdout

    try:
        call("up", "--detach", "--port", str(port), "--only", "web,sweep")
        filler = fill(disk)
        began = time.perf_counter()
        while _ready(port) == 200 and time.perf_counter() - began < 60:
            time.sleep(0.1)
        unready = time.perf_counter() - began
        while "space" not in data_folder.read_status(folder) and time.perf_counter() - began < 60:
            time.sleep(0.1)
        told = time.perf_counter() - began
        took, said = call("doctor")
        restarts = sum(entry["restarts"] for entry in data_folder.read_status(folder).get("services", {}).values())
        filler.unlink()
        freed = time.perf_counter()
        while _ready(port) != 200 and time.perf_counter() - freed < 60:
            time.sleep(0.1)
        back = time.perf_counter() - freed
    finally:
        call("down")
    return [
        {
            "name": "full disk: not ready any more",
            "ratio": READY_WITHIN / max(unready, told),
            "target": 1,
            "detail": f"readiness after {unready:.1f} s, status file after {told:.1f} s, back {back:.1f} s after there "
            f"was room, {restarts} restarts",
        },
        {
            "name": "full disk: the doctor answers",
            "ratio": DOCTOR_WITHIN / took if "WRONG" in said else 0.0,
            "target": 1,
            "detail": f"{took:.1f} s, {said.count('WRONG')} findings",
        },
    ]


def _ready(port: int) -> int:
    client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with contextlib.closing(client):
        try:
            client.request("GET", "/readyz")
            return client.getresponse().status
        except OSError:
            return 0
