"""The alternative annotator test: may a judge, such as a language model, stand in for people?

Each person is left out in turn. On each item that this person judged, the judge and the person are scored by how well
they agree with the other people. The person has an advantage where the person's score is at least as high, the judge
where the judge's is; with equal scores, both have it. The test asks whether the person's share of advantages exceeds
the judge's by less than epsilon, which is what a person's work costs more than the judge's. The share of people for
whom this holds, with the false discovery rate controlled, is the winning rate. From one half on, the judge passes.

The test needs people who judged many items each. Crowd workers often judge a few items each, and two of them rarely
share many. `without_shared_annotators` asks the same question of all judgments together: is the judge as good as a
person drawn at random? It leaves out each judgment in turn, and its variance allows for judgments that share a cluster.

References: Calderon, Reichart and Dror, The alternative annotator test for LLM-as-a-judge (ACL 2025, arXiv 2501.10970),
sections 3 and 4; Benjamini and Yekutieli, The control of the false discovery rate in multiple testing under dependency
(2001), Annals of Statistics 29, 1165-1188.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]

#: A judge with at least this winning rate passes (section 3.3).
PASSES_FROM = 0.5
#: False discovery rate over people, and the fewest people on an item and items of a person, as in the paper.
FALSE_DISCOVERY_RATE, MIN_PEOPLE, MIN_ITEMS = 0.05, 2, 30
#: With fewer people the paper calls the test less reliable (appendix, frequent questions).
RECOMMENDED_PEOPLE = 3


class Scoring(StrEnum):
    """How a label is scored against the labels of the other people on an item."""

    ACCURACY = "accuracy"
    """The share of the other people who gave the same label."""
    RMSE = "rmse"
    """The negative root mean squared difference from the labels of the other people."""


@dataclass(frozen=True)
class Comparison:
    """The judge against one person.

    Attributes
    ----------
    annotator : int
        Index of the person.
    items : int
        Number of items that the comparison uses.
    person, judge : float
        Shares of items on which the person, or the judge, scores at least as high as the other.
    p : float
        p-value of the null hypothesis that the person's share exceeds the judge's by at least epsilon. NaN if the
        difference is epsilon on every item, which leaves nothing to test.
    adjusted_p : float
        p, adjusted for all people by Benjamini and Yekutieli. An undefined p counts as 1.
    wins : bool
        Whether the null hypothesis is rejected: the judge may stand in for this person.
    """

    annotator: int
    items: int
    person: float
    judge: float
    p: float
    adjusted_p: float
    wins: bool


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """Result of the alternative annotator test.

    Attributes
    ----------
    comparisons : tuple of Comparison
        One for each person with enough items, by index.
    winning_rate : float
        Share of these people for whom the judge may stand in. NaN if there are none.
    advantage_probability : float
        Mean of the judge's shares over these people. NaN if there are none.
    too_few_items : tuple of (int, int)
        Index and number of usable items of each person who was left out because of too few.
    items_without_judge, items_with_few_people : int
        Numbers of items with people's labels that were left out: without a label by the judge; with one, but with fewer
        people than required.
    items : int
        Number of items that were used.
    """

    comparisons: tuple[Comparison, ...]
    winning_rate: float
    advantage_probability: float
    too_few_items: tuple[tuple[int, int], ...]
    items_without_judge: int
    items_with_few_people: int
    items: int

    @property
    def passes(self) -> bool | None:
        """Whether the judge may stand in for people; None if nobody could be compared."""
        return None if np.isnan(self.winning_rate) else self.winning_rate >= PASSES_FROM


@dataclass(frozen=True)
class WithoutSharedAnnotators:
    """Result of the test of all judgments together.

    Attributes
    ----------
    judgments, items, clusters : int
        Numbers of people's judgments that were left out in turn, and of their items and clusters.
    person, judge : float
        Shares of the judgments in which the person, or the judge, scores at least as high. NaN without judgments.
    difference, low, high : float
        The person's share minus the judge's, with its interval over clusters; NaN if undefined.
    p : float
        p-value of the null hypothesis that the difference is at least epsilon; NaN with fewer than two clusters, or if
        the difference is epsilon throughout.
    """

    judgments: int
    items: int
    clusters: int
    person: float
    judge: float
    difference: float
    low: float
    high: float
    p: float

    @property
    def passes(self) -> bool | None:
        """Whether p is at most 0.05; None if it is undefined."""
        return None if np.isnan(self.p) else self.p <= 1 - _LEVEL


@dataclass(frozen=True, eq=False)
class _Advantages:
    """Who scores at least as high as the other, for each used judgment."""

    row: Ints
    person: NDArray[np.bool_]
    judge: NDArray[np.bool_]

    @property
    def difference(self) -> Floats:
        """Minus 1: only the judge has the advantage; 0: both; 1: only the person."""
        return self.person.astype(np.float64) - self.judge


def alternative_annotator_test(
    item: ArrayLike,
    annotator: ArrayLike,
    value: ArrayLike,
    judge: ArrayLike,
    *,
    scoring: Scoring,
    epsilon: float,
    q: float = FALSE_DISCOVERY_RATE,
    min_people: int = MIN_PEOPLE,
    min_items: int = MIN_ITEMS,
) -> AlternativeAnnotatorTest:
    """Test for each person whether a judge may stand in for this person.

    Parameters
    ----------
    item, annotator : array_like of int, shape (n,)
        Item and person of each judgment, both from 0.
    value : array_like of float, shape (n,)
        The label: a number with `Scoring.RMSE`, a code of the label with `Scoring.ACCURACY`. Never NaN.
    judge : array_like of float, shape (n_items,)
        The judge's label of each item, in the same codes; NaN if there is none.
    scoring : Scoring
    epsilon : float
        From 0 to 1. The paper proposes 0.2 for experts, 0.15 for skilled annotators, 0.1 for crowd workers.
    q : float
        False discovery rate.
    min_people : int
        Items with fewer people are left out.
    min_items : int
        People with fewer of the remaining items are left out. The t-test needs about 30.

    Returns
    -------
    AlternativeAnnotatorTest

    Raises
    ------
    ValueError
        If the arrays differ in length, a person judged an item twice, a label is not a number, an item has no entry in
        `judge`, or `epsilon`, `q`, `min_people` or `min_items` is out of range.

    Notes
    -----
    The p-value is that of the one-sided t-test of the paired differences (equation 2 of the paper). Where all
    differences are equal, their variance is 0: p is 0 if they are below epsilon, and 1 if they are above.
    """
    item, annotator, value, judge = _checked(item, annotator, value, judge)
    _check_range(epsilon, q, min_people, min_items)
    people = np.bincount(item, minlength=judge.size)
    has_people, is_judged = people > 0, ~np.isnan(judge)
    is_used = is_judged & (people >= min_people)
    advantages = _advantages(item, value, judge, is_used, scoring)
    used_annotator = annotator[advantages.row]
    comparisons, too_few = [], []
    for person in np.unique(annotator).tolist():
        of_person = used_annotator == person
        items = int(of_person.sum())
        if items < min_items:
            too_few.append((person, items))
        else:
            p = _p_below(advantages.difference[of_person], epsilon)
            shares = float(np.mean(advantages.person[of_person])), float(np.mean(advantages.judge[of_person]))
            comparisons.append((person, items, *shares, p))
    adjusted = _adjusted([p for *_others, p in comparisons])
    results = tuple(
        Comparison(*comparison, adjusted_p=adjusted_p, wins=adjusted_p <= q)
        for comparison, adjusted_p in zip(comparisons, adjusted, strict=True)
    )
    nan = float("nan")
    return AlternativeAnnotatorTest(
        comparisons=results,
        winning_rate=float(np.mean([comparison.wins for comparison in results])) if results else nan,
        advantage_probability=float(np.mean([comparison.judge for comparison in results])) if results else nan,
        too_few_items=tuple(too_few),
        items_without_judge=int((has_people & ~is_judged).sum()),
        items_with_few_people=int((has_people & is_judged & (people < min_people)).sum()),
        items=int(is_used.sum()),
    )


def without_shared_annotators(
    item: ArrayLike,
    annotator: ArrayLike,
    value: ArrayLike,
    judge: ArrayLike,
    cluster: ArrayLike,
    *,
    scoring: Scoring,
    epsilon: float,
    min_people: int = MIN_PEOPLE,
) -> WithoutSharedAnnotators:
    """Test whether a judge may stand in for a person drawn at random, however few items each person judged.

    Parameters
    ----------
    item, annotator, value, judge, scoring, epsilon, min_people
        As for `alternative_annotator_test`.
    cluster : array_like of int, shape (n_items,)
        Cluster of each item, such as its topic. Judgments of one cluster may depend on each other, those of different
        clusters do not.

    Returns
    -------
    WithoutSharedAnnotators

    Raises
    ------
    ValueError
        As for `alternative_annotator_test`, or if `cluster` and `judge` differ in length.

    Notes
    -----
    The test is a one-sided t-test of the mean difference with the variance between clusters and one degree of freedom
    less than clusters. If people judged in several clusters, their judgments are taken as independent between these.
    With one item a cluster and one judgment used of each, it is the t-test of the paper.
    """
    item, annotator, value, judge = _checked(item, annotator, value, judge)
    _check_range(epsilon, FALSE_DISCOVERY_RATE, min_people, MIN_ITEMS)
    clusters_of_items = np.asarray(cluster, dtype=np.int64)
    if clusters_of_items.shape != judge.shape:
        msg = f"each item needs a cluster: there are {clusters_of_items.size} for {judge.size} items"
        raise ValueError(msg)
    people = np.bincount(item, minlength=judge.size)
    advantages = _advantages(item, value, judge, ~np.isnan(judge) & (people >= min_people), scoring)
    items = item[advantages.row]
    nan = float("nan")
    if not items.size:
        return WithoutSharedAnnotators(0, 0, 0, nan, nan, nan, nan, nan, nan)
    names, index = np.unique(clusters_of_items[items], return_inverse=True)
    difference = float(np.mean(advantages.difference))
    low, high, p = nan, nan, nan
    if names.size > 1:
        sums = np.bincount(index, weights=(advantages.difference - difference) / items.size)
        spread = float(np.sqrt(np.square(sums).sum() * names.size / (names.size - 1)))
        reach = spread * float(scipy.special.stdtrit(names.size - 1, 0.5 + _LEVEL / 2))
        low, high = difference - reach, difference + reach
        p = _p_of_mean(difference - epsilon, spread, names.size - 1)
    return WithoutSharedAnnotators(
        judgments=int(items.size),
        items=int(np.unique(items).size),
        clusters=int(names.size),
        person=float(np.mean(advantages.person)),
        judge=float(np.mean(advantages.judge)),
        difference=difference,
        low=low,
        high=high,
        p=p,
    )


#: Level of intervals, and 1 minus the level of the test of all judgments together.
_LEVEL = 0.95
# A smaller standard error is a rounding error of differences that are all equal.
_NOTHING = 1e-12


def _advantages(item: Ints, value: Floats, judge: Floats, is_used: NDArray[np.bool_], scoring: Scoring) -> _Advantages:
    """Compare the scores of person and judge on every judgment of a used item, with the other people as reference.

    Items with the same number of people are compared in one array, in the order of the judgments.
    """
    order = np.argsort(item, kind="stable")
    order = order[is_used[item[order]]]
    people = np.bincount(item[order], minlength=judge.size)
    person_wins, judge_wins = np.zeros(item.size, dtype=bool), np.zeros(item.size, dtype=bool)
    for size in np.unique(people[people > 0]).tolist():
        rows = order[people[item[order]] == size].reshape(-1, size)
        labels, by_judge = value[rows], judge[item[rows[:, 0]]]
        for left_out in range(size):
            others = np.delete(labels, left_out, axis=1)
            person_score = _score(labels[:, left_out], others, scoring)
            judge_score = _score(by_judge, others, scoring)
            person_wins[rows[:, left_out]] = person_score >= judge_score
            judge_wins[rows[:, left_out]] = judge_score >= person_score
    kept = np.sort(order)
    return _Advantages(kept, person_wins[kept], judge_wins[kept])


def _score(label: Floats, others: Floats, scoring: Scoring) -> Floats:
    """Score one label for each item against those of the other people (section 3.1 of the paper)."""
    if scoring is Scoring.ACCURACY:
        agreement: Floats = np.mean(others == label[:, None], axis=1)
        return agreement
    error: Floats = -np.sqrt(np.mean(np.square(others - label[:, None]), axis=1))
    return error


def _p_below(difference: Floats, epsilon: float) -> float:
    """Compute p of the null hypothesis that the mean difference is at least epsilon (one-sided t-test)."""
    spread = float(np.std(difference, ddof=1) / np.sqrt(difference.size))
    return _p_of_mean(float(np.mean(difference)) - epsilon, spread, difference.size - 1)


def _p_of_mean(excess: float, spread: float, freedom: int) -> float:
    """Compute the one-sided p of an excess over epsilon, given its standard error."""
    if spread > _NOTHING:
        return float(scipy.special.stdtr(freedom, excess / spread))
    return float("nan") if abs(excess) <= _NOTHING else float(excess > 0)


def _adjusted(p: list[float]) -> list[float]:
    """Adjust p-values by Benjamini and Yekutieli; an undefined one counts as 1."""
    if not p:
        return []
    known = np.where(np.isnan(p), 1.0, p)
    adjusted: list[float] = scipy.stats.false_discovery_control(known, method="by").tolist()
    return adjusted


def _checked(
    item: ArrayLike, annotator: ArrayLike, value: ArrayLike, judge: ArrayLike
) -> tuple[Ints, Ints, Floats, Floats]:
    items, people = np.asarray(item, dtype=np.int64), np.asarray(annotator, dtype=np.int64)
    values, by_judge = np.asarray(value, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    if not items.ndim == by_judge.ndim == 1 or not items.shape == people.shape == values.shape:
        msg = f"each judgment needs an item, a person and a label: {items.shape}, {people.shape}, {values.shape}"
        raise ValueError(msg)
    if items.size and (items.min() < 0 or people.min() < 0):
        msg = "items and people are numbered from 0"
        raise ValueError(msg)
    if items.size and items.max() >= by_judge.size:
        msg = f"the judge has {by_judge.size} entries, but there are {items.max() + 1} items"
        raise ValueError(msg)
    if not np.isfinite(values).all() or np.isinf(by_judge).any():
        msg = "a label is not a number"
        raise ValueError(msg)
    if np.unique(items * (1 + people.max(initial=0)) + people).size < items.size:
        msg = "a person judged an item twice: keep one of the labels"
        raise ValueError(msg)
    return items, people, values, by_judge


def _check_range(epsilon: float, q: float, min_people: int, min_items: int) -> None:
    if not 0 <= epsilon <= 1:
        msg = f"epsilon lies between 0 and 1, it is {epsilon}"
        raise ValueError(msg)
    if not 0 < q < 1:
        msg = f"the false discovery rate lies between 0 and 1, it is {q}"
        raise ValueError(msg)
    if min_people < 2 or min_items < 2:
        msg = "an item needs at least two people, and a person at least two items"
        raise ValueError(msg)
