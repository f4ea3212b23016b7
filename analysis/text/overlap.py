"""Overlap of texts: sentence-BLEU, ROUGE-L and chrF of many pairs (design 7.4, 7.5; docs/methods/reference-metrics.md).

Tokens, stems and scores equal those of sacrebleu and rouge-score, to the last digits. This implementation is faster for
many pairs, because it reads each text once. It finds common n-grams and subsequences with bit operations, with one bit
for each position of the other text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

# Longer texts use n-gram counts: one bit per position would need memory quadratic in the length.
_MOST_BITS = 4096


class NoReferenceError(ValueError):
    """There is no reference to compare a text with."""


class _Stemmer(Protocol):
    def stem(self, word: str) -> str:
        """Return the stem of a word."""


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Positions of the words in concatenated texts, with a gap between texts.

    Attributes
    ----------
    lengths : tuple of int
        The number of words of each text.
    spans : tuple of int
        The positions of each text, as bits.
    of : dict of str to int
        The positions of each word, as bits.
    """

    lengths: tuple[int, ...]
    spans: tuple[int, ...]
    of: dict[str, int]

    @classmethod
    def read(cls, texts: Iterable[Sequence[str]]) -> _Places:
        lengths, spans = [], []
        of: dict[str, int] = {}
        start = 0
        for words in texts:
            for position, word in enumerate(words, start):
                of[word] = of.get(word, 0) | 1 << position
            lengths.append(len(words))
            spans.append((1 << len(words)) - 1 << start)
            start += len(words) + 1
        return cls(tuple(lengths), tuple(spans), of)


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """The words of a text: all in order, the distinct ones, and the counts of repeated ones."""

    tokens: list[str]
    distinct: frozenset[str]
    repeated: dict[str, int]

    @classmethod
    def read(cls, tokens: list[str]) -> _Words:
        distinct = frozenset(tokens)
        repeated = {}
        if len(distinct) < len(tokens):
            repeated = {word: count for word, count in Counter(tokens).items() if count > 1}
        return cls(tokens, distinct, repeated)


class Bleu:
    """Sentence-BLEU of pairs of texts, equal to ``sacrebleu`` with its defaults for sentences.

    Tokenizer 13a, exponential smoothing, effective order. The object caches tokenised texts: create one for each topic.

    Parameters
    ----------
    max_order : int
        The longest n-grams to compare: 4, or 8 to measure copying.
    lowercase : bool
        Whether to ignore case.

    Raises
    ------
    ValueError
        If `max_order` is below 1.

    References
    ----------
    Papineni et al., BLEU, ACL 2002; Post, A call for clarity in reporting BLEU scores, WMT 2018 (sacrebleu); Chen and
    Cherry, WMT 2014, method 3 (the smoothing).

    Examples
    --------
    >>> round(Bleu().score("The cat sat on a mat.", ["The cat sat on the mat."]), 3)
    48.892
    """

    def __init__(self, *, max_order: int = 4, lowercase: bool = False) -> None:
        if max_order < 1:
            msg = f"BLEU compares n-grams of at least one word, max_order is {max_order}"
            raise ValueError(msg)
        self.max_order = max_order
        self.lowercase = lowercase
        self._texts: dict[str, _Words] = {}
        self._references: dict[tuple[str, ...], _Places] = {}

    def score(self, candidate: str, references: Sequence[str]) -> float:
        """Compute BLEU of a candidate against one or more references, from 0 to 100.

        Parameters
        ----------
        candidate : str
            The text to score.
        references : sequence of str
            The texts to compare with. The count of an n-gram is limited by the reference that has it most often. The
            reference length is the one nearest to the candidate's length.

        Returns
        -------
        float
            0 if nothing is shared, also if the candidate or all references are empty.

        Raises
        ------
        NoReferenceError
            If there are no references.
        """
        if isinstance(references, str):
            msg = "references is a sequence of texts, not one text"
            raise TypeError(msg)
        if not references:
            msg = "BLEU compares a text with at least one reference; leave pairs without one out"
            raise NoReferenceError(msg)
        words_of_candidate, reference_words = self._words(candidate), [self._words(text).tokens for text in references]
        length = len(words_of_candidate.tokens)
        if max(length, *map(len, reference_words)) > _MOST_BITS:
            correct = _counted_matches(words_of_candidate.tokens, reference_words, self.max_order)
        else:
            correct = self._matches(words_of_candidate, self._placed(tuple(references)))
        if not correct:
            return 0.0
        return _bleu(
            correct, length, _nearest(length, [len(words) for words in reference_words]), min(self.max_order, length)
        )

    def _words(self, text: str) -> _Words:
        if (words := self._texts.get(text)) is None:
            words = self._texts[text] = _Words.read(tokens(text.lower() if self.lowercase else text))
        return words

    def _placed(self, references: tuple[str, ...]) -> _Places:
        if (places := self._references.get(references)) is None:
            places = self._references[references] = _Places.read(self._words(text).tokens for text in references)
        return places

    def _matches(self, candidate: _Words, references: _Places) -> list[int]:
        """Count the candidate's n-grams that are in the references, by order, up to the first order without matches.

        For each position of the candidate, the bits mark where an n-gram that ends there occurs in the references.
        Shifting them by one and intersecting them with the positions of the next word gives the n-gram that is longer
        by one. N-grams without a match are not extended, so most n-grams are never built.
        """
        shared = len(candidate.distinct & references.of.keys())
        if not shared:
            return []
        repeats = [
            _clip(count, bits, references) - 1
            for word, count in candidate.repeated.items()
            if (bits := references.of.get(word))
        ]
        matches = [shared + sum(repeats)]
        places = [*map(references.of.get, candidate.tokens), None]
        matched = [
            (position, longer)
            for position, bits, following in zip(range(1, len(places)), places, places[1:], strict=False)
            if bits and following and (longer := bits << 1 & following)
        ]
        while matched and len(matches) < self.max_order:
            matches.append(_clipped([bits for _place, bits in matched], references))
            matched = [
                (position + 1, longer)
                for position, bits in matched
                if (following := places[position + 1]) and (longer := bits << 1 & following)
            ]
        return matches


class RougeL:
    """ROUGE-L F1 of pairs of texts, equal to ``rouge-score``.

    Words are runs of the letters a to z and digits, as in rouge-score: texts in other scripts have no words. The object
    caches the words of texts: create one for each topic.

    Parameters
    ----------
    stem : bool
        Whether to compare words of more than three letters by their Porter stems.

    References
    ----------
    Lin, ROUGE: a package for automatic evaluation of summaries, 2004. Bit-parallel longest common subsequence: Hyyrö,
    Bit-parallel LCS-length computation revisited, AWOCA 2004.

    Examples
    --------
    >>> round(RougeL().score("The cats sat on a mat.", "The cat sat on the mat."), 3)
    0.833
    """

    def __init__(self, *, stem: bool = True) -> None:
        self.stem = stem
        self._texts: dict[str, tuple[list[str], _Places]] = {}

    def score(self, candidate: str, reference: str) -> float:
        """Compute F1 of the longest common subsequence of words, from 0 to 1; 0 if one of the texts has no words."""
        words, _ = self._prepared(candidate)
        reference_words, places = self._prepared(reference)
        common = _common_length(words, places)
        if not common:
            return 0.0
        precision, recall = common / len(words), common / len(reference_words)
        return 2 * precision * recall / (precision + recall)

    def _prepared(self, text: str) -> tuple[list[str], _Places]:
        if (prepared := self._texts.get(text)) is None:
            from rouge_score import tokenize

            words = tokenize.tokenize(text, _stemmer() if self.stem else None)
            prepared = self._texts[text] = (words, _Places.read([words]))
        return prepared


class ChrF:
    """chrF2 of pairs of texts, equal to ``sacrebleu`` with its defaults: the F-score of character n-grams.

    N-grams have one to six characters, without white space. Precision and recall are means over the orders for which
    both texts are long enough, and recall has twice the weight (beta). The object caches the n-grams of texts: create
    one for each topic.

    References
    ----------
    Popović, chrF: character n-gram F-score for automatic MT evaluation, WMT 2015.
    """

    ORDERS = 6
    BETA = 2

    def __init__(self) -> None:
        self._counted: dict[str, list[Counter[str]]] = {}

    def score(self, candidate: str, reference: str) -> float:
        """Return the score, 0 to 100; 0 if one of the texts has no characters.

        Examples
        --------
        >>> round(ChrF().score("the cat", "the cats"), 2)
        77.57
        """
        precisions, recalls = [], []
        for ours, theirs in zip(self._ngrams(candidate), self._ngrams(reference), strict=True):
            n_ours, n_theirs = ours.total(), theirs.total()
            if n_ours and n_theirs:
                shared = ours.keys() & theirs.keys()
                matches = sum(map(min, map(ours.__getitem__, shared), map(theirs.__getitem__, shared)))
                precisions.append(matches / n_ours)
                recalls.append(matches / n_theirs)
        precision, recall = (math.fsum(ratios) / len(ratios) if ratios else 0.0 for ratios in (precisions, recalls))
        if not precision + recall:
            return 0.0
        weight = self.BETA**2
        return 100.0 * (1 + weight) * precision * recall / (weight * precision + recall)

    def _ngrams(self, text: str) -> list[Counter[str]]:
        if text not in self._counted:
            letters = "".join(text.split())
            self._counted[text] = [
                Counter(letters[start : start + order] for start in range(len(letters) - order + 1))
                for order in range(1, self.ORDERS + 1)
            ]
        return self._counted[text]


def tokens(text: str) -> list[str]:
    """Return the tokens of sacrebleu's tokenizer 13a (mteval-v13a, for languages in Latin script)."""
    # The tokenizer makes these two replacements first; they join text across white space.
    joined = text.rstrip().replace("<skipped>", "").replace("-\n", "")
    pieces = _tokenizer()
    # No rule applies to pieces of letters and digits alone.
    return [token for piece in joined.split() for token in ((piece,) if piece.isalnum() else pieces(piece))]


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two word sequences."""
    return _common_length(first, _Places.read([second]))


def _counted_matches(words: Sequence[str], references: Sequence[Sequence[str]], max_order: int) -> list[int]:
    """Count the n-grams of `words` that are in the other texts, by order, up to the first order without matches.

    Time and memory are linear in the text lengths, unlike with one bit per position.
    """
    matches: list[int] = []
    for order in range(1, min(max_order, len(words)) + 1):
        allowed: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            allowed |= _ngrams(reference, order)
        if not (shared := (_ngrams(words, order) & allowed).total()):
            break
        matches.append(shared)
    return matches


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[start:] for start in range(order)), strict=False))


def _common_length(words: Iterable[str], reference: _Places) -> int:
    """Return the length of the longest common subsequence of `words` and one other text.

    A 0 bit in the row marks a position at which the subsequence grows. One addition propagates carries over the whole
    row.
    """
    (length,), (everywhere,) = reference.lengths, reference.spans
    row = everywhere
    for word in words:
        if matched := row & reference.of.get(word, 0):
            row = ((row + matched) | (row - matched)) & everywhere
    return length - row.bit_count()


def _clipped(places: list[int], references: _Places) -> int:
    """Count the matching n-grams, each at most as often as in the text that has it most often.

    Positions identify n-grams: equal n-grams have equal positions, and different ones have different positions.
    """
    if len(set(places)) == len(places):
        return len(places)
    return sum(1 if count == 1 else _clip(count, bits, references) for bits, count in Counter(places).items())


def _clip(count: int, bits: int, references: _Places) -> int:
    """Limit a count by the largest number of these positions in one text."""
    if len(references.spans) == 1:
        return min(count, bits.bit_count())
    return min(count, max((bits & span).bit_count() for span in references.spans))


def _bleu(correct: Sequence[int], length: int, reference_length: int, orders: int) -> float:
    """Compute BLEU from the matches of the first orders; the other orders up to `orders` are smoothed."""
    total_log = 0.0
    smooth = 1.0
    for n in range(1, orders + 1):
        total = length - n + 1
        if n <= len(correct):
            precision = 100.0 * correct[n - 1] / total
        else:
            smooth *= 2
            precision = 100.0 / (smooth * total)
        total_log += math.log(precision)
    brevity = 1.0 if length >= reference_length else math.exp(1 - reference_length / length)
    # The sum of rounded logarithms can slightly exceed the logarithm of 100.
    return min(brevity * math.exp(total_log / orders), 100.0)


def _nearest(length: int, lengths: Sequence[int]) -> int:
    """Return the length nearest to `length`; the shorter one of two."""
    return min(lengths, key=lambda reference_length: (abs(length - reference_length), reference_length))


@lru_cache(maxsize=1)
def _tokenizer() -> Callable[[str], tuple[str, ...]]:
    """Return a cached tokenizer for pieces without white space; there are few distinct words.

    The rules of sacrebleu depend on the characters next to a mark, and white space is one of them. Tokenising the
    pieces separately therefore gives the same result as tokenising the text.
    """
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a  # imported when needed: web processes never score

    tokenizer = Tokenizer13a()  # type: ignore[no-untyped-call]  # its own __init__ says no types

    @lru_cache(maxsize=1 << 16)
    def pieces(text: str) -> tuple[str, ...]:
        return tuple(tokenizer(text).split())

    return pieces


@lru_cache(maxsize=1)
def _stemmer() -> _Stemmer:
    """Return rouge-score's stemmer with a cache."""
    from nltk.stem.porter import PorterStemmer

    stem = lru_cache(maxsize=1 << 16)(PorterStemmer().stem)

    class Remembering:
        def stem(self, word: str) -> str:
            return str(stem(word))

    return Remembering()
