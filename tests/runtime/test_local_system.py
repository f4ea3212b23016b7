"""What can stand in the way of a start, and what is said then."""

import io
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import django.core.management
import psutil
import pytest
from django.db.utils import ProgrammingError

from crowdrag.runtime import cli, data_folder, environment, local_system, web
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem
from crowdrag.runtime.exit_codes import ExitCode
from crowdrag.runtime.supervisor import Supervisor
from tests.runtime.conftest import System, eventually, living


@pytest.mark.extended
def test_a_taken_port_is_named_with_its_holder(system: System) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", system.port))
        other.listen()
        said = system.crowdrag("up", "--port", str(system.port), fails=True)
    assert str(os.getpid()) in said
    assert f"PORT={system.port + 1}" in said
    assert not data_folder.is_running(system.folder)


def test_a_full_disk_is_said_before_anything_starts(system: System) -> None:
    said = system.crowdrag("up", fails=True, CROWDRAG_MIN_FREE_MB="999999999")
    assert "999999999 MB" in said
    assert str(system.folder.root) in said
    assert "Traceback" not in said
    assert not system.folder.postgres.exists()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    said = System(tmp_path / "file" / "var").crowdrag("up", fails=True)
    assert str(tmp_path / "file") in said
    assert "Traceback" not in said


def test_a_wrong_port_is_said(system: System) -> None:
    assert "http" in system.crowdrag("up", fails=True, PORT="http")


@pytest.mark.extended
def test_commands_at_once_share_stores_that_stop_after_them(system: System) -> None:
    processes = [system.popen("showmigrations", "contenttypes") for _ in range(3)]
    eventually(lambda: data_folder.read_status(system.folder).get("stores"))
    supervisor = psutil.Process(data_folder.read_status(system.folder)["pid"])
    for process in processes:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, out + err
    everybody = [supervisor, *supervisor.children(recursive=True)]
    assert not living(everybody, within=20)
    assert not list(system.folder.sockets.glob(".s.PGSQL*"))


@pytest.mark.extended
def test_a_killed_command_leaves_no_stores(system: System) -> None:
    process = system.popen("shell", "-c", "import time; time.sleep(60)")
    eventually(lambda: data_folder.read_status(system.folder).get("phase") == "running")
    supervisor = psutil.Process(data_folder.read_status(system.folder)["pid"])
    everybody = [supervisor, *supervisor.children(recursive=True)]
    process.kill()
    process.communicate()
    assert not living(everybody, within=20)


@pytest.mark.extended
def test_a_process_id_file_of_another_life_does_not_stop_the_start(system: System) -> None:
    """After a restart of the machine the id in postmaster.pid may be anybody's: here it is this test's own."""
    system.crowdrag("showmigrations", "contenttypes")
    eventually(lambda: not data_folder.is_running(system.folder))
    stale = [os.getpid(), system.folder.postgres, 1700000000, 5432, system.folder.sockets, "", "5432001 65536", "ready"]
    (system.folder.postgres / "postmaster.pid").write_text("\n".join(map(str, stale)))
    assert "contenttypes" in system.crowdrag("showmigrations", "contenttypes")


@pytest.mark.extended
def test_a_damaged_broker_file_is_put_aside(system: System) -> None:
    system.crowdrag("showmigrations", "contenttypes")
    eventually(lambda: not data_folder.is_running(system.folder))
    (kept,) = system.folder.valkey.glob("appendonlydir/*.incr.aof")
    kept.write_bytes(b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\nnonsense" + b"\x00" * 1000)
    assert "contenttypes" in system.crowdrag("showmigrations", "contenttypes")
    assert list(system.folder.root.glob("valkey.damaged-*"))


@pytest.mark.extended
def test_servers_of_ones_own_are_used_and_nothing_is_started(system: System, running: System) -> None:
    addresses = {"DATABASE_URL": running.folder.database_url(), "BROKER_URL": running.folder.broker_url}
    assert "[X]" in system.crowdrag("showmigrations", "contenttypes", **addresses)
    assert not system.folder.postgres.exists()
    assert not system.folder.valkey.exists()


@pytest.mark.extended
def test_commands_use_the_running_system(running: System) -> None:
    before = running.status["pid"]
    assert "[X]" in running.crowdrag("showmigrations", "contenttypes")
    assert running.status["pid"] == before


@pytest.mark.extended
def test_two_systems_stand_side_by_side(running: System, system: System) -> None:
    # All of it but the processes that take long to start; they have names of their own by the folder's mark.
    system.up("--only", "web")
    assert running.get() == system.get() == 200
    assert running.folder.sockets != system.folder.sockets
    for _again in range(2):
        system.crowdrag("down")
        assert not data_folder.is_running(system.folder)


def test_a_second_start_finds_the_lock_before_the_port(system: System) -> None:
    """Otherwise it would tell the operator to stop CrowdRAG's own web server."""
    system.folder.create()
    lock = system.folder.supervisor_lock
    assert lock.acquire()
    data_folder.write_status(system.folder, {"pid": os.getpid(), "url": "http://localhost/"})
    with socket.socket() as own:
        own.bind(("127.0.0.1", system.port))
        own.listen()
        said = system.crowdrag("up", "--port", str(system.port), fails=True)
    lock.release()
    assert str(system.folder.root) in said
    assert f"PORT={system.port + 1}" not in said


@pytest.mark.parametrize(
    "words", [["nonsense"], ["manage", "nonsense"], ["up", "--port", "99999"], ["up", "--nonsense"]]
)
def test_wrong_usage_has_its_own_exit_code(
    words: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CROWDRAG_DATA_DIR", str(tmp_path / "var"))
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == ExitCode.USAGE
    assert words[-1].removeprefix("--") in capsys.readouterr().err
    assert not (tmp_path / "var").exists()


def test_an_account_is_not_created_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CROWDRAG_DATA_DIR", str(tmp_path / "var"))
    monkeypatch.setattr("sys.stdin", io.StringIO())
    for words in (["createsuperuser"], ["createsuperuser", "--no-input"]):
        with pytest.raises(SystemExit) as ended:
            cli.main(words)
        assert ended.value.code == ExitCode.FAILED
        assert "DJANGO_SUPERUSER_PASSWORD" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "http://localhost:{port}/"),
        ({"ALLOWED_HOSTS": "a.example.org,localhost"}, "http://localhost:{port}/"),
        ({"ALLOWED_HOSTS": "*"}, "http://localhost:{port}/"),
        ({"ALLOWED_HOSTS": ".example.org"}, "http://example.org:{port}/"),
        ({"ALLOWED_HOSTS": "a.example.org", "HTTPS": "true"}, "https://a.example.org/"),
        (
            {
                "ALLOWED_HOSTS": "localhost,a.example.org",
                "HTTPS": "on",
                "CSRF_TRUSTED_ORIGINS": "https://a.example.org",
            },
            "https://a.example.org/",
        ),
    ],
)
def test_the_address_shown_is_one_that_answers(
    variables: dict[str, str], address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("ALLOWED_HOSTS", "HTTPS", "CSRF_TRUSTED_ORIGINS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        shown = web.Web(DataFolder(tmp_path), listener, "")
    assert shown.public_url == address.format(port=shown.port)


def test_listening_for_others_without_names_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALLOWED_HOSTS", raising=False)
    assert "ALLOWED_HOSTS" in web.unreachable_by_others("0.0.0.0")
    assert web.unreachable_by_others("127.0.0.1") == ""
    monkeypatch.setenv("ALLOWED_HOSTS", "a.example.org")
    assert web.unreachable_by_others("0.0.0.0") == ""


def test_the_shown_command_works_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    shown = local_system.own_command(DataFolder(tmp_path / "a folder"))
    done = subprocess.run(f"{shown} help", shell=True, cwd="/", capture_output=True, check=False, text=True)
    assert (done.returncode, "createsuperuser" in done.stdout) == (0, True)
    assert str(tmp_path) in shown
    assert str(REPOSITORY / "var") not in local_system.own_command(DataFolder(REPOSITORY / "var"))


def test_keys_are_made_once_and_are_private(tmp_path: Path, monkeypatch) -> None:
    for name in environment.KEYS:
        monkeypatch.delenv(name, raising=False)
    folder = DataFolder(tmp_path)
    first = environment.read_keys(folder)
    assert environment.read_keys(folder) == first
    assert len(set(first.values())) == 3
    assert {path.stat().st_mode & 0o777 for path in folder.keys.iterdir()} == {0o600}
    assert folder.keys.stat().st_mode & 0o777 == 0o700
    monkeypatch.setenv("SECRET_KEY", "the operator's")
    assert environment.read_keys(folder)["SECRET_KEY"] == "the operator's"


def test_the_folder_of_emails_is_private_also_after_an_upgrade(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "var")
    folder.create()
    assert folder.mail.stat().st_mode & 0o777 == 0o700
    folder.mail.chmod(0o755)
    folder.create()
    assert folder.mail.stat().st_mode & 0o777 == 0o700


def test_the_guard_does_not_start_what_has_no_parent_any_more() -> None:
    launcher = REPOSITORY / "crowdrag" / "runtime" / "launcher.py"
    command = [
        sys.executable,
        "-I",
        "-S",
        str(launcher),
        "1",
        str(int(signal.SIGKILL)),
        "-1",
        "-1",
        "--",
        "echo",
        "alive",
    ]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode != 0
    assert "alive" not in made.stdout


def test_logs_are_their_owners_alone_and_what_was_shown_is_not_kept(tmp_path: Path) -> None:
    """What a command shows once, a password say, stands in no file afterwards."""
    folder = DataFolder(tmp_path / "var")
    folder.create()
    older = folder.logs / "demo-study.log"
    older.write_text("of an earlier release\n")
    older.chmod(0o644)
    told: list[str] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    try:
        with Supervisor(folder, tell=told.append) as supervisor:
            supervisor.run_once("Demo study", [sys.executable, "-c", "print('a password')"], echo=True)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert "a password" in "\n".join(told)
    assert "a password" not in older.read_text()
    assert {file.stat().st_mode & 0o077 for file in folder.logs.iterdir()} == {0}


def test_a_system_runs_once_and_down_stops_everything_in_order(running: System) -> None:
    """Comes last of the tests that share the system. It is the only one that `make test` starts."""
    everybody = running.processes()
    said = running.crowdrag("up", "--port", "0", fails=True)
    assert str(running.folder.root) in said
    assert running.status["pid"] == everybody[0].pid
    log = running.folder.logs / "postgres.log"
    before = len(log.read_text())
    running.crowdrag("down")
    assert not living(everybody, within=1)
    assert "database system is shut down" in log.read_text()[before:]


class DriverError(Exception):
    """What the driver says."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


@pytest.mark.parametrize(("sqlstate", "error"), [("42P01", Problem), ("42601", ProgrammingError)])
def test_a_missing_table_alone_becomes_a_problem(
    monkeypatch: pytest.MonkeyPatch, sqlstate: str, error: type[Exception]
) -> None:
    def execute(_arguments: list[str]) -> None:
        raise ProgrammingError("relation does not exist") from DriverError(sqlstate)

    monkeypatch.setattr(django.core.management, "execute_from_command_line", execute)
    with pytest.raises(error):
        cli._execute(["analyse"])
