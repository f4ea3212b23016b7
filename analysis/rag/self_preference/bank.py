"""Passages by author and truth: which of them can be used, and which are set against each other (self_preference, 3.2).

A passage is a `Document` that says its author, its style, the answer that it states, and whether that answer is true
(`is_helpful`; None where nobody knows, as of a study's own responses).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations

from analysis.text.words import whole_words

from ..protocols import Document, Query
from ..qa_metrics import normalised

#: The author of what people wrote.
HUMAN = "human"
#: Words of a long passage at least: two thirds of what is asked for (the published ones have 300 on average).
LONG = 200
# What a bank holds in the place of a false answer that could not be made (the published one does, four times of 600).
_FAILED = re.compile(r"^failed to generate\b", re.IGNORECASE)


class Style(StrEnum):
    """How a passage was made from the human one. A study's own styles are none of these."""

    NORMAL = "normal"
    QA = "qa"
    LONG = "long"


class Flaw(StrEnum):
    """Why a passage cannot be used."""

    EMPTY = "empty"
    NO_ANSWER = "answer_missing"
    TRUTH_LEFT = "truth_left"
    INDISTINCT = "indistinct"
    NOT_MADE = "false_answer_not_made"
    SAME_TEXT = "same_text"
    NO_GOLD = "no_gold_answer"


class Case(StrEnum):
    """Which of two passages states a true answer: the author's, whose preference is asked for, or the other's."""

    BOTH_TRUE = "both_true"
    BOTH_FALSE = "both_false"
    OURS_TRUE = "author_true"
    THEIRS_TRUE = "other_true"
    AS_WRITTEN = "as_written"
    STYLE = "style"


#: Cases in which the passages differ in truth.
MIXED = (Case.OURS_TRUE, Case.THEIRS_TRUE)


@dataclass(frozen=True)
class Pair:
    """Two passages in the order in which they are read.

    Attributes
    ----------
    case : Case
    ours, theirs : Document
        Of the author whose preference is asked for (or in the style that is), and what it is compared with.
    is_ours_first : bool
    """

    case: Case
    ours: Document
    theirs: Document
    is_ours_first: bool

    @property
    def first(self) -> Document:
        """The one that is read first."""
        return self.ours if self.is_ours_first else self.theirs

    @property
    def second(self) -> Document:
        """The one that is read second."""
        return self.theirs if self.is_ours_first else self.ours

    @property
    def is_told(self) -> bool:
        """Whether the reader must say which passage it used: both state the same answer, or none that is known."""
        return normalised(self.ours.answer) == normalised(self.theirs.answer)


def stands(answer: str, text: str) -> bool:
    """Whether an answer stands in a text, as whole words, in whatever case and spacing.

    Points at the answer's end do not count: "Shadowbearer." stands where "Shadowbearer" does. No answer stands nowhere.

    Examples
    --------
    >>> stands("Linda Davis", "by Reba and LINDA  Davis."), stands("196", "in 1966"), stands("", "a text")
    (True, False, False)
    """
    answer = _spaced(answer).strip(".")
    return next(whole_words(answer, _spaced(text)), None) is not None


def are_distinct(first: str, second: str) -> bool:
    """Whether a reply can tell two answers apart: neither stands in the other."""
    return not (stands(first, second) or stands(second, first) or normalised(first) == normalised(second))


def flaw(query: Query, passage: Document) -> Flaw | None:
    """Say why a passage cannot be used; None if it can.

    One that states an answer must hold it. A false one must hold no true answer any more, and its answer must be
    another: else what a reader answers says nothing about which passage it used. One of which no truth is known
    (`is_helpful` is None) needs only a text.
    """
    if not passage.text.strip():
        return Flaw.EMPTY
    if passage.is_helpful is None:
        return None
    if not query.answers:
        return Flaw.NO_GOLD
    if _FAILED.match(passage.answer):
        return Flaw.NOT_MADE
    if not stands(passage.answer, passage.text):
        return Flaw.NO_ANSWER
    if passage.is_helpful:
        return None
    if not all(are_distinct(passage.answer, truth) for truth in query.answers):
        return Flaw.INDISTINCT
    return Flaw.TRUTH_LEFT if any(stands(truth, passage.text) for truth in query.answers) else None


def usable(query: Query) -> tuple[Query, tuple[tuple[str, Flaw], ...]]:
    """Leave out the passages that cannot be used.

    Returns
    -------
    Query
        With the others, in their order.
    tuple of (str, Flaw)
        Ids of those left out, with the reason. Of passages of one author with the same text in two styles, one is
        not what it is said to be: it stays as the normal one if that is one of them, else as a long one if it has at
        least `LONG` words, else as the other (in the published banks LLaMA's passages from question and answer are its
        long ones, all 80).
    """
    flaws: list[tuple[str, Flaw]] = []
    passages: list[Document] = []
    styles: dict[tuple[str, str], set[str]] = {}
    for passage in query.documents:
        styles.setdefault((passage.author, passage.text), set()).add(style_of(passage))
    for passage in query.documents:
        problem = flaw(query, passage)
        if problem is None and style_of(passage) != _true_style(styles[passage.author, passage.text], passage.text):
            problem = Flaw.SAME_TEXT
        if problem is None:
            passages.append(passage)
        else:
            flaws.append((passage.id, problem))
    return replace(query, documents=tuple(passages)), tuple(flaws)


def _true_style(styles: set[str], text: str) -> str:
    """Which of the styles that a text is said to have it has."""
    if len(styles) == 1 or Style.NORMAL in styles:
        return Style.NORMAL if Style.NORMAL in styles else next(iter(styles))
    is_long = len(text.split()) >= LONG
    return min(styles, key=lambda style: ((style == Style.LONG) != is_long, style))


def style_of(passage: Document) -> str:
    """The passage's style; normal where the data does not say."""
    return passage.style or Style.NORMAL


def authors(queries: Iterable[Query], evaluator: str = "") -> list[str]:
    """All authors: the evaluator first, people last, the others by their names."""
    names = sorted({passage.author for query in queries for passage in query.documents})
    others = [name for name in names if name not in {evaluator, HUMAN}]
    return [name for name in (evaluator,) if name in names] + others + [name for name in (HUMAN,) if name in names]


def opponents(names: Sequence[str], evaluator: str = "") -> list[tuple[str, str]]:
    """Whose passages are compared with whose: the evaluator's with each other's, or everybody's where it wrote none.

    Parameters
    ----------
    names : sequence of str
        As `authors` returns them.
    evaluator : str
        The author that the evaluator is; "" or one who wrote nothing: all pairs, models before people.
    """
    if evaluator and evaluator in names:
        return [(evaluator, name) for name in names if name != evaluator]
    return list(combinations(names, 2))


def pairs(query: Query, names: Sequence[str], evaluator: str = "", cases: Iterable[str] = tuple(Case)) -> list[Pair]:
    """Every two passages of a question that are compared, each in both orders.

    Parameters
    ----------
    query : Query
        With passages that can be used (`usable`).
    names : sequence of str
        Authors of the whole bank, as `authors` returns them.
    evaluator : str
    cases : iterable of str
        Which cases are wanted.

    Returns
    -------
    list of Pair
        Of a question that lacks one of the passages, less. A false passage of the other author is the one that states
        the author's own false answer, where there is one: then the reader says which it used; else it is inferred.
    """
    chosen_cases = set(cases)
    cases_found = [sides for us, them in opponents(names, evaluator) for sides in _between(query, us, them)]
    style_authors = [evaluator] if evaluator in names else [name for name in names if name != HUMAN]
    cases_found += [(Case.STYLE, *sides) for author in style_authors for sides in _styles(query, author)]
    return [
        Pair(case, ours, theirs, is_ours_first)
        for case, ours, theirs in cases_found
        if case in chosen_cases
        for is_ours_first in (True, False)
    ]


def _between(query: Query, us: str, them: str) -> list[tuple[Case, Document, Document]]:
    ours_true, theirs_true = _one(query, us, is_true=True), _one(query, them, is_true=True)
    ours_false = _one(query, us, is_true=False)
    theirs_false = _one(query, them, is_true=False, answer=ours_false.answer if ours_false else "")
    sides = (
        (Case.BOTH_TRUE, ours_true, theirs_true),
        (Case.BOTH_FALSE, ours_false, theirs_false),
        (Case.OURS_TRUE, ours_true, theirs_false),
        (Case.THEIRS_TRUE, ours_false, theirs_true),
    )
    complete = [(case, ours, theirs) for case, ours, theirs in sides if ours is not None and theirs is not None]
    return complete + [(Case.AS_WRITTEN, ours, theirs) for ours, theirs in _as_written(query, us, them)]


def _one(query: Query, author: str, *, is_true: bool, answer: str = "") -> Document | None:
    """A normal passage; of several, one with this answer before the first."""
    passages = [
        passage
        for passage in query.documents
        if passage.author == author and passage.is_helpful is is_true and style_of(passage) == Style.NORMAL
    ]
    same = [passage for passage in passages if answer and normalised(passage.answer) == normalised(answer)]
    return next(iter(same or passages), None)


def _as_written(query: Query, us: str, them: str) -> list[tuple[Document, Document]]:
    """Passages of which no truth is known: each author's first in every style that both wrote in."""
    by_author: dict[str, dict[str, Document]] = {us: {}, them: {}}
    for passage in query.documents:
        if passage.author in by_author and passage.is_helpful is None:
            by_author[passage.author].setdefault(style_of(passage), passage)
    return [(ours, by_author[them][style]) for style, ours in by_author[us].items() if style in by_author[them]]


def _styles(query: Query, author: str) -> list[tuple[Document, Document]]:
    normal = _one(query, author, is_true=True)
    if normal is None:
        return []
    return [
        (passage, normal)
        for passage in query.documents
        if passage.author == author and passage.is_helpful and style_of(passage) in {Style.QA, Style.LONG}
    ]


def _spaced(text: str) -> str:
    return " ".join(text.casefold().split())
