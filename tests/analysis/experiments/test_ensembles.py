"""Ensembles of a run: kept, counted, and refused where a generator cannot."""

import numpy as np
import pytest

from analysis.experiments.cached_generator import CachedGenerator
from analysis.experiments.stage_context import CountedGenerator
from analysis.models import CachedOutput
from analysis.rag.generation import Options, model_cache
from analysis.rag.generation.model import Model
from analysis.rag.protocols import Message, NoLikelihoodsError, Prompt, Usage
from analysis.rag.uplift_rag.baselines.replug import Replug
from tests.analysis.rag import tiny
from tests.analysis.rag.uplift_rag.baselines.known import Scripted, query

pytestmark = pytest.mark.django_db
PROMPTS = [Prompt((Message("user", f"the cat {i}"),), max_tokens=6) for i in range(3)]
WEIGHTS = np.array([0.5, 0.3, 0.2])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    yield tiny.gpt2(tmp_path_factory.mktemp("ensembles") / "gpt2")
    model_cache.MODELS.clear()


def test_an_ensemble_is_generated_once_whoever_asks(folder, monkeypatch):
    first = CachedGenerator(str(folder), Options(device="cpu"), study=None)
    found = first.ensemble(PROMPTS, WEIGHTS)
    assert not found.is_stored
    monkeypatch.setattr(Model, "ensemble", None)  # nobody asks the model again
    again = CachedGenerator(str(folder), Options(device="cpu"), study=None).ensemble(PROMPTS, WEIGHTS * 10)
    assert again.is_stored
    assert (again.text, again.prompt_tokens) == (found.text, found.prompt_tokens)
    assert CachedOutput.objects.count() == 1
    for other in [(PROMPTS[::-1], WEIGHTS), (PROMPTS, WEIGHTS[::-1])]:
        with pytest.raises(TypeError):
            first.ensemble(*other)


def test_its_tokens_are_counted_and_who_cannot_is_asked_document_by_document(folder):
    usage = Usage()
    counted = CountedGenerator(CachedGenerator(str(folder), Options(device="cpu"), study=None), usage)
    found = counted.ensemble(PROMPTS, WEIGHTS)
    assert (usage.calls, usage.prompt_tokens) == (1, found.prompt_tokens)
    chat = CountedGenerator(Scripted({"gold": "yes"}), usage)
    with pytest.raises(NoLikelihoodsError):
        chat.ensemble(PROMPTS, WEIGHTS)
    asked = query("q", "who", ["gold", "gold too", "lead"])
    assert Replug().answer(asked, asked.documents, chat).text == "yes"
    assert usage.calls == 4
