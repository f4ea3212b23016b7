"""No text makes what reads it slow: ten times as much of a hostile text takes some ten times as long."""

import pytest

from tests.hostile_texts import BEGINNINGS, ENDINGS, MORE_UNITS, READERS, UNITS, Reader, marks, seconds, text_of

pytestmark = pytest.mark.extended

SMALL, LARGE = 10_000, 100_000
# What takes less at 100 kB harms nobody, and is not measured against a smaller text.
HARMLESS = 0.3
# Linear is 10, quadratic 100. Caches and collectors of garbage take their share.
MOST = 30


PLAIN = [("", unit, ending) for unit in UNITS for ending in ENDINGS]
MORE = [
    *(("", unit, ending) for unit in MORE_UNITS for ending in ENDINGS),
    *((beginning, unit, "x") for beginning in BEGINNINGS for unit in (" ", "\n", "7 ", "a", "A ")),
]


def _is_linear(reader: Reader, small: str, large: str) -> bool:
    if seconds(reader, large) < HARMLESS:
        return True
    best = min(seconds(reader, large) for _ in range(2))
    return best < HARMLESS or best < MOST * min(seconds(reader, small) for _ in range(3))


def _slow(reader: Reader, shapes: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    seconds(reader, "Some words [0]. And more.")  # dictionaries and models are read once
    return [
        (beginning, unit, ending)
        for beginning, unit, ending in shapes
        if not _is_linear(
            reader, *(text_of(size, beginning=beginning, unit=unit, ending=ending) for size in (SMALL, LARGE))
        )
    ]


@pytest.mark.parametrize("name", READERS)
def test_reader_takes_time_in_proportion_to_the_text(name: str) -> None:
    assert _slow(READERS[name], PLAIN) == []


@pytest.mark.parametrize("name", READERS)
def test_reader_takes_time_in_proportion_to_stacked_marks(name: str) -> None:
    assert _is_linear(READERS[name], marks(SMALL), marks(LARGE))


@pytest.mark.soak
@pytest.mark.parametrize("name", READERS)
def test_reader_takes_time_in_proportion_to_any_text(name: str) -> None:
    assert _slow(READERS[name], MORE) == []
