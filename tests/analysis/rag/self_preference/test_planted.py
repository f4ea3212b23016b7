"""An evaluator whose preferences are planted: every table comes out as worked out by hand."""

import numpy as np
import pytest
from scipy import stats

from analysis.rag.self_preference import bank, descriptive, knowledge, pairwise, pointwise
from analysis.rag.self_preference.knowledge import Knowledge
from analysis.rag.self_preference.question_means import ALIKE, Means
from tests.analysis.rag.self_preference import planted

N = 8
QUERIES = [planted.question(i) for i in range(N)]
NAMES = bank.authors(QUERIES, planted.ME)


def average(n: int = N) -> Means:
    return Means([f"q{i}" for i in range(n)], np.random.default_rng(0), 500)


@pytest.fixture(scope="module")
def choices():
    evaluator = planted.Evaluator()
    return {query.id: pairwise.read(evaluator, query, bank.pairs(query, NAMES, planted.ME)) for query in QUERIES}


@pytest.fixture(scope="module")
def ratings():
    evaluator = planted.Evaluator()
    return {query.id: pointwise.rate(evaluator, query) for query in QUERIES}


def by(rows, *keys):
    return {tuple(row[key] for key in keys): row for row in rows}


def test_order_and_author(choices):
    rows = by(pairwise.preferences(choices, average(), planted.ME), "case", "other", "presentation")
    for other in ("human", "llama"):
        for case in ("both_true", "both_false", "same"):
            both, first, last = (rows[case, other, each] for each in pairwise.PRESENTATIONS)
            # Half of the questions go by order, half by author.
            assert (both["own"], both["front"]) == (0.75, 0.75)
            assert (first["own"], first["front"]) == (1.0, 1.0)
            assert (last["own"], last["front"]) == (0.5, 0.5)
            assert (both["questions"], both["n"], both["unresolved"]) == (N, 2 * N * (1 + (case == "same")), 0)
            assert both["whose"] == "own"
            # Questions' means are 1/2 and 1 in turn.
            expected = stats.ttest_1samp([0.5, 1.0] * 4, 0.5).pvalue
            assert both["p"] == pytest.approx(expected)
            assert both["own_low"] < 0.75 < both["own_high"]
            assert np.isnan(first["p"])
        # Of all cases: the mixed ones beside them, where a quarter goes by author.
        assert rows["all", other, "both"]["own"] == pytest.approx((0.75 + 0.75 + 1.0 + 0.25) / 4)
    assert {key[0] for key in rows} == {"all", "same", "both_true", "both_false"}


def test_truth_and_author(choices):
    rows = by(pairwise.factuality(choices, average(), planted.ME), "case", "other")
    for other in ("human", "llama"):
        assert (rows["mixed", other]["factual"], rows["mixed", other]["own"]) == (0.875, 0.625)
        assert (rows["other_true", other]["factual"], rows["other_true", other]["own"]) == (0.75, 0.25)
        assert (rows["author_true", other]["factual"], rows["author_true", other]["own"]) == (1.0, 1.0)
        assert rows["mixed", other]["n"] == 4 * N


def test_truth_by_knowledge(choices):
    evaluator = planted.Evaluator()
    recalled = {query.id: knowledge.recall(evaluator, query) for query in QUERIES}
    levels = {question: each.level for question, each in recalled.items()}
    assert [levels[f"q{i}"] for i in range(4)] == [Knowledge.NONE, Knowledge.PARTIAL, Knowledge.FULL, Knowledge.FULL]
    rows = by(pairwise.by_knowledge(choices, levels, average()), "level")
    assert {key[0]: row["factual"] for key, row in rows.items()} == {
        "none": 0.5, "partial": 1.0, "full": 1.0, "all": 0.875,
    }  # fmt: skip
    assert {key[0]: row["questions"] for key, row in rows.items()} == {"none": 2, "partial": 2, "full": 4, "all": 8}
    known = by(descriptive.knowledge({"me": recalled}, descriptive.ASKED, average()), "level")
    assert {key[0]: row["share"] for key, row in known.items()} == {"none": 0.25, "partial": 0.25, "full": 0.5}
    assert all(row["n"] == N and row["source"] == "asked" for row in known.values())


def test_styles_and_what_is_named(choices):
    styles = by(pairwise.styles(choices, average()), "style", "author")
    assert styles["qa", "gpt"]["styled"] == 1.0
    assert styles["long", "gpt"]["styled"] == 0.0
    assert styles["qa", "gpt"]["front"] == 0.5
    assert styles["qa", "gpt"]["note"] == ALIKE
    told = by(pairwise.stated_use(choices, average()), "case")
    # Two of eight questions name the wrong passage where one is false; of both false, llama's alone have two answers.
    assert told["author_true",]["agree"] == told["other_true",]["agree"] == 0.75
    assert (told["both_false",]["agree"], told["both_false",]["n"]) == (1.0, 2 * N)


def test_ratings(ratings):
    rows = by(pointwise.means(ratings, NAMES, average()), "setting", "truth", "author")
    assert rows["plain", "true", "human"]["mean"] == 3.5
    assert rows["plain", "true", "human"]["sd"] == pytest.approx(np.std([3, 4] * 4, ddof=1))
    assert rows["plain", "true", "gpt"]["mean"] == 5.0
    assert rows["rag", "false", "human"]["mean"] == 2.0
    assert rows["rag", "false", "human"]["n"] == 2 * N  # people's passages with either model's false answer
    scores = by(pointwise.distribution(ratings, NAMES), "setting", "truth", "author", "score")
    assert [scores["plain", "true", "human", score]["count"] for score in range(1, 6)] == [0, 0, 4, 4, 0]
    assert scores["rag", "true", "gpt", 4]["share"] == 1.0


def test_differences_of_ratings(ratings):
    rows = by(pointwise.differences(ratings, NAMES, average(), planted.ME), "setting", "comparison", "author")
    human, model = [3.0, 4.0] * 4, [5.0] * N
    row = rows["plain", "both_true", "gpt"]
    assert (row["difference"], row["human"], row["model"], row["n"]) == (-1.5, 3.5, 5.0, N)
    assert row["p"] == pytest.approx(stats.ttest_rel(human, model).pvalue)
    assert row["statistic"] == pytest.approx(stats.ttest_rel(human, model).statistic)
    # Welch's with a side that never varies: its degrees of freedom are those of the other.
    welch = -1.5 / np.sqrt(np.var(human, ddof=1) / N)
    assert row["p_welch"] == pytest.approx(2 * stats.t.sf(abs(welch), N - 1))
    other, model = rows["plain", "both_true", "llama"], [5.0, 4.0, 4.0, 4.0] * 2
    assert other["p_welch"] == pytest.approx(stats.ttest_ind(human, model, equal_var=False).pvalue)
    assert other["p"] == pytest.approx(stats.ttest_rel(human, model).pvalue)
    assert row["effect"] == pytest.approx(-1.5 / np.std([-2, -1] * 4, ddof=1))
    assert (row["whose"], rows["plain", "both_true", "llama"]["whose"]) == ("own", "others")
    # Truth alone decides for answering: no difference between true ones, two points to a false one, and nothing varies.
    same, false = rows["rag", "both_true", "gpt"], rows["rag", "model_false", "gpt"]
    assert (same["difference"], false["difference"]) == (0.0, 2.0)
    assert np.isnan(same["p"])
    assert same["note"] == ALIKE
    made = [row["p"] for row in rows.values() if not np.isnan(row["p"])]
    adjusted = [row["p_adjusted"] for row in rows.values() if not np.isnan(row["p"])]
    assert adjusted == pytest.approx(stats.false_discovery_control(made).tolist())


def test_what_is_nonsense_first_is_asked_again_and_counted():
    evaluator = planted.Evaluator(is_broken_first=True)
    query = QUERIES[1]
    pairs = bank.pairs(query, NAMES, planted.ME, (bank.Case.BOTH_TRUE,))
    found = pairwise.read(evaluator, query, pairs)
    assert [each.attempts for each in found] == [2] * 4
    assert all(each.chose_author for each in found)
    assert {prompt.temperature for prompt in evaluator.asked} == {0.0, 0.7}
    rows = descriptive.outcomes(("readings", each.problem, each.attempts) for each in found)
    assert rows == [{"part": "readings", "outcome": "asked_again", "count": 4, "attempts": 8}]
    never = pairwise.read(evaluator, query, pairs, attempts=1)
    assert [(each.chose_author, each.problem) for each in never] == [(None, "format")] * 4
    counted = pairwise.preferences({query.id: never}, average(), planted.ME)
    assert {(row["n"], row["unresolved"]) for row in counted if row["presentation"] == "both"} == {(0, 2)}
    assert all(np.isnan(row["own"]) for row in counted)


def test_a_pair_that_is_resolved_in_one_order_alone_does_not_count_in_both(choices):
    query = QUERIES[0]  # goes by order
    kept = [each for each in choices[query.id] if each.case is bank.Case.BOTH_TRUE and each.other == "human"]
    first, last = kept
    lost = pairwise.Choice(**{**vars(last), "chose_author": None, "problem": "neither"})
    rows = by(pairwise.preferences({query.id: [first, lost]}, average(), planted.ME), "case", "presentation")
    # Counted, it would say that the author is always preferred.
    assert (rows["both_true", "both"]["n"], rows["both_true", "both"]["unresolved"]) == (0, 2)
    assert rows["both_true", "author_first"]["own"] == 1.0


def test_without_an_evaluator_among_the_authors_all_pairs_are_read_and_nobody_is_self():
    names = bank.authors(QUERIES)
    assert bank.opponents(names) == [("gpt", "llama"), ("gpt", "human"), ("llama", "human")]
    pairs = bank.pairs(QUERIES[0], names)
    assert len(pairs) == 2 * (3 * 4 + 2)
    found = {QUERIES[0].id: pairwise.read(planted.Evaluator(), QUERIES[0], pairs[:4])}
    assert {row["whose"] for row in pairwise.preferences(found, average())} == {"others"}


def test_nothing_found_makes_no_rows():
    assert pairwise.preferences({}, average()) == pairwise.factuality({}, average()) == []
    assert (
        pairwise.by_knowledge({}, {}, average()) == pairwise.styles({}, average()) == pairwise.stated_use({}, average())
    )
    assert pointwise.means({}, NAMES, average()) == pointwise.differences({}, NAMES, average()) == []
