"""Bold text where a response is judged, against the regular expression that says the same in more time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from annotation.domain import showing
from annotation.domain.showing import Mark, Piece

STRONG = re.compile(r"(?:\*\*|__)(?=\S)(.+?)(?<=\S)(?:\*\*|__)")


def by_pattern(text: str) -> list[Piece]:
    pieces, position = [], 0
    for found in STRONG.finditer(text):
        if found.start() > position:
            pieces.append(Piece(text[position : found.start()]))
        pieces.append(Piece(found.group(1), Mark.STRONG))
        position = found.end()
    return pieces + [Piece(text[position:])] * (position < len(text))


@given(st.text(alphabet="*_ ab", max_size=40))
def test_bold_is_what_the_pattern_says(text: str) -> None:
    assert list(showing._strong(text)) == by_pattern(text)
