"""AAR: its loss against a loop and finite differences, its optimum, and preferences that are planted."""

import math

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from analysis.rag.shapes import Document
from analysis.rag.uplift.baselines import aar, adapter
from analysis.rag.uplift.baselines.aar import Aar, most_preferred
from analysis.rag.uplift.baselines.containment import contains_answer
from analysis.rag.uplift.baselines.protocol import NotPossibleError, Settings
from tests.analysis.rag.uplift.baselines.known import Scripted, letters, query, training


@pytest.fixture(scope="module")
def contrasts():
    rng = np.random.default_rng(5)
    return [
        adapter.Contrast(rng.normal(size=4), rng.normal(size=(5, 4)), np.array([True, False, True, False, False]))
        for _ in range(6)
    ]


def plainly(matrix, queries, temperature) -> float:
    total = 0.0
    for query_ in queries:
        score = [query_.question @ matrix @ document / temperature for document in query_.documents]
        positives = [s for s, is_positive in zip(score, query_.positive, strict=True) if is_positive]
        negatives = [s for s, is_positive in zip(score, query_.positive, strict=True) if not is_positive]
        each = [-math.log(math.exp(s) / (math.exp(s) + sum(map(math.exp, negatives)))) for s in positives]
        total += sum(each) / len(each)
    return total / len(queries)


def test_the_loss_is_that_of_a_plain_loop(contrasts):
    matrix = np.random.default_rng(6).normal(size=(4, 4))
    assert adapter.contrast(matrix, contrasts, temperature=0.7)[0] == pytest.approx(plainly(matrix, contrasts, 0.7))


def test_its_gradient_is_that_of_finite_differences(contrasts):
    at = np.random.default_rng(7).normal(size=16)
    numeric = approx_fprime(at, lambda x: adapter.contrast(x.reshape(4, 4), contrasts, temperature=0.7)[0], 1e-7)
    np.testing.assert_allclose(adapter.contrast(at.reshape(4, 4), contrasts, temperature=0.7)[1].ravel(), numeric,
                               atol=1e-5)  # fmt: skip


def test_what_is_fitted_is_the_one_optimum(contrasts):
    found = adapter.fit(contrasts, penalty=0.5, temperature=0.7)
    slope = adapter.contrast(found, contrasts, temperature=0.7)[1] + 0.5 * (found - np.eye(4))
    assert np.abs(slope).max() < 1e-4
    # Gradient descent from elsewhere comes to the same.
    other = np.random.default_rng(8).normal(size=(4, 4))
    for _ in range(3000):
        other -= 0.2 * (adapter.contrast(other, contrasts, temperature=0.7)[1] + 0.5 * (other - np.eye(4)))
    np.testing.assert_allclose(found, other, atol=1e-3)
    np.testing.assert_allclose(adapter.fit(contrasts, penalty=1e6), np.eye(4), atol=1e-3)
    with pytest.raises(ValueError, match="at least one query"):
        adapter.fit([], penalty=1.0)


def planted(n: int, first: int = 0) -> list:
    """The generator likes what is written in z, wherever it stands; the retriever does not."""
    found = []
    for i in range(first, first + n):
        texts = [f"abc {i}", f"bcd {i}", f"cde {i}"]
        texts.insert(i % 4, f"zzz {i}")
        found.append(query(str(i), f"abc {i}", texts))
    return found


@pytest.mark.parametrize("likes", [None, {"zzz": 2.0}])
def test_planted_preferences_are_learnt_from_scores_and_from_likelihoods(likes):
    generator = Scripted({"zzz": "yes"} if likes is None else {}, likes=likes)
    method = Aar(Settings(feed=1), embed=letters)
    before = sum(np.argmax(letters([q.question]) @ letters([d.text for d in q.documents]).T) == int(q.id) % 4
                 for q in planted(8, first=40))  # fmt: skip
    method.fit(training(planted(16), generator, held_out=planted(8, first=16)))
    for each in planted(8, first=40):
        assert method.answer(each, each.documents, generator).documents == (f"{each.id}-{int(each.id) % 4}",)
    assert before == 0


def test_likelihoods_of_many_queries_are_asked_together_and_each_gets_its_own():
    generator = Scripted({"yes": "yes"}, likes={"zzz": 2.0, "xxx": float("nan")})
    data = [query("0", "abc", ["zzz", "bb", "cc"]), query("1", "abc", ["bb", "zzz"]), query("2", "abc", ["xxx", "yes"])]
    labelled = training(data, generator).labelled
    generator.waves.clear()
    found = aar._preferences(labelled, generator)
    # One document of the last is too long to be read: its query's preferences are its answers' scores.
    assert [each.tolist() for each in found] == [[2, 0, 0], [0, 2], [0, 1]]
    assert generator.waves == [7]


def test_of_preferences_at_most_so_many_and_none_where_all_are_equal():
    assert most_preferred(np.array([0.2, 0.9, 0.5, 0.9]), 2).tolist() == [False, True, False, True]
    assert most_preferred(np.array([1.0, 1.0, 1.0, 0.0]), 2).tolist() == [True, True, False, False]
    assert not most_preferred(np.ones(3), 2).any()
    assert most_preferred(np.zeros(0), 2).size == 0


def test_what_contains_a_right_answer_counts_as_marked_by_people():
    generator = Scripted({})  # likes nothing more than anything
    method = Aar(Settings(feed=1), embed=letters)
    data = [query(str(i), f"abc {i}", [f"bcd {i}", f"zzz yes {i}"]) for i in range(6)]
    method.fit(training(data, generator))
    asked = query("q", "abc 9", ["bcd 9", "zzz 9"])
    assert [each.id for each in method.ranked(asked, asked.documents)] == ["q-1", "q-0"]


@pytest.mark.parametrize(
    ("text", "answers", "is_there"),
    [
        ("The U.S. did", ["us"], True),
        ("a bus ran", ["us"], False),
        ("New York City", ["new york", "boston"], True),
        ("New blue York", ["new york"], False),
        ("the", ["the"], False),
        ("words", [], False),
    ],
)
def test_an_answer_is_contained_as_whole_words(text, answers, is_there):
    assert contains_answer(Document("d", text), answers) is is_there
    assert contains_answer(Document("d", "", title=text), answers) is is_there


def test_nothing_to_prefer_is_said(tmp_path):
    same = [query(str(i), "abc", ["bcd", "cde"]) for i in range(3)]
    with pytest.raises(NotPossibleError, match="among 3"):
        Aar(embed=letters).fit(training(same, Scripted({})))
    with pytest.raises(NotPossibleError, match="among 0"):
        Aar(embed=letters).fit(training([], Scripted({})))
    with pytest.raises(NotPossibleError, match="fit it first"):
        Aar(embed=letters).save(tmp_path)
