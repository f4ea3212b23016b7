"""Measures of answers: by hand, and against SQuAD's procedure told step by step."""

import collections
import doctest
import re
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rag import qa_metrics
from analysis.rag.qa_metrics import (
    METRICS,
    NoGoldAnswerError,
    absolute_error,
    exact_match,
    f1,
    normalised,
    number,
    rating,
)
from tests.analysis.cases import check_each

WORDS = st.lists(
    st.sampled_from(["The", "a", "Paris,", "paris", "U.S.", "us", "yes", "no", "42", "!", "été"]), max_size=6
)
TEXTS = WORDS.map(" ".join)


def squad_f1(prediction: str, truth: str) -> float:
    """The script's steps, one by one."""

    def tokens(text: str) -> list[str]:
        text = "".join(letter for letter in text.lower() if letter not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", text).split()

    ours, theirs = tokens(prediction), tokens(truth)
    same = sum((collections.Counter(ours) & collections.Counter(theirs)).values())
    if not ours or not theirs:
        return float(ours == theirs)
    if same == 0:
        return 0.0
    precision, recall = same / len(ours), same / len(theirs)
    return 2 * precision * recall / (precision + recall)


def test_examples() -> None:
    assert doctest.testmod(qa_metrics).failed == 0


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_f1_is_that_of_the_script_but_for_yes_and_no(answer: str, gold: list[str]) -> None:
    whole = {"yes", "no", "noanswer"}
    expected = [
        float(normalised(answer) == normalised(each))
        if {normalised(answer), normalised(each)} & whole
        else squad_f1(answer, each)
        for each in gold
    ]
    assert f1(answer, gold) == pytest.approx(max(expected))
    assert exact_match(answer, gold) == float(any(normalised(answer) == normalised(each) for each in gold))
    assert exact_match(answer, gold) <= f1(answer, gold)


def test_by_hand() -> None:
    def check(answer: str, gold: list[str], exact: float, overlap: float) -> None:
        assert (exact_match(answer, gold), f1(answer, gold)) == (exact, pytest.approx(overlap))

    check_each(
        [
            ("The Beatles!", ["beatles"], 1, 1),
            ("", ["beatles"], 0, 0),
            ("the", [""], 1, 1),  # both are empty when normalised
            ("yes it is", ["yes"], 0, 0),  # more than "yes" alone
            ("no", ["not at all"], 0, 0),
            ("new york city", ["New York", "NYC"], 0, 0.8),
        ],
        check,
    )


@pytest.mark.parametrize("bad", [[], "one string"])
def test_without_a_right_answer_nothing_is_scored(bad: Any) -> None:
    for measure in (exact_match, f1):
        with pytest.raises(NoGoldAnswerError):
            measure("x", bad)


def test_ratings_that_are_no_numbers_are_as_far_as_can_be() -> None:
    assert [absolute_error(given, 4.0) for given in ("4", "it is a 1.", "good", "", "-2")] == [0, 3, 3, 3, 3]
    assert absolute_error("none", 2.0) == 3
    assert number("3,5") == 3.0


def test_a_rating_is_the_first_number_and_lies_on_the_scale() -> None:
    def check(answer: str, taken: float | None) -> None:
        assert rating(answer) == taken
        assert [METRICS[name].reads(answer) for name in ("mae", "mse", "f1")] == [taken is not None] * 2 + [True]

    check_each(
        [
            ("4", 4.0),
            (" 4.5 ", 4.5),
            ("I give it 2 of 5", 2.0),
            ("5/5", 5.0),
            ("1", 1.0),
            ("5.0", 5.0),
            # Numbers that no scale of 1 to 5 has: the first one counts, whatever comes after.
            ("2017 was great", None),
            ("10", None),
            ("0", None),
            ("-3", None),
            ("5.1", None),
            ("In 2017 a 4", None),
            ("90 %, so 4", None),
            ("four", None),
            ("", None),
        ],
        check,
    )


@given(st.text() | st.integers().map(str) | st.floats(allow_nan=False).map(str), st.sampled_from("12345"))
def test_no_error_of_a_rating_is_larger_than_the_worst(answer: str, gold: str) -> None:
    for name in ("mae", "mse"):
        metric = METRICS[name]
        assert metric.worst is not None
        assert 0 <= metric.score(answer, [gold]) <= metric.worst


@pytest.mark.parametrize("gold", ["good", "7", ""])
def test_ratings_are_not_scored_against_what_is_no_rating(gold: str) -> None:
    assert not METRICS["mae"].can_score([gold])
    assert METRICS["mae"].can_score([gold, "3"])
    with pytest.raises(NoGoldAnswerError):
        METRICS["mae"].score("3", [gold])
    with pytest.raises(NoGoldAnswerError, match=r"1.*5"):
        absolute_error("3", 7.0)
