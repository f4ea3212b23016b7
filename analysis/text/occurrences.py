"""Where a phrase stands in a text as whole words: linear in both, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterator


def whole_words(phrase: str, text: str, *, ignore_case: bool = False) -> Iterator[tuple[int, int]]:
    """Yield where a phrase stands in a text with no letter, digit or underscore right before or after it.

    Parameters
    ----------
    phrase, text : str
    ignore_case : bool
        Whether letters are compared in lower case. A letter whose lower case has several characters stays as it is.

    Yields
    ------
    tuple of int
        Start and end in `text`, in order, without overlaps. Nothing for an empty phrase.

    Notes
    -----
    Knuth, Morris and Pratt (1977): a search that starts anew after each place where the words around it do not fit
    takes the product of both lengths for texts such as "a a a a".

    Examples
    --------
    >>> list(whole_words("a cat", "A cat, a cats, a cat", ignore_case=True))
    [(0, 5), (15, 20)]
    """
    if ignore_case:
        phrase, text = _lower(phrase), _lower(text)
    if not phrase or phrase not in text:  # most texts: no need to go through them letter by letter
        return
    failure = _failure(phrase)
    size, matched, free_from = len(phrase), 0, 0
    for index, character in enumerate(text):
        while matched and character != phrase[matched]:
            matched = failure[matched - 1]
        matched += character == phrase[matched]
        if matched < size:
            continue
        start, end = index + 1 - size, index + 1
        matched = failure[matched - 1]
        if start >= free_from and not _is_word(text[start - 1 : start]) and not _is_word(text[end : end + 1]):
            yield start, end
            free_from = end


def _failure(phrase: str) -> list[int]:
    """For each beginning of a phrase the length of its longest proper beginning that it also ends with."""
    lengths = [0] * len(phrase)
    matched = 0
    for index in range(1, len(phrase)):
        while matched and phrase[index] != phrase[matched]:
            matched = lengths[matched - 1]
        matched += phrase[index] == phrase[matched]
        lengths[index] = matched
    return lengths


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def _lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
