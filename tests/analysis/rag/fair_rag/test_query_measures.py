"""Everything measured of a query against plain loops over all its rankings, with planted utility."""

from itertools import permutations

import numpy as np
import pytest

from analysis.rag import qa_metrics
from analysis.rag.fair_rag import query_measures, utility
from analysis.rag.fair_rag.rankings import ORACLE, Chosen, Lists, QueryRanking, RankingMethod, rank, ranking_methods
from analysis.rag.fair_rag.utility import PromptSettings, prompt
from analysis.rag.protocols import Query
from analysis.ranking.plackett_luce import log_probability, logits
from analysis.stats.random_streams import named_rng
from tests.analysis.rag.fair_rag import planted

ASKING = PromptSettings()
F1 = qa_metrics.METRICS["f1"]
WORDS = ("alder", "noise", "birch", "", "cedar", "alder")
SCORES = np.array([0.3, 0.9, 0.8, 0.1, 0.5, 0.4])


def labelled(query: Query, generator: planted.Planted) -> utility.Labels:
    said = generator.generate(utility.prompts(query, ASKING))
    return utility.labels(query, [each.text for each in said], F1)


def outcomes(query: Query, lists, generator: planted.Planted) -> dict:
    found = {}
    for each in lists:
        documents = [query.documents[place] for place in each]
        text = generator.generate([prompt(query, documents, ASKING)])[0].text
        follows = planted.Follows().probabilities([(document.text, text) for document in documents]) > 0.5
        found[each] = query_measures.Outcome(utility.utility(F1, text, query.answers), tuple(follows.tolist()))
    return found


def chance(name: str) -> np.random.Generator:
    return named_rng(7, name)


def test_labels_ask_once_more_than_there_are_documents_and_find_what_was_planted() -> None:
    query, generator = planted.query("q", WORDS), planted.Planted()
    found = labelled(query, generator)
    assert len(generator.seen) == len(WORDS) + 1
    assert found.without == 0.0  # "guess"
    # "guess alder" against four words: one shared of two and four.
    assert found.alone == pytest.approx((1 / 3, 0.0, 1 / 3, 0.0, 1 / 3, 1 / 3))
    assert found.useful.tolist() == [True, False, True, False, True, True]
    assert utility.left_out(found) == ""
    assert utility.Labels.read(found.write()) == found


def test_of_errors_lower_ones_are_useful() -> None:
    query = Query("q", "rate it", ("4",), planted.query("q", ["", "", ""]).documents)
    found = utility.labels(query, ["2", "3", "1", "no idea"], qa_metrics.METRICS["mae"])
    assert (found.without, found.alone) == (2.0, (3.0, 1.0, 1.0))  # what cannot be read is as far off as can be
    assert found.useful.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("words", "gold", "reason"),
    [
        (("alder", "birch"), "", utility.NO_ANSWER),
        ((), planted.GOLD, utility.NO_DOCUMENT),
        (("alder", "noise", ""), planted.GOLD, utility.FEW_USEFUL),
        (("", ""), planted.GOLD, utility.FEW_USEFUL),
        (("alder", "birch"), planted.GOLD, ""),
    ],
)
def test_queries_that_take_no_part_say_why(words, gold, reason) -> None:
    query = planted.query("q", words, gold)
    found = utility.unusable(query) or utility.left_out(labelled(query, planted.Planted()))
    assert found == reason


def test_a_refusal_is_a_wrong_answer() -> None:
    query = planted.query("q", ("alder", "birch"))
    found = labelled(query, planted.Planted(refuses="<birch>"))
    assert found.useful.tolist() == [True, False]


def test_labels_need_an_answer_for_each_prompt() -> None:
    with pytest.raises(ValueError, match=r"2 .*3 .*2"):
        utility.labels(planted.query("q", ("alder", "birch")), ["a", "b"], F1)


@pytest.mark.parametrize("alpha", [1.0, 4.0])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_expectations_equal_enumeration_of_all_rankings(alpha: float, k: int) -> None:
    query, generator = planted.query("q", WORDS), planted.Planted()
    n, item_logits = len(WORDS), logits(SCORES, alpha)
    every = list(permutations(range(n), k))
    probability = np.array([np.exp(log_probability(item_logits, each)) for each in every])
    lists = Lists(tuple(every), probability)
    chosen = Chosen(lists, np.arange(len(every)), np.ones(len(every)))
    ranked = QueryRanking(RankingMethod("planted", "sampled", alpha), np.array(every), chosen)
    found = outcomes(query, every, generator)
    useful = labelled(query, generator).useful
    point = query_measures.measure("q", useful, k, [ranked], found, bounds="definition")[0]

    eu = ear = 0.0
    exposed = np.zeros(n)
    for ranking in permutations(range(n)):  # whole rankings, cut in the loop
        p = np.exp(log_probability(item_logits, ranking))
        words = [WORDS[place] for place in ranking[:k] if WORDS[place]]
        text = planted.answer(words)
        eu += p * qa_metrics.f1(text, [planted.GOLD])
        held = [place for place in ranking[:k] if WORDS[place] and WORDS[place] in text.split()]
        ear += p * len(held) / k
        exposed[held] += p
    best = max(qa_metrics.f1(planted.answer([WORDS[i] for i in each if WORDS[i]]), [planted.GOLD]) for each in every)
    assert point.utility == pytest.approx(eu, abs=1e-12)
    assert point.best == best
    assert point.utility_normalised == pytest.approx(eu / best, abs=1e-12)
    assert point.attribution == pytest.approx(ear, abs=1e-12)
    assert point.attributed_disparity == pytest.approx(float(exposed @ exposed), abs=1e-12)
    s = exposed.sum()
    wanted = (exposed @ exposed - s * s / n) / (s - s * s / n)
    assert point.attributed_normalised == pytest.approx(wanted, abs=1e-12)
    published = query_measures.measure("q", useful, k, [ranked], found)[0]
    assert published.attributed_normalised == pytest.approx(exposed @ exposed / s, abs=1e-12)
    assert point.utility_error == point.attribution_error == point.attributed_normalised_error == 0.0
    assert query_measures.Point.read(point.write()) == point


def test_sampled_rankings_come_to_what_a_loop_over_them_comes_to() -> None:
    query, generator, k = planted.query("q", WORDS), planted.Planted(), 3
    useful = labelled(query, generator).useful
    ranked = rank({"one": SCORES, "two": -SCORES}, useful, (1.0, 8.0), samples=50, k=k, budget=None, chance=chance)
    assert [each.way for each in ranked] == ranking_methods(["one", "two"], (1.0, 8.0))
    generator.seen.clear()
    found = outcomes(query, query_measures.to_generate(ranked), generator)
    distinct = {tuple(row) for each in ranked for row in each.rankings.tolist()}
    assert len(generator.seen) == len(distinct)  # however many rankings hold a list, it is generated once
    points = query_measures.measure("q", useful, k, ranked, found, bounds="definition")
    for each, point in zip(ranked, points, strict=True):
        rows = [tuple(row) for row in each.rankings.tolist()]
        assert point.utility == pytest.approx(np.mean([found[row].utility for row in rows]))
        assert point.attribution == pytest.approx(np.mean([np.mean(found[row].follows) for row in rows]))
        shown = np.zeros(len(WORDS))
        for row in rows:
            shown[list(row)] += 1 / len(rows)
        assert point.disparity == pytest.approx(shown @ shown)
        assert point.disparity_normalised == pytest.approx((shown @ shown - 9 / 6) / (3 - 9 / 6))
        assert point.lists == point.generated == len(set(rows))


def test_the_oracle_ranks_useful_documents_first_all_alike_and_the_baseline_never_moves() -> None:
    useful = np.array([True, False, True, False, False, True])
    ranked = rank({"one": SCORES}, useful, (2.0,), samples=3000, k=4, budget=None, chance=chance)
    ideal = next(each for each in ranked if each.way.rank == ORACLE)
    assert all(set(row[:3]) == {0, 2, 5} for row in ideal.rankings.tolist())
    first = np.bincount(ideal.rankings[:, 0], minlength=6) / 3000
    last = np.bincount(ideal.rankings[:, 3], minlength=6) / 3000
    assert first[useful].tolist() == pytest.approx([1 / 3] * 3, abs=0.04)
    assert last[~useful].tolist() == pytest.approx([1 / 3] * 3, abs=0.04)
    fixed = next(each for each in ranked if each.way.rank == "deterministic")
    assert fixed.rankings.tolist() == [[1, 2, 4, 5]]


@pytest.mark.parametrize("budget", [24, 45, 60])
def test_under_a_budget_few_lists_are_generated_and_estimates_are_near_with_their_error(budget: int) -> None:
    query, generator, k = planted.query("q", WORDS), planted.Planted(), 3
    useful = labelled(query, generator).useful
    scores = {"one": SCORES}
    whole = rank(scores, useful, (1.0, 2.0), samples=100, k=k, budget=None, chance=chance)
    truth = query_measures.measure("q", useful, k, whole, outcomes(query, query_measures.to_generate(whole), generator))
    some = rank(scores, useful, (1.0, 2.0), samples=100, k=k, budget=budget, chance=chance)
    assert len(query_measures.to_generate(some)) <= budget + 1  # and the deterministic list
    found = query_measures.measure("q", useful, k, some, outcomes(query, query_measures.to_generate(some), generator))
    for all_, part in zip(truth, found, strict=True):
        assert (all_.disparity, all_.relevance) == (part.disparity, part.relevance)  # of all sampled rankings
        assert abs(all_.utility - part.utility) <= 4 * part.utility_error + 1e-12
        assert abs(all_.attribution - part.attribution) <= 4 * part.attribution_error + 1e-12


def test_all_scores_equal_is_uniform_and_reading_everything_has_no_disparity_to_speak_of() -> None:
    query, generator = planted.query("q", WORDS), planted.Planted()
    useful = labelled(query, generator).useful
    same = rank({"one": np.ones(6)}, useful, (8.0,), samples=2000, k=2, budget=None, chance=chance)
    shown = np.bincount(same[0].rankings.ravel(), minlength=6) / 2000
    assert shown.tolist() == pytest.approx([1 / 3] * 6, abs=0.05)
    short = planted.query("r", ("alder", "birch", "noise"))
    mask = labelled(short, generator).useful
    more = rank({"one": SCORES[:3]}, mask, (1.0,), samples=20, k=5, budget=None, chance=chance)
    found = outcomes(short, query_measures.to_generate(more), generator)
    point = query_measures.measure("r", mask, 5, more, found, bounds="definition")[0]
    assert (point.items, point.lists <= 6, point.disparity) == (3, True, pytest.approx(3.0))
    assert np.isnan(point.disparity_normalised)
    assert point.relevance_normalised == 1.0  # of what k documents can reach
    published = query_measures.measure("r", mask, 5, more, found)[
        0
    ]  # the authors' code keeps k: 3 of 5, and 2 of 2 + 9
    assert published.disparity_normalised == pytest.approx(3 / 5)
    assert published.relevance_normalised == pytest.approx(2 / 11)


def test_everything_useful_and_nothing_ever_right_are_nan() -> None:
    generator, words = planted.Planted(), ("alder", "birch", "cedar")
    query = planted.query("q", words)
    useful = labelled(query, generator).useful
    ranked = rank({"one": SCORES[:3]}, useful, (1.0,), samples=20, k=2, budget=None, chance=chance)
    point = query_measures.measure(
        "q", useful, 2, ranked, outcomes(query, query_measures.to_generate(ranked), generator), bounds="tight"
    )[0]
    assert useful.all()
    assert np.isnan(point.relevance_normalised)
    nothing = {each: query_measures.Outcome(0.0, (False,) * len(each)) for each in query_measures.to_generate(ranked)}
    point = query_measures.measure("q", useful, 2, ranked, nothing)[0]
    assert (point.utility, point.best) == (0.0, 0.0)
    assert np.isnan(point.utility_normalised)
    assert np.isnan(point.attributed_normalised)
