"""Pointwise ratings of passages, as by a pointwise reranker, and their tables: Tables 3, 4 and 14 of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from analysis.stats.significance import adjusted

from ..protocols import Document, Generator, Prompt, Query
from . import prompts, replies
from .bank import HUMAN, Style, style_of
from .question_means import OTHERS, OWN, Means, Row, Valued, paired, welch
from .replies import ATTEMPTS, settle


class Setting(StrEnum):
    """The setting of the rating prompt."""

    PLAIN = "plain"
    RAG = "rag"


_ASKS = {Setting.PLAIN: prompts.Ask.RATE_PLAIN, Setting.RAG: prompts.Ask.RATE_RAG}


@dataclass(frozen=True)
class Rating:
    """One rating of a passage.

    Attributes
    ----------
    passage, author : str
        Id of the passage, and its author.
    truth : bool or None
        Whether it states a true answer; None if unknown.
    setting : Setting
    score : int or None
        1 to 5; None if no reply could be read.
    problem : str
        Why there is no score.
    attempts : int
    """

    passage: str
    author: str
    truth: bool | None
    setting: Setting
    score: int | None
    problem: str
    attempts: int


def passages_to_rate(query: Query, settings: Sequence[Setting] = tuple(Setting)) -> list[tuple[Document, Setting]]:
    """Return the passages to rate: normal ones, true and false, and those of unknown truth."""
    passages = [
        document for document in query.documents if document.is_helpful is None or style_of(document) == Style.NORMAL
    ]
    return [(passage, setting) for setting in settings for passage in passages]


def request(
    query: Query, passage: Document, setting: Setting, *, is_constrained: bool, version: int = prompts.VERSION
) -> Prompt:
    """Build the prompt for one rating, constrained to the five valid replies if the generator supports it."""
    choices = replies.RATINGS if is_constrained else ()
    if setting is Setting.PLAIN:
        return prompts.prompt(_ASKS[setting], version=version, choices=choices, passage=passage.text)
    return prompts.prompt(
        _ASKS[setting], version=version, choices=choices, question=query.question, passage=passage.text
    )


def rate(
    generator: Generator,
    query: Query,
    settings: Sequence[Setting] = tuple(Setting),
    *,
    attempts: int = ATTEMPTS,
    is_constrained: bool = True,
    version: int = prompts.VERSION,
) -> list[Rating]:
    """Rate all passages of a question.

    Parameters
    ----------
    generator : Generator
        The evaluator.
    query : Query
        With usable passages.
    settings : sequence of Setting
    attempts : int
        Maximum number of attempts if a reply cannot be read; then the score is None.
    is_constrained : bool
        Whether replies are constrained to `###1***` to `###5***`; otherwise they are free, as in the paper, and parsed.
    version : int
        Version of the prompts.

    Returns
    -------
    list of Rating
        In the order of the settings, then of the passages.
    """
    to_rate = passages_to_rate(query, settings)
    settled = settle(
        generator,
        [
            (request(query, passage, setting, is_constrained=is_constrained, version=version), replies.rating)
            for passage, setting in to_rate
        ],
        attempts=attempts,
    )
    return [
        Rating(
            passage.id, passage.author, passage.is_helpful, setting, outcome.value, outcome.problem, outcome.attempts
        )
        for (passage, setting), outcome in zip(to_rate, settled, strict=True)
    ]


#: Ratings by question.
Ratings = Mapping[str, Sequence[Rating]]

#: Comparisons: true passages of both authors (Table 3), or true human passages and a model's false ones (Table 4).
BOTH_TRUE, OWN_FALSE, AS_WRITTEN = "both_true", "model_false", "as_written"
_TRUTHS = {BOTH_TRUE: (True, True), OWN_FALSE: (True, False), AS_WRITTEN: (None, None)}
TRUTHS = {True: "true", False: "false", None: "unknown"}


def means(ratings: Ratings, names: Sequence[str], average: Means) -> list[Row]:
    """Return mean and standard deviation of the scores by setting, truth and author.

    Parameters
    ----------
    ratings : mapping
    names : sequence of str
        Authors, in the order of the rows.
    average : Means

    Returns
    -------
    list of dict
        setting, author, truth, mean, low, high, sd, questions, n: of the passages with a score. There is no row for a
        group without scores.
    """
    rows: list[Row] = []
    for setting, truth, author in _groups(ratings, names):
        values = _scores(ratings, setting, author, truth)
        mean = average.of(values)
        if mean.trials:
            scores = [value for _question, value in values]
            rows.append(
                {
                    "setting": setting.value,
                    "truth": TRUTHS[truth],
                    "author": author,
                    "mean": mean.value,
                    "low": mean.low,
                    "high": mean.high,
                    "sd": float(np.std(scores, ddof=1)) if len(scores) > 1 else np.nan,
                    "questions": mean.questions,
                    "n": mean.trials,
                }
            )
    return rows


def distribution(ratings: Ratings, names: Sequence[str]) -> list[Row]:
    """Count passages by score (Table 14): setting, truth, author, score (1 to 5), count, share, n."""
    rows: list[Row] = []
    for setting, truth, author in _groups(ratings, names):
        counts = Counter(int(value) for _question, value in _scores(ratings, setting, author, truth))
        n = counts.total()
        rows += [
            {
                "setting": setting.value,
                "truth": TRUTHS[truth],
                "author": author,
                "score": score,
                "count": counts[score],
                "share": counts[score] / n,
                "n": n,
            }
            for score in range(1, 6)
            if n
        ]
    return rows


def differences(ratings: Ratings, names: Sequence[str], average: Means, evaluator: str = "") -> list[Row]:
    """Return the differences between human and model scores, tested over questions (Tables 3 and 4).

    Parameters
    ----------
    ratings, names, average
        As for `means`.
    evaluator : str
        The evaluator's name as an author; "" if it wrote nothing.

    Returns
    -------
    list of dict
        setting, comparison, author (the model's), whose, difference, low, high, statistic, p, p_adjusted (paired by
        question, Benjamini-Hochberg within the table), p_welch, effect (mean of the differences over their standard
        deviation), human, model (the two means), n (questions with both scores), note. NaN where undefined.
    """
    rows: list[Row] = []
    for setting in Setting:
        for comparison, (of_people, of_model) in _TRUTHS.items():
            human = _by_question(ratings, setting, HUMAN, of_people)
            for author in names:
                model = _by_question(ratings, setting, author, of_model)
                if author != HUMAN and human and model:
                    rows.append(
                        {"setting": setting.value, "comparison": comparison, "author": author}
                        | {"whose": OWN if author == evaluator else OTHERS}
                        | _compared(human, model, average)
                    )
    for row, p in zip(rows, adjusted([_float(row["p"]) for row in rows]) if rows else (), strict=True):
        row["p_adjusted"] = float(p)
    return rows


def _compared(human: Mapping[str, float], model: Mapping[str, float], average: Means) -> Row:
    questions = [question for question in human if question in model]
    human_scores, model_scores = [human[name] for name in questions], [model[name] for name in questions]
    difference = [a - b for a, b in zip(human_scores, model_scores, strict=True)]
    mean = average.of(zip(questions, difference, strict=True))
    test, welchs = paired(difference), welch(human_scores, model_scores)
    deviation = float(np.std(difference, ddof=1)) if len(difference) > 1 else np.nan
    return {
        "difference": mean.value,
        "low": mean.low,
        "high": mean.high,
        "statistic": test.statistic,
        "p": test.p,
        "p_welch": welchs.p,
        "effect": mean.value / deviation if deviation else np.nan,
        "human": float(np.mean(human_scores)) if human_scores else np.nan,
        "model": float(np.mean(model_scores)) if model_scores else np.nan,
        "n": mean.questions,
    } | ({"note": test.problem} if test.problem else {})


def _groups(ratings: Ratings, names: Sequence[str]) -> Iterable[tuple[Setting, bool | None, str]]:
    groups = {
        (rating.setting, rating.truth, rating.author)
        for question_ratings in ratings.values()
        for rating in question_ratings
    }
    for setting in Setting:
        for truth in (True, False, None):
            yield from ((setting, truth, author) for author in names if (setting, truth, author) in groups)


def _scores(ratings: Ratings, setting: Setting, author: str, truth: bool | None) -> list[Valued]:
    return [
        (question, float(rating.score))
        for question, question_ratings in ratings.items()
        for rating in question_ratings
        if (rating.setting, rating.author, rating.truth) == (setting, author, truth) and rating.score is not None
    ]


def _by_question(ratings: Ratings, setting: Setting, author: str, truth: bool | None) -> dict[str, float]:
    """Return one score per question for an author: the mean if there are several passages (false ones, styles)."""
    scores_by_question: dict[str, list[float]] = {}
    for question, score in _scores(ratings, setting, author, truth):
        scores_by_question.setdefault(question, []).append(score)
    return {question: float(np.mean(scores_of_question)) for question, scores_of_question in scores_by_question.items()}


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else np.nan
