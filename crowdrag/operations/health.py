"""Health checks of this process (live) and of its dependencies (ready).

There are two questions (docs/adr/0024-deployment.md). May a proxy send people here? That needs only the database with
this release's schema, and the static files: writing and judging work without a broker and without file storage. And is
everything healthy? That also needs the broker and the storage.
"""

import errno
import logging
import os
import shutil
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import FileSystemStorage, default_storage
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils.cache import add_never_cache_headers

from crowdrag.jobs import tasks
from crowdrag.runtime import graceful_shutdown
from crowdrag.studies.access import public

# Without these a request fails; without the others something waits.
NEEDED = ("database", "migrations", "pages", "writing")
# A result is reused for this time, so that frequent probes cost nothing.
CACHE_SECONDS = 1.0
# Seconds that a storage may take to respond; its client would wait for minutes.
STORAGE_TIMEOUT = 3.0
# With less free disk space than this, nothing can be stored.
LEAST_FREE = 10 * 1024 * 1024
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Readiness:
    """The result: each dependency, and whether it is available."""

    services_ready: dict[str, bool]
    draining: bool = False

    @property
    def serves(self) -> bool:
        """Whether a proxy may send requests here."""
        return not self.draining and all(self.services_ready[name] for name in NEEDED)

    @property
    def whole(self) -> bool:
        """Whether nothing at all is missing."""
        return self.serves and all(self.services_ready.values())


class HealthCache:
    """Checks the dependencies, and caches the result for a moment."""

    def __init__(self, checks: dict[str, Callable[[], bool]]) -> None:
        self._checks = checks
        self._lock = threading.Lock()
        self._seen: dict[str, bool] = {}
        self._seen_at = float("-inf")

    def look(self, *, now: float | None = None) -> Readiness:
        """Return the dependencies as of at most a second ago, and whether this process is shutting down, as of now."""
        at = time.monotonic() if now is None else now
        with self._lock:
            if at - self._seen_at > CACHE_SECONDS:
                self._seen = {name: _passes(name, check) for name, check in self._checks.items()}
                self._seen_at = at
            return Readiness(dict(self._seen), graceful_shutdown.is_draining())


def _passes(name: str, check: Callable[[], bool]) -> bool:
    try:
        return check()
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is not there
        # The response reveals no internals; the log does.
        log.warning("Not ready: %s: %s", name, str(error).strip().split("\n")[0] or type(error).__name__)
        return False


def database_answers() -> bool:
    """Return whether the database answers a query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return True


class MigrationCheck:
    """Whether all migrations of this release are applied. Later ones may be applied too, during an upgrade."""

    def __init__(self) -> None:
        self._complete = False

    def __call__(self) -> bool:
        """Return the result; applied migrations stay applied as long as a process lives."""
        if not self._complete:
            executor = MigrationExecutor(connection)
            self._complete = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        return self._complete


def data_can_be_written() -> bool:
    """Return whether data can be stored: the database accepts a write, and our disk has free space."""
    with transaction.atomic(), connection.cursor() as cursor:
        # It is written to the write-ahead log and nowhere else.
        cursor.execute("SELECT pg_logical_emit_message(true, 'crowdrag', 'readyz')")
    free = shutil.disk_usage(settings.DATA_DIR).free if settings.DATA_DIR.exists() else LEAST_FREE + 1
    if free <= LEAST_FREE:
        raise OSError(errno.ENOSPC, f"{free // 1024} kB are left on the disk of {settings.DATA_DIR}")
    return True


def static_files_are_hashed() -> bool:
    """Return whether the static files existed when the process started: without them, every page fails."""
    return bool(getattr(staticfiles_storage, "hashed_files", True))


def broker_answers() -> bool:
    """Return whether the broker answers."""
    with tasks.impatient_connection() as broker:
        broker.ensure_connection(max_retries=0, timeout=2)
    return True


class StorageCheck:
    """Whether files can be stored: checked on a thread, since an unreachable storage blocks."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._asked: Future[bool] | None = None

    def __call__(self) -> bool:
        """Return the result; while an earlier check is pending, no other is started."""
        if self._asked is None or self._asked.done():
            self._asked = self._threads.submit(storage_answers)
        try:
            return self._asked.result(STORAGE_TIMEOUT)
        except TookTooLong:
            raise TimeoutError(f"no answer in {STORAGE_TIMEOUT:.0f} s") from None


def storage_answers() -> bool:
    """Return whether the storage of uploads and results can be written (a folder) or answers (an object store)."""
    if isinstance(default_storage, FileSystemStorage):
        folder = Path(default_storage.location)
        folder.mkdir(parents=True, exist_ok=True)
        return os.access(folder, os.W_OK | os.X_OK) and shutil.disk_usage(folder).free > LEAST_FREE
    # Whether the object exists does not matter; only that an object store responds does.
    default_storage.exists("readyz")
    return True


_cache = HealthCache(
    {
        "database": database_answers,
        "migrations": MigrationCheck(),
        "pages": static_files_are_hashed,
        "writing": data_can_be_written,
        "broker": broker_answers,
        "storage": StorageCheck(),
    }
)


def current_readiness() -> Readiness:
    """Return the readiness of this process."""
    return _cache.look()


@public
def healthz(request: HttpRequest) -> HttpResponse:
    """Answer 200 as long as the process lives. Nothing else is checked: a restart would not repair a database."""
    response = HttpResponse("ok\n", content_type="text/plain")
    add_never_cache_headers(response)
    return response


@public
def readyz(request: HttpRequest) -> HttpResponse:
    """Answer 200 if requests may come here, else 503; with `?all` only if nothing at all is missing."""
    status = current_readiness()
    well = status.whole if "all" in request.GET else status.serves
    checks = {name: "ok" if is_ok else "missing" for name, is_ok in status.services_ready.items()}
    state = "draining" if status.draining else "ready" if status.whole else "degraded" if status.serves else "not ready"
    response = JsonResponse({"status": state, "checks": checks}, status=200 if well else 503)
    add_never_cache_headers(response)
    # Missing dependencies are logged when they are checked; Django would log each such response as an error.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


PROBES = {"/healthz": healthz, "/readyz": readyz}


def probes(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: answer probes before the host name, the session or the language are checked.

    A probe names the machine and not the site, comes without TLS and without a cookie, and must not fail for that.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        probe = PROBES.get(request.path)
        return probe(request) if probe else get_response(request)

    return answer
