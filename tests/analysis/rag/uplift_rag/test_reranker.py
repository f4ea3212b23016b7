"""The reranker: planted uplift is found, training is what a plain loop of transformers does, artifacts are usable."""

import json
from pathlib import Path

import numpy as np
import pytest

from analysis.rag.generation.devices import ModelMemoryError
from analysis.rag.protocols import Document, Query
from analysis.rag.uplift_rag import reranker, training, uplift_labels
from analysis.rag.uplift_rag import variants as uplift_rag_method
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings, NotPossibleError, Training
from analysis.rag.uplift_rag.training import Weights, losses
from analysis.rag.uplift_rag.training_loop import Schedule, TrainingMemoryError
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch
from tests.analysis.rag.uplift_rag import planted

FAST = Schedule(epochs=8, learning_rate=2e-3, warm_up=0.1)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return str(planted.encoder(tmp_path_factory.mktemp("models") / "bert"))


def labelled(n: int, seed: int) -> list[LabelledQuery]:
    generator = planted.Planted()
    queries = planted.queries(n, np.random.default_rng(seed))
    return [uplift_labels.label(query, query.documents, generator)[0] for query in queries]


@pytest.fixture(scope="module")
def data() -> list[LabelledQuery]:
    return labelled(150, 0)


def made(encoder: str, seed: int = 0, **options) -> reranker.Reranker:
    return reranker.start(encoder, rng=np.random.default_rng(seed), device="cpu", **options)


def weights_of(model: reranker.Reranker) -> np.ndarray:
    return torch.cat([each.detach().flatten() for each in model.model.parameters()]).numpy()


def found(model: reranker.Reranker, tested: list[LabelledQuery]) -> tuple[float, float]:
    """Precision and recall of the documents that are believed to help."""
    chosen = np.concatenate([model.probabilities(each.query.question, each.documents) > 0.5 for each in tested])
    helpful = np.concatenate([each.helpful for each in tested])
    return (chosen & helpful).sum() / chosen.sum(), (chosen & helpful).sum() / helpful.sum()


@pytest.mark.extended
def test_planted_uplift_is_found(encoder, data):
    """Helpful is what has the pattern, but only where the question is of those that the generator cannot answer."""
    model = made(encoder)
    history = training.train(model, data[:100], rng=np.random.default_rng(1), schedule=FAST)
    precision, recall = found(model, data[100:])
    assert precision >= 0.95
    assert recall >= 0.95
    assert history.documents == 600
    assert history.helpful == sum(each.helpful.sum() for each in data[:100])
    assert history.epochs[-1].point < 0.1 * history.epochs[0].point
    assert (history.best, history.stopped_early) == (8, False)


def plainly(
    model: reranker.Reranker, data: list[LabelledQuery], order: list[int], schedule: Schedule, weights: Weights
) -> None:
    """A textbook loop: one padded batch a step, the optimiser and schedule of torch as they come."""
    from transformers import get_linear_schedule_with_warmup

    optimizer = torch.optim.AdamW(
        model.model.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay, foreach=False
    )
    rate = get_linear_schedule_with_warmup(optimizer, 0, len(order) // schedule.batch)
    model.model.train()
    for at in range(0, len(order), schedule.batch):
        batch = [data[place] for place in order[at : at + schedule.batch]]
        questions = [each.query.question for each in batch for _document in each.documents]
        texts = [document.text for each in batch for document in each.documents]
        encoded = model.tokenizer(questions, texts, padding=True, truncation=True, return_tensors="pt")
        uplift = torch.tensor(np.concatenate([each.uplift for each in batch]), dtype=torch.float32)
        logits = model.model(**encoded).logits
        loss = losses(logits, uplift, [len(each.documents) for each in batch]).total(weights) / len(batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.model.parameters(), schedule.clip)
        optimizer.step()
        rate.step()


@pytest.mark.parametrize("chunk_tokens", [100_000, 150, 1])
def test_training_is_what_a_plain_loop_does(encoder, data, chunk_tokens):
    """Batches sorted and cut by length come to the same weights as one padded batch."""
    schedule, weights = Schedule(epochs=1, learning_rate=1e-3, batch=3), Weights(0.5, 2, 1)
    model, plain = made(encoder), made(encoder)
    model.chunk_tokens = chunk_tokens
    training.train(model, data[:12], rng=np.random.default_rng(5), schedule=schedule, weights=weights)
    rng = np.random.default_rng(5)
    rng.integers(2**63)  # torch's seed
    plainly(plain, data, rng.permutation(12).tolist(), schedule, weights)
    np.testing.assert_allclose(weights_of(model), weights_of(plain), atol=2e-5)


def test_equal_seeds_give_equal_weights_and_leave_torch_alone(encoder, data):
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    schedule = Schedule(epochs=1, learning_rate=1e-3)
    models = [made(encoder), made(encoder), made(encoder, seed=1)]
    for model in models:
        training.train(model, data[:8], rng=np.random.default_rng(2), schedule=schedule)
    first, second, other = map(weights_of, models)
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-3
    assert torch.equal(torch.random.get_rng_state(), before)


def test_too_little_memory_trains_fewer_queries_at_a_time_to_the_same_weights(encoder, data, monkeypatch):
    schedule = Schedule(epochs=1, learning_rate=1e-3, batch=4)
    whole, parts = made(encoder), made(encoder)
    training.train(whole, data[:8], rng=np.random.default_rng(0), schedule=schedule)
    forward = parts.logits

    def short(pairs):
        if len(pairs) > 6:
            raise torch.OutOfMemoryError
        return forward(pairs)

    monkeypatch.setattr(parts, "logits", short)
    training.train(parts, data[:8], rng=np.random.default_rng(0), schedule=schedule)
    np.testing.assert_allclose(weights_of(whole), weights_of(parts), atol=1e-5)
    monkeypatch.setattr(parts, "logits", lambda pairs: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(TrainingMemoryError):
        training.train(parts, data[:4], rng=np.random.default_rng(0), schedule=schedule)


def test_too_little_memory_reads_fewer_documents_at_a_time_to_the_same_probabilities(encoder, data, monkeypatch):
    question, documents = data[0].query.question, data[0].documents
    whole, parts = made(encoder), made(encoder)
    forward, sizes = parts._forward, []

    def short(pairs):
        sizes.append(len(pairs))
        if len(pairs) > 2:
            raise torch.OutOfMemoryError
        return forward(pairs)

    monkeypatch.setattr(parts, "_forward", short)
    expected = whole.probabilities(question, documents)
    np.testing.assert_allclose(parts.probabilities(question, documents), expected, atol=1e-6)
    assert max(sizes) == len(documents)
    sizes.clear()
    parts.probabilities(question, documents)
    assert max(sizes) <= 2  # what was found out stays
    monkeypatch.setattr(parts, "_forward", lambda pairs: (_ for _ in ()).throw(RuntimeError("CUDA out of memory")))
    with pytest.raises(ModelMemoryError):
        parts.probabilities(question, documents)
    monkeypatch.setattr(parts, "_forward", lambda pairs: (_ for _ in ()).throw(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        parts.probabilities(question, documents)


def test_it_stops_early_and_takes_the_best_epoch(encoder, data):
    """Held-out queries with labels turned round get worse as soon as anything is learnt."""
    turned = [
        LabelledQuery(each.query, each.documents, "unsure", tuple(
            "unsure" if helps else each.query.answers[0] for helps in each.helpful), each.metric)
        for each in data[100:120]
    ]  # fmt: skip
    schedule = Schedule(epochs=20, learning_rate=2e-3, patience=2)
    model = made(encoder)
    history = training.train(model, data[:60], held_out=turned, rng=np.random.default_rng(0), schedule=schedule)
    held_out = [each.held_out for each in history.epochs]
    assert history.stopped_early
    assert len(history.epochs) == history.best + 2 < 20
    assert min(held_out) == held_out[history.best - 1]
    again = training.Objectives(model, [], Weights()).loss(training.examples(model, turned))
    assert again == pytest.approx(held_out[history.best - 1], abs=1e-6)


def test_training_that_makes_no_sense_is_refused(encoder, data):
    model = made(encoder)
    with pytest.raises(training.NothingToLearnError):
        training.train(model, [], rng=np.random.default_rng(0))
    with pytest.raises(training.NothingToLearnError):
        training.train(model, data[:2], rng=np.random.default_rng(0), schedule=Schedule(patience=1))
    for wrong in ({"epochs": 0}, {"batch": 0}, {"learning_rate": 0}, {"warm_up": 1}, {"patience": 0}):
        with pytest.raises(ValueError, match="epoch"):
            Schedule(**wrong)


def test_a_trained_reranker_is_loaded_elsewhere_and_says_what_it_is(encoder, data, tmp_path: Path):
    settings = BaselineSettings(encoder=encoder, device="cpu", epochs=2, learning_rate=1e-3, longest=40)
    method = uplift_rag_method.Uplift(settings)
    split = Training(tuple(data[:10]), (), planted.Planted(), np.random.default_rng(0))
    method.fit(split)
    method.save(tmp_path)
    again = uplift_rag_method.Uplift(settings)
    again.load(tmp_path)
    query, documents = data[20].query, data[20].documents
    np.testing.assert_array_equal(again.probabilities(query, documents), method.probabilities(query, documents))
    about = json.loads((tmp_path / "reranker" / "uplift.json").read_text())
    assert about["trained_on"] == [each.query.id for each in data[:10]]
    assert (about["generator"], about["longest"], len(about["history"]["epochs"])) == ("planted-1", 40, 2)
    assert again.trained.about == about
    assert list((tmp_path / "reranker").glob("*.safetensors"))
    assert not list((tmp_path / "reranker").glob("*.bin"))
    with pytest.raises(reranker.NotARerankerError, match=r"uplift\.json"):
        reranker.load(encoder)


def test_variants_hand_over_what_they_say(encoder, data):
    settings = BaselineSettings(encoder=encoder, device="cpu", feed=2)
    query, documents = data[0].query, data[0].documents
    p = [0.2, 0.9, 0.7, 0.1, 0.95, 0.3]
    chosen = {}
    for name in uplift_rag_method.VARIANTS:
        method = uplift_rag_method.Uplift(settings, variant=name)
        method.believed = {query.id: p}
        chosen[name] = [documents.index(each) for each in method.select(query, documents)]
    whole = [4, 1, 2]
    assert chosen == {
        "uplift": whole, "without_point": whole, "without_pair": whole, "without_list": whole,
        "without_selection": [4, 1], "without_reranking": [1, 2, 4],
    }  # fmt: skip
    assert [each.trained_as for each in uplift_rag_method.VARIANTS.values()].count("uplift") == 3
    assert uplift_rag_method.VARIANTS["without_pair"].weights(Weights(2, 3, 1)) == Weights(2, 0, 1)
    with pytest.raises(NotPossibleError):
        uplift_rag_method.Uplift(settings).probabilities(query, documents)


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_any_encoder_gets_two_logits_and_reads_no_more_than_it_can(family, tmp_path):
    folder = getattr(tiny, family)(tmp_path / family)
    model = made(str(folder), longest=512)
    assert model.longest == {"bert": 32, "roberta": 24}[family]
    p = model.probabilities("the cat", [Document("1", "dog " * 300), Document("2", "", title="mat"), Document("3", "")])
    assert p.shape == (3,)
    assert ((p > 0) & (p < 1)).all()
    assert model.probabilities("the cat", []).shape == (0,)


def test_a_cross_encoders_one_logit_becomes_two(tmp_path):
    import transformers

    folder = tiny.bert(tmp_path / "bert")
    one = transformers.AutoModelForSequenceClassification.from_pretrained(folder, num_labels=1)
    one.save_pretrained(folder)
    assert made(str(folder)).model.classifier.out_features == 2


def test_all_uplift_equal_learns_that_nothing_helps(encoder):
    """One query, one document, nothing helps: defined, and the prompt without documents comes of it."""
    query = Query("q", "which obscure 1", ("answer 1",), (Document("d", "river stone"),))
    one = uplift_labels.label(query, query.documents, planted.Planted())[0]
    model = made(encoder)
    schedule = Schedule(epochs=30, learning_rate=1e-2)
    history = training.train(model, [one], rng=np.random.default_rng(0), schedule=schedule)
    assert history.helpful == 0
    assert model.probabilities(query.question, query.documents)[0] < 0.5
