"""The doctor says what is here, what is missing and what to do."""

import re
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from crowdrag.runtime import doctor
from crowdrag.runtime.data_folder import DataFolder
from crowdrag.storage import storage_settings
from tests.runtime.conftest import System, free_port

STORES = ("PostgreSQL", "Broker")
MODELS = ("Language model", "Neural parts")


def states_of(table: str) -> dict[str, str]:
    """The state of each thing that the doctor's table names."""
    rows = re.findall(r"^(ok|note|WRONG) +(\S.{15})", table, re.MULTILINE)
    return {name.strip(): state.lower() for state, name in rows}


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
    found = doctor.language_model(DataFolder(tmp_path), patience=0.3)
    assert found.state == state


@pytest.mark.extended
def test_a_running_system_is_well(running: System) -> None:
    states = states_of(running.crowdrag("doctor", "--within", "100"))
    assert {states[name] for name in (*STORES, *MODELS, "System", "Tables", "Files")} == {doctor.OK}
    assert doctor.WRONG not in states.values()


def test_the_models_patience_grows_with_the_time_for_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []

    def patient(_folder: DataFolder, patience: float = 0.0) -> doctor.Finding:
        waited.append(patience)
        return doctor.Finding("Language model", doctor.OK, "")

    monkeypatch.setattr(doctor, "language_model", patient)
    monkeypatch.setattr(doctor, "MODEL_CHECKS", (patient,))
    monkeypatch.setattr(doctor, "CHECKS_ALONE", ())
    monkeypatch.setattr(doctor, "_of_stores", lambda _folder: [doctor.Finding("Stores", doctor.OK, "")])
    for within in (9, 90):
        assert doctor.is_well(doctor.examine(DataFolder(tmp_path), within=within))
    assert waited == pytest.approx([4, 40])


@pytest.mark.extended
def test_what_is_missing_is_named_with_its_cure(system: System) -> None:
    said = system.crowdrag(
        "doctor",
        "--within",
        "100",
        fails=True,
        BROKER_URL="redis://127.0.0.1:1/0",
        CROWDRAG_LLM_URL="http://127.0.0.1:1/v1",
    )
    states = states_of(said)
    assert (states["Broker"], states["Language model"]) == (doctor.WRONG, doctor.WRONG)
    assert (states["System"], states["PostgreSQL"]) == (doctor.NOTE, doctor.OK)
    assert "Traceback" not in said


@pytest.mark.parametrize(("database", "state"), [("", doctor.WRONG), ("postgresql://elsewhere/crowdrag", doctor.NOTE)])
def test_one_of_several_machines_may_leave_the_models_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str, state: str
) -> None:
    monkeypatch.setenv("DATABASE_URL", database)
    monkeypatch.delenv("CROWDRAG_LLM_URL", raising=False)
    for name in ("torch", "xllamacpp"):
        monkeypatch.setitem(sys.modules, name, None)
    findings = [check(DataFolder(tmp_path)) for check in doctor.MODEL_CHECKS]
    assert [finding.state for finding in findings] == [state, state]
    assert doctor.is_well(findings) == (state == doctor.NOTE)


@pytest.mark.parametrize(("mode", "state"), [(0o700, doctor.OK), (0o755, doctor.WRONG)])
def test_emails_in_files_that_others_can_read_are_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, state: str
) -> None:
    mail = tmp_path / "outbox"
    mail.mkdir(mode=mode)
    monkeypatch.setenv("EMAIL_URL", f"filemail:///{mail}")
    assert doctor.emails(DataFolder(tmp_path / "var")).state == state
    monkeypatch.setenv("EMAIL_URL", "smtp://localhost")
    assert doctor.emails(DataFolder(tmp_path / "var")).state == doctor.OK


@pytest.mark.parametrize(("must_run", "is_well"), [(False, True), (True, False)])
def test_a_system_that_is_not_running_is_a_fault_if_it_must_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, must_run: bool, is_well: bool
) -> None:
    monkeypatch.setattr(doctor, "CHECKS_ALONE", (doctor.system,))
    monkeypatch.setattr(doctor, "MODEL_CHECKS", ())
    monkeypatch.setattr(doctor, "_of_stores", lambda _folder: [doctor.Finding("Stores", doctor.OK, "")])
    assert doctor.is_well(doctor.examine(DataFolder(tmp_path), must_run=must_run)) is is_well


def test_files_that_cannot_be_asked_for_are_wrong(settings: Any, tmp_path: Path) -> None:
    assert doctor.storage(DataFolder(tmp_path)).state == doctor.OK
    nobody = storage_settings(f"s3://files?endpoint=http://127.0.0.1:{free_port()}")
    nobody["OPTIONS"] |= {"access_key": "a", "secret_key": "b", "region_name": "us-east-1"}
    settings.STORAGES = settings.STORAGES | {"default": nobody}
    found = doctor.storage(DataFolder(tmp_path))
    assert found.state == doctor.WRONG


@pytest.mark.parametrize(
    ("within", "elapsed", "left"), [(9, 0.5, 8.5), (9, 4, 5), (9, 20, 3), (1, 20, 1), (100, 20, 80)]
)
def test_the_time_that_a_command_took_to_start_counts(within: float, elapsed: float, left: float) -> None:
    assert doctor.left_of(within, began=1000.0, now=1000.0 + elapsed) == left


def test_the_doctor_answers_in_time_whatever_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def hangs(_folder: DataFolder) -> doctor.Finding:
        over.wait(60)
        return doctor.Finding("x", doctor.OK, "")

    def stores(_folder: DataFolder) -> list[doctor.Finding]:
        return [hangs(_folder)]

    monkeypatch.setattr(doctor, "CHECKS_ALONE", (doctor.release, hangs))
    monkeypatch.setattr(doctor, "MODEL_CHECKS", ())
    monkeypatch.setattr(doctor, "_of_stores", stores)
    began = time.monotonic()
    found = doctor.examine(DataFolder(tmp_path), within=0.5)
    assert time.monotonic() - began < 5
    over.set()
    states = {finding.name: finding.state for finding in found}
    assert states["Hangs"] == states["Stores"] == doctor.WRONG
    assert states["CrowdRAG"] != doctor.WRONG
    assert not doctor.is_well(found)
