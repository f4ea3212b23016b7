"""What uplift's tables say of rerankers themselves, on four questions by hand: order, thresholds, what is missing."""

import numpy as np
import pytest

from analysis.experiments.uplift_rag.compute import NOTHING_HANDED, ROUND, _Tables
from analysis.experiments.uplift_rag.outcomes import Outcomes
from analysis.experiments.uplift_rag.parameters import UpliftRagParameters
from analysis.figures import figure
from analysis.figures.vega_lite import Labels
from analysis.rag.uplift_rag.method_comparison import Resampled
from tests.analysis.rag.uplift_rag import planted

#: By question: which of its documents help, in the retriever's order, and what the reranker holds of them.
HELPS = {"a": (1, 0, 0), "b": (1, 0, 0), "c": (0, 0), "d": (0, 1)}
BELIEVED = {"a": (0.2, 0.3, 0.1), "b": (0.4, 0.4, 0.1), "c": (0.1, 0.1), "d": (0.1, 0.3)}
NO_ROOM = {"uplift": {"not_possible": "no room"}}


def tables(believed: dict[str, tuple[float, ...]], answered=None, **given) -> _Tables:
    outcomes = Outcomes(
        tuple(planted.labelled(helps, name) for name, helps in HELPS.items()),
        ({},) * 4,
        answered or ({},) * 4,
        (0, 1, 0, 1),
        {"uplift": believed} if believed else {},
    )
    own = UpliftRagParameters(methods=("standard",), ablations=(), **given)
    return _Tables(own, outcomes, Resampled(4, 100, np.random.default_rng(0)))


def at(rows: list[dict], threshold: float) -> dict:
    (found,) = (row for row in rows if row["threshold"] == threshold)
    return found


def test_the_order_is_of_questions_with_both_kinds_against_the_retrievers() -> None:
    standard, ours = tables(BELIEVED).order()
    # a and b have the helpful one first, d last; c has none.
    assert (standard["value"], standard["n"]) == (pytest.approx(2 / 3), 3)
    assert standard["difference"] is None
    assert (ours["value"], ours["n"]) == (pytest.approx((0.5 + 0.75 + 1) / 3), 3)
    assert ours["difference"] == pytest.approx((-0.5 - 0.25 + 1) / 3)


def test_thresholds_say_what_would_be_handed_over() -> None:
    told = tables(BELIEVED, threshold=0.25).thresholds()
    assert {*ROUND, 0.25} < {row["threshold"] for row in told}
    everything, own = at(told, 0), at(told, 0.25)
    assert (everything["documents"], everything["precision"], everything["recall"]) == (2.5, pytest.approx(0.3), 1)
    # a1, b0, b1 and d1: two of them help, and a0 is not among them.
    assert (own["documents"], own["without_documents"], own["precision"]) == (1, 0.25, 0.5)
    assert own["recall"] == pytest.approx(2 / 3)
    assert (own["precision_n"], own["recall_n"], own["n"]) == (3, 3, 4)


def test_one_question_alone_makes_no_interval_and_none_is_said() -> None:
    told = tables(BELIEVED).thresholds()
    alone, none = at(told, 0.3), at(told, 0.5)
    assert (alone["precision"], alone["precision_n"]) == (0.5, 1)
    assert (alone["precision_low"], alone["precision_high"]) == (None, None)
    assert (none["documents"], none["precision"], none["recall"], none["note"]) == (0, None, 0, NOTHING_HANDED)


def test_a_split_without_a_reranker_is_left_out_and_none_at_all_says_why() -> None:
    answered = ({}, NO_ROOM, {}, NO_ROOM)
    half = tables({name: BELIEVED[name] for name in "ac"}, answered)
    assert [row["n"] for row in half.order()] == [3, 1]
    assert half.order()[1]["note"] == "no room"
    assert {(row["n"], row["note"]) for row in half.thresholds()} == {(2, "no room")}
    none = tables({}, (NO_ROOM,) * 4)
    assert {(row["n"], row["documents"], row["note"]) for row in none.thresholds()} == {(0, None, "no room")}
    with pytest.raises(figure.EmptyChartError):
        figure.FIGURES["uplift_thresholds"].draw(
            {"uplift_thresholds": none.thresholds()}, Labels({}, {}), {}, {"threshold": 0.5}
        )


def test_thresholds_follow_where_the_probabilities_are() -> None:
    close = {name: tuple(0.5 + each / 100 for each in values) for name, values in BELIEVED.items()}
    handed = {row["documents"] for row in tables(close).thresholds()}
    assert len(handed) >= 4
