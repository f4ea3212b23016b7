"""The cross-encoder: relevance, trained on tiny models, and used ready-made as transformers has it."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.rag.generation.devices import ModelMemoryError
from analysis.rag.protocols import Document
from analysis.rag.uplift_rag.baselines.cross_encoder import CrossEncoder, Ready, relevance
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings, NotPossibleError
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch, transformers
from tests.analysis.rag.uplift_rag.baselines.known import Scripted, query, training


@pytest.fixture(scope="module")
def encoder(tmp_path_factory) -> str:
    return str(tiny.bert(tmp_path_factory.mktemp("cross") / "bert", layers=1))


def settings(encoder: str, **more) -> BaselineSettings:
    return BaselineSettings(encoder=encoder, device="cpu", epochs=40, learning_rate=5e-3, batch=2, feed=1, **more)


def planted(n: int) -> list:
    """What barks holds the answer, which is `loud`; the retriever's first never does."""
    return [query(str(i), "is the dog", ["the cat sat", "the dog barks loud", "a mat"], ["loud"]) for i in range(n)]


def test_relevance_is_what_the_data_says_else_whether_an_answer_is_contained():
    documents = (
        Document("1", "loud", is_helpful=False), Document("2", "loud"), Document("3", "cat"),
        Document("4", "cat", is_helpful=True),
    )  # fmt: skip
    asked = query("q", "who", [], ["the", "Loud!"])
    found = relevance(LabelledQuery(asked, documents, "loud", ("loud", "", "loud", "")))
    assert found is not None
    assert found.uplift.tolist() == [0, 1, 0, 1]
    assert relevance(LabelledQuery(asked, (), "", ())) is None
    for answers in ([], ["the"]):
        assert relevance(LabelledQuery(query("q", "who", ["x"], answers), documents, "", ("",) * 4)) is None


def test_it_learns_planted_relevance_whatever_the_generator_makes_of_it(encoder, tmp_path):
    generator = Scripted({"cat": "loud"})  # which is helped by what is irrelevant
    method = CrossEncoder(settings(encoder))
    method.fit(training(planted(4), generator))
    (asked,) = planted(1)
    assert method.answer(asked, asked.documents, generator).documents == ("0-1",)
    method.save(tmp_path)
    other = CrossEncoder(settings(encoder))
    other.load(tmp_path)
    np.testing.assert_allclose(
        other.scores(asked.question, asked.documents), method.scores(asked.question, asked.documents), atol=1e-6
    )


@pytest.mark.parametrize("logits", [1, 2])
def test_a_ready_one_scores_as_transformers_does_pair_by_pair(encoder, tmp_path, logits):
    torch.manual_seed(4)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=logits).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    method = CrossEncoder(settings(encoder, cross_encoder=str(tmp_path)))
    method.fit(training([], Scripted({})))  # nothing to learn, so nothing to learn from is needed
    method.save(tmp_path)
    method.load(tmp_path)
    (asked,) = planted(1)
    expected = []
    for each in asked.documents:
        with torch.inference_mode():
            row = model(**tokenizer(asked.question, each.text, return_tensors="pt")).logits[0]
        expected.append(float(row[0] if logits == 1 else row[1] - row[0]))
    np.testing.assert_allclose(method.scores(asked.question, asked.documents), expected, atol=1e-5)
    best = method.answer(asked, asked.documents, Scripted({})).documents
    assert best == (asked.documents[int(np.argmax(expected))].id,)


def test_a_ready_one_takes_fewer_documents_at_a_time_where_memory_is_short(encoder, tmp_path, monkeypatch):
    transformers.AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=1).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(encoder).save_pretrained(tmp_path)
    documents = [Document(str(i), "the cat sat " * (i + 1)) for i in range(5)]
    ready = Ready(str(tmp_path), "cpu")
    expected, forward, most = ready.scores("who", documents), ready._predict, 2
    assert ready.scores("who", []).shape == (0,)

    def short(pairs):
        if len(pairs) > most:
            raise torch.OutOfMemoryError
        return forward(pairs)

    monkeypatch.setattr(ready, "_predict", short)
    np.testing.assert_allclose(ready.scores("who", documents), expected, atol=1e-5)
    most = 0
    with pytest.raises(ModelMemoryError):
        ready.scores("who", documents)


def test_it_is_trained_with_what_is_set(encoder):
    given = settings(encoder, longest=9, warm_up=0.25, patience=3, precision="half")
    watched, unwatched = given.schedule(), given.schedule(is_watched=False)
    assert (watched.patience, watched.warm_up, watched.epochs, watched.batch) == (3, 0.25, 40, 2)
    assert unwatched.patience is None
    assert settings(encoder).schedule().patience is None
    method = CrossEncoder(replace(given, epochs=1))
    method.fit(training(planted(2), Scripted({})))
    assert (method._fitted().longest, method._fitted().precision) == (9, "half")


def test_a_model_of_many_classes_is_refused(encoder, tmp_path):
    transformers.AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=3).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(encoder).save_pretrained(tmp_path)
    with pytest.raises(NotPossibleError, match="3"):
        CrossEncoder(settings(encoder, cross_encoder=str(tmp_path))).scores("who", planted(1)[0].documents)


@pytest.mark.parametrize("texts", [["loud", "loud dog"], ["cat", "mat"]])
def test_labels_that_are_all_equal_teach_nothing(encoder, texts):
    same = [query(str(i), "is the dog", texts, ["loud"]) for i in range(3)]
    with pytest.raises(NotPossibleError, match="3"):
        CrossEncoder(settings(encoder)).fit(training(same, Scripted({})))
    with pytest.raises(NotPossibleError, match="0"):
        CrossEncoder(settings(encoder)).fit(training([], Scripted({})))
    with pytest.raises(NotPossibleError):
        CrossEncoder(settings(encoder)).scores("who", planted(1)[0].documents)
