"""Pairwise reading: a model answers from two passages in both orders. Tables 5 to 13 and Figure 3 of the paper.

Preferences are counted over pairs that were resolved in both orders, so that position bias cannot look like a
preference for an author. Rows for a single order are marked as such.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from analysis.stats.significance import adjusted

from ..protocols import Generator, Prompt, Query
from . import prompts, replies
from .bank import MIXED, Case, Pair, style_of
from .knowledge import Knowledge
from .question_means import OTHERS, OWN, Means, Row, Valued, against
from .replies import ATTEMPTS, settle


@dataclass(frozen=True)
class Choice:
    """One reading of a pair.

    Attributes
    ----------
    case : Case
    author, other : str
        The authors compared; the same author twice for a comparison of styles.
    style : str
        Style of the author's passage.
    is_author_first : bool
    is_told : bool
        Whether the model had to name the passage that it used; otherwise this follows from its answer.
    chose_author : bool or None
        Whether it used the author's passage; None if unresolved.
    told_author : bool or None
        Whether it named the author's passage, whatever its answer; None if it named none.
    answer : str
    problem : str
        Why the reading is unresolved.
    attempts : int
    """

    case: Case
    author: str
    other: str
    style: str
    is_author_first: bool
    is_told: bool
    chose_author: bool | None
    told_author: bool | None
    answer: str
    problem: str
    attempts: int


def request(query: Query, pair: Pair, *, is_constrained: bool = False, version: int = prompts.VERSION) -> Prompt:
    """Build the prompt for one pair, constrained to `replies.readings` if the generator supports it."""
    return prompts.prompt(
        prompts.Ask.READ_TWO,
        version=version,
        choices=replies.readings(pair) if is_constrained else (),
        question=query.question,
        first=pair.first.text,
        second=pair.second.text,
    )


def read(
    generator: Generator,
    query: Query,
    pairs: Sequence[Pair],
    *,
    attempts: int = ATTEMPTS,
    is_constrained: bool = False,
    version: int = prompts.VERSION,
) -> list[Choice]:
    """Have the evaluator read pairs of a question's passages.

    Parameters
    ----------
    generator : Generator
        The evaluator.
    query : Query
    pairs : sequence of Pair
        From `bank.pairs`.
    attempts : int
        Maximum number of attempts if the format is wrong or the answer matches neither passage or both; then the pair
        is unresolved.
    is_constrained : bool
        Whether replies are constrained to the two answers and passages; otherwise they are free, as in the paper.
    version : int
        Version of the prompts.

    Returns
    -------
    list of Choice
        In the order of the pairs.
    """
    requests = [
        (request(query, pair, is_constrained=is_constrained, version=version), partial(replies.reading, pair=pair))
        for pair in pairs
    ]
    settled = settle(generator, requests, attempts=attempts)
    return [
        _choice(pair, outcome.value, outcome.problem, outcome.attempts)
        for pair, outcome in zip(pairs, settled, strict=True)
    ]


def _choice(pair: Pair, reading: replies.Reading | None, problem: str, attempts: int) -> Choice:
    stated_passage = reading.named_passage if reading else None
    return Choice(
        case=pair.case,
        author=pair.ours.author,
        other=pair.theirs.author,
        style=style_of(pair.ours),
        is_author_first=pair.is_ours_first,
        is_told=pair.is_told,
        chose_author=(reading.is_first == pair.is_ours_first) if reading else None,
        told_author=((stated_passage == 1) == pair.is_ours_first) if stated_passage else None,
        answer=reading.answer if reading else "",
        problem=problem,
        attempts=attempts,
    )


#: Readings by question.
Choices = Mapping[str, Sequence[Choice]]
Trial = tuple[str, Choice]

SAME = (Case.BOTH_TRUE, Case.BOTH_FALSE)
#: Groups of cases: all (Table 9), equal truth (Table 10), both true (Figure 3), both false (Table 13).
GROUPS: dict[str, tuple[Case, ...]] = {
    "all": (*SAME, *MIXED),
    "same": SAME,
    "both_true": (Case.BOTH_TRUE,),
    "both_false": (Case.BOTH_FALSE,),
    "as_written": (Case.AS_WRITTEN,),
}
BOTH, FIRST, LAST = "both", "author_first", "author_last"
PRESENTATIONS = (BOTH, FIRST, LAST)
#: One passage true, the other false: both directions (Table 11), the other's true (Table 6), the author's true (Table
#: 12).
FACTUAL: dict[str, tuple[Case, ...]] = {
    "mixed": MIXED,
    "other_true": (Case.THEIRS_TRUE,),
    "author_true": (Case.OURS_TRUE,),
}
ALL = "all"


def preferences(choices: Choices, average: Means, evaluator: str = "") -> list[Row]:
    """Return how often the first passage and the author's passage were used (Tables 9, 10 and 13, Figure 3).

    Returns
    -------
    list of dict
        case, author, other, whose, presentation, front, front_low, front_high, own, own_low, own_high, p, p_adjusted,
        questions, n (readings), unresolved (readings that do not count), note. The p-values test whether `own` differs
        from one half, over questions, in rows with both orders; adjusted by Benjamini-Hochberg within the table. NaN if
        undefined.
    """
    rows: list[Row] = []
    for case, cases in GROUPS.items():
        for author, other in _who(choices, cases):
            trials = [
                trial for trial in _trials(choices, cases) if (trial[1].author, trial[1].other) == (author, other)
            ]
            for presentation in PRESENTATIONS:
                resolved, unresolved = _counted_readings(trials, presentation)
                row: Row = {"case": case, "author": author, "other": other}
                row |= {"whose": OWN if author == evaluator else OTHERS, "presentation": presentation}
                row |= _columns(average, resolved, {"front": _front, "own": _chose_author}) | {"unresolved": unresolved}
                rows.append(row | _test(resolved, presentation))
    return _corrected(rows)


def factuality(choices: Choices, average: Means, evaluator: str = "") -> list[Row]:
    """Return how often the true passage and the author's passage were used if one is false (Tables 6, 11 and 12).

    Returns
    -------
    list of dict
        case, author, other, whose, factual, factual_low, factual_high, own, own_low, own_high, questions, n,
        unresolved.
    """
    rows: list[Row] = []
    for case, cases in FACTUAL.items():
        for author, other in _who(choices, cases):
            trials = [
                trial for trial in _trials(choices, cases) if (trial[1].author, trial[1].other) == (author, other)
            ]
            resolved, unresolved = _counted_readings(trials, BOTH)
            row: Row = {"case": case, "author": author, "other": other, "whose": OWN if author == evaluator else OTHERS}
            row |= _columns(average, resolved, {"factual": _factual, "own": _chose_author}) | {"unresolved": unresolved}
            rows.append(row)
    return rows


def by_knowledge(choices: Choices, levels: Mapping[str, Knowledge], average: Means) -> list[Row]:
    """Return how often the true passage was used if one is false, by the evaluator's level of knowledge (Table 5).

    Returns
    -------
    list of dict
        level (none, partial, full, all), factual, factual_low, factual_high, questions, n, unresolved. Questions of
        unknown level count only in `all`.
    """
    trials = _trials(choices, MIXED)
    rows: list[Row] = []
    for level in (Knowledge.NONE, Knowledge.PARTIAL, Knowledge.FULL, ALL):
        level_trials = [trial for trial in trials if level == ALL or levels.get(trial[0]) == level]
        resolved, unresolved = _counted_readings(level_trials, BOTH)
        if level_trials:
            columns = _columns(average, resolved, {"factual": _factual})
            rows.append({"level": str(level)} | columns | {"unresolved": unresolved})
    return rows


def styles(choices: Choices, average: Means) -> list[Row]:
    """Return how often a passage in another style was used over the same author's normal one (Tables 7 and 8).

    Returns
    -------
    list of dict
        style, author, styled, styled_low, styled_high, front, front_low, front_high, p, p_adjusted, questions, n,
        unresolved, note.
    """
    trials = _trials(choices, (Case.STYLE,))
    rows: list[Row] = []
    for style, author in dict.fromkeys((choice.style, choice.author) for _question, choice in trials):
        resolved, unresolved = _counted_readings(
            [t for t in trials if (t[1].style, t[1].author) == (style, author)], BOTH
        )
        row: Row = {"style": style, "author": author}
        row |= _columns(average, resolved, {"styled": _chose_author, "front": _front}) | {"unresolved": unresolved}
        rows.append(row | _test(resolved, BOTH))
    return _corrected(rows)


def stated_use(choices: Choices, average: Means) -> list[Row]:
    """Return how often the model named the passage that it used, if its answer shows which one it used.

    Returns
    -------
    list of dict
        case, agree, agree_low, agree_high, questions, n, unresolved (readings that named no passage or gave no answer).
    """
    rows: list[Row] = []
    for case in (*MIXED, Case.BOTH_FALSE):
        trials = [choice for choice in _trials(choices, (case,)) if not choice[1].is_told]
        answered = [
            (q, choice) for q, choice in trials if choice.told_author is not None and choice.chose_author is not None
        ]
        if trials:
            columns = _columns(average, answered, {"agree": lambda choice: choice.told_author == choice.chose_author})
            rows.append({"case": case.value} | columns | {"unresolved": len(trials) - len(answered)})
    return rows


def _front(choice: Choice) -> bool:
    return choice.chose_author == choice.is_author_first


def _chose_author(choice: Choice) -> bool:
    return bool(choice.chose_author)


def _factual(choice: Choice) -> bool:
    return choice.chose_author == (choice.case is Case.OURS_TRUE)


def _trials(choices: Choices, cases: Sequence[Case]) -> list[Trial]:
    return [
        (question, choice)
        for question, question_choices in choices.items()
        for choice in question_choices
        if choice.case in cases
    ]


def _who(choices: Choices, cases: Sequence[Case]) -> Iterable[tuple[str, str]]:
    return dict.fromkeys((choice.author, choice.other) for _question, choice in _trials(choices, cases))


def _counted_readings(trials: Sequence[Trial], presentation: str) -> tuple[list[Trial], int]:
    """Return the readings that count, and the number of others; with both orders, only pairs resolved in both count."""
    if presentation != BOTH:
        trials = [trial for trial in trials if trial[1].is_author_first == (presentation == FIRST)]
    resolved = [trial for trial in trials if trial[1].chose_author is not None]
    if presentation == BOTH:
        orders = Counter({_pair(trial): 0 for trial in resolved})
        for key, _first in {(_pair(trial), trial[1].is_author_first) for trial in resolved}:
            orders[key] += 1
        resolved = [trial for trial in resolved if orders[_pair(trial)] == 2]
    return resolved, len(trials) - len(resolved)


def _pair(trial: Trial) -> tuple[str, ...]:
    question, choice = trial
    return question, choice.case, choice.author, choice.other, choice.style


def _columns(average: Means, trials: Sequence[Trial], measures: Mapping[str, Callable[[Choice], bool]]) -> Row:
    columns: dict[str, Any] = {}
    for name, measure in measures.items():
        mean = average.of(_valued(trials, measure))
        columns |= {name: mean.value, f"{name}_low": mean.low, f"{name}_high": mean.high}
        columns |= {"questions": mean.questions, "n": mean.trials}
    return columns


def _valued(trials: Sequence[Trial], measure: Callable[[Choice], bool]) -> list[Valued]:
    return [(question, float(measure(choice))) for question, choice in trials]


def _test(trials: Sequence[Trial], presentation: str) -> Row:
    if presentation != BOTH:
        return {"p": np.nan}
    test = against(_valued(trials, _chose_author))
    return {"p": test.p} | ({"note": test.problem} if test.problem else {})


def _corrected(rows: list[Row]) -> list[Row]:
    corrected = adjusted(np.array([row["p"] for row in rows], dtype=np.float64)) if rows else ()
    for row, p in zip(rows, corrected, strict=True):
        row["p_adjusted"] = float(p)
    return rows
