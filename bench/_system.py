"""A separate system for a measurement: database, broker and web server in a temporary folder."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from crowdrag.runtime import embedded_stores
from crowdrag.runtime.data_folder import DataFolder

if TYPE_CHECKING:
    from django.db.backends.base.base import BaseDatabaseWrapper

    from tests.writing.editor.served_editor import Server


@contextmanager
def system(settings: str = "crowdrag.settings", **variables: str) -> Iterator[DataFolder]:
    """Start database and broker, set up Django with these settings, create all tables, and yield the folder.

    The environment is restored at the end.
    """
    before = dict(os.environ)
    # The stores' supervisor removes the folder as well, at the same time.
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-", ignore_cleanup_errors=True) as data:
        folder = DataFolder(Path(data).resolve())
        for name in ("DATABASE_URL", "BROKER_URL"):
            os.environ.pop(name, None)
        os.environ |= {"CROWDRAG_DATA_DIR": data, "HTTPS": "false", "DJANGO_SETTINGS_MODULE": settings, **variables}
        try:
            with embedded_stores.borrow(folder, options=("--remove",)) as environment:
                os.environ |= environment | {"DJANGO_SETTINGS_MODULE": settings}
                connection = _set_up()
                try:
                    yield folder
                finally:
                    connection.close()
        finally:
            os.environ.clear()
            os.environ.update(before)


def _set_up() -> BaseDatabaseWrapper:
    import django

    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    return connection  # type: ignore[return-value] # a proxy of it


@contextmanager
def web(folder: DataFolder) -> Iterator[Server]:
    """Start the web server as `crowdrag up` does, and yield it once it answers."""
    from django.db import connection

    from tests.writing.editor.served_editor import Server

    connection.close()
    server = Server(
        folder.root, "crowdrag", STATICFILES_STORAGE="django.contrib.staticfiles.storage.StaticFilesStorage"
    )
    try:
        server.start()
        server.await_answer()
        yield server
    finally:
        server.close()
