"""Naive generation, standard RAG, REPLUG by votes."""

from itertools import product

import numpy as np
import pytest

from analysis.rag.protocols import Document, Output, Scored
from analysis.rag.qa_metrics import normalised
from analysis.rag.uplift_rag.baselines.catalogue import Naive, Standard
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings
from analysis.rag.uplift_rag.baselines.replug import Replug, vote, weigh
from tests.analysis.rag.uplift_rag.baselines.known import WRONG, Scripted, query, words

GENERATOR = {"gold": "yes", "fool": "no", "refuses": "FAIL"}


def test_naive_reads_no_document_and_standard_the_first_in_their_order():
    asked = query("q", "who", ["fool one", "plain two", "gold three"])
    for method, text, documents in [
        (Naive(), WRONG, ()),
        (Standard(BaselineSettings(feed=2)), "no", ("q-0", "q-1")),
        (Standard(BaselineSettings(feed=9)), "yes", ("q-0", "q-1", "q-2")),
    ]:
        generator = Scripted({"gold": "yes", "fool": "no"} if len(documents) == 3 else GENERATOR)
        found = method.answer(asked, asked.documents, generator)
        assert (found.text, found.documents) == (text, documents)
        (prompt,) = generator.asked
        assert found.prompt_tokens == len(words(prompt).split()) > 0
        assert [each.text in words(prompt) for each in asked.documents] == [
            each.id in documents for each in asked.documents
        ]


def test_without_documents_all_three_ask_the_same_prompt():
    asked = query("q", "who", [])
    prompts = set()
    for method in (Naive(), Standard(), Replug()):
        generator = Scripted({})
        assert method.answer(asked, (), generator).documents == ()
        prompts.update(generator.asked)
    assert len(prompts) == 1


def test_a_refusal_is_an_error_with_no_text():
    asked = query("q", "who refuses", ["plain"])
    for method in (Naive(), Standard(), Replug()):
        found = method.answer(asked, asked.documents, Scripted(GENERATOR))
        assert (found.text, found.error) == ("", "refused")


def test_replug_asks_once_a_document_and_counts_all_prompts():
    asked = query("q", "who", ["gold one", "fool two", "fool three", "plain"], scores=[0.9, 0.8, 0.7, 0.0])
    generator = Scripted(GENERATOR)
    found = Replug(BaselineSettings(feed=3)).answer(asked, asked.documents, generator)
    # Two that agree outweigh one that scores more.
    assert (found.text, found.documents) == ("no", ("q-0", "q-1", "q-2"))
    assert len(found.outputs) == len(generator.asked) == 3
    assert found.prompt_tokens == sum(len(words(each).split()) for each in generator.asked)
    sharp = Replug(BaselineSettings(feed=3), temperature=0.01).answer(asked, asked.documents, generator)
    assert sharp.text == "yes"


def test_a_vote_is_the_sum_over_documents_by_brute_force():
    rng = np.random.default_rng(3)
    for _ in range(60):
        weights = rng.dirichlet(np.ones(4))
        said = rng.choice(["Ada", "ada.", "the Bob", "bob", "FAIL"], size=4)
        outputs = [Output("" if each == "FAIL" else str(each), error="no" * (each == "FAIL")) for each in said]
        text, error = vote(outputs, weights)
        spoken = [place for place in range(4) if said[place] != "FAIL"]
        mass = {
            name: sum(weights[p] for p, other in product(spoken, [name]) if normalised(str(said[p])) == other)
            for name in ("ada", "bob")
        }
        if spoken:
            assert normalised(text) == max(mass, key=lambda name: mass[name])
            assert not error
        else:
            assert (text, error) == ("", "no")


def test_weights_are_the_softmax_of_scores_and_equal_where_one_is_missing():
    scores = [0.3, -1.0, 2.5]
    documents = [Document(str(i), "", score=score) for i, score in enumerate(scores)]
    expected = np.exp(scores) / np.exp(scores).sum()
    np.testing.assert_allclose(weigh(documents), expected, rtol=1e-12)
    np.testing.assert_allclose(weigh([*documents, Document("x", "")]), 0.25)
    same = [Document(str(i), "", score=1000.0) for i in range(4)]
    np.testing.assert_allclose(weigh(same), 0.25)


def test_answers_of_equal_weight_are_decided_by_the_first():
    assert vote([Output("Bob"), Output("Ada")], np.array([0.5, 0.5])) == ("Bob", "")


@pytest.mark.parametrize("error", ["refused", "too long"])
def test_what_fails_has_no_vote(error):
    outputs = [Output("", error=error), Output("Ada"), Output("", error=error)]
    assert vote(outputs, np.array([0.6, 0.1, 0.3])) == ("Ada", "")


class Likely(Scripted):
    """Says how likely each token of a text is: by its document's word and the text, three tokens each."""

    def __init__(self, answers, chances) -> None:
        super().__init__(answers)
        self.chances = chances

    def score(self, prompts, continuations) -> Scored:
        tokens = []
        for prompt, text in zip(prompts, continuations, strict=True):
            word = next(word for word in self.answers if word in words(prompt))
            tokens.append(np.log(self.chances[word, text]))
        values = np.array([each.mean() for each in tokens])
        return Scored(values, (Output(""),) * len(prompts), tuple(tokens))


def test_of_a_server_that_scores_texts_the_ensemble_chooses_among_its_answers():
    """One document's answer has most votes; the mean of probabilities token by token prefers the other's."""
    chances = {("gold", "yes"): [0.5, 0.5], ("gold", "no"): [0.4, 0.4], ("lead", "yes"): [0.01, 0.01],
               ("lead", "no"): [0.9, 0.9]}  # fmt: skip
    generator = Likely({"gold": "yes", "lead": "no"}, chances)
    asked = query("q", "who", ["gold", "lead"], scores=[np.log(0.6), np.log(0.4)])
    found = Replug().answer(asked, asked.documents, generator)
    assert (found.text, found.form) == ("no", "replug_likelihoods")
    assert vote([Output("yes"), Output("no")], np.array([0.6, 0.4]))[0] == "yes"
    best = {text: np.prod([0.6 * chances["gold", text][t] + 0.4 * chances["lead", text][t] for t in (0, 1)])
            for text in ("yes", "no")}  # fmt: skip
    assert max(best, key=best.get) == "no"
    assert len(found.outputs) == 2 + 4
    # Texts whose tokens differ between prompts cannot be averaged token by token.
    generator.chances["lead", "yes"] = [0.01]
    assert Replug().answer(asked, asked.documents, generator).form == "replug_votes"
