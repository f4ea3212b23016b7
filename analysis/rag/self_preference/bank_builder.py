"""Generate a bank's passages with a model: rewrites, a false answer, passages in other styles, all verified (3.2).

A passage that fails verification is requested again, and dropped with the reason after the last attempt. (The paper
mentions "an additional verification round" without details.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from analysis.text.words import whole_words

from ..protocols import Document, Generator, Prompt, Query
from . import prompts
from .bank import HUMAN, LONG, Flaw, Style, are_distinct, stands, style_of
from .replies import ATTEMPTS, Problem, UnreadableError, settle

#: Length of a rewrite relative to the original, and words of a passage from question and answer (the prompt asks for
#: 100).
REWRITTEN = (0.5, 2.0)
FROM_QA = (50, 200)
#: Maximum number of additional words of a false answer, which should have the structure of the true one.
FALSE_ANSWER = 3
# Quotation marks around the whole text, since a passage may begin with a quoted title and end with another.
_QUOTED = re.compile(r"""^["'“]([^"“”]*)["'”]$""", re.DOTALL)
_HEADING = re.compile(r"^[^\n]{0,120}:\s*+(?<=\n)(?=\S)")
_LABEL = re.compile(r"^(?:answer|passage|paragraph|false answer)\s*:\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Dropped:
    """A passage that could not be generated.

    Attributes
    ----------
    passage : str
        The id that the passage would have had.
    reason : str
    attempts : int
    """

    passage: str
    reason: str
    attempts: int


@dataclass(frozen=True)
class Built:
    """The passages that a model generated for a question.

    Attributes
    ----------
    passages : tuple of Document
        Ids are `NAME_true`, `NAME_false`, `human_false_NAME`, `NAME_qa`, `NAME_long`.
    false_answer : str
        "" if none could be generated.
    dropped : tuple of Dropped
    """

    passages: tuple[Document, ...]
    false_answer: str
    dropped: tuple[Dropped, ...]


def build(
    generator: Generator,
    query: Query,
    author: str,
    *,
    styles: Sequence[str] = (Style.QA, Style.LONG),
    attempts: int = ATTEMPTS,
    version: int = prompts.VERSION,
) -> Built:
    """Generate a model's passages on a question.

    Parameters
    ----------
    generator : Generator
        The model.
    query : Query
        With a gold answer and a human passage that states it.
    author : str
        Name of the model in the bank.
    styles : sequence of str
        Styles in addition to the normal one.
    attempts : int
        Maximum number of attempts at a passage that fails verification.
    version : int
        Version of the prompts.

    Returns
    -------
    Built
        Only `dropped` with the reason if the question has no gold answer or no human passage.
    """
    source = next(
        (
            passage
            for passage in query.documents
            if passage.author == HUMAN and passage.is_helpful and style_of(passage) == "normal"
        ),
        None,
    )
    if not query.answers:
        return Built((), "", (Dropped(f"{author}_true", Flaw.NO_GOLD, 0),))
    if source is None:
        return Built((), "", (Dropped(f"{author}_true", "no_human_passage", 0),))
    requests = _requests(query, source, author, styles, version)
    settled = settle(generator, [(prompt, read) for prompt, read in requests.values()], attempts=attempts)
    settled_by_name = dict(zip(requests, settled, strict=True))
    texts = {name: outcome.value for name, outcome in settled_by_name.items() if outcome.value is not None}
    dropped = [
        Dropped(name, outcome.problem, outcome.attempts)
        for name, outcome in settled_by_name.items()
        if outcome.value is None
    ]
    false_answer = texts.pop(_FALSE, "")
    truth = source.answer or query.answers[0]
    passages = [
        Document(name, text, is_helpful=True, author=author, style=_STYLE_OF[name.rpartition("_")[2]], answer=truth)
        for name, text in texts.items()
    ]
    if false_answer:
        sources = [source, *(passage for passage in passages if style_of(passage) == Style.NORMAL)]
        for passage in sources:
            false_passage = falsified(query, passage, false_answer, author)
            if isinstance(false_passage, Dropped):
                dropped.append(false_passage)
            else:
                passages.append(false_passage)
    return Built(tuple(passages), false_answer, tuple(dropped))


def falsified(query: Query, passage: Document, false_answer: str, author: str) -> Document | Dropped:
    """Replace the true answer by a false one everywhere in a passage, ignoring case.

    Returns
    -------
    Document or Dropped
        Dropped if the passage still contains a true answer.
    """
    name = f"{author}_false" if passage.author == author else f"{passage.author}_false_{author}"
    text = _replaced(passage.answer.strip(". "), false_answer, passage.text)
    if any(stands(truth, text) for truth in query.answers):
        return Dropped(name, Flaw.TRUTH_LEFT, 1)
    return replace(passage, id=name, text=text, is_helpful=False, answer=false_answer)


def _replaced(phrase: str, replacement: str, text: str) -> str:
    """Replace a phrase wherever it occurs as whole words, ignoring case and white space."""
    # Indices of all characters except white space that follows white space.
    places = [
        index for index, letter in enumerate(text) if not (letter.isspace() and text[index - 1 : index].isspace())
    ]
    normalised = "".join(" " if text[position_].isspace() else text[position_] for position_ in places)
    pieces = []
    position = 0
    for start, end in whole_words(" ".join(phrase.split()), normalised, ignore_case=True):
        pieces += [text[position : places[start]], replacement]
        position = places[end - 1] + 1
    return "".join([*pieces, text[position:]])


_FALSE = "false_answer"
_STYLE_OF = {"true": Style.NORMAL, "qa": Style.QA, "long": Style.LONG}


def _requests(
    query: Query, source: Document, author: str, styles: Sequence[str], version: int
) -> dict[str, tuple[Prompt, Callable[[str], str]]]:
    truth, words = source.answer or query.answers[0], len(source.text.split())
    ask = partial(prompts.prompt, version=version)
    pair = partial(ask, question=query.question, answer=truth)
    low, high = (round(words * times) for times in REWRITTEN)
    requests: dict[str, tuple[Prompt, Callable[[str], str]]] = {
        f"{author}_true": (ask(prompts.Ask.REWRITE, passage=source.text), partial(passage_of, truth, low, high)),
        _FALSE: (pair(prompts.Ask.FALSE_ANSWER), partial(false_answer_of, query.answers)),
    }
    if Style.QA in styles:
        requests[f"{author}_qa"] = (pair(prompts.Ask.QA), partial(passage_of, truth, *FROM_QA))
    if Style.LONG in styles:
        requests[f"{author}_long"] = (
            ask(prompts.Ask.LENGTHEN, passage=source.text),
            partial(passage_of, truth, LONG, 10 * LONG),
        )
    return requests


def passage_of(truth: str, shortest: int, longest: int, text: str) -> str:
    """Read a passage: it must contain the true answer, and its length in words must be within the inclusive bounds.

    Raises
    ------
    UnreadableError
    """
    text = cleaned(text)
    if not stands(truth, text):
        raise UnreadableError(Problem.ANSWER_MISSING)
    if not shortest <= len(text.split()) <= longest:
        raise UnreadableError(Problem.LENGTH)
    return text


def false_answer_of(truths: Sequence[str], text: str) -> str:
    """Read a false answer: one line, about as long as the true answer, and distinct from every true answer.

    Raises
    ------
    UnreadableError
    """
    text = _LABEL.sub("", cleaned(text)).strip().strip(".")
    if "\n" in text or not text.strip("\"'“” "):
        raise UnreadableError(Problem.FORMAT)
    if len(text.split()) > len(truths[0].split()) + FALSE_ANSWER:
        raise UnreadableError(Problem.LENGTH)
    if not all(are_distinct(text, truth) for truth in truths):
        raise UnreadableError(Problem.INDISTINCT)
    return text


def cleaned(text: str) -> str:
    """Remove from a reply what is not part of the passage: a heading ("Here is the new paragraph:"), outer quotes."""
    text = _LABEL.sub("", _HEADING.sub("", text.strip(), count=1).strip())
    quoted = _QUOTED.match(text)
    return quoted[1].strip() if quoted else text
