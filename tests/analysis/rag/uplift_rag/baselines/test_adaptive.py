"""Adaptive-RAG: its classifier's loss, labels, routes and steps on planted questions."""

import numpy as np
import pytest

from analysis.rag.uplift_rag.baselines import question_classifier
from analysis.rag.uplift_rag.baselines.adaptive import LABELS, Adaptive, Complexity
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings, NotPossibleError, run_steps
from tests.analysis.rag.neural import torch
from tests.analysis.rag.uplift_rag import planted as plants
from tests.analysis.rag.uplift_rag.baselines.known import WRONG, Scripted, letters, query, training, words

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
def settings(tmp_path_factory) -> BaselineSettings:
    words = ["zzz", "aaa", "mmm", "www", "key"]
    model = str(plants.encoder(tmp_path_factory.mktemp("adaptive") / "bert", layers=1, width=32, words=words))
    return BaselineSettings(feed=4, encoder=model, device="cpu", epochs=12, learning_rate=1e-2, batch=4)


def test_planted_complexities_train_a_language_model_and_route_unseen_questions(settings, tmp_path):
    method, generator = Adaptive(settings, embed=letters), Stepping({})
    method.fit(training(planted(24), generator))
    for each in planted(12, first=90):
        kind = KINDS[each.question.split()[0]]
        assert method.complexity(each.question) is kind
        found = method.answer(each, each.documents, generator)
        assert found.text == "yes"
        # Of several hops: two thoughts with retrieval between them, then the answer.
        assert (len(found.documents), len(found.outputs)) == {0: (0, 1), 1: (4, 1), 2: (4, 3)}[int(kind)]
    before = question_classifier.start(settings.encoder, LABELS, rng=np.random.default_rng(0), settings=settings)
    weights = before.model.state_dict()
    moved = [name for name, now in method._fitted().model.state_dict().items() if not torch.equal(now, weights[name])]
    assert [name for name in moved if "encoder.layer" in name]
    method.save(tmp_path)
    again = Adaptive(settings, embed=letters)
    again.load(tmp_path)
    asked = [each.question for each in planted(12, first=90)]
    assert [again.complexity(each) for each in asked] == [method.complexity(each) for each in asked]


def test_its_loss_is_the_cross_entropy_of_the_labels(settings):
    made = question_classifier.start(settings.encoder, LABELS, rng=np.random.default_rng(0), settings=settings)
    with torch.no_grad():
        logits = made.logits(["zzz", "aaa 1 mmm"]).double().numpy()
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.log([p[0, 2], p[1, 0]]).mean()
    with torch.no_grad():
        assert float(made._loss(["zzz", "aaa 1 mmm"], [2, 0])) == pytest.approx(expected, rel=1e-5)
    assert made.classes([]).size == 0


def test_several_steps_read_what_thoughts_ask_for_and_count_all_prompts():
    asked, generator = planted(3)[2], Stepping({})
    (found,) = run_steps([Adaptive(BaselineSettings(feed=4), embed=letters).several(asked, asked.documents)], generator)
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
    method = Adaptive(BaselineSettings(feed=4), steps=5, embed=letters)
    (found,) = run_steps([method.several(asked, asked.documents)], generator)
    assert len(generator.asked) == thoughts + 1
    assert len(found.documents) == (3 if thoughts == 2 else 2)


def test_what_no_strategy_answers_is_labelled_by_the_data_set_or_left_out(settings):
    hopeless = [query(str(i), f"www {i}", ["x"]) for i in range(4)]
    for otherwise in (Complexity.ONE, Complexity.SEVERAL):
        method = Adaptive(settings, otherwise=otherwise, embed=letters)
        method.fit(training(hopeless, Scripted({})))
        assert {method.complexity(each) for each in ("zzz", "aaa", "mmm 1")} == {otherwise}
    with pytest.raises(NotPossibleError, match="4"):
        Adaptive(otherwise=None, embed=letters).fit(training(hopeless, Scripted({})))
    with pytest.raises(NotPossibleError, match="0"):
        Adaptive(embed=letters).fit(training([], Scripted({})))


def test_dearer_strategies_are_not_paid_for_where_simpler_ones_are_right(settings):
    data = training([query("0", "zzz", ["x"])], Stepping({}))
    Adaptive(settings, embed=letters).fit(data)
    assert len(data.generator.asked) == 2  # those of the labels


def test_a_class_without_training_questions_is_never_said(settings, tmp_path):
    method = Adaptive(settings, embed=letters)
    method.fit(training(planted(3)[:1], Stepping({})))
    method.save(tmp_path)
    other = Adaptive(settings, embed=letters)
    other.load(tmp_path)
    for found in (method, other):
        assert {found.complexity(each) for each in ("zzz", "aaa", "mmm 1", "www")} == {Complexity.NONE}
    with pytest.raises(NotPossibleError):
        Adaptive(embed=letters).complexity("who")
