"""The first statement of a request also checks the connection."""

import psycopg
import pytest
from django.db import OperationalError, connection

from crowdrag import prepared_statements

pytestmark = pytest.mark.django_db(transaction=True)
STATEMENT = "SELECT %(value)s::int + 1"


@pytest.fixture
def unchecked():
    """This connection as it is at the start of a request."""
    connection.ensure_connection()
    connection.health_check_enabled, connection.health_check_done = True, False
    yield
    connection.close()


def end_connection() -> None:
    """Have the server end this connection, as it does when it restarts."""
    key = connection.connection.info.backend_pid
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 1000)", [key])


def test_it_runs_on_a_new_connection_if_the_server_has_ended_the_old_one(unchecked) -> None:
    end_connection()
    assert prepared_statements.first_row(STATEMENT, {"value": "1"}) == (2,)
    assert connection.health_check_done
    # In the middle of a request, it is an error: what came before may be lost.
    end_connection()
    with pytest.raises(OperationalError):
        prepared_statements.first_row(STATEMENT, {"value": "1"})


def test_nothing_else_is_asked_on_a_connection_that_is_there(unchecked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "is_usable", lambda: pytest.fail("the connection is checked besides"))
    assert prepared_statements.first_row(STATEMENT, {"value": "1"}) == (2,)


def test_its_own_error_is_raised_and_not_repeated(unchecked) -> None:
    driver = connection.connection
    driver.execute("SET statement_timeout = 20")
    with pytest.raises(OperationalError):
        prepared_statements.first_row("SELECT pg_sleep(5)", {})
    assert connection.connection is driver
