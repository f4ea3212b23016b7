"""Model-assisted estimates of merits, mean grades and win shares (docs/methods/assisted-estimates.md).

People's gold labels stay as they are: a model's votes never enter them. They enter the estimates of a part of the pairs
as control variates, all models together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from analysis.stats import assisted
from analysis.stats.assisted import FEWEST_TOPICS, Assisted, ByTopic
from analysis.stats.bootstrap import Floats

from ...inputs.arrays import Ints
from ...tables.rows import NOTE, Row, number
from ..context import Context, Tables
from ..leaderboard.boards import ORIGIN, Board, boards
from ..leaderboard.votes_by_judges import ALL
from . import board_statistics as statistics
from .board_statistics import ResponseGrades
from .scored_pairs import Bools, JudgeScores, ScoredPairs, Scores, scores
from .tables import (
    FEW_TOPICS,
    LOW,
    MEAN_GRADE,
    MERIT,
    NOT_RANDOM,
    NOTHING_MORE,
    OTHER_PAIRS,
    SEPARATE,
    USE,
    WIN_SHARE,
)

NAMES = ("assisted_estimates", "assisted_differences", "assisted_judges")
#: Systems whose differences are listed: those that people judged on most topics.
MOST = 10
#: Grades can be assisted if people judged nearly all of the models' pairs in their topics.
WHOLE_TOPICS = 0.95
#: A part that differs from all with a smaller p is not random.
DIFFERS = 0.01
#: Merits of more entities would take too long: their influences solve equations of all with all.
MOST_ENTITIES = 1_000
#: Maximum number of terms (entities, judges and topics) in memory at a time.
_AT_ONCE = 4_000_000

ONE_TOPIC = "an interval needs at least two topics, and values that differ between them"


def compute_tables(analysed: Context) -> Tables:
    """Compute the tables; empty without people's labels or models' votes."""
    tables: Tables = {name: [] for name in NAMES}
    scored = scores(analysed)
    if scored is None:
        return tables
    for dimension in (*range(len(scored.dimensions)), -1):
        name = scored.dimensions[dimension] if dimension >= 0 else ALL
        analysed.step(f"Model-assisted estimates: {name}")
        selected = scored.of(dimension)
        if not len(selected.people.left):
            continue
        for board in boards(analysed.inputs):
            on_board = _OnBoard(analysed, board, selected, name)
            tables["assisted_estimates"] += on_board.estimates()
            tables["assisted_differences"] += on_board.differences()
        origins = boards(analysed.inputs)[1]
        tables["assisted_judges"] += [
            _judge_row(judge, selected, origins, len(analysed.inputs.responses)) | {"dimension": name}
            for judge in selected.judges
            if len(judge.pairs.left)
        ]
    return tables


@dataclass(frozen=True, eq=False)
class _Measured:
    """A statistic of all entities: by people, and by each judge on the part and on all; with the advice against it."""

    people: ByTopic
    on_part: ByTopic
    on_all: ByTopic
    against: str = ""

    def _each(self, change: Callable[[ByTopic], ByTopic]) -> _Measured:
        return _Measured(change(self.people), change(self.on_part), change(self.on_all), self.against)

    def only(self, entities: Ints) -> _Measured:
        """Return the statistic of some entities."""
        return self._each(lambda side: ByTopic(side.value[entities], side.terms[entities]))

    def minus(self, first: Ints, second: Ints) -> _Measured:
        """Return differences between two entities each."""
        return self._each(
            lambda side: ByTopic(side.value[first] - side.value[second], side.terms[first] - side.terms[second])
        )


@dataclass(frozen=True, eq=False)
class _Sizes:
    """Topics that people judged, shape (n, n_topics); numbers of models' topics and of both's pairs, shape (n,)."""

    has_people: Bools
    topics_all: Ints
    pairs: Ints
    pairs_all: Ints
    pairs_both: Ints

    @property
    def topics(self) -> Ints:
        """Number of topics that people judged, shape (n,)."""
        return np.asarray(self.has_people.sum(axis=1))

    def only(self, some: Ints) -> _Sizes:
        """Return the sizes of some entities."""
        counts = (self.topics_all, self.pairs, self.pairs_all, self.pairs_both)
        return _Sizes(self.has_people[some], *(column[some] for column in counts))


class _OnBoard:
    """The statistics of one board and dimension."""

    def __init__(self, analysed: Context, board: Board, scored: Scores, name: str) -> None:
        self.board, self.scored, self.name = board, scored, name
        self.topics = len(scored.topics)
        self.responses = len(analysed.inputs.responses)
        self.analysed = analysed
        sizes = self._sizes(self._entities_of)
        # Origins are always listed, with the reason if people judged too little.
        self.listed = np.flatnonzero(sizes.topics >= (1 if board.kind == ORIGIN else FEWEST_TOPICS))
        self.sizes = sizes.only(self.listed)
        self.measured = dict(self._measures()) if len(self.listed) else {}

    def estimates(self) -> Iterator[Row]:
        """Yield the rows of each entity by measure."""
        for measure, measured in self.measured.items():
            rows = _rows(measured, self.sizes, self.topics)
            for entity, row in zip(self.listed.tolist(), rows, strict=True):
                if row["people"] is not None:
                    yield {
                        "kind": self.board.kind,
                        "participant": self.board.names[entity],
                        "origin": self.board.origins[entity],
                        "dimension": self.name,
                        "measure": measure,
                    } | row

    def differences(self) -> Iterator[Row]:
        """Yield the rows of each two entities by measure."""
        order = np.argsort(-self.sizes.topics, kind="stable")[:MOST]
        chosen = np.sort(order)
        if len(chosen) < 2:
            return
        first, second = np.triu_indices(len(chosen), 1)
        entities = self.listed[chosen]
        pairs = self._sizes(lambda pairs: self._pairs_of(pairs, entities))
        for measure, measured in self.measured.items():
            compared = (
                self._by_judges(
                    lambda scored: statistics.head_to_head(self.board, scored, entities, self.topics),
                )
                if measure == WIN_SHARE
                else measured.minus(chosen[first], chosen[second])
            )
            sizes = pairs if measure == WIN_SHARE else self._of_both(chosen[first], chosen[second])
            rows = _rows(compared, sizes, self.topics)
            for one, other, row in zip(entities[first].tolist(), entities[second].tolist(), rows, strict=True):
                if row["people"] is not None:
                    yield {
                        "kind": self.board.kind,
                        "participant_1": self.board.names[one],
                        "participant_2": self.board.names[other],
                        "dimension": self.name,
                        "measure": measure,
                    } | row

    def _of_both(self, first: Ints, second: Ints) -> _Sizes:
        """Return the sizes of two entities together: topics of either, and the smaller numbers."""
        one, other = self.sizes.only(first), self.sizes.only(second)
        return _Sizes(
            one.has_people | other.has_people,
            np.minimum(one.topics_all, other.topics_all),
            np.minimum(one.pairs, other.pairs),
            np.minimum(one.pairs_all, other.pairs_all),
            np.minimum(one.pairs_both, other.pairs_both),
        )

    def _measures(self) -> Iterator[tuple[str, _Measured]]:
        if len(self.board.names) <= MOST_ENTITIES:
            yield MERIT, self._by_judges(lambda pairs: statistics.merits(self.board, pairs, self.topics, self.listed))
        yield MEAN_GRADE, self._mean_grades()
        yield (
            WIN_SHARE,
            self._by_judges(lambda pairs: statistics.win_shares(self.board, pairs, self.topics, self.listed)),
        )

    def _by_judges(self, statistic: Callable[[ScoredPairs], ByTopic]) -> _Measured:
        judges = self.scored.judges
        return _Measured(
            statistic(self.scored.people),
            _stacked([statistic(judge.part) for judge in judges]),
            _stacked([statistic(judge.pairs) for judge in judges]),
        )

    def _mean_grades(self) -> _Measured:
        """Return mean grades; those of a judge in a topic that people judged are from people's pairs alone."""
        assert self.analysed.graded is not None
        graded = self.analysed.graded[0]
        names = [fit.dimension.name for fit in graded.comparisons.fits]
        chosen = np.array([name == self.name or self.name == ALL for name in names])[graded.fit]
        grade = graded.comparable(graded.grade)[chosen]
        topic = np.searchsorted(self.scored.topics, graded.topic[chosen])
        people = ResponseGrades(graded.response[chosen], topic, grade).means(self.board, self.topics, self.listed)
        has_people = np.zeros(self.topics, dtype=bool)
        has_people[self.scored.people.topic] = True
        parts: list[ByTopic] = []
        wholes: list[ByTopic] = []
        is_whole = True
        for judge in self.scored.judges:
            inside = has_people[judge.pairs.topic]
            is_whole &= bool(judge.on_part.sum() >= WHOLE_TOPICS * inside.sum())
            for pairs, sides in ((judge.part, parts), (judge.pairs.only(judge.on_part | ~inside), wholes)):
                sides.append(statistics.grades(pairs, graded.usual).means(self.board, self.topics, self.listed))
        return _Measured(people, _stacked(parts), _stacked(wholes), "" if is_whole else OTHER_PAIRS)

    def _sizes(self, groups_of: Callable[[ScoredPairs], tuple[Ints, Ints, int]]) -> _Sizes:
        """Count topics and pairs; `groups_of` returns an entry and group for each side of a pair, and the groups."""
        by_people = self._counts(self.scored.people, groups_of)
        pooled = _joined([judge.pairs for judge in self.scored.judges])
        both = _joined([judge.part for judge in self.scored.judges])
        by_models, by_both = self._counts(pooled, groups_of), self._counts(both, groups_of)
        return _Sizes(by_people[0], by_models[0].sum(axis=1), by_people[1], by_models[1], by_both[1])

    def _counts(
        self, pairs: ScoredPairs, groups_of: Callable[[ScoredPairs], tuple[Ints, Ints, int]]
    ) -> tuple[Bools, Ints]:
        entry, group, groups = groups_of(pairs)
        judged = np.zeros((groups, self.topics), dtype=bool)
        judged[group, pairs.topic[entry]] = True
        keys = pairs.keys(self.responses)[entry]
        distinct = np.unique(np.stack([group, keys]), axis=1)[0]
        return judged, np.bincount(distinct, minlength=groups)

    def _entities_of(self, pairs: ScoredPairs) -> tuple[Ints, Ints, int]:
        left, right = self.board.whose[pairs.left], self.board.whose[pairs.right]
        differ = np.flatnonzero(left != right)
        return np.tile(differ, 2), np.concatenate([left[differ], right[differ]]), len(self.board.names)

    def _pairs_of(self, pairs: ScoredPairs, entities: Ints) -> tuple[Ints, Ints, int]:
        index_of = np.full(len(self.board.names), -1, dtype=np.int64)
        index_of[entities] = np.arange(len(entities))
        left, right = index_of[self.board.whose[pairs.left]], index_of[self.board.whose[pairs.right]]
        entry = np.flatnonzero((left >= 0) & (right >= 0) & (left != right))
        first, second = np.triu_indices(len(entities), 1)
        of_pair = np.full((len(entities), len(entities)), -1, dtype=np.int64)
        of_pair[first, second] = of_pair[second, first] = np.arange(len(first))
        return entry, of_pair[left[entry], right[entry]], len(first)


def _stacked(parts: list[ByTopic]) -> ByTopic:
    """Return the statistics of all judges, shape (n_entities, n_judges)."""
    return ByTopic(np.stack([part.value for part in parts], axis=1), np.stack([part.terms for part in parts], axis=1))


def _joined(parts: list[ScoredPairs]) -> ScoredPairs:
    columns = ("left", "right", "topic", "dimension", "chances")
    return ScoredPairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def _rows(measured: _Measured, sizes: _Sizes, topics: int) -> Iterator[Row]:
    """Yield the cells of each estimate."""
    count, judges = measured.on_all.value.shape
    size = max(1, _AT_ONCE // (topics * judges))
    for begin in range(0, count, size):
        block = np.arange(begin, min(begin + size, count))
        yield from _rows_of_block(measured.only(block), sizes.only(block))


def _rows_of_block(measured: _Measured, sizes: _Sizes) -> Iterator[Row]:
    result = assisted.estimate(
        measured.people, measured.on_part, measured.on_all, has_people=sizes.has_people, topics=sizes.topics
    )
    advice = _advice(result, sizes, measured.against)
    is_used = advice == USE
    low, high = (
        np.where(is_used, ours, theirs)
        for ours, theirs in ((result.low, result.people_low), (result.high, result.people_high))
    )
    columns: dict[str, Floats] = {
        "people": result.people,
        "people_low": result.people_low,
        "people_high": result.people_high,
        "assisted": np.where(is_used, result.estimate, result.people),
        "assisted_low": low,
        "assisted_high": high,
        "correlation": np.where(np.isin(advice, (USE, LOW)), result.correlation, np.nan),
        "effective_sample": np.where(np.isnan(low), np.nan, np.where(is_used, result.effective_sample, 1.0)),
    }
    for index in range(len(result.people)):
        row: Row = {"advice": str(advice[index])}
        row |= {name: number(column[index]) for name, column in columns.items()}
        row |= {
            "topics": int(sizes.topics[index]),
            "topics_all": int(sizes.topics_all[index]),
            "pairs": int(sizes.pairs[index]),
            "pairs_all": int(sizes.pairs_all[index]),
        }
        yield row if row["people_low"] is not None else row | {NOTE: ONE_TOPIC}


def _advice(result: Assisted, sizes: _Sizes, against: str) -> np.ndarray:
    """Return whether to use the models' votes, or the first reason not to."""
    return np.select(
        [
            sizes.pairs_both == 0,
            sizes.pairs_all <= sizes.pairs_both,
            sizes.topics < FEWEST_TOPICS,
            np.full(len(sizes.pairs), bool(against)),
            ~result.is_used,
        ],
        [SEPARATE, NOTHING_MORE, FEW_TOPICS, against or LOW, LOW],
        USE,
    )


def _judge_row(judge: JudgeScores, scored: Scores, origins: Board, responses: int) -> Row:
    """Return what one model's votes can contribute on a dimension."""
    keys, leads = judge.pairs.by_key(responses)
    of_people, people_leads = scored.people.by_key(responses)
    _both, mine, theirs = np.intersect1d(keys, of_people, assume_unique=True, return_indices=True)
    x, y = leads[mine], people_leads[theirs]
    size = np.sqrt(np.square(x).sum() * np.square(y).sum())
    correlation = float((x * y).sum() / size) if size > 0 else float("nan")
    topics = len(np.unique(judge.part.topic))
    rest = 1.0 - len(mine) / len(keys)
    difference, low, high, p = _part_minus_all(judge, origins, len(scored.topics))
    return {
        "participant": judge.name,
        "inference": judge.inference,
        "advice": _advice_on_judge(correlation, topics, len(mine), len(keys), p),
        "correlation": number(correlation),
        "effective_sample": number(1.0 / max(1.0 - correlation**2 * rest, 1e-12)),
        "difference": number(difference),
        "difference_low": number(low),
        "difference_high": number(high),
        "p": number(p),
        "topics": topics,
        "topics_all": len(np.unique(judge.pairs.topic)),
        "pairs": len(mine),
        "pairs_all": len(keys),
    }


def _advice_on_judge(correlation: float, topics: int, pairs: int, pairs_all: int, p: float) -> str:
    """Return whether a model's votes can help, or the first reason why not."""
    if not pairs:
        return SEPARATE
    if pairs == pairs_all:
        return NOTHING_MORE
    if topics < FEWEST_TOPICS:
        return FEW_TOPICS
    if p < DIFFERS:
        return NOT_RANDOM
    return USE if correlation > 1.0 / np.sqrt(topics - 2) else LOW


def _part_minus_all(judge: JudgeScores, origins: Board, topics: int) -> tuple[float, float, float, float]:
    """Test whether the pairs that people judged differ from all, in the model's eyes: origins' win shares.

    Returns the difference with the smallest p, with its interval, and p adjusted over origins; NaN if undefined.
    """
    part, whole = (statistics.win_shares(origins, pairs, topics) for pairs in (judge.part, judge.pairs))
    difference = part.value - whole.value
    terms = part.terms - whole.terms
    n = statistics.has_topic(origins, judge.part, topics).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.square(terms).sum(axis=1) * n / (n - 1))
        p = 2.0 * scipy.special.stdtr(np.maximum(n - 1, 1), -np.abs(difference / error))
    p = np.where((n > 1) & (error > 1e-12), p, np.nan)
    if np.isnan(p).all():
        return (float("nan"),) * 4
    # With two origins, one difference is the negative of the other.
    tests = max(1, int(np.isfinite(p).sum()) - 1)
    least = int(np.nanargmin(p))
    reach = float(scipy.special.stdtrit(n[least] - 1, 0.975)) * float(error[least])
    value = float(difference[least])
    return value, value - reach, value + reach, min(1.0, float(p[least]) * tests)
