"""Adaptive-RAG: its classifier against scikit-learn and finite differences, labels and steps on planted questions."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from analysis.rag.uplift.baselines import classifier
from analysis.rag.uplift.baselines.adaptive import Adaptive, Complexity
from analysis.rag.uplift.baselines.asking import together
from analysis.rag.uplift.baselines.protocol import NotPossibleError, Settings
from tests.analysis.rag.uplift.baselines.known import WRONG, Scripted, letters, query, training, words

KINDS = {"zzz": Complexity.NONE, "aaa": Complexity.ONE, "mmm": Complexity.SEVERAL}
PLACES = ["plain 0", "plain 1", "plain 2", "plain 3", "plain 4", "plain 5", "secret qqq"]


class Stepping(Scripted):
    """Knows `zzz`, needs `key` for `aaa`, and for `mmm` a document that only its own thought leads to."""

    def _output(self, prompt):
        text, is_thought = words(prompt), "Thoughts:" in words(prompt)
        said = WRONG
        if is_thought:
            said = "So the answer is: yes" if "secret" in text else "What is qqq qqq qqq qqq?"
        elif "zzz" in text or ("aaa" in text and "key" in text) or ("mmm" in text and "secret" in text):
            said = "yes"
        return type(super()._output(prompt))(said, prompt_tokens=len(text.split()))


def planted(n: int, first: int = 0) -> list:
    found = []
    for i in range(first, first + n):
        kind = list(KINDS)[i % 3]
        found.append(query(str(i), f"{kind} {kind} {i}", ["key", *PLACES[1:]] if kind == "aaa" else PLACES))
    return found


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(60, 4))
    return vectors, np.argmax(vectors[:, :3] + rng.normal(scale=0.5, size=(60, 3)), axis=1)


def test_the_classifier_is_scikit_learns(data):
    linear = pytest.importorskip("sklearn.linear_model")
    vectors, labels = data
    theirs = linear.LogisticRegression(C=1 / 0.7, tol=1e-9, max_iter=5000).fit(vectors, labels)
    ours = classifier.fit(vectors, labels, 3, penalty=0.7)
    np.testing.assert_allclose(ours.probabilities(vectors), theirs.predict_proba(vectors), atol=1e-4)


def test_its_gradient_is_that_of_finite_differences(data):
    vectors, labels = data
    at = np.random.default_rng(2).normal(size=15)
    numeric = approx_fprime(at, lambda x: classifier.loss(x, vectors, labels, 3, 0.7)[0], 1e-7)
    np.testing.assert_allclose(classifier.loss(at, vectors, labels, 3, 0.7)[1], numeric, rtol=1e-3, atol=1e-4)


def test_a_class_that_nothing_is_of_is_never_said(data):
    vectors, _ = data
    found = classifier.fit(vectors, np.where(vectors[:, 0] > 0, 2, 0), 3)
    assert set(found.classes(vectors * 100).tolist()) == {0, 2}
    assert np.all(found.probabilities(vectors)[:, 1] == 0)
    assert set(classifier.fit(vectors, np.ones(60, dtype=np.int64), 3).classes(vectors * 9).tolist()) == {1}
    with pytest.raises(ValueError, match="at least one"):
        classifier.fit(np.zeros((0, 4)), np.zeros(0, dtype=np.int64), 3)


def test_planted_complexities_are_labelled_routed_and_answered_right():
    method, generator = Adaptive(Settings(feed=4), penalty=0.01, embed=letters), Stepping({})
    method.fit(training(planted(24), generator))
    for each in planted(12, first=90):
        kind = KINDS[each.question.split()[0]]
        assert method.complexity(each.question) is kind
        found = method.answer(each, each.documents, generator)
        assert found.text == "yes"
        assert (len(found.documents), len(found.outputs)) == {0: (0, 1), 1: (4, 1), 2: (4, 3)}[int(kind)]


def test_several_steps_read_what_thoughts_ask_for_and_count_all_prompts():
    asked, generator = planted(3)[2], Stepping({})
    (found,) = together([Adaptive(Settings(feed=4), embed=letters).several(asked, asked.documents)], generator)
    # Two first, then two that resemble the thought; the second thought has the answer.
    assert found.documents[:2] == ("2-0", "2-1")
    assert "2-6" in found.documents[2:]
    assert found.prompt_tokens == sum(len(words(each).split()) for each in generator.asked)
    assert len(generator.asked) == len(found.outputs) == 3


@pytest.mark.parametrize(
    ("answers", "thoughts"), [({"Thoughts:": "hm"}, 2), ({"Thoughts:": ""}, 1), ({"w": "FAIL"}, 1)]
)
def test_steps_end_when_documents_or_thoughts_do(answers, thoughts):
    asked, generator = query("q", "w", ["one", "two", "three"]), Scripted(answers)
    method = Adaptive(Settings(feed=4), steps=5, embed=letters)
    (found,) = together([method.several(asked, asked.documents)], generator)
    assert len(generator.asked) == thoughts + 1
    assert len(found.documents) == (3 if thoughts == 2 else 2)


def test_what_no_strategy_answers_is_labelled_by_the_data_set_or_left_out():
    hopeless = [query(str(i), f"www {i}", ["x"]) for i in range(4)]
    for otherwise in (Complexity.ONE, Complexity.SEVERAL):
        method = Adaptive(otherwise=otherwise, embed=letters)
        method.fit(training(hopeless, Scripted({})))
        assert method.complexity("anything") is otherwise
    with pytest.raises(NotPossibleError, match="among 4"):
        Adaptive(otherwise=None, embed=letters).fit(training(hopeless, Scripted({})))
    with pytest.raises(NotPossibleError, match="among 0"):
        Adaptive(embed=letters).fit(training([], Scripted({})))


def test_dearer_strategies_are_not_paid_for_where_simpler_ones_are_right():
    data = training([query("0", "zzz", ["x"])], Stepping({}))
    Adaptive(embed=letters).fit(data)
    assert len(data.generator.asked) == 2  # those of the labels


def test_a_class_without_training_questions_survives_being_kept(tmp_path):
    method = Adaptive(embed=letters)
    method.fit(training(planted(3)[:1], Stepping({})))
    method.save(tmp_path)
    other = Adaptive(embed=letters)
    other.load(tmp_path)
    assert other.complexity("mmm") is Complexity.NONE
    with pytest.raises(NotPossibleError, match="fit it first"):
        Adaptive(embed=letters).complexity("who")
