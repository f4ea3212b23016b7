"""Frequent statements that the database keeps prepared."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import psycopg
from django.db import InterfaceError, OperationalError, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import Model

M = TypeVar("M", bound=Model)
Row = tuple[Any, ...]


@contextmanager
def cursor() -> Iterator[CursorWrapper]:
    """Return a cursor whose statements stay prepared as long as the connection lasts.

    For constant statements only, and with parameters whose types do not depend on their values: an integer as `Int8`,
    since the driver would otherwise choose a type by its size, and prepare the statement once for each combination.
    Django's own cursors write the parameters into the statement, so that no two are alike. Their later statements on
    this connection are not prepared.
    """
    if connection.queries_logged:
        # Only Django's own cursors can log their statements.
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


def row(statement: str, parameters: dict[str, Any]) -> Row | None:
    """Return the first row of a prepared statement; None if there is none."""
    with cursor() as prepared:
        prepared.execute(statement, parameters)
        values_of_row: Row | None = prepared.fetchone()
    return values_of_row


def first_row(statement: str, parameters: dict[str, Any]) -> Row | None:
    """Return the first row of the first statement of a request, which has no further effect if it runs twice.

    It takes the place of Django's check of the connection (`CONN_HEALTH_CHECKS`), which is a statement of its own: if
    the server has closed the connection since the last request, the statement runs again on a new one. What it stores
    may have been stored by the first try, so the second may find nothing to do.
    """
    checked: Any = connection  # the stubs do not know the check
    is_unchecked = checked.connection is not None and checked.health_check_enabled and not checked.health_check_done
    if not is_unchecked or connection.in_atomic_block:
        return row(statement, parameters)
    checked.health_check_done = True
    try:
        return row(statement, parameters)
    except (OperationalError, InterfaceError):
        if connection.is_usable():
            raise
        connection.close()
        return row(statement, parameters)


def array(values: Sequence[int | float]) -> str:
    """Return numbers as a PostgreSQL array literal, for a parameter with a cast to its type.

    The driver would build a list anew each time, and choose a type by the largest value.
    """
    return f"{{{','.join(map(repr, values))}}}"


def columns(model: type[Model], table: str) -> str:
    """Return a model's columns for a statement, to be read by `instance`; `table` is its alias there."""
    return ", ".join(f'"{table}"."{field.column}"' for field in model._meta.concrete_fields)


def instance(model: type[M], values: Sequence[Any]) -> M:
    """Return a row of `columns` as an instance, as the ORM would."""
    values_of_row = list(values)
    for index, convert in _converters(model):
        values_of_row[index] = convert(values_of_row[index], None, connection)
    return model.from_db(connection.alias, [field.attname for field in model._meta.concrete_fields], values_of_row)


@cache
def _converters(model: type[Model]) -> list[tuple[int, Callable[..., Any]]]:
    """Return the converters from the driver's values to the fields', such as for JSON."""
    fields = enumerate(model._meta.concrete_fields)
    return [(index, convert) for index, field in fields for convert in field.get_db_converters(connection)]
