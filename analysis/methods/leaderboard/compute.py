"""The leaderboard: ranking of participants and of origins by dimension (docs/methods/leaderboard.md)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats import sparse_bradley_terry
from analysis.stats.bootstrap import Floats, small_sample_factor
from analysis.stats.bradley_terry import NoComparisonsError
from analysis.stats.significance import FEWEST

from ...inputs.arrays import Ints
from ...tables.rows import NOTE, Row, number
from .. import paired_tests
from ..context import Context, Tables
from ..grade_fits import Comparisons, Graded, Halves, Resampled
from . import merits_by_judges, more_judgments, order_fragility, win_rates
from .boards import HUMAN, NEVER_VARIES, ORIGIN, PARTICIPANT, UNCORRECTED, Board, boards

ALL = "all"
NEVER = "not ranked, because never compared with others"
ONE_TOPIC = "graded on one topic only"
FEW = "graded on too few topics for a rank"
APART = "never compared with the largest group, directly or indirectly: the rank comes from the dummy alone"
# Maximum of (comparisons, topics or pairs) x resamples in memory at a time.
_AT_ONCE = 4_000_000
_TAIL = 0.025


def compute_tables(analysed: Context) -> Tables:
    """Compute the leaderboard, also by judges and style, the win rates, and the tests of differences."""
    ranked: list[Row] = []
    tested: list[Row] = []
    if analysed.graded is not None:
        graded, resampled = analysed.graded
        for board in boards(analysed.inputs):
            for dimension in (*range(len(graded.comparisons.fits)), -1):
                analysed.step(f"Leaderboard: {_name(graded, dimension)}")
                ranked += _rows(analysed, board, graded, resampled, dimension)
        people = boards(analysed.inputs)[0]
        tested = list(_tests(people, graded, resampled))
        # Two families: the question which system is better overall does not pay for those about single dimensions.
        paired_tests.adjust([row for row in tested if row["dimension"] == ALL])
        paired_tests.adjust([row for row in tested if row["dimension"] != ALL])
        tested = more_judgments.add(tested, more_judgments.per_topic(analysed.main, graded.comparisons.fits))
    return {
        "leaderboard": ranked,
        "leaderboard_by_judges": merits_by_judges.merit_rows(analysed),
        "win_rates": win_rates.win_rate_rows(analysed, ranked),
        "leaderboard_tests": tested,
        **order_fragility.fragility_tables(analysed, ranked),
    }


def systems(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of each system by dimension; empty if there is only one system.

    Models and other systems are listed separately, people together. Systems with grades are sorted by mean grade over
    all dimensions.
    """
    names = {row["participant"] for row in rows if row["kind"] == PARTICIPANT and row["origin"] != HUMAN}
    together = {row["origin"] for row in rows if row["kind"] == ORIGIN and row["origin"] == HUMAN}
    if len(names) < 2:
        return []
    listed = [row for row in rows if row["participant"] in (names if row["kind"] == PARTICIPANT else together)]
    means = {row["participant"]: row["mean_grade"] for row in listed if row["dimension"] == ALL}
    listed = [row for row in listed if means.get(row["participant"]) is not None]
    return sorted(listed, key=lambda row: (-means[row["participant"]], row["participant"]))


def _name(graded: Graded, dimension: int) -> str:
    return graded.comparisons.fits[dimension].dimension.name if dimension >= 0 else ALL


def _rows(analysed: Context, board: Board, graded: Graded, resampled: Resampled, dimension: int) -> Iterator[Row]:
    """Yield the rows of one dimension (-1: all) by rank, unranked participants last."""
    selected = np.flatnonzero((graded.fit == dimension) | (dimension < 0))
    means = _Means.of(board, graded, resampled, selected)
    merits = _merits(analysed, board, graded, resampled, dimension, means.topics)
    merit = np.nan_to_num(merits.point, nan=-np.inf)
    order = np.lexsort((np.arange(len(board.names)), -merit, np.isnan(merits.rank)))
    for who in order.tolist():
        if np.isnan(merits.point[who]) and not means.n[who] and dimension >= 0:
            continue  # listed once, under all dimensions
        topics = int(means.topics[who])
        further = small_sample_factor(topics)
        low, high = _interval(merits.samples[who], merits.point[who], further)
        best, worst = _ranks(merits.ranks[who], further)
        mean_low, mean_high = np.clip(_interval(means.samples(who), means.mean[who], further), 1.0, graded.usual)
        row: Row = {
            "participant": board.names[who],
            "dimension": _name(graded, dimension),
            "mean_grade": number(means.mean[who]),
            "merit": number(merits.point[who]),
            "low": number(low),
            "high": number(high),
            "rank_low": _whole(best),
            "rank_high": _whole(worst),
            "n": int(means.n[who]),
            "rank": _whole(merits.rank[who]),
            "kind": board.kind,
            "origin": board.origins[who],
            "topics": topics,
            "mean_low": number(mean_low),
            "mean_high": number(mean_high),
            "group": int(merits.group[who]) + 1 if merits.group[who] >= 0 else None,
        }
        notes = [NEVER] if row["merit"] is None else [ONE_TOPIC] if topics < 2 else []
        notes += [FEW] if row["rank"] is None and row["merit"] is not None else []
        notes += [APART] if merits.group[who] > 0 else []
        notes += [UNCORRECTED] if graded.comparisons.is_uncorrected else []
        yield row | {NOTE: "; ".join(notes)} if notes else row


@dataclass(frozen=True, eq=False)
class _Means:
    """Mean grades of all participants on a scale common to all topics, and their bootstrap samples on demand."""

    mean: Floats
    n: Ints
    topics: Ints
    samples: Callable[[int], Floats]

    @classmethod
    def of(cls, board: Board, graded: Graded, resampled: Resampled, selected: Ints) -> "_Means":
        who = board.whose[graded.response[selected]]
        people = len(board.names)
        grade = graded.comparable(graded.grade)[selected]
        counts = np.bincount(who, minlength=people)
        sums = np.bincount(who, weights=grade, minlength=people)
        pairs = np.unique(np.stack([who, graded.response[selected]]), axis=1)[0]
        at = np.unique(np.stack([who, resampled.topic[selected]]), axis=1)[0]
        order = np.argsort(who, kind="stable")
        ends = np.cumsum(counts)

        def samples(person: int) -> Floats:
            person_grades = order[ends[person] - counts[person] : ends[person]]
            if not person_grades.size:
                return np.zeros(0)
            topic, again = resampled.topic[selected][person_grades], resampled.grade
            drawn = resampled.weights[:, topic]
            values = grade[person_grades] if again is None else _again(graded, again, selected[person_grades]).T
            n = drawn.sum(axis=1)
            sums = (drawn * values).sum(axis=1)
            means: Floats = np.divide(sums, n, out=np.full(n.shape, np.nan), where=n > 0)
            return means

        return cls(
            mean=np.divide(sums, counts, out=np.full(people, np.nan), where=counts > 0),
            n=np.bincount(pairs, minlength=people),
            topics=np.bincount(at, minlength=people),
            samples=samples,
        )


def _again(graded: Graded, grade: Halves, which: Ints) -> Floats:
    """Return selected grades of all resamples on the scale common to all topics."""
    size, usual = graded.size[which][:, None], graded.usual
    values = grade[which].astype(np.float64)
    return np.where(size == usual, values, 1.0 + (values - 1.0) * (usual - 1.0) / (size - 1.0))


@dataclass(frozen=True, eq=False)
class _Merits:
    """Merits of all participants, and in each resample those of the participants who have a topic in it."""

    point: Floats
    rank: Floats
    group: Ints
    samples: NDArray[np.floating[Any]]
    ranks: NDArray[np.floating[Any]]


def _merits(
    analysed: Context, board: Board, graded: Graded, resampled: Resampled, dimension: int, topics: Ints
) -> _Merits:
    c, pool, people = graded.comparisons, analysed.main.pool, len(board.names)
    selected = np.flatnonzero((c.fit == dimension) | (dimension < 0))
    unit = c.unit[selected]
    resamples = len(resampled.weights)
    try:
        met = sparse_bradley_terry.meetings(board.whose[pool.left[unit]], board.whose[pool.right[unit]], people)
    except NoComparisonsError:
        nobody, never = np.full(people, np.nan), np.full((people, resamples), np.nan)
        return _Merits(nobody, nobody, np.full(people, -1), never, never)
    topic = np.searchsorted(resampled.topics, pool.topic[unit])
    point = sparse_bradley_terry.fit(met, *_sums(met, c, selected, topic, np.ones((1, len(resampled.topics))))).merit[
        :, 0
    ]
    further = np.array([small_sample_factor(int(number)) for number in topics])
    # Participants with too few topics have a merit but no rank, and do not count in the ranks of others.
    is_ranked = (topics >= analysed.settings.least_topics) | (board.kind == ORIGIN)
    samples = np.empty((people, resamples), dtype=np.float32)
    ranks = np.empty((people, resamples), dtype=np.float32)
    size = max(
        1, _AT_ONCE // max(len(resampled.topics) if resampled.draw is None else len(selected), len(met.low), people)
    )
    for begin in range(0, resamples, size):
        block = slice(begin, min(begin + size, resamples))
        if resampled.draw is None:
            sums = _sums(met, c, selected, topic, resampled.weights[block])
        else:
            outcome, weight = (part[selected] for part in resampled.draw(block))
            sums = sparse_bradley_terry.add_up(met, outcome, weight * resampled.weights[block].T[topic])
        merit = sparse_bradley_terry.fit(met, *sums, start=point).merit
        samples[:, block] = merit
        # Participants missing from a resample keep their overall merit, so that the ranks of others do not improve.
        apart = further[:, None] * (merit - point[:, None])
        whole = point[:, None] + np.where(np.isnan(apart), 0.0, apart)
        ranks[:, block] = np.where(np.isnan(merit), np.nan, sparse_bradley_terry.ranks(_only(whole, is_ranked)))
    return _Merits(point, sparse_bradley_terry.ranks(_only(point, is_ranked)), met.group, samples, ranks)


def _sums(
    met: sparse_bradley_terry.Meetings, c: Comparisons, selected: Ints, topic: Ints, weights: Floats
) -> tuple[Floats, Floats]:
    """Return wins and losses of each pair in each resample of topics; for averaged labels, their expectation."""
    if not c.of_averaged:
        return sparse_bradley_terry.add_up_strata(met, c.outcome[selected], c.weight[selected], topic, weights)
    parts = [
        sparse_bradley_terry.add_up_strata(
            met, np.full(len(selected), outcome), c.chances[selected, outcome_index], topic, weights
        )
        for outcome_index, outcome in enumerate((-1.0, 0.0, 1.0))
    ]
    won, lost = np.sum(parts, axis=0)
    return won, lost


def _only(merit: Floats, is_ranked: NDArray[np.bool_]) -> Floats:
    """Return merits of ranked participants, shape (n,) or (n, resamples); NaN for others."""
    return np.where(is_ranked if merit.ndim == 1 else is_ranked[:, None], merit, np.nan)


def _interval(samples: NDArray[np.floating[Any]], point: float, further: float) -> tuple[float, float]:
    """Return the percentile interval, widened for few topics; NaN if it is undefined or the samples never vary."""
    defined = samples[~np.isnan(samples)]
    if np.isnan(further) or not defined.size or np.ptp(defined) <= NEVER_VARIES:
        return float("nan"), float("nan")
    low, high = point + further * (np.quantile(defined, [_TAIL, 1.0 - _TAIL]) - point)
    return float(low), float(high)


def _ranks(samples: NDArray[np.floating[Any]], further: float) -> tuple[float, float]:
    """Return the percentile interval of ranks, rounded outwards; their merits are already widened for few topics."""
    defined = samples[~np.isnan(samples)]
    if np.isnan(further) or not defined.size:
        return float("nan"), float("nan")
    best = np.quantile(defined, _TAIL, method="lower")
    return float(best), float(np.quantile(defined, 1.0 - _TAIL, method="higher"))


def _whole(value: float | np.floating) -> int | None:
    return None if np.isnan(value) else int(value)


def _tests(board: Board, graded: Graded, resampled: Resampled) -> Iterator[Row]:
    """Test participants with at least six graded topics in common: with fewer, no result could be significant."""
    who = board.whose[graded.response]
    topics = len(resampled.topics)
    one, where = np.unique(np.stack([who, resampled.topic]), axis=1)
    seen = scipy.sparse.coo_array((np.ones(len(one)), (one, where)), shape=(len(board.names), topics)).tocsr()
    shared = scipy.sparse.triu(seen @ seen.T, k=1).tocoo()
    enough = shared.data >= FEWEST
    together = sorted(zip(shared.row[enough].tolist(), shared.col[enough].tolist(), strict=True))
    now = graded.comparable(graded.grade)
    for dimension in (*range(len(graded.comparisons.fits)), -1):
        selected = (graded.fit == dimension) | (dimension < 0)
        sides: dict[int, tuple[Floats, Floats | None]] = {}
        for person in sorted({person for pair in together for person in pair}):
            person_grades = np.flatnonzero(selected & (who == person))
            again = None if resampled.grade is None else _again(graded, resampled.grade, person_grades)
            topic_index = resampled.topic[person_grades]
            sides[person] = (
                _by_topic(now[person_grades][:, None], topic_index, topics)[:, 0],
                (None if again is None else _by_topic(again, topic_index, topics).T),
            )
        for one, other in together:
            (a, a_again), (b, b_again) = sides[one], sides[other]
            samples = None if a_again is None or b_again is None else a_again - b_again
            key: Row = {
                "dimension": _name(graded, dimension),
                "participant_1": board.names[one],
                "participant_2": board.names[other],
            }
            differences = a - b
            zeros = int((np.abs(differences) <= NEVER_VARIES).sum())
            yield key | paired_tests.tested_row(differences, resampled.weights, samples) | {"zeros": zeros}


def _by_topic(grade: Floats, topic: Ints, topics: int) -> Floats:
    """Return the mean grade of each topic, shape (topics, columns); NaN if there is none."""
    sums = np.zeros((topics, grade.shape[1]))
    np.add.at(sums, topic, grade)
    counts = np.bincount(topic, minlength=topics)[:, None]
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means
