"""Texts that are no prose are told from prose, in any language, in linear time."""

import time

import pytest

from analysis.text import words

PROSE = (
    "Tides follow the moon [0]. The sun adds to them twice a month [1, 2], and harbours up a funnel see more of it.",
    "- Use 3 eggs and 250 g of flour [0]\n- Bake for 40 minutes at 180 degrees [1]",
    "Die Gezeiten folgen dem Mond [0]; die Sonne verstärkt sie zweimal im Monat.",
    "潮汐随月亮而变化 [0]。太阳每月两次增强它们 [1]。",
    "المد والجزر يتبعان القمر [0].",
    "Yes.",
)
BROKEN = (
    "23a6a508e08782d5bbe9 [1, 2, 3] {3}",
    '{"a": 1, "b": [2, 3]} 4 5 6',
    "[0] [1] [2]",
    "1 2 3 4 5 6 7 8 9",
    ") ) ) ( ( (",
    "The tide is high and the tide is low and " * 20,
    "",
)


@pytest.mark.parametrize("text", PROSE)
def test_prose_passes(text: str) -> None:
    assert not words.is_degenerate(text)


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_prose_does_not(text: str) -> None:
    assert words.is_degenerate(text)


def test_shares_by_hand() -> None:
    assert words.share_of_words("two words, 3 4 [5]") == 0.5
    assert words.share_of_words("") == 0.0
    ten = "a b c d e f g h i j "
    assert words.share_repeated(ten) == 0.0
    assert words.share_repeated(ten * 2) == pytest.approx(3 / 13)


@pytest.mark.parametrize("unit", [" ", "[", "[1", "a ", "1,", "]", "a"])
def test_a_long_hostile_text_takes_no_time(unit: str) -> None:
    begin = time.perf_counter()
    words.is_degenerate((unit * 300_000)[:300_000])
    assert time.perf_counter() - begin < 10  # milliseconds; what is quadratic takes minutes
