"""Emptying the database behind a test that committed: a second faster than Django's own way, for each of them.

Django truncates all tables, which makes a hundred new files and more, and then draws up content types and permissions
again. Where there is little to delete, deleting is done in a moment; where there is much, tables are truncated still.
"""

from typing import Any

from django.db import connections, transaction

# What Django keeps of itself, and makes when tables are made.
KEPT = ("django_migrations", "django_content_type", "auth_permission")
# Beyond this, deleting takes longer than truncating, and leaves dead rows that later tests would read over.
MAX_BYTES = 4 * 1024**2

_TABLES = """
    SELECT c.relname, pg_relation_size(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname <> ALL(%s) ORDER BY c.relname
"""


def empty(alias: str = "default") -> None:
    """Delete all rows, but those that Django makes with the tables.

    As truncating does, it waits for whoever is still writing. Triggers and references are off meanwhile: they are there
    to keep rows.
    """
    with connections[alias].cursor() as cursor:
        cursor.execute(_TABLES, [list(KEPT)])
        sizes = dict(cursor.fetchall())
        names = [f'"{name}"' for name in sizes]
        if sum(sizes.values()) > MAX_BYTES:
            cursor.execute(f"TRUNCATE {', '.join(names)}")
            return
        used = [f'"{name}"' for name, size in sizes.items() if size]
        if used:
            deletions = "; ".join(f"DELETE FROM {name}" for name in used)
            with transaction.atomic(using=alias):
                cursor.execute("SET LOCAL session_replication_role = replica")
                cursor.execute(f"LOCK TABLE {', '.join(names)} IN SHARE ROW EXCLUSIVE MODE; {deletions}")


def after(case: Any) -> None:
    """Empty what a test case used; in place of `TransactionTestCase._fixture_teardown`."""
    for alias in case._databases_names(include_mirrors=False):
        empty(alias)
