"""What is written in a format is read again as the same values."""

import io

import pytest
from hypothesis import HealthCheck, given, settings

from tests.writing.corpus.formats.random_values import values
from writing.corpus.formats.format_registry import FORMATS, Format
from writing.corpus.formats.values import contents
from writing.corpus.imports.problems import Problems
from writing.corpus.imports.sources import Member


def member(data: bytes, name: str = "file") -> Member:
    return Member(name, len(data), lambda: io.BytesIO(data))


@pytest.mark.parametrize("count", [50, pytest.param(1000, marks=pytest.mark.extended)])
@pytest.mark.parametrize("format_", FORMATS, ids=lambda format_: format_.name)
def test_values_come_back_as_they_were(format_: Format, count: int) -> None:
    @settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(values(format_))
    def check(some: list[object]) -> None:
        data = b"".join(format_.write(contents(some)))
        problems = Problems()
        assert format_.read(member(data), problems).values == some
        assert problems.found == []

    check()
