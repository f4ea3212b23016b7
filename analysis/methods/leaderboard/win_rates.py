"""Observed win rates: how often judges preferred the responses of one participant to those of another."""

from collections.abc import Iterator, Sequence

import numpy as np

from analysis.stats.cluster_variance import Clusters

from ...inputs.arrays import Ints
from ...tables.rows import NOTE, Row
from .. import estimates
from ..context import Context
from .boards import PARTICIPANT, Board, boards
from .votes_by_judges import ALL, PairVotes, selections, votes_by_judges

#: Number of systems with win rates: the best by merit over all dimensions.
MOST = 20
NO_JUDGMENTS = "these two were never compared"
FIRST_WON, TIE, SECOND_WON = range(3)


def win_rate_rows(analysed: Context, leaderboard: Sequence[Row]) -> list[Row]:
    """Return one row for each two participants (or origins) that were compared, by judges, style and dimension.

    `leaderboard`: rows of the leaderboard, which order participants by merit.
    """
    rows: list[Row] = []
    by_judges = votes_by_judges(analysed)
    for board in boards(analysed.inputs):
        order = _order(board, leaderboard)
        for judges, votes in by_judges.items():
            analysed.step(f"Win rates: {judges}")
            for style, dimension, chosen in selections(analysed.inputs, votes):
                key = {"kind": board.kind, "judges": judges, "style": style, "dimension": dimension}
                rows += [key | row for row in _rows(board, order, votes.only(chosen))]
    return rows


def _order(board: Board, leaderboard: Sequence[Row]) -> Ints:
    """Return each participant's position by merit over all dimensions, from 0; -1 if not among the first."""
    merits = {
        row["participant"]: row["merit"]
        for row in leaderboard
        if (row["kind"], row["dimension"]) == (board.kind, ALL) and row["merit"] is not None
    }
    best = sorted(merits, key=lambda name: (-merits[name], name))
    places = {name: index for index, name in enumerate(best if board.kind != PARTICIPANT else best[:MOST])}
    return np.array([places.get(name, -1) for name in board.names], dtype=np.int64)


def _rows(board: Board, order: Ints, votes: PairVotes) -> Iterator[Row]:
    """Yield the rows of some judgments; the one with the higher merit is first in each row."""
    left, right = order[board.whose[votes.left]], order[board.whose[votes.right]]
    counts = (left != right) & (left >= 0) & (right >= 0)
    left, right, votes = left[counts], right[counts], votes.only(counts)
    value = votes.chances.argmax(axis=1)
    outcome = np.where(left < right, value, SECOND_WON - value)
    pair = np.minimum(left, right) * len(order) + np.maximum(left, right)
    names = {index: name for name, index in zip(board.names, order.tolist(), strict=True)}
    sequence = np.argsort(pair, kind="stable")
    begins = np.flatnonzero(np.diff(pair[sequence], prepend=-1))
    for of_pair in np.split(sequence, begins[1:]) if len(begins) else ():
        first, second = divmod(int(pair[of_pair[0]]), len(order))
        yield {"participant_1": names[first], "participant_2": names[second]} | _cells(
            outcome[of_pair], votes.topic[of_pair], None if votes.coder is None else votes.coder[of_pair]
        )


def _cells(outcome: Ints, topic: Ints, coder: Ints | None) -> Row:
    """Return counts and shares of the judgments between two participants."""
    clusters = Clusters(topic, coder, None)
    won, tied, lost = (
        estimates.share(outcome == value, topic, coder, problem=NO_JUDGMENTS, clusters=clusters)
        for value in (FIRST_WON, TIE, SECOND_WON)
    )
    row: Row = {
        **dict(zip(("wins", "ties", "losses"), np.bincount(outcome, minlength=3).tolist(), strict=True)),
        **won.columns("share_won", "won_low", "won_high"),
        **tied.columns("share_tied", "tied_low", "tied_high"),
        **lost.columns("share_lost", "lost_low", "lost_high"),
        "n": len(outcome),
        "topics": len(np.unique(topic)),
    }
    if any(row[end] is None for end in ("won_low", "tied_low", "lost_low")):
        row[NOTE] = estimates.FEW_JUDGES
    return row
