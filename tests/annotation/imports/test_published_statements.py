"""Published statements are compared whether they cite by rank or by passage id."""

import pytest

from annotation.imports.crowdrag25 import derived_data

RANKS = {"doc#1": 0, "doc#2": 1, "7": 5}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([{"citations": [1, 0, 1]}], [[0, 1]]),
        ([{"citations": ["doc#2", "doc#1"]}, {"citations": []}], [[0, 1], []]),
        ([{"references": ["1"]}], [[1]]),
        ([{"cites": ["7"]}], [[5]]),  # an id that looks like a number is an id
        ([{"citations": ["doc#9"]}], None),
        ([{"citations": [None]}], None),
        (["text"], None),
        ("text", None),
    ],
)
def test_citations_are_read_as_ranks(given, found) -> None:
    assert derived_data._citations(given, RANKS) == found
