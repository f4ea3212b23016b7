"""The form of a reader's reply, against the regular expressions that say the same in more time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from analysis.rag.self_preference import replies

READING = re.compile(
    r"Answer:\s*(?P<answer>.*?)\s*(?:;|\n)\s*"
    r"Answer retrieved from which passage:\s*(?:Passage\s*)?(?P<passage>[12])\s*\.?",
    re.IGNORECASE | re.DOTALL,
)
ANSWER = re.compile(r"Answer:\s*(?P<answer>[^\n]+?)\s*;?", re.IGNORECASE)
PIECES = [
    "Answer:",
    "answer: ",
    "Answer retrieved from which passage: ",
    "Passage ",
    "1",
    "2",
    "3",
    ";",
    "\n",
    " ",
    "x",
    ".",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_answer_and_passage_are_what_the_patterns_say(text: str) -> None:
    text = text.strip()
    expected: tuple[str | None, int | None] = (None, None)
    if found := READING.fullmatch(text):
        expected = found["answer"], int(found["passage"])
    elif found := ANSWER.fullmatch(text):
        expected = found["answer"], None
    assert replies._stated(text) == expected
