"""Statements and citations: the cases seen in the corpus, and properties for all texts."""

import gzip
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.text.statements import compose, count_markers_from_zero, count_words, parse, without_markers
from tests.analysis.cases import check_each


def pairs(text, passages=20):
    return [(s.text, s.citations) for s in parse(text, passages=passages).statements]


def test_parse_cases():
    def check(text, expected):
        assert pairs(text) == expected

    check_each(
        [
            ("Leaves fall [0]. Snow melts [3, 7].", [("Leaves fall.", (0,)), ("Snow melts.", (3, 7))]),
            ("Leaves fall[0,1,6].", [("Leaves fall.", (0, 1, 6))]),
            ("Leaves fall [0][2] [3], [4].", [("Leaves fall.", (0, 2, 3, 4))]),
            ("Leaves fall [ 2,1,].", [("Leaves fall.", (2, 1))]),
            ("Leaves fall [0, 1, 4 16, 17].", [("Leaves fall.", (0, 1, 4, 16, 17))]),
            ("Leaves fall [3-5].", [("Leaves fall.", (3, 4, 5))]),
            ("Leaves fall [5-3].", [("Leaves fall.", (5, 3))]),
            ("Leaves fall [1]. And so on.", [("Leaves fall.", (1,)), ("And so on.", ())]),
            ('It was "in the bin"[8]. More', [('It was "in the bin".', (8,)), ("More", ())]),
            ('It was "in the bin [8]". More', [('It was "in the bin".', (8,)), ("More", ())]),
            ('He said "no."[2] Then', [('He said "no."', (2,)), ("Then", ())]),
            ("Is it [2]? Yes [3]!", [("Is it?", (2,)), ("Yes!", (3,))]),
            ("Leaves fall. [3]. Snow", [("Leaves fall.", (3,)), ("Snow", ())]),
            (
                "Three drivers [1]:\n\n- Trade [2].\n- War [3].",
                [("Three drivers:", (1,)), ("- Trade.", (2,)), ("- War.", (3,))],
            ),
            ("[4] Leaves fall.", [("", (4,)), ("Leaves fall.", ())]),
            ("A [...] gap and a [Winter, 1997] source [1].", [("A [...] gap and a [Winter, 1997] source.", (1,))]),
            ("An interval of [0.1, 0.5] stays text.", [("An interval of [0.1, 0.5] stays text.", ())]),
            ("No citation at all", [("No citation at all", ())]),
            ("Leaves fall [1].\n\n- ", [("Leaves fall.", (1,))]),
            ("", []),
            (" .\n", []),
        ],
        check,
    )


def test_parse_counts_dropped_and_repeated_indices():
    parsed = parse("Leaves fall [0, 5, 0, 7]. Snow [9].", passages=5)
    assert [s.citations for s in parsed.statements] == [(0,), ()]
    assert (parsed.dropped, parsed.repeated) == (3, 1)


@pytest.mark.parametrize(
    ("marker", "dropped"), [("[0-999999999]", 999_999_998), (f"[{'9' * 5000}]", 1), ("[2020-2024]", 5)]
)
def test_parse_absurd_indices_are_counted_not_listed(marker, dropped):
    parsed = parse(f"Leaves fall {marker}.", passages=2)
    assert parsed.dropped == dropped
    assert len(parsed.statements) == 1


def test_offsets_are_code_points():
    text = "🍁 fällt [0]. 雪 [1]."
    parsed = parse(text, passages=2)
    assert [(s.start, s.end) for s in parsed.statements] == [(0, 7), (13, 14)]
    assert [text[s.marker_start : s.marker_end] for s in parsed.statements] == ["[0]", "[1]"]


def test_figures_of_a_response():
    parsed = parse("Leaves fall down [2, 0]. Snow melts [2]. The end.", passages=5)
    assert (parsed.words, parsed.citations, parsed.cited_passages) == (7, 3, (2, 0))
    assert count_words(" a\u00a0b\n c ") == 3
    assert without_markers("Leaves  [0] fall [1][2]. [Sic] [3]") == "Leaves fall. [Sic]"


def test_negative_number_of_passages_is_refused():
    with pytest.raises(ValueError, match=r"\S"):
        parse("x", passages=-1)
    with pytest.raises(ValueError, match=r"\S"):
        compose([], passages=-1)


@pytest.mark.parametrize(
    "text", [" " * 50_000, "[1]" + " " * 50_000, "[1" + " 1" * 25_000, "[" * 50_000, "." * 50_000, "[1] [" * 10_000]
)
def test_parse_takes_linear_time(text):
    began = time.process_time()
    parse(text, passages=3)
    without_markers(text)
    assert time.process_time() - began < 2


@given(st.text(alphabet="ab .,;:!?\"'[]0123456789-–\n\t雪", max_size=80), st.integers(0, 12))
def test_parse_invariants(text, passages):
    parsed = parse(text, passages=passages)
    position = 0
    for s in parsed.statements:
        assert position <= s.start <= s.end <= s.marker_start <= s.marker_end <= len(text)
        assert s.body == text[s.start : s.end] == s.body.strip()
        assert text.startswith(s.closing, s.marker_end)
        assert len(set(s.citations)) == len(s.citations)
        assert all(0 <= c < passages for c in s.citations)
        position = s.marker_end + len(s.closing)
    assert all(s.marker_end > s.marker_start for s in parsed.statements[:-1])


words = st.text(alphabet="abc 雪,", min_size=1, max_size=20).map(str.strip).filter(lambda t: t.strip(" ,"))
sentences = st.builds(
    lambda body, end: body.rstrip(" ,").lstrip(" ,") + end, words, st.sampled_from([".", "", "!", "..."])
)


@given(st.lists(st.tuples(sentences, st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True)), max_size=5))
def test_compose_is_undone_by_parse(parts):
    composed = compose(parts, passages=10)
    assert composed.statements == parse(composed.text, passages=10).statements
    assert [(s.text, list(s.citations)) for s in composed.statements] == [(text, cited) for text, cited in parts]


@given(st.lists(st.tuples(sentences, st.lists(st.integers(-2, 12), max_size=4)), max_size=5))
def test_compose_keeps_statements_without_citation_apart(parts):
    composed = compose(parts, passages=10)
    assert [s.text for s in composed.statements] == [text for text, _ in parts]
    assert all(composed.text[s.start : s.end] == s.body for s in composed.statements)
    assert composed.dropped == sum(not 0 <= index < 10 for _, cited in parts for index in cited)


def test_compose_lists_and_empty_parts():
    composed = compose([("- Trade.", [1]), ("- War.", [2]), (" ", []), ("", [3])], passages=5)
    assert composed.text == "- Trade [1].\n- War [2]. [3]"


@pytest.mark.skipif("CROWDRAG_DATA" not in os.environ, reason="CROWDRAG_DATA is not set: no real responses to parse")
def test_responses_of_the_corpus():
    path = Path(os.environ["CROWDRAG_DATA"]) / "crowdrag25" / "raw" / "study1_responses_llm.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        parsed = [parse(json.loads(line)["text"], passages=20) for line in lines]
    assert len(parsed) >= 450
    # The model's texts are well-formed: every bracket is a marker, and every index names a passage.
    assert sum(response.dropped for response in parsed) == 0
    assert all(s.body for response in parsed for s in response.statements)
    assert sum(response.text.count("[") for response in parsed) == sum(
        s.marker_end > s.marker_start for response in parsed for s in response.statements
    )


def test_markers_from_one_become_markers_from_zero() -> None:
    text = "One [1]. Two [2, 10][3-5]; see [Winter, 1997] and [0.5]."
    assert count_markers_from_zero(text) == "One [0]. Two [1, 9][2-4]; see [Winter, 1997] and [0.5]."
    with pytest.raises(ValueError, match="0"):
        count_markers_from_zero("Zero [0].")
