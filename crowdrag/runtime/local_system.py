"""`crowdrag up`, `crowdrag demo`, `crowdrag down`: the whole system on this machine."""

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg

from crowdrag.runtime import data_folder, environment, layouts, operator_services, web
from crowdrag.runtime.backups import libpq
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem
from crowdrag.runtime.local_model import LanguageModel, what_is_missing
from crowdrag.runtime.processes import open_private, tail
from crowdrag.runtime.service_monitor import Service
from crowdrag.runtime.supervisor import TITLE_WIDTH, StopRequested, Supervisor, say, stores
from crowdrag.runtime.web import Web
from crowdrag.runtime.workers import STOP_AT_SIGTERM

DEFAULT_PORT = 8000
# Values of `--only`, for separate web and worker machines.
PARTS = ("llm", *layouts.PARTS)


@dataclass(frozen=True)
class StartOptions:
    """The options of the command line."""

    host: str = "127.0.0.1"
    port: int | None = None
    demo: bool = False
    only: tuple[str, ...] = PARTS

    @property
    def layout(self) -> layouts.Layout:
        """How the parts share processes."""
        return layouts.choose(is_demo=self.demo, is_whole=set(self.only) == set(PARTS))


def run(folder: DataFolder, wish: StartOptions) -> None:
    """Start everything and keep it running until a signal arrives."""
    folder.create()
    folder.check_space()
    refuse_after_half_a_restore(folder)
    operator_services.require_answers(wish.only)
    wish.layout.set_defaults()
    listener = None
    began = time.monotonic()
    try:
        # The lock comes before the port: a second start names the system that runs, not its web server.
        with Supervisor(folder) as supervisor, suppress(StopRequested):
            listener = _listen(wish) if "web" in wish.only else None
            say(f"CrowdRAG  ({folder.root})")
            _start(supervisor, wish, listener)
            supervisor.facts["ready_after"] = round(time.monotonic() - began, 2)
            _welcome(supervisor, wish)
            supervisor.keep()
            say("Stopping ...")
    finally:
        if listener is not None:
            listener.close()
    say("Stopped. All data is kept.")


def _listen(wish: StartOptions) -> socket.socket:
    if wish.port is not None:
        return web.listen(wish.host, wish.port)
    if wish.demo:
        return web.listen_from(wish.host, DEFAULT_PORT)
    return web.listen(wish.host, DEFAULT_PORT)


def _start(supervisor: Supervisor, wish: StartOptions, listener: socket.socket | None) -> None:
    """Start the services in order. The language model comes after the web, which would wait for it otherwise."""
    folder = supervisor.folder
    supervisor.llm_url = os.environ.get("CROWDRAG_LLM_URL", "")
    model = _language_model(folder) if "llm" in wish.only else None
    if model is not None:
        supervisor.llm_url = model.url
    supervisor.facts |= {"llm_url": supervisor.llm_url}
    if set(wish.only) - {"llm"}:
        supervisor.preload({**STOP_AT_SIGTERM, **web.count_requests_in(folder)})
    supervisor.wait_ready([supervisor.add(service) for service in stores(folder, settings=wish.layout.postgres)])
    supervisor.wait_loaded()
    supervisor.run_once("Database migrations and static files", [sys.executable, "-m", "crowdrag.runtime.preparation"])
    environment.note_identity_key(folder)
    services = [*_processes(folder, wish, listener, supervisor.llm_url), *([model] if model is not None else [])]
    if services and isinstance(services[0], Web):
        supervisor.facts |= {"url": services[0].public_url, "port": services[0].port}
        supervisor.wait_ready([supervisor.add(services.pop(0))])
    supervisor.wait_ready([supervisor.add(service) for service in services])


def _language_model(folder: DataFolder) -> LanguageModel | None:
    if not environment.embeds_llm():
        return None
    if reason := what_is_missing():
        say(f"  {'Language model':{TITLE_WIDTH}}left out: {reason}")
        return None
    return LanguageModel(folder)


def _processes(folder: DataFolder, wish: StartOptions, listener: socket.socket | None, llm_url: str) -> list[Service]:
    """Return the processes that run CrowdRAG's own code."""
    services: list[Service] = []
    if listener is not None:
        services.append(Web(folder, listener, llm_url, variables=wish.layout.session_variables()))
    return services + wish.layout.background_services(folder, wish.only, llm_url)


def _welcome(supervisor: Supervisor, wish: StartOptions) -> None:
    url = str(supervisor.facts.get("url", ""))
    say("")
    if wish.demo:
        command = [sys.executable, "-m", "django", "demo_study", "--address", url.rstrip("/")]
        supervisor.run_once("Demo study", command, echo=True)
        if wish.port is None and not url.endswith(f":{DEFAULT_PORT}/"):
            say(f"  (Port {DEFAULT_PORT} is taken{web.describe_holder(DEFAULT_PORT)}, so this is the next free one.)")
    elif url:
        say(f"  Address   {url}")
        if not _has_account(supervisor.folder):
            say(f"  Create your account: {own_command(supervisor.folder)} createsuperuser")
    if url and (warning := web.unreachable_by_others(wish.host)):
        say(f"  {warning}")
    say("")
    say("Ctrl-C stops everything.")


def _has_account(folder: DataFolder) -> bool:
    """Return whether anybody can sign in."""
    with psycopg.connect(libpq(environment.missing_variables(folder)["DATABASE_URL"])) as connection:
        row = connection.execute("SELECT EXISTS (SELECT FROM studies_user)").fetchone()
    return bool(row and row[0])


def own_command(folder: DataFolder) -> str:
    """Return how to call `crowdrag` for this folder in another terminal, where it may not be on PATH."""
    program = Path(sys.executable).with_name("crowdrag")
    on_path = shutil.which("crowdrag")
    if on_path and program.exists() and Path(on_path).samefile(program):
        command = "crowdrag"
    else:
        command = str(program) if program.exists() else f"{sys.executable} -m crowdrag.runtime.cli"
    is_default = folder.root == REPOSITORY / "var"
    return command if is_default else f"CROWDRAG_DATA_DIR={shlex.quote(str(folder.root))} {command}"


def refuse_after_half_a_restore(folder: DataFolder) -> None:
    """Refuse to run if a restore was interrupted between the database and the files."""
    note = folder.root / "restoring"
    if note.exists():
        raise Problem(
            f"A restore was interrupted. Finish it first: crowdrag restore {note.read_text().strip()} --force"
        )


def detach(folder: DataFolder, arguments: list[str]) -> None:
    """Start the system in the background, wait until it is ready, and show its output."""
    folder.create()
    log = folder.logs / "supervisor.log"
    log.unlink(missing_ok=True)
    with open_private(log) as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "crowdrag.runtime.cli", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])},
            cwd=REPOSITORY,
            start_new_session=True,
        )
    while process.poll() is None:
        status = data_folder.read_status(folder)
        if status.get("pid") == process.pid and status.get("phase") == "running":
            say(log.read_text().replace("Ctrl-C stops everything.", "`crowdrag down` stops everything.").rstrip())
            os.truncate(log, 0)  # it may contain a password
            return
        time.sleep(0.1)
    raise Problem(tail(log, 40).removeprefix("crowdrag: "))


def down(folder: DataFolder, patience: float = 120.0) -> None:
    """Stop the system of this data folder and wait until it has stopped."""
    if not data_folder.is_running(folder):
        say("CrowdRAG is not running here.")
        return
    pid = data_folder.read_status(folder).get("pid")
    if not isinstance(pid, int):
        raise Problem(f"Another process holds the lock {folder.supervisor_lock.path}. Stop it and try again.")
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + patience
    while data_folder.is_running(folder):
        if time.monotonic() > deadline:
            raise Problem(f"Process {pid} does not stop. See {folder.logs}")
        time.sleep(0.1)
    say("Stopped. All data is kept.")
