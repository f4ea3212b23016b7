"""Whatever goes through a model in this process holds its device meanwhile, and says what it takes of the memory."""

from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.methods.reference_metrics import bertscore_runs
from analysis.rag import checkpoints, encoders
from analysis.rag.entailment import CrossEncoder
from analysis.rag.generation import model_cache
from analysis.rag.generation.model_cache import ModelCache
from analysis.rag.protocols import Document, Query
from analysis.rag.retrieval.dense import Dense
from analysis.rag.retrieval.splade import Splade
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch

QUERY = Query(
    "q", "the cat", (), tuple(Document(str(i), text) for i, text in enumerate(("a dog barks", "the cat sat")))
)


def by_bert(folder: Path) -> tuple[Any, Any, Callable[[Any], Any]]:
    found = encoders.load(str(tiny.bert(folder)), device="cpu")
    return found, found, lambda model: np.concatenate([each.vectors for each in model.encode(["cat", "a dog barks"])])


def by_dense(folder: Path) -> tuple[Any, Any, Callable[[Any], Any]]:
    found = Dense.load(str(tiny.bert(folder)), device="cpu")
    return found, found._encoder, lambda model: model.scores(QUERY)


def by_splade(folder: Path) -> tuple[Any, Any, Callable[[Any], Any]]:
    found = Splade.load(str(tiny.masked(folder)), device="cpu")
    return found, found, lambda model: model.scores(QUERY)


def by_entailment(folder: Path) -> tuple[Any, Any, Callable[[Any], Any]]:
    found = CrossEncoder.load(str(tiny.classifier(folder, ["entailment", "neutral"])), device="cpu")
    return found, found, lambda model: model.probabilities([("the cat sat", "a cat"), ("a dog", "the cat")])


OTHERS = [pytest.param(make, marks=pytest.mark.extended) for make in (by_dense, by_splade, by_entailment)]
KINDS = pytest.mark.parametrize("make", [by_bert, *OTHERS])


class StoppedError(Exception):
    pass


@KINDS
def test_a_device_is_held_as_long_as_something_goes_through_a_model(make, tmp_path: Path, monkeypatch):
    held: list[Any] = []
    seen: list[tuple[Any, ...]] = []

    @contextmanager
    def one_job(device, **_options):
        held.append(device)
        yield
        held.remove(device)

    model, inner, use = make(tmp_path / "model")
    forward = type(inner)._forward

    def watched(self, batch, *options):
        seen.append(tuple(held))
        return forward(self, batch, *options)

    monkeypatch.setattr(model_cache, "one_job", one_job)
    monkeypatch.setattr(type(inner), "_forward", watched)
    use(model)
    assert seen
    assert set(seen) == {(torch.device("cpu"),)}
    assert held == []


@KINDS
def test_between_batches_it_looks_whether_to_go_on(make, tmp_path: Path):
    model, _inner, use = make(tmp_path / "model")
    looked = []

    def stop() -> None:
        looked.append(None)
        raise StoppedError

    with pytest.raises(StoppedError), model_cache.looking(stop):
        use(model)
    assert len(looked) == 1
    use(model)  # nobody is asked outside


@KINDS
def test_where_memory_is_short_batches_become_smaller(make, tmp_path: Path, monkeypatch):
    model, inner, use = make(tmp_path / "model")
    whole, forward, sizes = use(model), inner._forward, []

    def short(batch, *options):
        sizes.append(len(batch))
        if len(batch) > 1:
            raise torch.OutOfMemoryError("out of memory")
        return forward(batch, *options)

    monkeypatch.setattr(inner, "_forward", short)
    np.testing.assert_allclose(use(model), whole, atol=2e-6)
    assert sizes.count(1) >= 2 == max(sizes)


@KINDS
def test_what_a_model_takes_is_counted_where_models_are_kept(make, tmp_path: Path):
    model, inner, _use = make(tmp_path / "model")
    weights = sum(each.numel() * each.element_size() for each in inner._model.parameters())
    assert model.bytes == weights > 0
    kept = ModelCache(room=2 * weights)
    kept.take("first", lambda: model)
    kept.take("second", lambda: model)
    assert kept.held() == ["first", "second"]
    kept.take("third", lambda: model)
    assert kept.held() == ["second", "third"]


def test_bertscore_keeps_its_encoder_among_the_other_models(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(model_cache, "MODELS", ModelCache())
    folder = str(tiny.bert(tmp_path / "model"))
    first = bertscore_runs.load(folder, 2)
    assert bertscore_runs.load(folder, 2) is first
    assert model_cache.MODELS.held() == [("bertscore", folder, 2)]
    assert bertscore_runs.load(folder, 1) is not first


def test_without_torch_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(checkpoints.NeuralPartsMissingError, match="neural"):
        ModelCache().take("a", lambda: None)
