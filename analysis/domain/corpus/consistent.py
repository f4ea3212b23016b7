"""Reading a study as it stood at one moment, however long that takes and whoever writes meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def reading() -> Iterator[None]:
    """Read all that the block reads from one snapshot of the database, and write nothing.

    Inside of another transaction there is no such snapshot to be had, and durable says so.
    """
    with transaction.atomic(durable=True):
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
