"""Two releases of CrowdRAG on one database, each a web server of its own, and a small proxy before them.

The later release is a copy of this tree with a column more, that it writes with every batch of a writing log, and with
another text in a module that pages load.
"""

import http.client
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from crowdrag.runtime.data_folder import REPOSITORY
from tests.runtime.conftest import eventually, free_port
from tests.writing.editor.served_editor import CSRF

PACKAGES = ("crowdrag", "annotation", "analysis", "writing", "templates", "static")
COLUMN = "of_release"
MIGRATION = "9999_of_release"
# What the page loads on which people write.
MODULE = "js/editor/page.js"
# Files are hashed as ever; compressing two thousand of them takes a minute and is not what is tried here.
PLAIN_STATIC = """
from crowdrag.static_files import HashedStaticFilesStorage

class Plain(HashedStaticFilesStorage):
    def post_process_with_compression(self, files):
        yield from files
"""


class Release:
    """One release: its tree, and what its processes are told."""

    def __init__(self, name: str, tree: Path, root: Path, database: str) -> None:
        self.tree, self.root = tree, root / name
        self.root.mkdir(parents=True)
        (self.root / "plain_static.py").write_text(PLAIN_STATIC)
        url = urlsplit(os.environ["DATABASE_URL"])
        self.env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(tree), str(self.root)]),
            "DATABASE_URL": urlunsplit(url._replace(path=f"/{database}")),
            "CROWDRAG_STATIC_ROOT": str(self.root / "static"),
            "CROWDRAG_STATIC_SHARED": str(root / "shared"),
            "STATICFILES_STORAGE": "plain_static.Plain",
            # Long enough for a proxy on a machine with ten times as much to do as it can.
            "CROWDRAG_DRAIN_SECONDS": "8",
            "WEB_WORKERS": "1",
        }

    def build(self) -> None:
        """Make its static files, as its image is built."""
        self.crowdrag("prepare", "--only", "static", CROWDRAG_STATIC_SHARED="")

    def crowdrag(self, *arguments: str, **more: str) -> None:
        """Run a command of this release to its end."""
        env = self.env | {"CROWDRAG_DATA_DIR": str(self.root / "command")} | more
        done = subprocess.run(self._command(*arguments), env=env, cwd=self.tree, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self, name: str) -> "WebProcess":
        """Start a web server of this release."""
        return WebProcess(self, name)

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "crowdrag.runtime.cli", *arguments]


class WebProcess:
    """`crowdrag serve web` of one release."""

    def __init__(self, release: Release, name: str) -> None:
        self.name, self.port = name, free_port()
        self.log = release.root / f"{name}.log"
        env = release.env | {"CROWDRAG_DATA_DIR": str(release.root / name)}
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                release._command("serve", "web", "--port", str(self.port)),
                env=env,
                cwd=release.tree,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def ask(self, path: str = "/readyz") -> tuple[int, str]:
        """What a probe is told; 0 where nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def await_answer(self, status: int) -> str:
        """Wait until it gives this answer to who asks whether it is ready; return what else it says."""

        def given() -> str:
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            found, said = self.ask()
            return said if found == status else ""

        said: str = eventually(given, within=120)
        return said

    def ask_to_stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def later_release(target: Path) -> Path:
    """Make the tree of the later release."""
    for name in PACKAGES:
        shutil.copytree(REPOSITORY / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    _replace(
        target / "writing/editor/models.py",
        r"(class LogBatch\(.*?\n)(    received_at = )",
        rf'\1    {COLUMN} = models.TextField(default="later", db_default="earlier")\n\2',
    )
    _replace(
        target / "writing/editor/ingestion.py",
        r"(INSERT INTO writing_logbatch.*?received_at)(\).*?%\(now\)s)",
        rf"\1, {COLUMN}\2, 'later'",
    )
    last = max(path.stem for path in (target / "writing/migrations").glob("[0-9]*.py"))
    (target / f"writing/migrations/{MIGRATION}.py").write_text(
        "from django.db import migrations, models\n\n\n"
        "class Migration(migrations.Migration):\n"
        f"    dependencies = [('writing', '{last}')]\n"
        f"    operations = [migrations.AddField('logbatch', '{COLUMN}',\n"
        "        models.TextField(default='later', db_default='earlier'))]\n"
    )
    module = target / "static" / MODULE
    module.write_text(module.read_text() + "\n// A later release.\n")
    return target


def _replace(path: Path, pattern: str, by: str) -> None:
    text, count = re.subn(pattern, by, path.read_text(), count=1, flags=re.DOTALL)
    assert count == 1, f"{path} is not as it was"
    path.write_text(text)


class Proxy:
    """A proxy as docs/deployment/ configures one, and no more forgiving.

    It asks each backend every 0.2 s whether it is ready, gives requests to those that are in turn, keeps connections to
    them for a few seconds, and serves static files from the folder that the releases share. A request is given to
    another backend only where a connection was refused; whatever else goes wrong is a 502.
    """

    KEEP = 5.0

    def __init__(self, session_cookie: str, csrf_cookie: str, shared: Path) -> None:
        self.backends: dict[int, str] = {}
        self.ready: list[int] = []
        self.answers: Counter[tuple[str, int]] = Counter()
        self.failures: list[str] = []
        self._names = session_cookie, csrf_cookie
        self._turn = 0
        self._lock = threading.Lock()
        self._kept: dict[int, list[tuple[float, http.client.HTTPConnection]]] = {}
        self._over = threading.Event()
        self._began = time.monotonic()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self, shared))
        self._server.daemon_threads = True
        self.host, self.port = "127.0.0.1", self._server.server_address[1]
        for work in (self._server.serve_forever, self._look):
            threading.Thread(target=work, daemon=True).start()

    def cookies(self, session: str) -> str:
        return f"{self._names[0]}={session}; {self._names[1]}={CSRF}"

    def add(self, web: WebProcess) -> None:
        """Send requests there, too, once it is ready."""
        self.backends[web.port] = web.name

    def close(self) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            self.ready = [port for port in list(self.backends) if self._is_ready(port)]

    def _is_ready(self, port: int) -> bool:
        # A busy machine is no reason to send people elsewhere: a second failure in a row is.
        return any(self._asked(port) for _ in range(2))

    def _asked(self, port: int) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def forward(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, list[Any], bytes]:
        """Give a request to a backend that is ready; return its answer."""
        refused: list[str] = []
        for port in self._in_turn():
            connection = self._kept_connection(port)
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                try:
                    connection.connect()
                except OSError as error:
                    refused.append(f"{self.backends[port]}: {error}")
                    continue
            return self._given(port, connection, method, path, body, headers)
        self.failures.append(f"{method} {path}: nobody is ready {refused}")
        return 502, [], b""

    def _given(
        self, port: int, connection: http.client.HTTPConnection, method: str, path: str, body: bytes, headers: Any
    ) -> tuple[int, list[Any], bytes]:
        try:
            connection.request(method, path, body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            self.failures.append(
                f"{time.monotonic() - self._began:.1f} s: {method} {path}: {self.backends[port]} broke off ({error!r})"
            )
            return 502, [], b""
        with self._lock:
            self.answers[self.backends[port], answer.status] += 1
            if not answer.will_close:
                self._kept.setdefault(port, []).append((time.monotonic(), connection))
        if answer.status >= 500:
            self.failures.append(f"{method} {path}: {self.backends[port]} answered {answer.status}")
        return answer.status, answer.getheaders(), content

    def _in_turn(self) -> list[int]:
        with self._lock:
            self._turn += 1
            ready = list(self.ready)
            at = self._turn % len(ready) if ready else 0
            return ready[at:] + ready[:at]

    def _kept_connection(self, port: int) -> http.client.HTTPConnection | None:
        with self._lock:
            kept = self._kept.get(port, [])
            while kept:
                since, connection = kept.pop()
                if time.monotonic() - since < self.KEEP:
                    return connection
                connection.close()
        return None


def _handler(proxy: Proxy, shared: Path) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body are two writes: without it each answer waits for the client's acknowledgement.
        disable_nagle_algorithm = True

        def handle_one_request(self) -> None:
            with suppress(ConnectionError):
                super().handle_one_request()

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.startswith("/static/"):
                place = shared / self.path.removeprefix("/static/")
                self.give(200 if place.is_file() else 404, [], place.read_bytes() if place.is_file() else b"")
                return
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            self.give(*proxy.forward(self.command, self.path, body, headers))

        do_GET = do_POST = answer  # noqa: N815 -- http.server's names

        def give(self, status: int, headers: list[tuple[str, str]], content: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler
