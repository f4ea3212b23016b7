"""Many requests in one world: what one of them changes, the next one does not see."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo whatever is written to the database meanwhile."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            # As every transaction begins. An import has them checked at once, and no savepoint undoes that.
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        yield
        transaction.set_rollback(True)
