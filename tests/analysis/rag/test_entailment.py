"""Entailment models against plain transformers, a pair at a time; a generator's yes and no as a stand-in."""

import numpy as np
import pytest

from analysis.rag import entailment
from analysis.rag.entailment import CrossEncoder, NoEntailmentLabelError, PromptedEntailment, prompt
from analysis.rag.protocols import Output
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch, transformers

LABELS = ["contradiction", "neutral", "ENTAILMENT"]
PAIRS = [
    ("the cat sat on the mat", "a cat sat"),
    ("the dog barks in the night loud", "a dog is loud"),
    ("the cat", "the dog barks"),
    ("", "the dog barks"),
]
LONG = "the cat sat on the mat " * 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.classifier(tmp_path_factory.mktemp("nli") / "bert", LABELS)


@pytest.fixture
def encoder(folder):
    return CrossEncoder.load(str(folder), device="cpu")


def plain(folder, pairs, label=2):
    """transformers' own, one pair at a time."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        logits = [
            model(**tokenizer(*pair, return_tensors="pt", truncation="only_first", max_length=32)).logits[0]
            for pair in pairs
        ]
    return [float(one.double().softmax(-1)[label]) for one in logits]


def test_it_says_what_transformers_says_one_pair_at_a_time(folder, encoder):
    found = encoder.probabilities(PAIRS)
    np.testing.assert_allclose(found, plain(folder, PAIRS), rtol=1e-5)
    assert len(set(found)) == 4
    assert not encoder.is_standin


def test_which_label_is_entailment_is_read_from_the_models_settings(tmp_path, folder, encoder):
    turned = tiny.classifier(tmp_path / "turned", ["entailment", "not_entailment", "other"])
    found = CrossEncoder.load(str(turned), device="cpu").probabilities(PAIRS)
    np.testing.assert_allclose(found, plain(turned, PAIRS, label=0), rtol=1e-5)
    assert CrossEncoder.load(str(folder), label="neutral", device="cpu").entails == 1
    assert encoder.entails == 2


@pytest.mark.parametrize("labels", [["LABEL_0", "LABEL_1"], ["entailment", "entails"]])
def test_a_model_that_does_not_say_which_is_refused(labels):
    with pytest.raises(NoEntailmentLabelError, match=r"config\.json"):
        entailment.entailing(dict(enumerate(labels)))


def test_the_premise_is_cut_and_never_the_hypothesis(folder, encoder):
    longer = "a dog barks loud in the night " * 3  # than its premise, and both are too long together
    pairs = [(LONG, "a dog barks loud"), ("the cat sat on the mat " * 3, longer), ("the cat", LONG), ("the cat", " ")]
    found = encoder.probabilities(pairs)
    np.testing.assert_allclose(found[:2], plain(folder, pairs[:2]), rtol=1e-5)
    assert np.isnan(found[2:]).all()
    assert encoder.cut == 2


def test_equal_pairs_are_judged_once_and_batches_change_nothing(folder, encoder, monkeypatch):
    judged = []
    forward = CrossEncoder._forward
    monkeypatch.setattr(
        CrossEncoder, "_forward", lambda self, batch: (judged.append(len(batch)), forward(self, batch))[1]
    )
    small = CrossEncoder.load(str(folder), device="cpu", batch_tokens=1)
    np.testing.assert_allclose(small.probabilities([*PAIRS, *PAIRS]), [*encoder.probabilities(PAIRS)] * 2, rtol=1e-5)
    assert judged == [1, 1, 1, 1, 4]


class Says:
    """Answers by the prompt's last word."""

    name = "says"

    def __init__(self, **said):
        self.said = said
        self.asked = []

    def generate(self, prompts):
        self.asked.extend(prompts)
        return [self.said[one.messages[-1].content.split("\n")[-3].strip()] for one in prompts]


def test_a_generators_yes_and_no_stand_in_and_say_so():
    generator = Says(
        a=Output("yes"), b=Output("No."), c=Output("perhaps"), d=Output("", error="refused"), e=Output(" Yes \n")
    )
    asking = PromptedEntailment(generator)
    found = asking.probabilities([("p", "a"), ("p", "b"), ("p", "c"), ("p", "d"), ("p", " "), ("p", "e")])
    np.testing.assert_array_equal(found, [1, 0, np.nan, np.nan, np.nan, 1])
    assert asking.is_standin
    assert "says" in asking.name
    assert len(generator.asked) == 5
    assert generator.asked[0] == prompt("p", "a")
    assert generator.asked[0].choices == ("yes", "no")
