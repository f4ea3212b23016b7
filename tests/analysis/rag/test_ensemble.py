"""One answer from several prompts: against the sum of probabilities, one prompt and one token at a time."""

import numpy as np
import pytest

from analysis.rag import generation
from analysis.rag.generation import Options
from analysis.rag.generation import model as generation_model
from analysis.rag.protocols import Message, Prompt
from analysis.rag.uplift_rag.baselines.protocol import BaselineSettings
from analysis.rag.uplift_rag.baselines.replug import Replug, weigh
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch
from tests.analysis.rag.uplift_rag.baselines.known import query

MAKERS = {"t5": tiny.t5, "gpt2": tiny.gpt2, "llama": tiny.llama}
SHARED = "Answer the question with the help of the passage, which may be wrong, as you may be. "
TEXTS = ["the cat sat", "a dog barks loudly in the night of the cat", "on the mat"]
PROMPTS = [Prompt((Message("user", SHARED + text),), max_tokens=8) for text in TEXTS]
WEIGHTS = np.array([0.5, 0.3, 0.2])


@pytest.fixture(scope="module", params=MAKERS)
def family(request, tmp_path_factory):
    return request.param, MAKERS[request.param](tmp_path_factory.mktemp("ensemble") / request.param)


@pytest.fixture
def model(family):
    return generation.load(str(family[1]), Options(device="cpu"))


def plainly(model, rows: list[list[int]], weights, *, steps: int) -> list[int]:
    """At each token the sum over prompts of weight times probability: nothing padded, nothing kept, no batch."""
    network = model.loaded.model
    said: list[int] = []
    for _step in range(steps):
        mixed = 0
        for row, weight in zip(rows, weights, strict=True):
            with torch.inference_mode():
                if network.config.is_encoder_decoder:
                    begun = [network.config.decoder_start_token_id, *said]
                    logits = network(input_ids=torch.tensor([row]), decoder_input_ids=torch.tensor([begun])).logits
                else:
                    logits = network(input_ids=torch.tensor([row + said])).logits
            mixed = mixed + weight * torch.softmax(logits[0, -1].double(), dim=0)
        said.append(int(torch.argmax(mixed)))
        if said[-1] in model._ends:
            break
    return said


@pytest.mark.parametrize("weights", [WEIGHTS, np.array([0.0, 0.0, 7.0]), np.array([1.0, 1.0, 1.0])])
def test_every_token_is_that_of_the_summed_probabilities(model, weights):
    rows = [model._ids(prompt) for prompt in PROMPTS]
    expected = plainly(model, rows, weights / weights.sum(), steps=8)
    found = model.ensemble(PROMPTS, weights)
    assert found.text == model.loaded.tokenizer.decode(expected, skip_special_tokens=True)
    assert found.completion_tokens == len(expected)
    assert found.prompt_tokens == sum(map(len, rows))
    assert isinstance(model, generation_model.EnsembleGenerator)


def test_one_prompt_or_equal_ones_are_answered_as_alone(model):
    alone = model.generate(PROMPTS[:1])[0]
    assert model.ensemble(PROMPTS[:1], np.array([3.0])).text == alone.text
    assert model.ensemble(PROMPTS[:1] * 3, WEIGHTS).text == alone.text


def test_replug_answers_with_the_ensemble_of_its_documents(model):
    asked = query("q", "is the dog", ["the cat sat", "a dog barks", "a mat"], scores=[2.0, 1.0, 0.5])
    found = Replug(BaselineSettings(feed=2, max_tokens=8)).answer(asked, asked.documents, model)
    (output,) = found.outputs
    prompts = Replug(BaselineSettings(feed=2, max_tokens=8))
    assert found.documents == ("q-0", "q-1")
    assert found.text == model.ensemble(_asked(asked, prompts), weigh(asked.documents[:2])).text == output.text


def _asked(asked, method):
    from analysis.rag.uplift_rag.uplift_labels import prompt

    return [
        prompt(asked.question, [each], max_tokens=method.settings.max_tokens)
        for each in asked.documents[: method.settings.feed]
    ]


def test_a_prompt_that_is_too_long_is_an_error(family):
    model = generation.load(str(family[1]), Options(device="cpu", longest=20))
    found = model.ensemble(PROMPTS, WEIGHTS)
    assert found.text == ""
    assert "20" in found.error


@pytest.mark.parametrize("weights", [[], [0.5, 0.5], [1.0, -0.1, 0.1], [0.0, 0.0, 0.0], [1.0, np.nan, 0.0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="3"):
        generation_model.normalised_weights(np.array(weights), 3)
