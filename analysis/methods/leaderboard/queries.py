"""The leaderboard page: ranks, win rates, and tests of differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.core.paginator import Paginator

from crowdrag.studies.models import Study

from ...tables import run_tables, value_labels
from ...tables.rows import NOTE, Row
from ...tables.run_tables import AnalysisState
from .. import significance_marks, undefined_values
from .board_selection import BoardSelection, selection, stored_rows, turned
from .boards import HUMAN, ORIGIN, PARTICIPANT, UNCORRECTED
from .forest import forest

PER_PAGE = 50
TESTS_PER_PAGE = 25
#: Number of participants from the top for which neighbours in rank are compared.
LEADERS = 5
#: Number of shades of matrix cells on each side.
SHADES = 5


@dataclass(frozen=True)
class Conclusion:
    """Whether a participant is better than the next one in rank.

    Attributes
    ----------
    better, worse : str
    is_clear : bool
    p : float or None
        Adjusted p-value of their test; None without a test: their intervals are compared instead.
    more_judgments, more_topics : int or None
        Approximate number that a test needs in addition.
    fewest_votes, n_votes : int or None
        The fewest votes without which the order is another one, of how many; None if not known.
    """

    better: str
    worse: str
    is_clear: bool
    p: float | None = None
    more_judgments: int | None = None
    more_topics: int | None = None
    fewest_votes: int | None = None
    n_votes: int | None = None


def leaderboard(study: Study, state: AnalysisState, *, query: Mapping[str, Any]) -> dict[str, Any]:
    """Return the selected board, the unranked participants, the win rates and the tests."""
    if state.run is None:
        return {}
    chosen = selection(study, state.run, query)
    people = chosen.merits()
    ranked = [row for row in people if row["rank"] is not None]
    tests = sorted(_tests(chosen), key=lambda row: (row["p"] is None, row["p"] or 0.0))
    fragility = _fragility(chosen)
    page = Paginator(ranked, PER_PAGE).get_page(query.get("page"))
    origins = [row for row in chosen.merits(ORIGIN) if row["rank"] is not None]
    return {
        "selection": chosen,
        "chosen": chosen.in_words,
        "headline": ranked[0] if ranked else None,
        "conclusions": conclusions(ranked[:LEADERS], tests, fragility)
        if chosen.is_whole
        else apart_by_intervals(ranked[:LEADERS]),
        "page": page,
        "board": _plotted(list(page), chosen),
        "matrix": matrix(chosen.win_rates(), [row["participant"] for row in page]),
        "ranked": len(ranked),
        "has_writers": any(row["origin"] == HUMAN for row in ranked),
        "is_uncorrected": any(UNCORRECTED in (row.get(NOTE) or "") for row in ranked),
        "not_ranked": _not_ranked(chosen, people) if chosen.is_whole else [],
        "origins": _plotted(origins, chosen) if len(origins) > 1 else None,
        "origin_matrix": matrix(chosen.win_rates(ORIGIN), [row["participant"] for row in origins], value_labels.origin),
        "apart": [row for row in ranked if (row["group"] or 1) > 1],
        "fragility": fragility,
        "tests": Paginator(
            [row | {"stars": significance_marks.stars(row["p_adjusted"])} for row in tests], TESTS_PER_PAGE
        ).get_page(query.get("tests")),
        "no_intervals": undefined_values.without_intervals({"leaderboard": people, "leaderboard_tests": tests}),
    }


def best(rows: list[Row], most: int) -> list[Row]:
    """Return the first `most` participants by merit over all dimensions, from rows of the leaderboard."""
    ranked = [
        row
        for row in rows
        if row["kind"] == PARTICIPANT and row["dimension"] == value_labels.ALL and row["rank"] is not None
    ]
    return sorted(ranked, key=lambda row: row["rank"])[:most]


def conclusions(ranked: list[Row], tests: list[Row], fragility: Sequence[Row] = ()) -> list[Conclusion]:
    """State for each participant and the next in rank, from the top, whether the test tells them apart.

    Parameters
    ----------
    ranked : rows of the leaderboard on one dimension, at most a few.
    tests : rows of the tests on the same dimension.
    fragility : rows of the fragility of the order on the same dimension.

    Returns
    -------
    conclusions : list
        One for each neighbouring pair with a test. A test that favours the lower rank is not clear.
    """
    by_pair = {frozenset((row["participant_1"], row["participant_2"])): row for row in tests}
    votes = {(row["participant_1"], row["participant_2"]): (row["votes"], row["n_votes"]) for row in fragility}
    ordered = sorted(ranked, key=lambda row: row["rank"])
    neighbours = []
    for better, worse in pairwise(ordered):
        test = by_pair.get(frozenset((better["participant"], worse["participant"])))
        if test is None or test["p_adjusted"] is None:
            continue
        p, sign = test["p_adjusted"], 1 if test["participant_1"] == better["participant"] else -1
        is_in_order = sign * test["difference"] > 0
        is_clear = bool(significance_marks.stars(p)) and is_in_order
        more = (test.get("more_judgments"), test.get("more_topics")) if is_in_order else (None, None)
        more_judgments = None if more[0] is None else rounded(more[0])
        names = (better["participant"], worse["participant"])
        neighbours.append(Conclusion(*names, is_clear, p, more_judgments, more[1], *votes.get(names, (None, None))))
    return neighbours


def apart_by_intervals(ranked: list[Row]) -> list[Conclusion]:
    """State for each participant and the next in rank whether their intervals overlap; empty if one is missing."""
    return [
        Conclusion(better["participant"], worse["participant"], better["low"] > worse["high"])
        for better, worse in pairwise(sorted(ranked, key=lambda row: row["rank"]))
        if better["low"] is not None and worse["high"] is not None
    ]


def rounded(count: int) -> int:
    """Round a count up to two significant digits: the approximation is not more precise."""
    step: int = 10 ** max(0, math.floor(math.log10(max(count, 1))) - 1)
    return math.ceil(count / step) * step


def matrix(rows: list[Row], order: list[str], words: Any = str) -> dict[str, Any]:
    """Return the cells of the win-rate matrix by row and column, in board order; empty without win rates."""
    cells = {(row["participant_1"], row["participant_2"]): row for row in rows}
    cells |= {(row["participant_2"], row["participant_1"]): turned(row) for row in rows}
    names = [name for name in order if any(name in pair for pair in cells)]
    return {
        "names": [(name, words(name)) for name in names],
        "rows": [
            {
                "name": name,
                "label": words(name),
                "cells": [None if name == other else _cell(cells.get((name, other)), other, words) for other in names],
            }
            for name in names
        ],
    }


def _cell(row: Row | None, against: str, words: Any) -> dict[str, Any]:
    """Return a cell with its shade: "a" if more judgments were won than lost, "b" if fewer, and by how much."""
    if row is None:
        return {"against": against, "label": words(against), "n": 0}
    lead = row["share_won"] - row["share_lost"]
    shade = min(SHADES, math.ceil(abs(lead) * SHADES))
    tone = f"{'a' if lead > 0 else 'b'}{shade}" if shade else "n"
    return row | {"against": against, "label": words(against), "tone": tone}


def _plotted(rows: list[Row], chosen: BoardSelection) -> dict[str, Any]:
    """Return rows with their marks on a common axis, and its ticks."""
    plot = forest([(row["merit"], row["low"], row["high"]) for row in rows])
    return {
        "rows": [
            row | {"origin_said": value_labels.origin(row["origin"]), "mark": mark}
            for row, mark in zip(rows, plot.marks, strict=True)
        ],
        "ticks": plot.ticks,
    }


def _tests(chosen: BoardSelection) -> list[Row]:
    """Return the tests on the selected dimension; they compare gold labels over all styles."""
    if not chosen.is_whole:
        return []
    return stored_rows(
        chosen.run, "leaderboard_tests", "$[*] ? (@.dimension == $dimension)", dimension=chosen.dimension
    )


def _fragility(chosen: BoardSelection) -> list[Row]:
    """Return how much the order of neighbours on the selected dimension rests on; of gold labels over all styles."""
    if not chosen.is_whole:
        return []
    path = "$[*] ? (@.kind == $kind && @.dimension == $dimension)"
    return stored_rows(chosen.run, "leaderboard_fragility", path, kind=PARTICIPANT, dimension=chosen.dimension)


def _not_ranked(chosen: BoardSelection, people: list[Row]) -> list[Row]:
    """Return participants without a rank: never compared on this dimension, or never graded."""
    here = {row["participant"] for row in people}
    never = (
        run_tables.read(chosen.run, "leaderboard")["leaderboard"] if chosen.dimension != value_labels.ALL else people
    )
    nowhere = [row for row in never if row["kind"] == PARTICIPANT and not row["n"] and row["participant"] not in here]
    return [row for row in people if row["rank"] is None] + nowhere
