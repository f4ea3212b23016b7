"""AAR: its loss against a loop, hard negatives against a plain ranking, and preferences that are planted."""

import math
from dataclasses import replace

import numpy as np
import pytest

from analysis.rag.protocols import Document
from analysis.rag.uplift_rag.baselines import aar
from analysis.rag.uplift_rag.baselines.aar import Aar, most_preferred
from analysis.rag.uplift_rag.baselines.embeddings import BiEncoder, contains_answer
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings, NotPossibleError
from tests.analysis.rag.neural import torch
from tests.analysis.rag.uplift_rag import planted as plants
from tests.analysis.rag.uplift_rag.baselines.known import Scripted, query, training

WORDS = ["abc", "bcd", "cde", "zzz", "yes", "xxx", "bb", "cc"]


@pytest.fixture(scope="module")
def settings(tmp_path_factory) -> BaselineSettings:
    model = str(plants.encoder(tmp_path_factory.mktemp("aar") / "bert", layers=1, width=32, words=WORDS))
    return BaselineSettings(feed=1, embedder=model, device="cpu", epochs=4, learning_rate=3e-3, batch=4)


@pytest.fixture(scope="module")
def encoder(settings) -> BiEncoder:
    return BiEncoder(settings.embedder, device="cpu")


def test_the_loss_is_that_of_a_plain_loop(encoder):
    rows = [["abc 1", "zzz 1", "bcd 1", "cde"], ["abc 2", "zzz 2", "bb"]]
    total = 0.0
    for question, *documents in rows:
        vectors = encoder.embed([question, *documents])
        scores = [float(vectors[0] @ each) / aar.TEMPERATURE for each in vectors[1:]]
        total -= math.log(math.exp(scores[0]) / sum(map(math.exp, scores)))
    with torch.no_grad():
        assert float(aar.contrast(encoder, rows)) == pytest.approx(total / 2, rel=1e-4)


def test_vectors_are_of_length_one_and_do_not_depend_on_what_stands_beside(encoder):
    texts = ["abc 1", "zzz 1 bcd cde bb cc", ""]
    together = encoder.embed(texts)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(together, [encoder.embed([each])[0] for each in texts], atol=1e-5)


def test_hard_negatives_are_what_the_encoder_ranks_highest_now_but_no_right_answer(encoder, monkeypatch):
    monkeypatch.setattr(aar, "HARD", 3)
    own = aar.Contrast("abc 1", ("yes",), ("zzz 1",), ("bcd 1",))
    texts = ["zzz 1", "bcd 1", "abc yes", "abc 1", "cde 1", "bb"]
    index = aar._Index(encoder, [own], texts, np.random.default_rng(0), 2)
    index.refresh()
    vectors = encoder.embed([own.question, *texts])
    ranked = [texts[place] for place in np.argsort(-(vectors[1:] @ vectors[0]))][:4]
    assert index._hard == [[each for each in ranked if each not in ("zzz 1", "abc yes")]]
    assert index.pairs == [(0, "zzz 1")]


def planted(n: int, first: int = 0) -> list:
    """The generator likes what is written in z, wherever it stands; the retriever does not."""
    found = []
    for i in range(first, first + n):
        texts = [f"abc {i}", f"bcd {i}", f"cde {i}"]
        texts.insert(i % 4, f"zzz {i}")
        found.append(query(str(i), f"cc abc {i}", texts))
    return found


def first(method: Aar, asked: list) -> float:
    """How often the planted document stands first."""
    return float(np.mean([method.ranked(each, each.documents)[0].text.startswith("zzz") for each in asked]))


@pytest.mark.extended
@pytest.mark.parametrize("likes", [None, {"zzz": 2.0}])
def test_planted_preferences_train_the_encoder_and_are_found_in_unseen_questions(settings, likes):
    generator = Scripted({"zzz": "yes"} if likes is None else {}, likes=likes)
    method, unseen = Aar(settings), planted(12, first=40)
    untrained = Aar(settings)
    untrained.encoder = BiEncoder(settings.embedder, device="cpu")
    method.fit(training(planted(24), generator, held_out=planted(8, first=24)))
    assert first(untrained, unseen) < 0.5 < 0.9 < first(method, unseen)
    for each in unseen[:2]:
        found = method.answer(each, each.documents, generator)
        assert found.documents == (f"{each.id}-{int(each.id) % 4}",)
    before = untrained.encoder.model.state_dict()
    moved = [name for name, now in method.encoder.model.state_dict().items() if not torch.equal(now, before[name])]
    assert [name for name in moved if "attention" in name]
    assert [name for name in moved if "word_embeddings" in name]


def test_with_a_patience_the_best_epoch_of_what_is_held_out_is_taken(settings):
    """What is held out prefers the opposite: the first epoch harms it least."""
    generator = Scripted({"zzz": "yes"})
    data = training(planted(16), generator)
    other = Scripted({"bcd": "yes"})
    data = replace(data, held_out=training(planted(8, first=16), other).labelled)
    taken = []
    for patience in (None, 1):
        method = Aar(replace(settings, patience=patience, epochs=3))
        method.fit(replace(data, rng=np.random.default_rng(0)))
        taken.append(aar.held_out_loss(method.encoder, method._contrasts(data.held_out, data)))
    assert taken[1] < taken[0]


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


def test_what_contains_a_right_answer_counts_as_marked_and_so_does_what_the_data_says(settings):
    data = training([query("0", "abc", ["bcd", "zzz yes", "cde"])], Scripted({}))  # likes nothing more than anything
    (found,) = Aar(settings)._contrasts(data.labelled, data)
    assert (found.positives, found.others) == (("zzz yes",), ("bcd", "cde"))
    (only,) = data.labelled
    told = tuple(replace(each, is_helpful=each.text == "cde") for each in only.documents)
    (found,) = Aar(settings)._contrasts([replace(only, documents=told)], data)
    assert (found.positives, found.others) == (("cde",), ("bcd", "zzz yes"))


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


def test_nothing_to_prefer_is_said(settings, tmp_path):
    same = [query(str(i), "abc", ["bcd", "cde"]) for i in range(3)]
    with pytest.raises(NotPossibleError, match="3"):
        Aar(settings).fit(training(same, Scripted({})))
    with pytest.raises(NotPossibleError, match="0"):
        Aar(settings).fit(training([], Scripted({})))
    with pytest.raises(NotPossibleError):
        Aar(settings).save(tmp_path)
