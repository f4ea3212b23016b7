"""Measures of answers: by hand, and against SQuAD's procedure told step by step."""

import collections
import doctest
import re
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.rag import answers
from analysis.rag.answers import NoGoldAnswerError, absolute_error, exact_match, f1, normalised, number

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
    assert doctest.testmod(answers).failed == 0


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


@pytest.mark.parametrize(
    ("answer", "gold", "exact", "overlap"),
    [
        ("The Beatles!", ["beatles"], 1, 1),
        ("", ["beatles"], 0, 0),
        ("the", [""], 1, 1),  # both are empty when normalised
        ("yes it is", ["yes"], 0, 0),  # more than "yes" alone
        ("no", ["not at all"], 0, 0),
        ("new york city", ["New York", "NYC"], 0, 0.8),
    ],
)
def test_by_hand(answer: str, gold: list[str], exact: float, overlap: float) -> None:
    assert (exact_match(answer, gold), f1(answer, gold)) == (exact, pytest.approx(overlap))


@pytest.mark.parametrize("bad", [[], "one string"])
def test_without_a_right_answer_nothing_is_scored(bad: Any) -> None:
    for measure in (exact_match, f1):
        with pytest.raises(NoGoldAnswerError):
            measure("x", bad)


def test_ratings_that_are_no_numbers_are_as_far_as_can_be() -> None:
    assert [absolute_error(given, 4.0) for given in ("4", "it is a 1.", "good", "", "-2")] == [0, 3, 3, 3, 6]
    assert absolute_error("none", 2.0) == 3
    assert number("3,5") == 3.0
