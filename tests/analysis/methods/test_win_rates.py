"""Win rates, merits by judges and style, and the judgments that a test still needs: by hand and by other methods."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.inputs.arrays import COMBINED, EXPERT, Dimension
from analysis.methods.leaderboard import more_judgments
from analysis.stats import bradley_terry, significance
from analysis.stats.sample_size import signed_rank_pairs
from tests.analysis.methods.test_grade_differences import ORDERS, votes_of
from tests.analysis.rows import row_of
from tests.analysis.vote_inputs import QUICK, TablesOnDemand, inputs_of, tables_of

# The style of x and z is bullet, that of y essay.
VOTES = {
    ("t1-x", "t1-y"): ("AABN",),
    ("t1-y", "t1-x"): ("ABBB",),
    ("t1-x", "t1-z"): ("AAAA",),
    ("t2-z", "t2-x"): ("BBNA",),
    ("t2-x", "t2-y"): ("NNNN",),
}


@pytest.fixture(scope="module")
def tables():
    return tables_of(VOTES, dimensions=("clear",))


def counts(row):
    return row["wins"], row["ties"], row["losses"], row["n"], row["topics"]


def between(tables, one, other, **keys):
    keys = {"kind": "participant", "judges": "crowd", "style": "all", "dimension": "clear"} | keys
    row = row_of(tables["win_rates"], participant_1=one, participant_2=other, **keys)
    return counts(row)


def test_judgments_are_counted_whichever_side_a_response_stood_on(tables):
    """x against y: A, A, B, N, then turned B, A, A, A, then four ties."""
    assert between(tables, "writer-x", "writer-y") == (5, 5, 2, 12, 2)
    assert between(tables, "writer-x", "writer-z") == (6, 1, 1, 8, 2)
    assert between(tables, "writer-x", "writer-z", style="bullet") == (6, 1, 1, 8, 2)
    styles = {row["style"] for row in tables["win_rates"] if "writer-y" in (row["participant_1"], row["participant_2"])}
    assert styles == {"all"}  # nobody else wrote an essay
    row = row_of(
        tables["win_rates"], kind="participant", judges="crowd", style="all", dimension="clear",
        participant_1="writer-x", participant_2="writer-y",
    )  # fmt: skip
    assert [row[f"share_{which}"] for which in ("won", "tied", "lost")] == pytest.approx([5 / 12, 5 / 12, 2 / 12])
    for which in ("won", "tied", "lost"):
        assert 0 <= row[f"{which}_low"] <= row[f"share_{which}"] <= row[f"{which}_high"] <= 1


def test_origins_are_counted_as_one_each(tables):
    """People (x and z) against the model (y): the same twelve judgments."""
    assert between(tables, "human", "model", kind="origin") == (5, 5, 2, 12, 2)


def test_win_rates_are_sums_over_dimensions():
    tables = tables_of(votes_of())
    rows = [
        row
        for row in tables["win_rates"]
        if (row["kind"], row["judges"], row["style"]) == ("participant", "crowd", "all")
    ]
    for row in rows:
        if row["dimension"] != "all":
            continue
        same = [other for other in rows if other["dimension"] != "all" and all(
            other[name] == row[name] for name in ("participant_1", "participant_2")
        )]  # fmt: skip
        for name in ("wins", "ties", "losses", "n"):
            assert row[name] == sum(other[name] for other in same)


@pytest.mark.extended
def test_each_kind_of_judges_stands_by_itself():
    """Experts and a model who judge the same pairs otherwise: their judgments do not mix with the crowd's."""
    inputs = inputs_of(votes_of(), dimensions=("clear", "deep"))
    crowd = inputs.main
    of_one = crowd.coder == 0
    columns = {
        name: getattr(crowd, name)[of_one]
        for name in ("unit", "coder", "dimension", "value", "vote", "k", "position", "row")
    }
    expert = replace(crowd, participants=("expert-1",), **columns)
    model = replace(crowd, participants=("gpt",), **columns | {"value": 2 - columns["value"]})
    judged = replace(inputs, pools=inputs.pools | {EXPERT: expert, COMBINED: model})
    tables = TablesOnDemand(judged, QUICK)
    by_judges = {row["judges"]: row for row in tables["win_rates"] if (
        row["kind"], row["style"], row["dimension"], row["participant_1"], row["participant_2"]
    ) == ("participant", "all", "all", "writer-y", "writer-z")}  # fmt: skip
    assert set(by_judges) == {"crowd", "corrected", "expert", "model"}
    assert counts(by_judges["expert"])[:3] == counts(by_judges["model"])[:3][::-1]
    alone = TablesOnDemand(inputs, QUICK)
    own = [row for row in tables["win_rates"] if row["judges"] in {"crowd", "corrected"}]
    assert own == alone["win_rates"]
    merits = {
        row["participant"]: row["merit"]
        for row in tables["leaderboard_by_judges"]
        if (row["kind"], row["judges"], row["style"], row["dimension"]) == ("participant", "model", "all", "all")
    }
    assert min(merits, key=merits.get) == "writer-y"  # the model turned every judgment


def test_merits_of_a_style_are_those_of_a_fit_to_its_pairs():
    """Between bullets only x meets z, eight times: the dense fit of the grades."""
    tables = tables_of(votes_of())
    pairs = [(0, 1) if order.index("x") < order.index("z") else (1, 0) for order in ORDERS]
    first, second = np.array(pairs).T
    alone = bradley_terry.fit(bradley_terry.tally(np.zeros(8, int), first, second, np.full(8, -1)))
    rows = {
        row["participant"]: row
        for row in tables["leaderboard_by_judges"]
        if (row["kind"], row["judges"], row["style"], row["dimension"]) == ("participant", "gold", "bullet", "clear")
    }
    assert [rows[f"writer-{letter}"]["merit"] for letter in "xz"] == pytest.approx(alone.merit[0].tolist(), abs=1e-7)
    for row in rows.values():
        assert (row["n"], row["topics"]) == (8, 8)
        assert row["low"] < row["merit"] < row["high"]


def test_each_pair_counts_once_however_many_judged_it():
    """Seven judgments of one pair are as much as one, with the shares of what they say."""
    once = {("t1-x", "t1-y"): ("A",), ("t2-x", "t2-y"): ("B",), ("t3-x", "t3-y"): ("A",)}
    often = {pair: (letters[0] * 7,) for pair, letters in once.items()}
    merits = [
        [row["merit"] for row in tables_of(votes, dimensions=("clear",))["leaderboard_by_judges"]
         if (row["kind"], row["judges"], row["style"], row["dimension"]) == ("participant", "crowd", "all", "clear")]
        for votes in (once, often)
    ]  # fmt: skip
    assert merits[0] == pytest.approx(merits[1])
    assert merits[0][0] > merits[0][1]


def test_versions_of_a_dimension_are_one():
    """A study has another dimension of the same name, such as a rating of single responses."""
    inputs = inputs_of(VOTES, dimensions=("clear",))
    rating = Dimension("clear", "Clear", (1, 2, 3))
    pool = replace(inputs.main, dimension=inputs.main.dimension + 1)
    twice = replace(inputs, dimensions=(rating, *inputs.dimensions), pools={"crowd": pool})
    tables, alone = (TablesOnDemand(each, QUICK) for each in (twice, inputs))
    for name in ("win_rates", "leaderboard_by_judges"):
        assert tables[name] == alone[name]


def test_one_topic_has_no_interval():
    tables = tables_of({("t1-x", "t1-y"): ("AAB",), ("t1-x", "t1-z"): ("ABN",)}, dimensions=("clear",))
    rows = [row for row in tables["win_rates"] if row["judges"] == "crowd"]
    assert rows
    assert all(row["won_low"] is None and row["note"] for row in rows)
    assert all(row["low"] is None and row["note"] for row in tables["leaderboard_by_judges"])


@pytest.mark.extended
def test_more_topics_find_the_difference_in_four_of_five_studies():
    """Simulated: as many topics more, with differences as observed, and the level that the adjustment leaves."""
    rng = np.random.default_rng(4)
    shift = 0.35
    effect = 2 * stats.norm.cdf(np.sqrt(2) * shift) - 1
    more = more_judgments.more_topics(effect, 0.2, 0.3, n=12, zeros=0)
    level = 0.05 * 0.2 / 0.3
    p = [significance.signed_rank(rng.normal(shift, 1, 12 + more)).p for _ in range(500)]
    assert np.mean(np.array(p) <= level) == pytest.approx(0.8, abs=0.07)


def test_more_topics_by_hand():
    """Noether's formula, and topics without a difference, which count for nothing."""
    needed = 4 * (1.959964 + 0.841621) ** 2 / (3 * 0.25)
    assert signed_rank_pairs(0.5) == pytest.approx(needed, rel=1e-5)
    assert more_judgments.more_topics(0.5, 0.2, 0.2, n=20, zeros=0) == np.ceil(needed) - 20
    assert more_judgments.more_topics(-0.5, 0.2, 0.2, n=20, zeros=10) == np.ceil(2 * needed) - 20


def test_nothing_is_said_where_the_formula_says_nothing():
    for effect, p, p_adjusted, n in (
        (0.5, 0.01, 0.04, 20),  # found already
        (0.0, 1.0, 1.0, 20),  # no difference
        (0.01, 0.9, 0.9, 20),  # thousands of topics
        (0.5, None, None, 5),  # no test
        (None, None, None, 0),
    ):
        assert more_judgments.more_topics(effect, p, p_adjusted, n=n, zeros=0) is None


@pytest.mark.extended
def test_judgments_are_those_of_the_topics_that_a_test_needs():
    tables = tables_of(votes_of())
    rows = [row for row in tables["leaderboard_tests"] if row["more_topics"] is not None]
    assert rows
    for row in rows:
        per_topic = 18 if row["dimension"] == "all" else 9  # three pairs, three judges
        assert row["more_judgments"] == per_topic * row["more_topics"]
