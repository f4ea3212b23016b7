"""One part in the foreground: `crowdrag serve`, as containers run it."""

import contextlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.test import override_settings
from gunicorn.config import Config
from gunicorn.http.parser import RequestParser

from crowdrag.runtime import environment, parts, preparation
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem
from crowdrag.runtime.preparation import collect, static_digest
from crowdrag.runtime.service_monitor import Launch, Service
from crowdrag.runtime.web import Web
from tests.runtime.conftest import System, eventually
from tests.runtime.two_releases import Release

KEYS = ("SECRET_KEY", "CROWDRAG_PSEUDONYM_KEY", "CROWDRAG_IDENTITY_KEY")


class Program(Service):
    """A program of a few lines in place of a part; it says that it is well as long as a file is young."""

    title = "Program"
    start_within = 20.0
    silent_for = 1.0
    stop_within = 1.0

    def __init__(self, folder: DataFolder, lines: str) -> None:
        super().__init__(folder)
        self.beat = folder.root / "beat"
        self.lines = f"import pathlib, signal, sys, time\nbeat = pathlib.Path({str(self.beat)!r})\n{lines}"

    def launch(self) -> Launch:
        return Launch([sys.executable, "-c", self.lines])

    def probe(self) -> str:
        if time.time() - self.beat.stat().st_mtime > 0.5:
            raise ConnectionError("nothing is heard")
        return ""


BEATS = "while True: beat.touch(); time.sleep(0.05)"


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    made = DataFolder(tmp_path / "var")
    made.create()
    return made


@pytest.fixture
def _signals_as_they_were() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(service: Program, *, ask_to_stop: bool = False) -> int:
    """Run it as `crowdrag serve` does, and perhaps send SIGTERM when it is well."""

    def ask() -> None:
        eventually(service.beat.exists)
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGTERM)

    if ask_to_stop:
        threading.Thread(target=ask, daemon=True).start()
    return parts.PartRunner(service).run()


@pytest.mark.usefixtures("_signals_as_they_were")
@pytest.mark.parametrize(
    ("lines", "asked", "status"),
    [
        (BEATS, True, 0),
        (f"signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n{BEATS}", True, 0),
        # It does not stop in time, so it is killed, and whoever started us learns that.
        (f"signal.signal(signal.SIGTERM, signal.SIG_IGN)\n{BEATS}", True, parts.EXIT_HANGS),
        # It lives and does nothing any more.
        ("beat.touch()\ntime.sleep(60)", False, parts.EXIT_HANGS),
        # It ends by itself, and says that all is well: nobody asked it to, so it is started again.
        ("beat.touch()\ntime.sleep(0.3)", False, parts.EXIT_HANGS),
        ("sys.exit(3)", False, 3),
    ],
    ids=["ended by the signal", "ends when asked", "ignores the signal", "hangs", "ends unasked", "fails"],
)
def test_how_a_part_ended_is_told_by_the_status(folder: DataFolder, lines: str, asked: bool, status: int) -> None:
    service = Program(folder, lines)
    assert run(service, ask_to_stop=asked) == status


@pytest.mark.usefixtures("_signals_as_they_were")
def test_a_part_that_comes_up_slowly_is_left_alone(folder: DataFolder) -> None:
    """On a machine whose parts all start at once: ended and started again they would only be slower."""
    service = Program(folder, f"time.sleep(1.5)\n{BEATS}")
    service.start_within = 0.2
    assert run(service, ask_to_stop=True) == 0


@pytest.mark.usefixtures("_signals_as_they_were")
def test_a_part_that_never_comes_up_is_ended(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(parts, "START_WITHIN", 0.5)
    assert run(Program(folder, "time.sleep(60)")) == parts.EXIT_HANGS
    assert "Program" in capsys.readouterr().out


def test_nothing_is_made_up_where_several_processes_are_one_system(system: System) -> None:
    said = system.crowdrag("serve", "web", fails=True)
    assert f"DATABASE_URL, BROKER_URL, {', '.join(KEYS)}" in said
    assert not system.folder.keys.exists()
    assert KEYS[-1] in system.crowdrag("prepare", fails=True, SECRET_KEY="one of five")


def test_secrets_come_from_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("from the file\n")
    for name in (*KEYS, "AWS_SECRET_ACCESS_KEY", "SOMETHING"):
        monkeypatch.setenv(name, "")
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("SECRET_KEY", "set")
    environment.read_secret_files()
    assert os.environ["SECRET_KEY"] == "set", "what is set goes before a file"
    assert {os.environ[name] for name in (*KEYS[1:], "AWS_SECRET_ACCESS_KEY")} == {"from the file"}
    assert os.environ["SOMETHING"] == "", "other programs' variables are theirs"
    monkeypatch.setenv("CROWDRAG_LLM_KEY_OWN_FILE", str(tmp_path / "none"))
    with pytest.raises(Problem, match=r"CROWDRAG_LLM_KEY_OWN_FILE.*none"):
        environment.read_secret_files()


@pytest.fixture
def release(tmp_path: Path) -> Release:
    return Release("this", REPOSITORY, tmp_path, str(connection.settings_dict["NAME"]))


@pytest.mark.django_db(transaction=True)
@pytest.mark.extended
def test_a_second_signal_ends_the_draining(release: Release) -> None:
    release.env |= {"CROWDRAG_DRAIN_SECONDS": "600", "STATICFILES_STORAGE": _UNHASHED}
    web = release.start("web")
    with contextlib.closing(web):
        web.await_answer(200)
        web.ask_to_stop()
        web.await_answer(503)
        web.ask_to_stop()
        assert web.process.wait(60) == 0


_UNHASHED = "django.contrib.staticfiles.storage.StaticFilesStorage"


MIGRATION = """
from django.db import migrations

class Migration(migrations.Migration):
    dependencies = [("writing", "0001_initial")]
    operations = [migrations.RunSQL("ALTER TABLE writing_editingsession ADD COLUMN extra text")]
"""


@pytest.fixture
def _a_migration_is_missing(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One more migration than there are, of an app that has none."""
    folder = tmp_path / "migrations_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "0001_extra.py").write_text(MIGRATION)
    monkeypatch.syspath_prepend(tmp_path)
    settings.MIGRATION_MODULES = {**settings.MIGRATION_MODULES, "demo": folder.name}
    yield
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE writing_editingsession DROP COLUMN IF EXISTS extra")
        cursor.execute("DELETE FROM django_migrations WHERE app = 'demo'")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_a_migration_is_missing")
def test_a_migration_waits_in_nobodys_way_for_a_table_that_is_in_use(
    release: Release, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A long reader holds the table; who writes to it meanwhile waits no longer than the migration's patience."""
    monkeypatch.setattr(preparation, "LOCK_TIMEOUT", "500ms")
    assert not preparation.is_migrated()
    migrating = threading.Thread(target=_migrate, daemon=True)
    with psycopg.connect(release.env["DATABASE_URL"]) as reader:
        reader.execute("SELECT count(*) FROM writing_editingsession")
        migrating.start()
        eventually(lambda: capsys.readouterr().out.count("\n") > 1)  # it waits, and says so
        with psycopg.connect(release.env["DATABASE_URL"]) as writer:
            writer.execute("SET lock_timeout = '20s'")
            writer.execute("DELETE FROM writing_editingsession")  # behind a migration that waits for ever it would, too
    migrating.join(120)
    assert not migrating.is_alive()
    assert preparation.is_migrated()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM information_schema.columns WHERE column_name = 'extra'")
        assert cursor.fetchone() == (1,)


def _migrate() -> None:
    try:
        preparation.migrate(pause=0.2)
    finally:
        connection.close()


def test_static_files_of_two_releases_lie_side_by_side(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    for name, text in (("one", "a"), ("two", "b")):
        (tmp_path / name / "js").mkdir(parents=True)
        (tmp_path / name / "js" / f"main.{text}.js").write_text(text)
        (tmp_path / name / "staticfiles.json").write_text(text * 2 if name == "two" else text)
        preparation.share(tmp_path / name, shared)
    found = {path.name: path.read_text() for path in shared.rglob("*") if path.is_file()}
    assert found == {"main.a.js": "a", "main.b.js": "b", "staticfiles.json": "bb"}


def test_no_header_says_which_path_is_asked_for(folder: DataFolder) -> None:
    """Gunicorn takes it from `SCRIPT_NAME` of a proxy on the same machine, and a proxy passes what a client sends."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        options = Web(folder, listener, "").launch().command[4:]
    config = Config()
    given = config.parser().parse_args(options)
    config.set("forwarder_headers", given.forwarder_headers)
    head = b"GET /x/metrics HTTP/1.1\r\nHost: x\r\nSCRIPT_NAME: /x\r\n\r\n"
    request = next(RequestParser(config, iter([head]), ("127.0.0.1", 1)))
    assert request.headers == [("HOST", "x")]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "page.css").write_text("a { color: red }")
    return folder


def test_an_image_that_came_through_a_registry_collects_nothing_anew(source: Path, tmp_path: Path) -> None:
    """There files lose fractions of a second of their times, and a container's file system is not written to."""
    target = tmp_path / "static"
    with override_settings(
        STATICFILES_DIRS=[source],
        STATIC_ROOT=target,
        STORAGES={"staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}},
    ):
        collect(target)
        assert (target / "page.css").exists()
        (target / "page.css").unlink()
        os.utime(source / "page.css", (1_700_000_000, 1_700_000_000))
        collect(target)
        assert not (target / "page.css").exists()


def test_another_text_of_the_same_length_at_the_same_time_is_collected(source: Path) -> None:
    with override_settings(STATICFILES_DIRS=[source]):
        first, times = static_digest(), (source / "page.css").stat()
        (source / "page.css").write_text("a { color: tan }")
        os.utime(source / "page.css", ns=(times.st_atime_ns, times.st_mtime_ns))
        assert static_digest() != first
        second = static_digest()
        # What no page asks for is not collected.
        (source / "page.css.map").write_text("{}")
        assert static_digest() == second
