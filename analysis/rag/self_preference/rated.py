"""What came of rating passages: Tables 3, 4 and 14 of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from analysis.stats.significance import adjusted

from .bank import HUMAN
from .rating import Rating, Setting
from .shares import OTHERS, OWN, Means, Row, Valued, paired, welch

#: By question, what was rated of it.
Ratings = Mapping[str, Sequence[Rating]]

#: What a difference is between: true passages of both (Table 3), or people's true ones and a model's false ones (4).
BOTH_TRUE, OWN_FALSE, AS_WRITTEN = "both_true", "model_false", "as_written"
_TRUTHS = {BOTH_TRUE: (True, True), OWN_FALSE: (True, False), AS_WRITTEN: (None, None)}
TRUTHS = {True: "true", False: "false", None: "unknown"}


def means(ratings: Ratings, names: Sequence[str], average: Means) -> list[Row]:
    """Mean and standard deviation of the scores by setting, truth and author.

    Parameters
    ----------
    ratings : mapping
    names : sequence of str
        Authors, in the order of the rows.
    average : Means

    Returns
    -------
    list of dict
        setting, author, truth, mean, low, high, sd, questions, n: of the passages that got a score. No row where none
        did.
    """
    rows: list[Row] = []
    for setting, truth, author in _groups(ratings, names):
        values = _scores(ratings, setting, author, truth)
        found = average.of(values)
        if found.trials:
            scores = [value for _question, value in values]
            rows.append(
                {
                    "setting": setting.value,
                    "truth": TRUTHS[truth],
                    "author": author,
                    "mean": found.value,
                    "low": found.low,
                    "high": found.high,
                    "sd": float(np.std(scores, ddof=1)) if len(scores) > 1 else np.nan,
                    "questions": found.questions,
                    "n": found.trials,
                }
            )
    return rows


def distribution(ratings: Ratings, names: Sequence[str]) -> list[Row]:
    """How many passages got each score (Table 14): setting, truth, author, score (1 to 5), count, share, n."""
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
    """Human less model, tested over questions (Tables 3 and 4).

    Parameters
    ----------
    ratings, names, average
        As for `means`.
    evaluator : str
        The author that the evaluator is; "" where it wrote nothing.

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
    both = [question for question in human if question in model]
    ours, theirs = [human[each] for each in both], [model[each] for each in both]
    difference = [a - b for a, b in zip(ours, theirs, strict=True)]
    found = average.of(zip(both, difference, strict=True))
    test, welchs = paired(difference), welch(ours, theirs)
    deviation = float(np.std(difference, ddof=1)) if len(difference) > 1 else np.nan
    return {
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "statistic": test.statistic,
        "p": test.p,
        "p_welch": welchs.p,
        "effect": found.value / deviation if deviation else np.nan,
        "human": float(np.mean(ours)) if ours else np.nan,
        "model": float(np.mean(theirs)) if theirs else np.nan,
        "n": found.questions,
    } | ({"note": test.problem} if test.problem else {})


def _groups(ratings: Ratings, names: Sequence[str]) -> Iterable[tuple[Setting, bool | None, str]]:
    there = {(each.setting, each.truth, each.author) for found in ratings.values() for each in found}
    for setting in Setting:
        for truth in (True, False, None):
            yield from ((setting, truth, author) for author in names if (setting, truth, author) in there)


def _scores(ratings: Ratings, setting: Setting, author: str, truth: bool | None) -> list[Valued]:
    return [
        (question, float(each.score))
        for question, found in ratings.items()
        for each in found
        if (each.setting, each.author, each.truth) == (setting, author, truth) and each.score is not None
    ]


def _by_question(ratings: Ratings, setting: Setting, author: str, truth: bool | None) -> dict[str, float]:
    """One score a question and author; of several passages (false ones, styles), their mean."""
    found: dict[str, list[float]] = {}
    for question, score in _scores(ratings, setting, author, truth):
        found.setdefault(question, []).append(score)
    return {question: float(np.mean(each)) for question, each in found.items()}


def _float(value: object) -> float:
    return float(value) if isinstance(value, int | float) else np.nan
