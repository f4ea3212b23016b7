"""How many votes, judges or topics the order of neighbours in rank rests on (docs/methods/fragility.md)."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from analysis.stats import fragility
from analysis.stats.bootstrap import Floats
from analysis.stats.threads import map_in_threads

from ...inputs.arrays import Ints
from ...tables.rows import Row, number
from ..context import Context, Tables
from ..fits import Fit
from ..grade_fits import Comparisons
from .boards import Board, boards
from .votes_by_judges import ALL
from .win_rates import MOST

VOTES, JUDGES, TOPICS = "votes", "judges", "topics"
#: Names of at most this many removed votes, judges or topics are listed.
LISTED = 10
_IMPOSSIBLE = 1e-12


def fragility_tables(analysed: Context, ranked: Sequence[Row]) -> Tables:
    """Compute the tables for all neighbours in rank among the best systems, and among origins.

    Parameters
    ----------
    ranked : sequence of rows
        Those of the table `leaderboard`.
    """
    tables: Tables = {"leaderboard_fragility": [], "leaderboard_fragility_sets": []}
    if analysed.graded is None:
        return tables
    comparisons = analysed.graded[0].comparisons
    for board in boards(analysed.inputs):
        for dimension in (*range(len(comparisons.fits)), -1):
            name = comparisons.fits[dimension].dimension.name if dimension >= 0 else ALL
            rows = [row for row in ranked if (row["kind"], row["dimension"]) == (board.kind, name) and row["rank"]]
            neighbours = [
                (better, worse)
                for better, worse in pairwise(sorted(rows, key=lambda row: row["rank"])[:MOST])
                if better["merit"] - worse["merit"] > fragility.EQUAL
            ]
            if neighbours:
                analysed.step(f"Fragility of the leaderboard: {name}")
                for row, sets in _rows(analysed, board, comparisons, dimension, neighbours):
                    key = {"kind": board.kind, "dimension": name}
                    tables["leaderboard_fragility"].append(key | row)
                    tables["leaderboard_fragility_sets"] += [key | each for each in sets]
    return tables


def _rows(
    analysed: Context,
    board: Board,
    comparisons: Comparisons,
    dimension: int,
    neighbours: Sequence[tuple[Row, Row]],
) -> Iterator[tuple[Row, list[Row]]]:
    """Yield the row of each two neighbours, and the rows of what would have to be removed."""
    votes = _Votes(analysed, board, comparisons, dimension)
    first, second = (
        np.array([board.names.index(side["participant"]) for side in sides]) for sides in zip(*neighbours, strict=True)
    )
    questions = votes.board.questions(first, second)
    for question, flips in zip(questions, map_in_threads(votes.board.fewest, questions), strict=True):
        pair = {"participant_1": board.names[question.first], "participant_2": board.names[question.second]}
        lead = votes.board.merit[question.first] - votes.board.merit[question.second]
        row: Row = pair | {"difference": number(lead)}
        sets: list[Row] = []
        for what, flip in zip((VOTES, JUDGES, TOPICS), flips, strict=True):
            row[what] = None if flip is None else len(flip.members)
            members = [] if flip is None else flip.members[:LISTED].tolist()
            sets += [
                pair | {"removed": what, "place": ordinal} | votes.named(what, member)
                for ordinal, member in enumerate(members, 1)
            ]
        yield row | votes.counts, sets


class _Votes:
    """The votes behind the comparisons of one dimension (-1: all), with the names of what they are about."""

    def __init__(self, analysed: Context, board: Board, comparisons: Comparisons, dimension: int) -> None:
        self.inputs, self.pool = analysed.inputs, analysed.main.pool
        selected = np.flatnonzero((comparisons.fit == dimension) | (dimension < 0))
        self.unit = comparisons.unit[selected]
        self.fit = comparisons.fit[selected]
        self.fits = comparisons.fits
        if comparisons.of_votes:
            outcome = (comparisons.outcome[selected] + 1).astype(np.int64)
            chances = np.eye(3)[outcome] * comparisons.weight[selected][:, None]
            vote_of, judge = np.arange(len(selected)), comparisons.coder[selected]
            self.value, likelihood = outcome, np.ones((len(selected), 3))
        else:
            chances = comparisons.chances[selected]
            vote_of, judge, self.value, likelihood = self._votes_on_labels(len(self.pool.units))
        self.judges, judge = np.unique(judge, return_inverse=True)
        self.topics, topic = np.unique(self.pool.topic[self.unit], return_inverse=True)
        self.board = fragility.Board(
            first=board.whose[self.pool.left[self.unit]],
            second=board.whose[self.pool.right[self.unit]],
            chances=chances,
            topic=topic,
            vote_of=vote_of,
            judge=judge,
            likelihood=likelihood,
            systems=len(board.names),
            is_hard=not (comparisons.of_votes or comparisons.of_averaged),
        )
        self.counts = {"n_votes": len(judge), "n_judges": len(self.judges), "n_topics": len(self.topics)}

    def named(self, what: str, member: int) -> Row:
        """Return the columns that name a vote, a judge or a topic."""
        row: Row = dict.fromkeys(("judge", "topic", "response_1", "response_2", "dimension_of_vote", "answer"))
        if what == TOPICS:
            return row | {"topic": self.inputs.topics[self.topics[member]]}
        if what == JUDGES:
            return row | {"judge": self.pool.participants[self.judges[member]]}
        comparison = int(self.board.vote_of[member])
        left, right, topic, _name = self.pool.units[self.unit[comparison]]
        return {
            "judge": self.pool.participants[self.judges[self.board.judge[member]]],
            "topic": self.inputs.topics[topic],
            "response_1": self.inputs.responses[left].name,
            "response_2": self.inputs.responses[right].name,
            "dimension_of_vote": self.fits[self.fit[comparison]].dimension.name,
            "answer": "ANB"[self.value[member]],
        }

    def _votes_on_labels(self, units: int) -> tuple[Ints, Ints, Ints, Floats]:
        """Return the comparison, judge, answer and likelihoods of each vote."""
        parts = []
        for number_of_fit in np.unique(self.fit).tolist():
            fit = self.fits[number_of_fit]
            comparison_of_unit = np.full(units, -1)
            here = np.flatnonzero(self.fit == number_of_fit)
            comparison_of_unit[self.unit[here]] = here
            unit, coder, value = fit.seen
            is_used = comparison_of_unit[unit] >= 0
            parts.append((
                comparison_of_unit[unit[is_used]],
                coder[is_used],
                value[is_used],
                _likelihood(fit, unit[is_used], coder[is_used], value[is_used]),
            ))  # fmt: skip
        comparison, judge, value, likelihood = (np.concatenate(column) for column in zip(*parts, strict=True))
        return comparison, judge, value, likelihood


def _likelihood(fit: Fit, unit: Ints, coder: Ints, value: Ints) -> Floats:
    """Return the probability of each vote under each label by MACE; the same for all labels if the label is known."""
    assert fit.model is not None
    spam = fit.spam_probability[coder]
    chance = np.repeat((spam * fit.model.parameters.strategy[coder, value])[:, None], 3, axis=1)
    chance[np.arange(len(value)), value] += 1.0 - spam
    if fit.known is not None:
        chance[fit.known[unit] >= 0] = 1.0
    return np.maximum(chance, _IMPOSSIBLE)
