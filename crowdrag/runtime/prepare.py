"""Bring the database and the static files up to date, before the web starts.

python -m crowdrag.runtime.prepare
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Any number that nobody else locks; the same on every machine that shares the database.
LOCK = 7_240_125_391


def main() -> None:
    """Migrate, collect the static files, note the local language model's address."""
    import django
    from django.conf import settings
    from django.core.management import call_command, get_commands

    django.setup()
    with only_one():
        call_command("migrate", interactive=False, verbosity=1)
        if settings.LLM_URL and "local_endpoint" in get_commands():
            call_command("local_endpoint")
    collect(Path(settings.STATIC_ROOT))


@contextmanager
def only_one() -> Iterator[None]:
    """Hold a lock of the database: several machines may start at once."""
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

    note = target.with_name(f"{target.name}.digest")
    digest = static_digest()
    if target.exists() and note.exists() and note.read_text() == digest:
        return
    note.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    note.write_text(digest)


def static_digest() -> str:
    """Return a digest of the names, sizes and times of all static files."""
    from django.contrib.staticfiles.finders import get_finders

    lines = []
    for finder in get_finders():
        for name, storage in finder.list([]):
            found = Path(storage.path(name)).stat()
            lines.append(f"{name} {found.st_size} {found.st_mtime_ns}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


if __name__ == "__main__":
    main()
