"""Statements that come so often that the database should keep them parsed and planned."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


@contextmanager
def cursor() -> Iterator[CursorWrapper]:
    """Give a cursor whose statements stay prepared as long as the connection lasts.

    For constant statements only, and with parameters whose types do not depend on their values: a whole number as
    `Int8`, as the driver would else choose a type by its size, and prepare the statement once for each mixture of them.
    Django's own cursors write the parameters into the statement, so that no two are alike. Nothing is prepared for
    those that are used later on this connection.
    """
    if connection.queries_logged:
        # Django knows only of its own cursors how to say what they sent.
        with connection.cursor() as ordinary:
            yield ordinary
        return
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    driver: Any = connection.connection
    driver.prepare_threshold = 0
    try:
        with connection.wrap_database_errors, connection.make_cursor(psycopg.Cursor(driver)) as wrapped:  # type: ignore[arg-type]
            yield wrapped
    finally:
        driver.prepare_threshold = None
