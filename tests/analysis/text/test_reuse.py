"""Text reuse: statements against the lines of what they cite."""

import math

import pytest
from sacrebleu.metrics import BLEU

from analysis.text.reuse import Reuse, lines_of, measure, reuse
from analysis.text.statements import parse

PASSAGES = (
    "Title of It\n\nThe quick brown fox jumps over the lazy dog near the old river bank.",
    "Nothing in common whatsoever",
    "",
)


def test_each_statement_meets_each_passage_that_it_cites():
    response = parse("A quick brown fox jumps [0, 1]. It never cites. It leaps [1]. And so on", passages=3)
    found = reuse(response, PASSAGES)
    assert [(each.statement, each.passage) for each in found] == [(0, 0), (0, 1), (1, 1)]
    library = BLEU(lowercase=True, max_ngram_order=8, effective_order=True)
    expected = library.sentence_score("A quick brown fox jumps.", ["Title of It", PASSAGES[0].split("\n")[2]])
    assert found[0].bleu == pytest.approx(expected.score, abs=1e-9)
    assert found[1].bleu == 0.0


def test_a_copied_line_is_100_whatever_else_the_passage_holds():
    copy = parse("the QUICK brown fox jumps over the lazy dog near the old river bank [0].", passages=3)
    assert reuse(copy, PASSAGES)[0].bleu == pytest.approx(100.0)


@pytest.mark.parametrize(("text", "place"), [("Words [2].", 2), ("[0] Words first", 0), ("- [1].", 1)])
def test_without_words_on_either_side_there_is_nothing_to_measure(text, place):
    found = reuse(parse(text, passages=3), PASSAGES)
    assert [(each.statement, each.passage) for each in found] == [(0, place)]
    assert math.isnan(found[0].bleu)


def test_responses_without_citations_or_words_have_none():
    assert reuse(parse("", passages=3), PASSAGES) == []
    assert reuse(parse("Nothing cited here.", passages=3), PASSAGES) == []


def test_what_compares_is_shared_by_the_responses_of_a_topic():
    bleu = measure()
    response = parse("The lazy dog [0].", passages=3)
    assert reuse(response, PASSAGES, bleu=bleu) == reuse(response, PASSAGES) == reuse(response, PASSAGES, bleu=bleu)
    assert isinstance(reuse(response, PASSAGES, bleu=bleu)[0], Reuse)


def test_blank_lines_are_no_references():
    assert lines_of("One\n \n\n--\nTwo") == ["One", "--", "Two"]
    assert math.isnan(reuse(parse("alpha [0]", passages=1), ["--\n..."])[0].bleu)
    # With an empty reference the length that comes nearest to one word would be none: no penalty for brevity.
    long = "alpha beta gamma delta epsilon"
    assert reuse(parse("alpha [0]", passages=1), [f"\n{long}"])[0].bleu < 5


def test_citations_that_name_no_passage_are_refused():
    with pytest.raises(IndexError):
        reuse(parse("Text [5].", passages=6), PASSAGES)
