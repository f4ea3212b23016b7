"""Merits by kind of judges and style, with intervals from the influence of topics on the fit."""

from statistics import NormalDist

import numpy as np

from analysis.stats import sparse_bradley_terry
from analysis.stats.bootstrap import Floats, small_sample_factor
from analysis.stats.bradley_terry import NoComparisonsError

from ...inputs.arrays import Ints
from ...tables.rows import NOTE, Row, number
from ..context import Context
from .boards import NEVER_VARIES, Board, boards
from .votes_by_judges import ALL, GOLD, PairVotes, labels, selections, votes_by_judges

_OUTCOMES = (-1.0, 0.0, 1.0)
ONE_TOPIC = "compared on one topic only"
NO_SPREAD = "no interval: the topics do not differ"


def merit_rows(analysed: Context) -> list[Row]:
    """Return merits by judges, style and dimension, sorted by merit; without those in `leaderboard`."""
    rows: list[Row] = []
    of_labels = labels(analysed)
    sources = {} if of_labels is None else {GOLD: of_labels}
    sources |= votes_by_judges(analysed)
    for judges, votes in sources.items():
        analysed.step(f"Leaderboard: {judges}")
        by_pair = votes if judges == GOLD else votes.by_pair()
        for style, dimension, chosen in selections(analysed.inputs, by_pair):
            if (judges, style) == (GOLD, ALL):
                continue
            for board in boards(analysed.inputs):
                key = {"kind": board.kind, "judges": judges, "style": style, "dimension": dimension}
                rows += [key | row for row in _rows(board, by_pair.only(chosen))]
    return rows


def _rows(board: Board, votes: PairVotes) -> list[Row]:
    """Return the compared participants, sorted by merit."""
    people = len(board.names)
    left, right = board.whose[votes.left], board.whose[votes.right]
    try:
        met = sparse_bradley_terry.meetings(left, right, people)
    except NoComparisonsError:
        return []
    merit, error = _merits(met, votes)
    topics, pairs = _counts(left, right, votes.topic, people)
    rank, group = sparse_bradley_terry.ranks(merit), met.group
    rows = []
    for who in np.lexsort((np.arange(people), -np.nan_to_num(merit, nan=-np.inf))).tolist():
        if np.isnan(merit[who]):
            continue
        reach = float(NormalDist().inv_cdf(0.975) * small_sample_factor(int(topics[who])) * error[who])
        has_interval = topics[who] > 1 and error[who] > NEVER_VARIES
        row: Row = {
            "participant": board.names[who],
            "origin": board.origins[who],
            "rank": int(rank[who]),
            "merit": number(merit[who]),
            "low": number(merit[who] - reach) if has_interval else None,
            "high": number(merit[who] + reach) if has_interval else None,
            "n": int(pairs[who]),
            "topics": int(topics[who]),
            "group": int(group[who]) + 1,
        }
        rows.append(row if has_interval else row | {NOTE: ONE_TOPIC if topics[who] < 2 else NO_SPREAD})
    return rows


def _merits(met: sparse_bradley_terry.Meetings, votes: PairVotes) -> tuple[Floats, Floats]:
    """Compute all merits, and their standard deviations over resampled topics to first order."""
    topics, topic = np.unique(votes.topic, return_inverse=True)
    tallies = [
        sparse_bradley_terry.tally_strata(
            met, np.full(len(topic), outcome), votes.chances[:, column], topic, len(topics)
        )
        for column, outcome in enumerate(_OUTCOMES)
    ]
    won, lost = (parts[0] + parts[1] + parts[2] for parts in zip(*tallies, strict=True))
    totals = (np.asarray(side.sum(axis=1)).reshape(-1, 1) for side in (won, lost))
    merit = sparse_bradley_terry.fit(met, *totals).merit[:, 0]
    influences = sparse_bradley_terry.influence(met, won, lost, merit)
    apart = influences - influences.mean(axis=1, keepdims=True)
    spread: Floats = np.sqrt(np.square(apart).sum(axis=1))
    return merit, spread


def _counts(left: Ints, right: Ints, topic: Ints, people: int) -> tuple[Ints, Ints]:
    """Count the topics and the comparisons of each participant with others."""
    differ = left != right
    who = np.concatenate([left[differ], right[differ]])
    seen = np.unique(np.stack([who, np.tile(topic[differ], 2)]), axis=1)[0]
    return np.bincount(seen, minlength=people), np.bincount(who, minlength=people)
