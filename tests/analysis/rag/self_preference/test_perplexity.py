"""Perplexity of passages: against transformers' own loss, and by a model whose perplexity is known."""

import numpy as np
import pytest

from analysis.rag import generation
from analysis.rag.generation import Options
from analysis.rag.self_preference import perplexity
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch, transformers

TEXTS = ["the cat sat on the mat", "A dog barks loudly, in the night.", "x", "žluť 😀"]


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def folder(request, tmp_path_factory):
    """A model that was taught no chat, and one that was: a passage is no conversation."""
    return getattr(tiny, request.param)(tmp_path_factory.mktemp("perplexity") / request.param)


def loaded(folder):
    return generation.load(str(folder), Options(device="cpu"))


def test_it_is_that_of_the_library(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    expected = []
    for text in TEXTS:
        ids = torch.tensor([[start, *tokenizer(text, add_special_tokens=False)["input_ids"]]])
        with torch.no_grad():
            expected.append(float(model(input_ids=ids, labels=ids).loss.exp()))
    assert perplexity.perplexities_of(loaded(folder), TEXTS) == pytest.approx(expected, rel=1e-4)


def test_who_expects_all_tokens_alike_is_perplexed_by_as_many_as_there_are(folder, tmp_path):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder)
    for weights in model.parameters():
        torch.nn.init.zeros_(weights)
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    assert perplexity.perplexities_of(loaded(tmp_path), TEXTS) == pytest.approx(
        [model.config.vocab_size] * len(TEXTS), rel=1e-4
    )


def test_what_is_empty_or_too_long_has_none(folder):
    found = perplexity.perplexities_of(loaded(folder), ["", "the cat", "very long " * 500])
    assert np.isnan(found).tolist() == [True, False, True]
