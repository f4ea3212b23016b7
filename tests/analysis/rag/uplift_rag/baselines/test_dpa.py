"""DPA-RAG: its losses against loops, its weighing against a grid, its reranker on planted preferences."""

import math
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np
import pytest

from analysis.rag.generation import model_cache
from analysis.rag.protocols import Output
from analysis.rag.uplift_rag import reranker
from analysis.rag.uplift_rag import training as uplift_training
from analysis.rag.uplift_rag.baselines import dpa, dpa_trainer
from analysis.rag.uplift_rag.baselines.dpa import ALIGNMENT, Dpa, preferred
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings, NotPossibleError
from analysis.rag.uplift_rag.training import examples
from analysis.rag.uplift_rag.training_loop import TrainingMemoryError
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch
from tests.analysis.rag.uplift_rag.baselines.known import Scripted, query, training, words


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return str(tiny.bert(tmp_path_factory.mktemp("dpa") / "bert", layers=1))


def settings(encoder: str, **more) -> BaselineSettings:
    return BaselineSettings(**{"encoder": encoder, "device": "cpu", "epochs": 25, "learning_rate": 1e-2, "batch": 2,
                               "feed": 1, "metric": "em", **more})  # fmt: skip


def planted(n: int, first: int = 0) -> list:
    """`cat` turns the wrong answer right where the dog is asked for, `barks` the right one wrong where the cat is."""
    return [
        query(str(i), "is the dog", ["a mat", "of night", "the cat sat"])
        if i % 2
        else query(str(i), "of the mat", ["the dog barks", "a night"])
        for i in range(first, first + n)
    ]


GENERATOR = {"of the mat": "yes", "the cat sat": "yes", "the dog barks": "no"}


def plainly(scores: list[list[float]], uplift: list[list[float]]) -> list[float]:
    point, pair, contrast = [], [], []
    for query_scores, gains in zip(scores, uplift, strict=True):
        for s, u in zip(query_scores, gains, strict=True):
            if u != 0:
                p = 1 / (1 + math.exp(-s))
                point.append(-math.log(p if u > 0 else 1 - p))
        for (s, u), (other, v) in product(zip(query_scores, gains, strict=True), repeat=2):
            if u > v:
                pair.append(-math.log(1 / (1 + math.exp(other - s))))
        lower = [s for s, u in zip(query_scores, gains, strict=True) if u < max(gains)]
        for s, u in zip(query_scores, gains, strict=True):
            if u == max(gains) and lower:
                contrast.append(-math.log(math.exp(s) / (math.exp(s) + sum(map(math.exp, lower)))))
    return [sum(each) / len(each) for each in (point, pair, contrast)]


def test_the_losses_are_those_of_a_plain_loop():
    rng = np.random.default_rng(2)
    uplift = [[1.0, 0.0, 0.0, 1.0], [0.0, -1.0, -0.5], [0.0, 0.0]]
    logits = torch.tensor(rng.normal(size=(9, 2)), requires_grad=True)
    s = (logits[:, 1] - logits[:, 0]).tolist()
    found = dpa_trainer.losses(logits, torch.tensor([u for each in uplift for u in each]), [4, 3, 2])
    expected = plainly([s[:4], s[4:7], s[7:]], uplift)
    np.testing.assert_allclose([float(each.detach()) for each in found], expected, rtol=1e-6)


def test_documents_that_change_nothing_have_no_loss():
    assert dpa_trainer.losses(torch.zeros((3, 2)), torch.zeros(3), [3]) == []
    # All equally aligned: nothing to compare, but to tell.
    assert len(dpa_trainer.losses(torch.zeros((2, 2)), torch.ones(2), [2])) == 1


def test_the_shortest_combination_is_that_of_a_fine_grid():
    rng = np.random.default_rng(3)
    grid = [(a, b, 200 - a - b) for a in range(201) for b in range(201 - a)]
    for _ in range(25):
        gradients = rng.normal(size=(3, 4)) + rng.normal(size=4)
        found = dpa_trainer.weights(gradients)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        shortest = np.linalg.norm((np.array(grid) / 200) @ gradients, axis=1).min()
        combined = found @ gradients
        assert np.linalg.norm(combined) <= shortest + 1e-9
        # Down for all at once: no objective's slope along it is less than its own length squared.
        assert np.all(gradients @ combined >= combined @ combined - 1e-9)


@pytest.mark.parametrize("gradients", [[[1.0, 0.0]] * 3, [[1.0, 0.0], [-2.0, 0.0]], [[3.0, 4.0]]])
def test_equal_opposite_and_single_gradients(gradients):
    found = dpa_trainer.weights(np.array(gradients))
    assert found.sum() == pytest.approx(1)
    length = {3: 1.0, 2: 0.0, 1: 5.0}[len(gradients)]
    assert np.linalg.norm(found @ np.array(gradients)) == pytest.approx(length)


def test_an_objective_that_is_done_has_no_weight():
    logits = torch.zeros((2, 2), requires_grad=True)
    parts = [logits[0, 0] * 3, (logits**2).sum(), logits[1, 1]]
    found = dpa_trainer.weigh(parts, logits)
    assert found[1] == 0
    assert sum(found) == pytest.approx(1)
    assert dpa_trainer.weigh([(logits**2).sum()] * 2, logits) == [0.5, 0.5]


@pytest.mark.extended
def test_it_learns_planted_preferences_and_asks_with_a_doubt(encoder, tmp_path):
    generator = Scripted(GENERATOR)
    method = Dpa(settings(encoder), augments=False)
    method.fit(training(planted(8), generator))
    for each, best in zip(planted(2, first=50), ["50-1", "51-2"], strict=True):
        found = method.answer(each, each.documents, generator)
        assert (found.text, found.documents) == ("yes", (best,))
        assert ALIGNMENT in words(generator.asked[-1])
    method.save(tmp_path)
    other = Dpa(settings(encoder), augments=False, self_alignment=False)
    other.load(tmp_path)
    assert other.answer(each, each.documents, generator).documents == (best,)
    assert ALIGNMENT not in words(generator.asked[-1])
    assert other.answer(each, (), generator).documents == ()


class Rewriting(Scripted):
    """Writes a question anew by the way it is asked for, and says of one way that nothing follows."""

    def _output(self, prompt):
        text = words(prompt)
        if prompt.choices:
            return Output("no" if "SPARQL" in text.partition("Passage:")[2] else "yes")
        way = next((way for way in dpa.WAYS.values() if way in text), "")
        if "Decompose" in way:
            return Output("", error="refused")
        question = text.partition("Question: ")[2]
        if way:
            return Output(question if "Rephrase" in way else f"{way.split()[-1]} {question}")
        return super()._output(prompt)


def test_questions_are_written_anew_in_five_ways_and_what_does_not_hold_is_left_out():
    generator = Rewriting(GENERATOR)
    data = training(planted(2), generator).labelled
    generator.asked.clear()
    found = dpa.augmented(data, generator, lambda *_said: None)
    asked = [each for each in generator.asked if not each.choices]
    assert len(asked) == 5 * 2
    assert len({words(each) for each in asked}) == 10
    # Of rephrasing the same came back, decomposition was refused, and of SPARQL nothing follows.
    assert [each.query.question.split()[0] for each in found] == ["question.", "question."] * 2
    for place, each in enumerate(found):
        original = data[place // 2]
        assert each.query.question.endswith(original.query.question)
        assert (each.documents, each.alone, each.query.answers) == (
            original.documents, original.alone, original.query.answers,
        )  # fmt: skip


def test_the_reranker_learns_from_new_questions_too(encoder, monkeypatch):
    seen: list[list[str]] = []
    train = dpa_trainer.train
    monkeypatch.setattr(
        dpa_trainer, "train",
        lambda model, labelled, *args, **named: seen.append([each.query.question for each in labelled])
        or train(model, labelled, *args, **named),
    )  # fmt: skip
    generator = Rewriting(GENERATOR)
    Dpa(settings(encoder, epochs=1)).fit(training(planted(2), generator))
    assert len(seen[0]) == 2 + 4
    assert [each.form for each in (Dpa(settings(encoder)),)] == ["dpa_reranker"]


def test_the_epoch_that_held_out_queries_like_best_is_kept(encoder):
    method, generator = Dpa(settings(encoder, epochs=6, patience=2), augments=False), Scripted(GENERATOR)
    data = training(planted(6), generator, held_out=planted(2))
    seen = []
    report = lambda done, total, _message: seen.append((done, total))  # noqa: E731
    method.fit(type(data)(data.labelled, data.held_out, generator, np.random.default_rng(0), report))
    assert seen[0] == (1, 18)  # steps
    watched = examples(method._fitted(), data.held_out)
    kept = dpa_trainer.loss(method._fitted(), watched)
    untrained = Dpa(settings(encoder, epochs=1, learning_rate=1e-12), augments=False)
    untrained.fit(training(planted(6), generator))
    assert kept < dpa_trainer.loss(untrained._fitted(), watched)


def weights(model) -> np.ndarray:
    return np.concatenate([each.detach().numpy().ravel() for each in model.model.parameters()])


def fitted(encoder, monkeypatch, most: int, **more):
    """A reranker trained where so many documents fit into memory at once while training."""
    start = reranker.start

    def small(*args, **named):
        model = start(*args, **named)
        for part in model.model.modules():
            if isinstance(part, torch.nn.Dropout):
                part.p = 0.0  # what drops out depends on what is read together
        forward = model.logits

        def short(pairs):
            if len(pairs) > most:
                raise torch.OutOfMemoryError
            return forward(pairs)

        monkeypatch.setattr(model, "logits", short)
        return model

    monkeypatch.setattr(reranker, "start", small)
    method = Dpa(settings(encoder, **{"epochs": 2, "batch": 4, **more}), augments=False)
    method.fit(training(planted(8), Scripted(GENERATOR), seed=3))
    monkeypatch.setattr(reranker, "start", start)
    return method._fitted()


def test_too_little_memory_trains_fewer_queries_at_a_time_to_the_same_weights(encoder, monkeypatch):
    whole, parts = fitted(encoder, monkeypatch, 99), fitted(encoder, monkeypatch, 3)
    untrained = fitted(encoder, monkeypatch, 99, learning_rate=1e-12)
    moved = np.abs(weights(whole) - weights(untrained)).max()
    assert np.abs(weights(whole) - weights(parts)).max() < moved / 100
    with pytest.raises(TrainingMemoryError):
        fitted(encoder, monkeypatch, 1)


def test_the_length_and_the_end_of_training_are_those_that_are_set(encoder):
    method = Dpa(settings(encoder, epochs=1, longest=9), augments=False)
    method.fit(training(planted(4), Scripted(GENERATOR)))
    assert method._fitted().longest == 9
    seen: list[int] = []
    data = training(planted(4), Scripted(GENERATOR), held_out=planted(2))
    report = lambda done, _total, _message: seen.append(done)  # noqa: E731
    watching = type(data)(data.labelled, data.held_out, data.generator, np.random.default_rng(0), report)
    Dpa(settings(encoder, epochs=5, learning_rate=1e-12, patience=1), augments=False).fit(watching)
    assert len(seen) < 10
    seen.clear()
    Dpa(settings(encoder, epochs=5, learning_rate=1e-12), augments=False).fit(watching)
    assert len(seen) == 10  # without patience all epochs of two steps


def test_equal_seeds_train_equal_rerankers(encoder):
    asked, found = planted(1)[0], []
    for _ in range(2):
        method = Dpa(settings(encoder, epochs=2), augments=False)
        method.fit(training(planted(6), Scripted(GENERATOR), seed=9))
        found.append(method._fitted().probabilities(asked.question, asked.documents))
    np.testing.assert_array_equal(*found)


def test_documents_that_change_no_answer_teach_nothing(encoder, tmp_path):
    same = [query(str(i), "is the dog", ["a mat", "of"]) for i in range(3)]
    with pytest.raises(NotPossibleError, match="3"):
        Dpa(settings(encoder), augments=False).fit(training(same, Scripted({})))
    with pytest.raises(NotPossibleError, match="0"):
        Dpa(settings(encoder), augments=False).fit(training([], Scripted({})))
    with pytest.raises(NotPossibleError):
        Dpa(settings(encoder), augments=False).save(tmp_path)
    assert preferred([]) == []


def test_the_device_is_held_for_each_step_and_each_scoring(encoder, monkeypatch):
    """Uplift's own training and DPA's: the whole of a step, and nothing between two."""
    held: list[Any] = []
    turns: list[bool] = []
    forward = reranker.Reranker._forward

    @contextmanager
    def one_job(device, **_options):
        held.append(device)
        yield
        held.remove(device)

    def watched(self, chunk):
        turns.append(bool(held))
        return forward(self, chunk)

    monkeypatch.setattr(model_cache, "one_job", one_job)
    monkeypatch.setattr(reranker.Reranker, "_forward", watched)
    free: list[bool] = []
    data = training(planted(4), Scripted(GENERATOR), held_out=planted(2))
    report = lambda *_said: free.append(not held)  # noqa: E731
    method = Dpa(settings(encoder, epochs=2, patience=2), augments=False)
    method.fit(type(data)(data.labelled, data.held_out, data.generator, np.random.default_rng(0), report))
    own = reranker.start(encoder, rng=np.random.default_rng(0), device="cpu")
    uplift_training.train(own, data.labelled, rng=np.random.default_rng(0), held_out=data.held_out, report=report)
    own.probabilities("who", data.labelled[0].documents)
    assert len(turns) > 10
    assert all(turns)
    assert all(free)
    assert held == []
