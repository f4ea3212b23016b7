"""The doctor says what is here, what is missing and what to do."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from crowdrag.runtime import doctor
from crowdrag.runtime.folder import Folder

from .conftest import System


@pytest.fixture
def busy() -> Iterator[ThreadingHTTPServer]:
    """A model's server whose calls wait until the test is over."""
    over = threading.Event()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            over.wait(20)

        def do_GET(self) -> None:
            self.send_response(200 if server.is_well else 503)
            self.end_headers()

        def log_message(self, *_said: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.is_well = True
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    over.set()
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(("is_well", "state"), [(True, doctor.NOTE), (False, doctor.WRONG)])
def test_a_model_that_is_busy_is_not_called_wrong(
    busy: ThreadingHTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_well: bool, state: str
) -> None:
    busy.is_well = is_well
    monkeypatch.setenv("CROWDRAG_LLM_URL", f"http://127.0.0.1:{busy.server_port}/v1")
    found = doctor.language_model(Folder(tmp_path), patience=0.3)
    assert found.state == state
    assert ("is busy" in found.what) == is_well


def test_a_running_system_is_well(running: System) -> None:
    said = running.crowdrag("doctor")
    assert "8 services ready" in said
    assert "PostgreSQL      18" in said
    assert "valkey" in said
    assert "up to date" in said
    assert "answers at http://127.0.0.1:" in said
    assert "384 numbers a word" in said
    assert "WRONG" not in said


def test_what_is_missing_is_named_with_its_cure(system: System) -> None:
    said = system.crowdrag(
        "doctor", fails=True, BROKER_URL="redis://127.0.0.1:1/0", CROWDRAG_LLM_URL="http://127.0.0.1:1/v1"
    )
    assert "WRONG  Broker" in said
    assert "WRONG  Language model" in said
    assert "does not run" in said
    assert "crowdrag up" in said
    assert "ok     PostgreSQL" in said
    assert "Traceback" not in said
