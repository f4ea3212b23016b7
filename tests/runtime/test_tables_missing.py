"""A database without tables gets a sentence that says what to do."""

import django.core.management
import pytest
from django.db.utils import ProgrammingError

from crowdrag.runtime import cli
from crowdrag.runtime.problems import Problem


class DriverError(Exception):
    """What the driver says."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__(sqlstate)
        self.sqlstate = sqlstate


def fail_with(monkeypatch: pytest.MonkeyPatch, sqlstate: str) -> None:
    def execute(_arguments: list[str]) -> None:
        raise ProgrammingError("relation does not exist") from DriverError(sqlstate)

    monkeypatch.setattr(django.core.management, "execute_from_command_line", execute)


def test_a_missing_table_is_a_problem_that_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, "42P01")

    with pytest.raises(Problem, match="crowdrag migrate"):
        cli._execute(["analyse"])


@pytest.mark.extended
def test_any_other_error_stays_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, "42601")

    with pytest.raises(ProgrammingError):
        cli._execute(["analyse"])
