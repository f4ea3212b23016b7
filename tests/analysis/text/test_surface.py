"""Surface features of responses, counted by hand."""

import math

import pytest

from analysis.text.surface import FEATURES, features

TEXT = "- Trees grow slowly [0].\n- They need water. And light [1, 2]!\nTrees end."


def named(text: str, query: str = "") -> dict[str, float]:
    return dict(zip(FEATURES, features(text, query), strict=True))


def test_by_hand():
    found = named(TEXT, "How do trees get water?")
    assert found["log_words"] == pytest.approx(math.log(10))
    assert found["log_lines"] == pytest.approx(math.log(3))
    assert found["list_share"] == pytest.approx(2 / 3)
    assert found["log_sentence_length"] == pytest.approx(math.log(10 / 4))
    assert found["distinct_share"] == pytest.approx(9 / 10)
    assert found["query_share"] == pytest.approx(2 / 4)  # how, trees, get, water
    assert found["citation_rate"] == pytest.approx(20)
    assert found["letters_per_word"] == pytest.approx(
        sum(map(len, ["treesgrowslowlytheyneedwaterandlighttreesend"])) / 10
    )


@pytest.mark.parametrize("text", ["", "[0]", "\n\n", "。", "🌳" * 5])
def test_any_text_has_finite_features(text):
    assert all(map(math.isfinite, features(text, "")))


def test_markers_do_not_count_as_words():
    assert named("Trees grow [0, 12].")["log_words"] == named("Trees grow.")["log_words"]
