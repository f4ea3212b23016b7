"""The page of the leaderboard: who is ranked where on a dimension, and who differs from whom."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from django.core.paginator import Paginator
from django.utils.translation import gettext

from crowdrag.studies.models import Study

from ...tables import run_tables, value_labels
from ...tables.rows import Row
from ...tables.run_tables import AnalysisState
from .. import significance_marks, undefined_values
from .compute import ORIGIN, PARTICIPANT

PER_PAGE = 50
TESTS_SHOWN = 100
#: Whether neighbours in rank differ is said of so many participants from the top.
LEADERS = 5


@dataclass(frozen=True)
class Conclusion:
    """Whether one participant is better than the next in rank, by the adjusted p of their test."""

    better: str
    worse: str
    is_clear: bool
    p: float


def leaderboard(study: Study, state: AnalysisState, *, dimension: str, page: str | None) -> dict[str, Any]:
    """Return the ranks on one dimension (all of them by default), who cannot be ranked, and the tests."""
    if state.run is None:
        return {}
    tables = run_tables.read(state.run, "leaderboard", "leaderboard_tests")
    rows = tables["leaderboard"]
    labels = value_labels.dimensions(study)
    names = list(dict.fromkeys(row["dimension"] for row in rows))
    chosen = dimension if dimension in names else value_labels.ALL
    here = [row for row in rows if row["dimension"] == chosen]
    people = [row for row in here if row["kind"] == PARTICIPANT]
    ranked = [row for row in people if row["rank"] is not None]
    tests = [row for row in tables["leaderboard_tests"] if row["dimension"] == chosen]
    tests.sort(key=lambda row: (row["p"] is None, row["p"] or 0.0))
    return {
        "dimensions": [
            (name, _label(name, labels)) for name in sorted(names, key=lambda name: name != value_labels.ALL)
        ],
        "dimension": chosen,
        "dimension_label": _label(chosen, labels),
        "conclusions": conclusions(ranked[:LEADERS], tests),
        "no_intervals": undefined_values.without_intervals(tables),
        "page": Paginator(_with_origin_label(ranked), PER_PAGE).get_page(page),
        "ranked": len(ranked),
        "last": max((row["rank_high"] or row["rank"] for row in ranked), default=0),
        "not_ranked": _not_ranked(rows, people),
        "origins": _with_origin_label([row for row in here if row["kind"] == ORIGIN and row["rank"] is not None]),
        "apart": [row for row in ranked if (row["group"] or 1) > 1],
        "tests": [row | {"stars": significance_marks.stars(row["p_adjusted"])} for row in tests[:TESTS_SHOWN]],
        "tests_made": len(tests),
    }


def best(rows: list[Row], most: int) -> list[Row]:
    """Return the first participants by merit over all dimensions, at most so many, from rows of the leaderboard."""
    ranked = [
        row
        for row in rows
        if row["kind"] == PARTICIPANT and row["dimension"] == value_labels.ALL and row["rank"] is not None
    ]
    return sorted(ranked, key=lambda row: row["rank"])[:most]


def conclusions(ranked: list[Row], tests: list[Row]) -> list[Conclusion]:
    """Say of each participant and the next in rank, from the top, whether the test tells them apart.

    Parameters
    ----------
    ranked : rows of the leaderboard on one dimension, at most a few.
    tests : rows of the tests on the same dimension.

    Returns
    -------
    conclusions : list
        One for each neighbouring pair with a test. A test that favours the lower rank tells nothing apart.
    """
    by_pair = {frozenset((row["participant_1"], row["participant_2"])): row for row in tests}
    ordered = sorted(ranked, key=lambda row: row["rank"])
    neighbours = []
    for better, worse in pairwise(ordered):
        test = by_pair.get(frozenset((better["participant"], worse["participant"])))
        if test is None or test["p_adjusted"] is None:
            continue
        p, sign = test["p_adjusted"], 1 if test["participant_1"] == better["participant"] else -1
        is_clear = bool(significance_marks.stars(p)) and sign * test["difference"] > 0
        neighbours.append(Conclusion(better["participant"], worse["participant"], is_clear, p))
    return neighbours


def _not_ranked(rows: list[Row], people: list[Row]) -> list[Row]:
    """Participants without a rank: never compared on this dimension, or never graded."""
    here = {row["participant"] for row in people}
    nowhere = [row for row in rows if row["kind"] == PARTICIPANT and not row["n"] and row["participant"] not in here]
    return [row for row in people if row["rank"] is None] + nowhere


def _label(name: str, labels: dict[str, str]) -> str:
    return gettext("All dimensions") if name == value_labels.ALL else labels.get(name, name)


def _with_origin_label(rows: list[Row]) -> list[Row]:
    return [row | {"origin_said": value_labels.origin(row["origin"])} for row in rows]
