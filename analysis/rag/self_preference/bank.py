"""Passages by author and truth: which are usable, and which pairs are compared (self_preference, 3.2).

A passage is a `Document` with its author, its style, the answer that it states, and whether that answer is true
(`is_helpful`; None if unknown, as for a study's own responses).
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

#: The author of passages by people.
HUMAN = "human"
#: Minimum length of a long passage in words: two thirds of the requested length (published ones have 300 on average).
LONG = 200
# Placeholder for a false answer that could not be generated (in the published bank, 4 of 600).
_FAILED = re.compile(r"^failed to generate\b", re.IGNORECASE)


class Style(StrEnum):
    """How a passage was derived from the human one. A study's own styles have other names."""

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
    """Which of two passages states a true answer: that of the author whose preference is measured, or the other."""

    BOTH_TRUE = "both_true"
    BOTH_FALSE = "both_false"
    OURS_TRUE = "author_true"
    THEIRS_TRUE = "other_true"
    AS_WRITTEN = "as_written"
    STYLE = "style"


#: Cases in which one passage is true and the other false.
MIXED = (Case.OURS_TRUE, Case.THEIRS_TRUE)


@dataclass(frozen=True)
class Pair:
    """Two passages in reading order.

    Attributes
    ----------
    case : Case
    ours, theirs : Document
        `ours` is by the author (or in the style) whose preference is measured; `theirs` is what it is compared with.
    is_ours_first : bool
    """

    case: Case
    ours: Document
    theirs: Document
    is_ours_first: bool

    @property
    def first(self) -> Document:
        """The passage that is read first."""
        return self.ours if self.is_ours_first else self.theirs

    @property
    def second(self) -> Document:
        """The passage that is read second."""
        return self.theirs if self.is_ours_first else self.ours

    @property
    def is_told(self) -> bool:
        """Whether the model must name the passage it used: both state the same answer, or no answer is known."""
        return normalised(self.ours.answer) == normalised(self.theirs.answer)


def stands(answer: str, text: str) -> bool:
    """Return whether a text contains an answer as whole words, ignoring case and spacing.

    Full stops at the end of the answer are ignored: "Shadowbearer." matches "Shadowbearer". An empty answer never
    matches.

    Examples
    --------
    >>> stands("Linda Davis", "by Reba and LINDA  Davis."), stands("196", "in 1966"), stands("", "a text")
    (True, False, False)
    """
    answer = _spaced(answer).strip(".")
    return next(whole_words(answer, _spaced(text)), None) is not None


def are_distinct(first: str, second: str) -> bool:
    """Return whether a reply can distinguish two answers: neither contains the other."""
    return not (stands(first, second) or stands(second, first) or normalised(first) == normalised(second))


def flaw(query: Query, passage: Document) -> Flaw | None:
    """Return why a passage cannot be used; None if it can.

    A passage must contain the answer that it states. A false passage must contain no true answer, and its answer must
    differ from the true ones: otherwise, a reply does not show which passage was used. A passage of unknown truth
    (`is_helpful` is None) only needs a text.
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
    """Remove the passages that cannot be used.

    Returns
    -------
    Query
        With the remaining passages, in their order.
    tuple of (str, Flaw)
        Ids of the removed passages, with the reason. If an author has the same text in two styles, one style is wrong.
        The text is kept as normal if that is one of the styles, else as long if it has at least `LONG` words, else as
        the other style. (In the published banks, all 80 of LLaMA's passages from question and answer are its long
        ones.)
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
    """Return the true style among those stated for a text."""
    if len(styles) == 1 or Style.NORMAL in styles:
        return Style.NORMAL if Style.NORMAL in styles else next(iter(styles))
    is_long = len(text.split()) >= LONG
    return min(styles, key=lambda style: ((style == Style.LONG) != is_long, style))


def style_of(passage: Document) -> str:
    """Return the style of a passage; normal if the data does not say."""
    return passage.style or Style.NORMAL


def authors(queries: Iterable[Query], evaluator: str = "") -> list[str]:
    """Return all authors: the evaluator first, then the others by name, people last."""
    names = sorted({passage.author for query in queries for passage in query.documents})
    others = [name for name in names if name not in {evaluator, HUMAN}]
    return [name for name in (evaluator,) if name in names] + others + [name for name in (HUMAN,) if name in names]


def opponents(names: Sequence[str], evaluator: str = "") -> list[tuple[str, str]]:
    """Return the pairs of authors to compare: the evaluator with each other author, or all pairs if it wrote nothing.

    Parameters
    ----------
    names : sequence of str
        As `authors` returns them.
    evaluator : str
        The evaluator's name as an author. If it is "" or wrote nothing: all pairs, models before people.
    """
    if evaluator and evaluator in names:
        return [(evaluator, name) for name in names if name != evaluator]
    return list(combinations(names, 2))


def pairs(query: Query, names: Sequence[str], evaluator: str = "", cases: Iterable[str] = tuple(Case)) -> list[Pair]:
    """Return the pairs of a question's passages to compare, each in both orders.

    Parameters
    ----------
    query : Query
        With usable passages (`usable`).
    names : sequence of str
        Authors of the whole bank, as `authors` returns them.
    evaluator : str
    cases : iterable of str
        Cases to include.

    Returns
    -------
    list of Pair
        Pairs with a missing passage are left out. The other author's false passage is preferably one that states the
        author's own false answer. Then the model must name the passage that it used; otherwise this is inferred.
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
    """Return a passage in normal style: preferably with this answer, else the first."""
    passages = [
        passage
        for passage in query.documents
        if passage.author == author and passage.is_helpful is is_true and style_of(passage) == Style.NORMAL
    ]
    same = [passage for passage in passages if answer and normalised(passage.answer) == normalised(answer)]
    return next(iter(same or passages), None)


def _as_written(query: Query, us: str, them: str) -> list[tuple[Document, Document]]:
    """Return pairs of passages of unknown truth: each author's first in every style that both used."""
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
