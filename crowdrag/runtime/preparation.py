"""Bring the database and the static files up to date, before the web starts.

python -m crowdrag.runtime.preparation
"""

import hashlib
import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Any number that nothing else locks; the same on every machine that shares the database.
LOCK = 7_240_125_391
# A table change waits for current readers, and all later ones wait behind it: so it gives up soon, lets them pass, and
# tries again.
LOCK_TIMEOUT = "3s"
TRIES = 40
PAUSE = 2.0


def main(*, database: bool = True, static: bool = True) -> None:
    """Migrate, collect the static files, store the local language model's URL."""
    import django
    from django.conf import settings
    from django.core.management import call_command, get_commands

    django.setup()
    # Beside the migrations, on the other core. The process starts before there is a connection.
    collecting = multiprocessing.Process(target=_collect_and_share) if static else None
    if collecting is not None:
        collecting.start()
    if database:
        refuse_unusable_database()
        with only_one():
            migrate()
            if settings.LLM_URL and "local_endpoint" in get_commands():
                call_command("local_endpoint")
    if collecting is not None:
        collecting.join()
        if collecting.exitcode:
            sys.exit("The static files could not be collected. See above.")


def _collect_and_share() -> None:
    import django
    from django.conf import settings

    django.setup()  # where the process is a new one and no fork
    collect(Path(settings.STATIC_ROOT))
    if shared := os.environ.get("CROWDRAG_STATIC_SHARED"):
        share(Path(settings.STATIC_ROOT), Path(shared))


def refuse_unusable_database() -> None:
    """Exit with a message if a check of the database says that this release cannot work on it."""
    from django.core import checks

    problems = checks.run_checks(tags=[checks.Tags.database], databases=["default"])
    if errors := [error for error in problems if error.is_serious()]:
        sys.exit("\n".join(f"{error.msg}\n{error.hint or ''}".strip() for error in errors))


def is_migrated() -> bool:
    """Return whether all migrations of this release are applied."""
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def migrate(*, tries: int = TRIES, pause: float = PAUSE) -> None:
    """Apply the migrations without blocking others for long; a lock that is not granted is requested again."""
    from django.core.management import call_command
    from django.db import OperationalError, connection
    from psycopg.errors import LockNotAvailable

    # With nothing to apply, the command compares all models with their migrations where it may print a difference. That
    # takes longer than all else. It is still called: it completes what was interrupted after the last migration.
    verbosity = 0 if is_migrated() else 1
    for left in reversed(range(tries)):
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [LOCK_TIMEOUT])
        try:
            call_command("migrate", interactive=False, verbosity=verbosity)
        except OperationalError as error:
            if not left or not isinstance(error.__cause__, LockNotAvailable):
                raise
            print(f"\nA table is in use, which a migration wants to change; again in {pause:g} s.", flush=True)
            time.sleep(pause)
        else:
            return
        finally:
            with connection.cursor() as cursor:
                cursor.execute("RESET lock_timeout")


@contextmanager
def only_one() -> Iterator[None]:
    """Hold a database lock, since several machines may start at once."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


def collect(target: Path) -> None:
    """Collect the static files if any of them has changed since the last time."""
    from django.core.management import call_command

    from crowdrag.static_files import NOT_COLLECTED

    note = target.with_name(f"{target.name}.digest")
    digest = static_digest()
    if target.exists() and note.exists() and note.read_text() == digest:
        return
    note.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, clear=True, verbosity=0, ignore_patterns=list(NOT_COLLECTED))
    note.write_text(digest)


def share(source: Path, target: Path) -> None:
    """Add the static files to a folder that also has those of earlier releases, for the proxy that serves it.

    While one release replaces another, a page of either may request its files from any process: the folder has both.
    """
    for path in source.rglob("*"):
        destination = target / path.relative_to(source)
        if path.is_dir() or (destination.exists() and destination.stat().st_size == path.stat().st_size):
            continue
        destination.parent.mkdir(parents=True, exist_ok=True)
        draft = destination.with_name(f".{destination.name}.{os.getpid()}")
        shutil.copyfile(path, draft)
        draft.replace(destination)


def static_digest() -> str:
    """Return a digest of the names and contents of all static files, and of whether they are compressed.

    Not of their times: an image's files lose fractions of a second on the way through a registry, and a container
    cannot collect again, since it may not write there.
    """
    from django.conf import settings
    from django.contrib.staticfiles.finders import get_finders

    from crowdrag.static_files import NOT_COLLECTED

    lines = [f"compressed: {settings.COMPRESS_STATIC}"]
    for finder in get_finders():
        for name, storage in finder.list(list(NOT_COLLECTED)):
            with Path(storage.path(name)).open("rb") as file:
                lines.append(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


if __name__ == "__main__":
    main()
