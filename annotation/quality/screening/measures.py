"""Measures of one questionnaire: pure functions of its evidence."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import copysign, sqrt
from typing import Final

import scipy

from ..check_results import CheckResult, GoldResult

# Seconds for skimming a text (crowdrag25, 3.2.3): about 120 words, half of an average text.
SECONDS_PER_TEXT: Final = 20
LEVEL: Final = 0.95
# Standard errors reported if the items have no spread; any large number would do.
CERTAIN: Final = 99.0
PREFERENCES: Final = frozenset({-1, 0, 1})


@dataclass(frozen=True)
class Answer:
    """An answer with the options of its question, in the order of the page."""

    item: int
    dimension: int
    value: int
    options: tuple[int, ...]


@dataclass(frozen=True)
class Trust:
    """How far a judge's answers on a dimension can be trusted so far."""

    dimension: str
    spam: float
    low: float | None
    high: float | None
    judgments: int


@dataclass(frozen=True)
class Work:
    """The evidence on a submitted questionnaire.

    Attributes
    ----------
    answers
        in the order of the page: items by position, then dimensions.
    texts
        number of texts of each item.
    others
        answers of other people to the same questions: count of each value, by item and dimension.
    seconds, active_seconds
        from assignment to submission, and with the page in the foreground; None if unknown.
    item_seconds
        active time at each item; empty if unknown.
    minimum_seconds
        the study's limit for a questionnaire; None without a limit.
    fails_needed
        number of failed checks that justify a proposal to reject.
    """

    answers: tuple[Answer, ...]
    texts: Mapping[int, int]
    others: Mapping[tuple[int, int], Mapping[int, int]] = field(default_factory=dict)
    seconds: float | None = None
    active_seconds: float | None = None
    item_seconds: Mapping[int, float] = field(default_factory=dict)
    minimum_seconds: int | None = None
    checks: tuple[CheckResult, ...] = ()
    fails_needed: int = 2
    gold: tuple[GoldResult, ...] = ()
    trust: tuple[Trust, ...] = ()


@dataclass(frozen=True)
class Pace:
    """Duration compared with the study's minimum reading time, in seconds."""

    limit: float
    per_text: float
    seconds: float | None
    active: float | None
    items_timed: int
    items_fast: int


@dataclass(frozen=True)
class AnswerRuns:
    """How similar the answers are: length of the longest run, and the most frequent answer with its share.

    `others`: share of this answer among other people's answers to the same questions; None without any.
    """

    n: int
    items: int
    longest: int
    common: int
    share: float
    others: float | None

    @property
    def is_equal(self) -> bool:
        """Whether all answers are the same."""
        return self.longest == self.n


@dataclass(frozen=True)
class Sides:
    """Left against right: number of answers, and of items by the side of most answers; with an exact interval."""

    left: int
    right: int
    items_left: int
    items_right: int
    low: float
    high: float
    p: float
    others: float | None


@dataclass(frozen=True)
class MajorityAgreement:
    """Agreement with the majority of others on the same questions.

    `expected`: agreement expected of a judge with the same answer frequencies who ignores the items. `z`: difference
    from it in standard errors over items.
    """

    n: int
    items: int
    hits: int
    expected: float
    z: float


@dataclass(frozen=True)
class KnownLabelHits:
    """Answers that equal known labels: number, of how many, and the share expected from guessing.

    `p`: probability that guessing matches as many or more.
    """

    n: int
    hits: int
    chance: float
    p: float


def interval(hits: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact (Clopper-Pearson) confidence interval of a share."""
    if not n:
        return 0.0, 1.0
    tail = (1 - level) / 2
    low = float(scipy.stats.beta.ppf(tail, hits, n - hits + 1)) if hits else 0.0
    high = float(scipy.stats.beta.ppf(1 - tail, hits + 1, n - hits)) if hits < n else 1.0
    return low, high


def pace(work: Work) -> Pace | None:
    """Return the duration of a questionnaire; None if no time is known."""
    texts = sum(work.texts.values())
    if not texts or (work.seconds is None and work.active_seconds is None and not work.item_seconds):
        return None
    limit = float(work.minimum_seconds if work.minimum_seconds is not None else SECONDS_PER_TEXT * texts)
    # A long limit for few texts does not apply to single texts.
    per_text = min(limit / texts, SECONDS_PER_TEXT)
    timed = [item for item in work.texts if item in work.item_seconds]
    fast = [item for item in timed if work.item_seconds[item] < per_text * work.texts[item]]
    active = work.active_seconds
    if active is None and work.item_seconds:
        active = sum(work.item_seconds.values())
    return Pace(limit, per_text, work.seconds, active, len(timed), len(fast))


def answer_runs(work: Work) -> AnswerRuns | None:
    """Return how similar the answers are; None without answers."""
    values = [answer.value for answer in work.answers]
    if not values:
        return None
    common, most = max(Counter(values).items(), key=lambda each: (each[1], -each[0]))
    longest = run = 1
    for before, after in pairwise(values):
        run = run + 1 if before == after else 1
        longest = max(longest, run)
    items = len({answer.item for answer in work.answers})
    return AnswerRuns(len(values), items, longest, common, most / len(values), _share_of_others(work, common))


def sides(work: Work) -> Sides | None:
    """Return how often each side of pairs is preferred; None if no side was ever preferred."""
    answers = [answer for answer in work.answers if set(answer.options) <= PREFERENCES]
    left = sum(answer.value < 0 for answer in answers)
    right = sum(answer.value > 0 for answer in answers)
    leaning: dict[int, int] = defaultdict(int)
    for answer in answers:
        leaning[answer.item] += answer.value
    items_left, items_right = (sum(each * sign > 0 for each in leaning.values()) for sign in (-1, 1))
    n = items_left + items_right
    if not n:
        return None
    low, high = interval(items_left, n)
    p = float(scipy.stats.binomtest(items_left, n, 0.5).pvalue)
    theirs: Counter[int] = Counter()
    for answer in answers:
        theirs.update(work.others.get((answer.item, answer.dimension), {}))
    taken = theirs[-1] + theirs[1]
    return Sides(left, right, items_left, items_right, low, high, p, theirs[-1] / taken if taken else None)


def majority_agreement(work: Work) -> MajorityAgreement | None:
    """Return the agreement with the others' majority (more than half of at least two); None without a majority."""
    habits: dict[int, Counter[int]] = defaultdict(Counter)
    for answer in work.answers:
        habits[answer.dimension][answer.value] += 1
    by_item: dict[int, list[float]] = defaultdict(list)
    hits, expected = 0, 0.0
    for answer in work.answers:
        meant = majority(work.others.get((answer.item, answer.dimension), {}))
        if meant is None:
            continue
        habit = habits[answer.dimension]
        chance = habit[meant] / habit.total()
        hit = answer.value == meant
        hits, expected = hits + hit, expected + chance
        by_item[answer.item].append(hit - chance)
    n = sum(len(each) for each in by_item.values())
    if not n:
        return None
    return MajorityAgreement(
        n, len(by_item), hits, expected / n, _above_nothing([sum(each) for each in by_item.values()])
    )


def known_label_hits(work: Work) -> KnownLabelHits | None:
    """Return how many answers equal known labels; None without known labels."""
    n = len(work.gold)
    if not n:
        return None
    hits = sum(each.hit for each in work.gold)
    chance = sum(1 / each.options for each in work.gold) / n
    return KnownLabelHits(n, hits, chance, float(scipy.stats.binom.sf(hits - 1, n, chance)))


def majority(votes: Mapping[int, int]) -> int | None:
    """Return the answer of more than half; None without one, or with a single vote."""
    total = sum(votes.values())
    if total < 2:
        return None
    value, most = max(votes.items(), key=lambda each: each[1])
    return value if 2 * most > total else None


def _above_nothing(sums: Sequence[float]) -> float:
    """Return the mean over items in standard errors. Items are the independent units."""
    n = len(sums)
    mean = sum(sums) / n
    if n < 2:
        return 0.0
    spread = sqrt(sum((each - mean) ** 2 for each in sums) / (n - 1))
    if spread == 0:
        return 0.0 if mean == 0 else copysign(CERTAIN, mean)
    return max(-CERTAIN, min(CERTAIN, mean / (spread / sqrt(n))))


def _share_of_others(work: Work, value: int) -> float | None:
    theirs: Counter[int] = Counter()
    for answer in work.answers:
        theirs.update(work.others.get((answer.item, answer.dimension), {}))
    return theirs[value] / theirs.total() if theirs else None
