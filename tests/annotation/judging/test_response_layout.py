"""Bold text where a response is judged, against the regular expression that says the same in more time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from annotation.campaign_types import response_layout
from annotation.campaign_types.response_layout import Piece, PieceMark

STRONG = re.compile(r"(?:\*\*|__)(?=\S)(.+?)(?<=\S)(?:\*\*|__)")


def by_pattern(text: str) -> list[Piece]:
    pieces, position = [], 0
    for found in STRONG.finditer(text):
        if found.start() > position:
            pieces.append(Piece(text[position : found.start()]))
        pieces.append(Piece(found.group(1), PieceMark.STRONG))
        position = found.end()
    return pieces + [Piece(text[position:])] * (position < len(text))


@given(st.text(alphabet="*_ ab", max_size=40))
def test_bold_is_what_the_pattern_says(text: str) -> None:
    assert list(response_layout._strong(text)) == by_pattern(text)
