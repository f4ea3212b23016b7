"""How good a generated answer is: the measures of the question-answering and personalisation benchmarks.

Answers are normalised as the benchmarks' own scripts do: exact match and F1 as SQuAD (Rajpurkar et al. 2016), errors
of ratings as LaMP (Salemi et al. 2024). `METRICS` holds them by name.
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
# What SQuAD 2 and HotpotQA answer beside spans: as words they share nothing with a span.
_WHOLE = frozenset({"yes", "no", "noanswer"})
#: The ends of LaMP-3's scale of ratings.
LOW, HIGH = 1.0, 5.0


class NoGoldAnswerError(ValueError):
    """A question without an answer that is known to be right: nothing can be scored against it."""


def normalised(answer: str) -> str:
    """An answer in lower case, without punctuation and articles, spaces made single.

    Examples
    --------
    >>> normalised("The  U.S.A.!")
    'usa'
    """
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 if the answer equals one of the right ones when both are normalised, else 0.

    Parameters
    ----------
    answer : str
        An empty one is wrong, unless a right one is empty after normalising too.
    gold : sequence of str
        All that are right.

    Returns
    -------
    float

    Raises
    ------
    NoGoldAnswerError
        If there is none.

    Examples
    --------
    >>> exact_match("the Beatles", ["Beatles", "Fab Four"])
    1.0
    """
    return float(normalised(answer) in {normalised(gold_answer) for gold_answer in _some(gold)})


def f1(answer: str, gold: Sequence[str]) -> float:
    """The overlap of words with the right answer that it is closest to: harmonic mean of precision and recall.

    Parameters
    ----------
    answer, gold
        As for `exact_match`.

    Returns
    -------
    float
        Between 0 and 1. Where one side is yes, no or noanswer, 1 if both are, else 0. Two answers that are empty when
        normalised are equal.

    Raises
    ------
    NoGoldAnswerError
        If there is no right answer.

    Examples
    --------
    >>> f1("in the city of Paris", ["Paris, France"])
    0.3333333333333333
    """
    return max(_f1(normalised(answer), normalised(gold_answer)) for gold_answer in _some(gold))


def number(answer: str) -> float | None:
    """The first number in an answer; None where there is none.

    Examples
    --------
    >>> number("I rate it 4.5 of 5"), number("good")
    (4.5, None)
    """
    match = re.search(r"[-+]?\d+(?:\.\d+)?", answer)
    return float(match.group()) if match else None


def rating(answer: str, *, low: float = LOW, high: float = HIGH) -> float | None:
    """The rating that an answer gives: its first number; None where there is none, or it is beyond the scale.

    LaMP's script takes an answer as a whole for a number. Models say more than that; but a first number beyond the
    scale (a year, a share) is no rating.

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
    """How far a rating is from the right one (LaMP-3). Its mean is the MAE, the root of its mean square the RMSE.

    Parameters
    ----------
    answer : str
        What is no rating (`rating`) counts as the end of the scale that is further from the right one, as in LaMP's
        script.
    gold : float
        On the scale.
    low, high : float
        The ends of the scale.

    Returns
    -------
    float
        At most `high` - `low`.

    Raises
    ------
    NoGoldAnswerError
        If the right rating is beyond the scale.

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
    """1 if the answer is one of the right ones but for white space around it, else 0 (LaMP-1 and 2).

    As LaMP's script compares labels: nothing is normalised, and "[1]." is not "[1]".

    Examples
    --------
    >>> accuracy(" [1] ", ["[1]"]), accuracy("[1].", ["[1]"])
    (1.0, 0.0)
    """
    return float(answer.strip() in {gold_answer.strip() for gold_answer in _some(gold)})


def rating_error(answer: str, gold: Sequence[str]) -> float:
    """How far a rating is from the right one, on LaMP-3's scale of 1 to 5; see `absolute_error`.

    Raises
    ------
    NoGoldAnswerError
        If there is no right rating, or none that is a number of the scale.

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
    """The square of `rating_error`: the root of its mean is the RMSE."""
    return rating_error(answer, gold) ** 2


def rouge_1(answer: str, gold: Sequence[str]) -> float:
    """ROUGE-1 F1 with the right answer that it is closest to, without stemming, as LaMP has it (4 to 7).

    Examples
    --------
    >>> rouge_1("The cat sat", ["a cat sat down", "no"])
    0.5714285714285715
    """
    from rouge_score.rouge_scorer import RougeScorer  # imported when needed: web processes never score

    scorer = RougeScorer(["rouge1"], use_stemmer=False)
    return max(float(scorer.score(gold_answer, answer)["rouge1"].fmeasure) for gold_answer in _some(gold))


def rouge_l(answer: str, gold: Sequence[str]) -> float:
    """ROUGE-L F1 with the right answer that it is closest to, without stemming, as LaMP has it (4 to 7).

    Examples
    --------
    >>> rouge_l("The cat sat", ["a cat sat down", "no"])
    0.5714285714285715
    """
    scorer = RougeL(stem=False)
    return max(scorer.score(answer, gold_answer) for gold_answer in _some(gold))


@dataclass(frozen=True)
class Metric:
    """A measure of answers.

    Attributes
    ----------
    name : str
    score : callable
        From an answer and the right ones to a number.
    worst : float or None
        None where more is better. Of an error: the largest it can be.
    parse : callable, optional
        What an answer is taken for; None where it cannot be. Without it any text is an answer.
    """

    name: str
    score: Callable[[str, Sequence[str]], float]
    worst: float | None = None
    parse: Callable[[str], float | None] | None = None

    def reads(self, answer: str) -> bool:
        """Whether an answer is one that can be measured; what is none is scored as wrong as can be."""
        return self.parse is None or self.parse(answer) is not None

    def can_score(self, gold: Sequence[str]) -> bool:
        """Whether one of the right answers is one that can be measured against."""
        return any(map(self.reads, gold))


#: All measures by name. `em` and `f1` are for questions with short answers; LaMP's tasks name theirs.
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

#: Metrics that are shown together, as papers on a task do.
_TOGETHER = (("em", "f1"), ("mae", "mse"), ("rouge_1", "rouge_l"))


def score_together(name: str) -> tuple[str, ...]:
    """Names of all metrics of the task that a metric is of, the metric itself among them.

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
