"""Overlap of texts: equal to sacrebleu and rouge-score, and to values and definitions of other hands."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu
from sacrebleu.metrics import BLEU, CHRF
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from analysis.text import overlap
from analysis.text.overlap import Bleu, ChrF, NoReferenceError, RougeL, longest_common_subsequence, tokens
from tests.examples import examples

REAL = [
    "Disability insurance provides a source of income to people who can't work; e.g. 72.5% of them, say 1,000.",
    "Disability insurance policies protect your greatest financial asset: your income.\nUnable to work? [...]",
    "The average claim lasts almost 13 months - and foreclosures occur 16 times as often (as they do for death).",
    "- Why You Need It | Smart About Money\n- Save for Later &amp; earn &quot;more&quot;",
    "U.S. workers, “living on the edge,” are at risk... of losing <skipped>their homes-\nteads.",
]
WORDS = st.lists(
    st.sampled_from(["the", "The", "cat", "cats", "sat", "on", "mat.", "a", "running", ",", "3.5", "x-y"]), max_size=24
)
TEXTS = st.one_of(WORDS.map(" ".join), st.sampled_from(REAL), st.text(max_size=60))
ROUGE = RougeScorer(["rougeL"], use_stemmer=True)


@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=4), st.integers(1, 8), st.booleans())
@settings(max_examples=examples(50), deadline=None)
def test_bleu_is_that_of_sacrebleu(candidate, references, order, lowercase):
    theirs = BLEU(lowercase=lowercase, max_ngram_order=order, effective_order=True)
    ours = Bleu(max_order=order, lowercase=lowercase)
    assert ours.score(candidate, references) == pytest.approx(
        theirs.sentence_score(candidate, references).score, abs=1e-9
    )
    # Once more, from what is kept; and against one of them, which must not see what was kept of all.
    assert ours.score(candidate, references) == ours.score(candidate, references)
    assert ours.score(candidate, references[:1]) == pytest.approx(
        theirs.sentence_score(candidate, references[:1]).score, abs=1e-9
    )


def test_bleu_of_real_texts_is_that_of_sacrebleus_function_for_sentences():
    ours = Bleu()
    for candidate in REAL:
        for reference in REAL:
            theirs = sentence_bleu(candidate, [reference]).score
            assert ours.score(candidate, [reference]) == pytest.approx(theirs, abs=1e-9)


@given(TEXTS)
@settings(deadline=None)
def test_tokens_are_those_of_sacrebleu(text):
    assert tokens(text) == Tokenizer13a()(text.rstrip()).split()


def test_bleu_of_the_paper():
    # Papineni et al. (2002), example 2: "the" counts as often as a reference has it, 2 of 7; nothing else matches.
    # Smoothed: 2/7, 1/(2 * 6), 1/(4 * 5), 1/(8 * 4); the reference that comes nearest has 7 words: no penalty.
    references = ["The cat is on the mat.", "There is a cat on the mat."]
    expected = 100 * (2 / 7 * 1 / 12 * 1 / 20 * 1 / 32) ** 0.25
    found = Bleu(lowercase=True).score("the the the the the the the", references)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("text", "references"), [("", ["a"]), ("a", [""]), ("", [""]), ("a b", ["c d"]), (" \n", ["a"])]
)
def test_nothing_shared_is_0(text, references):
    assert Bleu().score(text, references) == 0.0
    assert RougeL().score(text, references[0]) == 0.0


def test_bleu_of_a_text_with_itself_is_100_and_no_more():
    # Of 8 equal precisions the mean logarithm may lie above that of 100.
    text = " ".join(f"word{n}" for n in range(300))
    assert 100.0 - 1e-9 < Bleu(max_order=8).score(text, [text]) <= 100.0
    assert Bleu(max_order=8).score("two words", ["two words"]) == pytest.approx(100.0)


def test_what_is_kept_of_one_reference_is_not_taken_for_several():
    bleu = Bleu()
    assert bleu.score("a b c", ["x"]) == 0.0
    assert bleu.score("a b c", ["a b c", "x"]) == pytest.approx(100.0)
    assert bleu.score("a b c", ["x"]) == 0.0


def test_bleu_refuses_what_it_cannot_compare():
    with pytest.raises(NoReferenceError):
        Bleu().score("a", [])
    with pytest.raises(TypeError):
        Bleu().score("a", "a")
    with pytest.raises(ValueError, match="max_order"):
        Bleu(max_order=0)


@given(TEXTS, TEXTS)
@settings(max_examples=examples(50), deadline=None)
def test_rouge_is_that_of_rouge_score(candidate, reference):
    theirs = ROUGE.score(reference, candidate)["rougeL"].fmeasure
    assert RougeL().score(candidate, reference) == pytest.approx(theirs, abs=1e-9)
    plain = RougeScorer(["rougeL"]).score(reference, candidate)["rougeL"].fmeasure
    assert RougeL(stem=False).score(candidate, reference) == pytest.approx(plain, abs=1e-9)


def test_rouge_of_the_paper():
    # Lin (2004), section 3.1: "police kill the gunman" and "the gunman kill police" against "police killed the gunman".
    rouge = RougeL(stem=False)
    assert rouge.score("police kill the gunman", "police killed the gunman") == pytest.approx(3 / 4)
    assert rouge.score("the gunman kill police", "police killed the gunman") == pytest.approx(2 / 4)


def test_rouge_compares_stems_unless_told_not_to():
    theirs = ROUGE.score("the run of a cat", "the running of cats")["rougeL"].fmeasure
    assert RougeL().score("the running of cats", "the run of a cat") == pytest.approx(theirs) == pytest.approx(8 / 9)
    assert RougeL(stem=False).score("the running of cats", "the run of a cat") == pytest.approx(4 / 9)


@given(st.lists(st.sampled_from("abc"), max_size=70), st.lists(st.sampled_from("abcd"), max_size=70))
def test_the_longest_common_subsequence_is_that_of_the_table(first, second):
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, one in enumerate(first):
        for j, other in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    assert longest_common_subsequence(first, second) == table[-1][-1]


@given(
    st.lists(st.sampled_from("ab"), max_size=12),
    st.lists(st.lists(st.sampled_from("abc"), max_size=9), min_size=1, max_size=3),
)
def test_bleu_is_its_definition(candidate, references):
    """By brute force over n-grams as tuples."""
    logs = []
    smooth = 1
    any_match = False
    for n in range(1, min(4, len(candidate)) + 1):
        grams = [tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1)]
        theirs = [[tuple(ref[i : i + n]) for i in range(len(ref) - n + 1)] for ref in references]
        matched = sum(min(grams.count(gram), max(ref.count(gram) for ref in theirs)) for gram in set(grams))
        any_match |= matched > 0
        smooth *= 1 if matched else 2
        logs.append(math.log((matched or 1 / smooth) / len(grams)))
    expected = 0.0
    if any_match:
        length = len(candidate)
        nearest = min((len(ref) for ref in references), key=lambda other: (abs(other - length), other))
        expected = 100 * min(1, math.exp(1 - nearest / length)) * math.exp(sum(logs) / len(logs))
    found = Bleu().score(" ".join(candidate), [" ".join(ref) for ref in references])
    assert found == pytest.approx(expected, abs=1e-9)


@given(
    st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.lists(st.sampled_from("abc"), max_size=30), min_size=1)
)
def test_counting_ngrams_gives_what_their_bits_give(words, others):
    by_bits = overlap.Bleu(max_order=8)._matches(overlap._Words.read(words), overlap._Places.read(others))
    assert overlap._counted_matches(words, others, 8) == by_bits


@given(TEXTS, TEXTS)
@settings(max_examples=examples(50), deadline=None)
def test_chrf_is_that_of_sacrebleu(candidate, reference):
    assert ChrF().score(candidate, reference) == pytest.approx(
        CHRF().sentence_score(candidate, [reference]).score, abs=1e-9
    )


def test_chrf_by_hand():
    """Of abc and abd: 2 of 3 single characters, 1 of 2 pairs and 0 of 1 triple on both sides; their mean is 7/18."""
    assert ChrF().score("ab c", "abd") == pytest.approx(100 * 7 / 18)
    assert ChrF().score("ab", "ab\nab") == pytest.approx(100 * 5 / (4 / (5 / 12) + 1))
    assert (ChrF().score("", "a"), ChrF().score("", ""), ChrF().score("same", "same")) == (0, 0, 100)
