"""The leaderboard, of studies small enough to count by hand."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.inputs.arrays import Response
from analysis.methods.leaderboard.boards import UNCORRECTED
from analysis.methods.settings import VOTES, AnalysisSettings
from analysis.stats import bradley_terry
from tests.analysis import small_study
from tests.analysis.methods.test_grade_differences import ORDERS, votes_of
from tests.analysis.rows import row_of
from tests.analysis.vote_inputs import QUICK, tables_of


@pytest.fixture(scope="module")
def tables():
    return tables_of(votes_of())


def people(tables, dimension="clear"):
    return [row for row in tables["leaderboard"] if (row["kind"], row["dimension"]) == ("participant", dimension)]


def test_merits_are_those_of_a_fit_over_all_topics(tables):
    """y always before x but twice, and so on: the same comparisons by the model of the grades."""
    places = {"x": 0, "y": 1, "z": 2}
    pairs = [(places[a], places[b]) for order in ORDERS for a, b in (order[:2], order[::2], order[1:])]
    first, second = np.array(pairs).T
    alone = bradley_terry.fit(bradley_terry.tally(np.zeros(len(pairs), int), first, second, np.full(len(pairs), -1)))
    rows = {row["participant"]: row for row in people(tables)}
    assert [rows[f"writer-{letter}"]["merit"] for letter in "xyz"] == pytest.approx(alone.merit[0].tolist(), abs=1e-7)
    assert [row["participant"] for row in people(tables)] == ["writer-y", "writer-x", "writer-z"]
    assert [row["rank"] for row in people(tables)] == [1, 2, 3]
    for row in rows.values():
        assert row["low"] < row["merit"] < row["high"]
        assert 1 <= row["rank_low"] <= row["rank"] <= row["rank_high"] <= 3
        assert 1 <= row["mean_low"] <= row["mean_grade"] <= row["mean_high"] <= 3


def test_mean_grades_and_numbers_by_hand(tables):
    row = row_of(people(tables), participant="writer-y")
    assert row["mean_grade"] == pytest.approx(np.mean([3 - order.index("y") for order in ORDERS]))
    assert (row["n"], row["topics"], row["origin"], row["group"]) == (8, 8, "model", 1)
    every = row_of(people(tables, "all"), participant="writer-y")
    # Both dimensions were judged alike: the same mean of twice as many grades, of as many responses.
    assert (every["mean_grade"], every["n"]) == (pytest.approx(row["mean_grade"]), 8)
    # Twice the comparisons against the same dummy: further from it.
    assert abs(every["merit"] - 1) > abs(row["merit"] - 1)


def test_origins_are_a_board_of_their_own(tables):
    rows = [row for row in tables["leaderboard"] if (row["kind"], row["dimension"]) == ("origin", "clear")]
    assert [(row["participant"], row["rank"], row["n"]) for row in rows] == [("model", 1, 8), ("human", 2, 16)]
    # Each of the sixteen comparisons between the model and people, in one problem.
    lost = sum(order.index(other) < order.index("y") for order in ORDERS for other in "xz")
    pairs = [(0, 1)] * (16 - lost) + [(1, 0)] * lost
    first, second = np.array(pairs).T
    alone = bradley_terry.fit(bradley_terry.tally(np.zeros(16, int), first, second, np.full(16, -1)))
    assert [row["merit"] for row in rows] == pytest.approx(alone.merit[0].tolist(), abs=1e-7)


def test_who_was_never_compared_is_listed_as_not_ranked():
    unseen = Response("t1-r", "t1", "bullet", "system", "my-rag", 100)
    tables = tables_of(votes_of(ORDERS[:3]), more=(unseen,))
    rows = [row for row in tables["leaderboard"] if row["participant"] == "my-rag"]
    assert [(row["dimension"], row["rank"], row["merit"], row["n"]) for row in rows] == [("all", None, None, 0)]
    assert rows[0]["note"]
    assert [row["rank"] for row in people(tables)] == [1, 2, 3]


@pytest.mark.extended
def test_who_was_graded_on_too_few_topics_takes_nobody_s_rank():
    """y, the best, was seen on two topics, the others on eight: with three asked for, the others move up."""
    votes = {pair: given for pair, given in votes_of().items() if "y" not in pair[0] + pair[1] or pair[0] < "t3"}
    everybody = {row["participant"]: row for row in people(tables_of(votes))}
    rows = people(tables_of(votes, settings=replace(QUICK, least_topics=3)))
    assert everybody["writer-y"]["topics"] == 2
    assert [row["rank"] for row in rows] == [1, 2, None]
    assert rows[2]["participant"] == "writer-y"
    assert rows[2]["merit"] == everybody["writer-y"]["merit"]
    assert (rows[2]["rank_low"], rows[2]["rank_high"]) == (None, None)
    assert rows[2]["note"]
    assert all(1 <= row["rank_low"] <= row["rank_high"] <= 2 for row in rows[:2])


def test_one_topic_has_ranks_and_no_intervals():
    rows = people(tables_of(votes_of(ORDERS[:1]) | {("t2-x", "t2-z"): ("AAA", "AAB")}))
    row = row_of(rows, participant="writer-y")
    assert row["rank"] == 1
    assert {row[name] for name in ("low", "high", "rank_low", "rank_high", "mean_low", "mean_high")} == {None}
    assert row["note"]
    assert row_of(rows, participant="writer-x")["low"] is not None


def test_groups_that_never_met_are_named():
    """Topic 1 compares x with y, topic 2 two others: no chain joins them."""
    votes = {("t1-x", "t1-y"): ("AAB",), ("t1-x", "t1-z"): ("AAA",), ("t2-x", "t2-y"): ("BBB",)}
    rows = people(
        tables_of(votes, dimensions=("clear",), writer=lambda name: name.replace("t1", "writer").replace("t2", "other"))
    )
    groups = {row["participant"]: row["group"] for row in rows}
    assert groups == {"writer-x": 1, "writer-y": 1, "writer-z": 1, "other-x": 2, "other-y": 2}
    assert all(row["note"] for row in rows if row["group"] == 2)


def test_one_writer_alone_is_not_ranked_and_without_labels_nobody_is():
    tables = tables_of(votes_of(ORDERS[:3]), writer=lambda _name: "writer-x")
    assert [(row["participant"], row["rank"], row["n"]) for row in people(tables)] == [("writer-x", None, 9)]
    assert tables["leaderboard_tests"] == []
    tables = tables_of({("t1-x", "t1-y"): ("AAA",), ("t1-x", "t1-z"): ("AAA",)}, dimensions=("clear",))
    assert tables["leaderboard"] == tables["grade_tests"] == tables["leaderboard_tests"] == []


@pytest.mark.extended
def test_single_votes_are_the_comparisons_and_say_so(tables):
    """One judge: the votes, whether they are taken as labels or as votes, make one model; nothing corrects them."""
    votes = {pair: tuple(given[0] for given in letters) for pair, letters in votes_of().items()}
    alone = tables_of(votes)
    as_votes = tables_of(votes, settings=replace(QUICK, grades_from=VOTES))
    rows = people(alone)
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert [row["merit"] for row in rows] == pytest.approx([row["merit"] for row in people(as_votes)])
    assert all(UNCORRECTED in row["note"] for row in rows)
    assert not any(UNCORRECTED in row.get("note", "") for row in people(tables))
    assert all(row["label"] is None for row in alone["gold"])
    # One vote says nothing about what another would have been: no interval, not one without width.
    assert {(row["rank_low"], row["rank_high"], bool(row["note"])) for row in alone["grades"]} == {(None, None, True)}
    assert alone["leaderboard_tests"]


def test_single_votes_win_as_often_as_they_say():
    """Two systems on eight topics, one vote each: the difference in merit is that of a Bradley-Terry model by hand."""
    letters = "AAAAAABB"
    votes = {(f"t{i}-x", f"t{i}-y"): (letter,) for i, letter in enumerate(letters)}
    rows = people(tables_of(votes, dimensions=("clear",)))
    assert [row["participant"] for row in rows] == ["writer-x", "writer-y"]
    pair = np.zeros(8, int)
    outcome = np.array([-1 if letter == "A" else 1 for letter in letters])
    alone = bradley_terry.fit(bradley_terry.tally(pair, pair, pair + 1, outcome))
    assert [row["merit"] for row in rows] == pytest.approx(alone.merit[0].tolist(), abs=1e-7)


def test_tests_are_of_those_who_met_on_six_topics(tables):
    rows = tables["leaderboard_tests"]
    met = {f"{row['participant_1'][-1]}{row['participant_2'][-1]}" for row in rows if row["dimension"] == "clear"}
    assert (met, {row["n"] for row in rows}) == ({"xy", "xz", "yz"}, {8})
    assert all(-1 <= row["effect_low"] <= row["effect"] <= row["effect_high"] <= 1 for row in rows)
    assert tables_of(votes_of(ORDERS[:5]))["leaderboard_tests"] == []


@pytest.mark.extended
@pytest.mark.parametrize("grades_from", ["gold", "votes"])
def test_rank_intervals_hold_the_grade(grades_from):
    votes = small_study.VOTES
    rows = tables_of(votes, settings=AnalysisSettings(resamples=100, restarts=3, refine=0, grades_from=grades_from))[
        "grades"
    ]
    for row in rows:
        assert 1 <= row["rank_low"] <= row["grade"] <= row["rank_high"] <= 3
    assert any(row["rank_low"] < row["rank_high"] for row in rows)


@pytest.mark.extended
def test_who_was_seen_on_two_topics_has_a_wide_interval():
    """Who won on both of two topics, beside others seen on eight and ten, may be above all or only above the last."""
    votes = votes_of(("zyx", "zyx", *("yxz",) * 8))
    rare = {"t1-z": "rare", "t2-z": "rare"}
    rows = people(tables_of(votes, writer=lambda name: rare.get(name, f"writer-{name[-1]}")))
    row = row_of(rows, participant="rare")
    assert (row["topics"], row["rank_low"], row["rank_high"]) == (2, 1, 3)
    assert row["high"] - row["low"] > 4 * max(each["high"] - each["low"] for each in rows if each is not row)
    assert row_of(rows, participant="writer-y")["rank_high"] <= 2
    # Best on both: what was never seen to vary has no interval.
    assert (row["mean_grade"], row["mean_low"], row["mean_high"]) == (3, None, None)


@pytest.mark.extended
def test_the_order_falls_without_the_judges_and_topics_that_the_table_names(tables):
    """The merits of the leaderboard again, from the votes that are left; each row says what to leave out."""
    rows = [row for row in tables["leaderboard_fragility"] if row["kind"] == "participant"]
    assert {(row["dimension"], row["participant_1"], row["participant_2"]) for row in rows} >= {
        ("clear", "writer-y", "writer-x"),
        ("clear", "writer-x", "writer-z"),
    }
    board = {row["participant"]: row["merit"] for row in people(tables)}
    for row in (row for row in rows if row["dimension"] == "clear"):
        assert row["difference"] == pytest.approx(board[row["participant_1"]] - board[row["participant_2"]], abs=1e-6)
        assert 0 < row["votes"] <= row["n_votes"]
        assert 0 < row["topics"] <= row["n_topics"] == len(ORDERS)
        named = {
            removed: [
                each
                for each in tables["leaderboard_fragility_sets"]
                if each["removed"] == removed
                and all(each[name] == row[name] for name in ("kind", "dimension", "participant_1", "participant_2"))
            ]
            for removed in ("votes", "topics")
        }
        assert [each["place"] for each in named["topics"]] == list(range(1, row["topics"] + 1))
        left_out = {each["topic"] for each in named["topics"]}
        votes = {pair: given for pair, given in votes_of().items() if pair[0].split("-")[0] not in left_out}
        again = {other["participant"]: other["merit"] for other in people(tables_of(votes))}
        assert again[row["participant_1"]] <= again[row["participant_2"]] + 1e-6
        assert {each["answer"] for each in named["votes"]} <= set("ANB")
        assert len(named["votes"]) == min(row["votes"], 10)
