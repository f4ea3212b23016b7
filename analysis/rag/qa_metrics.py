"""Metrics of generated answers, from the benchmarks of question answering and personalisation.

Answers are normalised as in the benchmarks' own scripts: exact match and F1 as in SQuAD (Rajpurkar et al. 2016), errors
of ratings as in LaMP (Salemi et al. 2024). `METRICS` holds the metrics by name.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from analysis.text.overlap import RougeL

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
# Answers of SQuAD 2 and HotpotQA that are not spans: they match only as a whole, not by shared words.
_WHOLE = frozenset({"yes", "no", "noanswer"})
#: Bounds of LaMP-3's rating scale.
LOW, HIGH = 1.0, 5.0


class NoGoldAnswerError(ValueError):
    """A question without a usable gold answer cannot be scored."""


def normalised(answer: str) -> str:
    """Normalise an answer: lower case, no punctuation, no articles, single spaces.

    Examples
    --------
    >>> normalised("The  U.S.A.!")
    'usa'
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """Return 1 if the answer equals one of the gold answers after normalisation, else 0.

    Parameters
    ----------
    answer : str
        An empty answer is wrong, unless a gold answer is also empty after normalisation.
    gold : sequence of str
        All correct answers.

    Returns
    -------
    float

    Raises
    ------
    NoGoldAnswerError
        If there is no gold answer.

    Examples
    --------
    >>> exact_match("the Beatles", ["Beatles", "Fab Four"])
    1.0
    """
    return float(normalised(answer) in {normalised(gold_answer) for gold_answer in _some(gold)})


def f1(answer: str, gold: Sequence[str]) -> float:
    """Return the word-level F1 with the closest gold answer: the harmonic mean of precision and recall.

    Parameters
    ----------
    answer, gold
        As for `exact_match`.

    Returns
    -------
    float
        Between 0 and 1. If one side is yes, no or noanswer: 1 if both are the same, else 0. Two answers that are empty
        after normalisation are equal.

    Raises
    ------
    NoGoldAnswerError
        If there is no gold answer.

    Examples
    --------
    >>> f1("in the city of Paris", ["Paris, France"])
    0.3333333333333333
    """
    return max(_f1(normalised(answer), normalised(gold_answer)) for gold_answer in _some(gold))


def number(answer: str) -> float | None:
    """Return the first number in an answer; None if there is none.

    Examples
    --------
    >>> number("I rate it 4.5 of 5"), number("good")
    (4.5, None)
    """
    match = re.search(r"[-+]?\d+(?:\.\d+)?", answer)
    return float(match.group()) if match else None


def rating(answer: str, *, low: float = LOW, high: float = HIGH) -> float | None:
    """Return the rating in an answer: its first number; None if there is none, or if it is outside the scale.

    LaMP's script reads the whole answer as a number, but models often say more. A first number outside the scale (a
    year, a percentage) is not a rating.

    Parameters
    ----------
    answer : str
    low, high : float
        The ends of the scale.

    Examples
    --------
    >>> rating("I rate it 4.5 of 5"), rating("2017 was great"), rating("good")
    (4.5, None, None)
    """
    value = number(answer)
    return value if value is not None and low <= value <= high else None


def absolute_error(answer: str, gold: float, *, low: float = LOW, high: float = HIGH) -> float:
    """Return the absolute error of a rating (LaMP-3). Its mean is the MAE, the root of its mean square the RMSE.

    Parameters
    ----------
    answer : str
        An answer without a rating (see `rating`) counts as the end of the scale that is further from the gold rating,
        as in LaMP's script.
    gold : float
        The gold rating, on the scale.
    low, high : float
        The ends of the scale.

    Returns
    -------
    float
        At most `high` - `low`.

    Raises
    ------
    NoGoldAnswerError
        If the gold rating is outside the scale.

    Examples
    --------
    >>> absolute_error("3", 5.0), absolute_error("good", 2.0), absolute_error("2017 was great", 2.0)
    (2.0, 3.0, 3.0)
    """
    if not low <= gold <= high:
        raise NoGoldAnswerError(f"a right rating lies between {low:g} and {high:g}, not {gold:g}")
    rated = rating(answer, low=low, high=high)
    return abs(rated - gold) if rated is not None else max(gold - low, high - gold)


def accuracy(answer: str, gold: Sequence[str]) -> float:
    """Return 1 if the answer equals a gold answer apart from surrounding white space, else 0 (LaMP-1 and LaMP-2).

    As in LaMP's script, nothing is normalised: "[1]." is not "[1]".

    Examples
    --------
    >>> accuracy(" [1] ", ["[1]"]), accuracy("[1].", ["[1]"])
    (1.0, 0.0)
    """
    return float(answer.strip() in {gold_answer.strip() for gold_answer in _some(gold)})


def rating_error(answer: str, gold: Sequence[str]) -> float:
    """Return the absolute error of a rating on LaMP-3's scale of 1 to 5; see `absolute_error`.

    Raises
    ------
    NoGoldAnswerError
        If no gold answer is a rating on the scale.

    Examples
    --------
    >>> rating_error("3", ["5"]), rating_error("good", ["2"])
    (2.0, 3.0)
    """
    numbers = [value for gold_answer in _some(gold) if (value := rating(gold_answer)) is not None]
    if not numbers:
        raise NoGoldAnswerError(f"a rating is scored against a number from {LOW:g} to {HIGH:g}, not {gold[0]!r}")
    return min(absolute_error(answer, gold_answer) for gold_answer in numbers)


def squared_rating_error(answer: str, gold: Sequence[str]) -> float:
    """Return the square of `rating_error`: the root of its mean is the RMSE."""
    return rating_error(answer, gold) ** 2


def rouge_1(answer: str, gold: Sequence[str]) -> float:
    """Return the ROUGE-1 F1 with the closest gold answer, without stemming, as in LaMP-4 to LaMP-7.

    Examples
    --------
    >>> rouge_1("The cat sat", ["a cat sat down", "no"])
    0.5714285714285715
    """
    from rouge_score.rouge_scorer import RougeScorer  # imported when needed: web processes never score

    scorer = RougeScorer(["rouge1"], use_stemmer=False)
    return max(float(scorer.score(gold_answer, answer)["rouge1"].fmeasure) for gold_answer in _some(gold))


def rouge_l(answer: str, gold: Sequence[str]) -> float:
    """Return the ROUGE-L F1 with the closest gold answer, without stemming, as in LaMP-4 to LaMP-7.

    Examples
    --------
    >>> rouge_l("The cat sat", ["a cat sat down", "no"])
    0.5714285714285715
    """
    scorer = RougeL(stem=False)
    return max(scorer.score(answer, gold_answer) for gold_answer in _some(gold))


@dataclass(frozen=True)
class Metric:
    """An answer metric.

    Attributes
    ----------
    name : str
    score : callable
        Computes the score from an answer and its gold answers.
    worst : float or None
        For an error metric, its largest value; None if higher is better.
    parse : callable, optional
        Parses an answer; returns None if it cannot. Without a parser, any text is a valid answer.
    """

    name: str
    score: Callable[[str, Sequence[str]], float]
    worst: float | None = None
    parse: Callable[[str], float | None] | None = None

    def reads(self, answer: str) -> bool:
        """Return whether an answer can be parsed; an answer that cannot gets the worst score."""
        return self.parse is None or self.parse(answer) is not None

    def can_score(self, gold: Sequence[str]) -> bool:
        """Return whether at least one gold answer can be parsed."""
        return any(map(self.reads, gold))


#: All metrics by name. `em` and `f1` are for short answers; LaMP's tasks name their own.
METRICS = {
    metric.name: metric
    for metric in (
        Metric("em", exact_match),
        Metric("f1", f1),
        Metric("accuracy", accuracy),
        Metric("mae", rating_error, worst=HIGH - LOW, parse=rating),
        Metric("mse", squared_rating_error, worst=(HIGH - LOW) ** 2, parse=rating),
        Metric("rouge_1", rouge_1),
        Metric("rouge_l", rouge_l),
    )
}

#: Metrics that papers report together for a task.
_TOGETHER = (("em", "f1"), ("mae", "mse"), ("rouge_1", "rouge_l"))


def score_together(name: str) -> tuple[str, ...]:
    """Return the names of all metrics that are reported with this one, including itself.

    Examples
    --------
    >>> score_together("mae"), score_together("accuracy")
    (('mae', 'mse'), ('accuracy',))
    """
    return next((group for group in _TOGETHER if name in group), (name,))


def _f1(answer: str, gold: str) -> float:
    if answer == gold:
        return 1.0
    if answer in _WHOLE or gold in _WHOLE:
        return 0.0
    answer_words, gold_words = answer.split(), gold.split()
    shared = sum((Counter(answer_words) & Counter(gold_words)).values())
    return 2 * shared / (len(answer_words) + len(gold_words)) if shared else 0.0


def _some(gold: Sequence[str]) -> Sequence[str]:
    if isinstance(gold, str) or not gold:
        raise NoGoldAnswerError("a question needs a list with at least one right answer to score by")
    return gold
