"""SKR: neighbours by brute force, decisions by the rule, and self-knowledge that is planted."""

from fractions import Fraction

import numpy as np
import pytest

from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings, NotPossibleError
from analysis.rag.uplift_rag.baselines.skr import Skr, nearest, wants_documents
from tests.analysis.rag.uplift_rag.baselines.known import Scripted, letters, query, training

# Questions of `zzz` it knows, and documents only spoil them; questions of `aaa` it must read up.
ANSWERS = {"zzz": "yes", "spoils": "no", "helps": "yes"}


def planted(n: int, first: int = 0) -> list:
    found = []
    for i in range(first, first + n):
        is_known = i % 2 == 0
        found.append(query(str(i), f"{'zzz' if is_known else 'aaa'} {i}", ["spoils" if is_known else "helps", "x"]))
    return found


def test_the_nearest_are_those_of_a_plain_search():
    rng = np.random.default_rng(0)
    for _ in range(50):
        vectors = rng.normal(size=(rng.integers(1, 12), 5))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        one, k = vectors[0] if rng.random() < 0.3 else rng.normal(size=5), int(rng.integers(1, 15))
        cosines = [(-sum(a * b for a, b in zip(one, other, strict=True)), i) for i, other in enumerate(vectors)]
        rounded = sorted((round(cosine, 12), i) for cosine, i in cosines)
        assert nearest(one, vectors, k).tolist() == [i for _, i in rounded][:k]


def test_documents_are_left_out_where_the_odds_of_worse_exceed_everyones():
    for n in range(1, 5):
        for m in range(1, 5):
            everyone = np.array([True] * n + [False] * m)
            for k in range(1, 6):
                for worse in range(k + 1):
                    near = np.array([False] * worse + [True] * (k - worse))
                    exceeds = worse == k or Fraction(worse, k - worse) > Fraction(m, n)
                    assert wants_documents(near, everyone) == (not exceeds)


@pytest.mark.parametrize("helped", [True, False])
def test_if_all_training_questions_are_alike_so_is_every_decision(helped):
    assert wants_documents(np.array([helped]), np.array([helped] * 3)) is helped
    only = [each for each in planted(8) if each.question.startswith("aaa" if helped else "zzz")]
    method = Skr(embed=letters)
    method.fit(training(only, Scripted(ANSWERS)))
    assert [method.retrieves(each.question) for each in planted(6)] == [helped] * 6


def test_planted_self_knowledge_is_found():
    method, generator = Skr(BaselineSettings(metric="em"), neighbours=3, embed=letters), Scripted(ANSWERS)
    method.fit(training(planted(20), generator))
    for each in planted(10, first=100):
        found = method.answer(each, each.documents, generator)
        assert found.text == "yes"
        assert bool(found.documents) == each.question.startswith("aaa")


def test_questions_that_documents_change_nothing_about_teach_nothing():
    silent = [query(str(i), "zzz", ["x"]) for i in range(5)]
    with pytest.raises(NotPossibleError, match="5"):
        Skr(embed=letters).fit(training(silent, Scripted(ANSWERS)))
    with pytest.raises(NotPossibleError, match="0"):
        Skr(embed=letters).fit(training([], Scripted(ANSWERS)))


def test_a_question_that_the_generator_refuses_is_passed_over():
    generator = Scripted(ANSWERS)
    data = training([*planted(4), query("bad", "aaa bad", ["helps"])], generator)
    generator.answers = {"bad": "FAIL", **generator.answers}
    method = Skr(embed=letters)
    method.fit(data)
    assert len(method._helped) == 4


def test_before_it_is_fitted_it_says_so(tmp_path):
    with pytest.raises(NotPossibleError):
        Skr(embed=letters).retrieves("who")
    with pytest.raises(NotPossibleError):
        Skr(embed=letters).save(tmp_path)
