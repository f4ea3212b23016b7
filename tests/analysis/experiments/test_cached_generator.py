"""Models in this process with a store: generated once, whoever asks, whatever dies meanwhile."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlsplit, urlunsplit

import numpy as np
import pytest
from django.db import connection, transaction

from analysis.analyses import erasure
from analysis.experiments import cached_generator, generators
from analysis.experiments.cached_generator import CachedGenerator
from analysis.experiments.generators import BadParameterError
from analysis.models import CachedOutput
from analysis.rag import generation
from analysis.rag.generation import Options, model_cache
from analysis.rag.generation.model import Model
from analysis.rag.protocols import Message, Output, Prompt, Usage
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study
from tests.analysis.rag import tiny
from tests.concurrency import together

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROMPTS = [Prompt((Message("user", f"the cat {i}"),), max_tokens=6) for i in range(6)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.gpt2(tmp_path_factory.mktemp("models") / "gpt2")


@pytest.fixture(autouse=True)
def offered(folder, settings):
    settings.GENERATOR_MODELS = [str(folder), "nowhere/to-be-found"]
    yield
    model_cache.MODELS.clear()


@pytest.fixture
def study(db):
    return Study.objects.create(slug="s", title="S", created_at=NOW)


@pytest.fixture
def make(folder, study):
    def _make(options="", study=study):
        return generators.generator({"generator": f"model:{folder}{options}"}, study=study, purpose="test")

    return _make


@pytest.fixture
def written(monkeypatch):
    """Prompts that a model has worked on, batch by batch."""
    seen = []
    stream = Model.stream

    def watched(self, prompts):
        for batch in stream(self, prompts):
            seen.append([prompt for prompt, _output in batch])
            yield batch

    monkeypatch.setattr(Model, "stream", watched)
    return seen


def test_outputs_are_the_models_and_are_generated_once_whoever_asks(make, folder, written):
    wanted = generation.load(str(folder), Options(device="cpu")).generate(PROMPTS)
    written.clear()
    first = make().generate([*PROMPTS, PROMPTS[0]])
    assert first == [*wanted, replace(wanted[0], is_stored=True)]
    other = make(study=Study.objects.create(slug="o", title="O", created_at=NOW))
    again = other.generate(PROMPTS[::-1])
    assert again == [replace(output, is_stored=True) for output in wanted[::-1]]
    assert sum(map(len, written)) == len(PROMPTS)
    assert CachedOutput.objects.count() == len(PROMPTS)
    usage = Usage()
    usage.add([*first, *again])
    assert (usage.calls, usage.stored) == (6, 7)


def test_what_differs_is_generated_apart(make):
    make().generate(PROMPTS[:1])
    make("?beams=2").generate(PROMPTS[:1])
    make().generate(
        [replace(PROMPTS[0], sample=1), replace(PROMPTS[0], max_tokens=7), replace(PROMPTS[0], choices=("a",))]
    )
    assert CachedOutput.objects.count() == 5
    assert CachedOutput.objects.values("generator").distinct().count() == 2


def test_what_stands_in_the_store_needs_no_weights(make, monkeypatch):
    make().generate(PROMPTS)
    model_cache.MODELS.clear()
    make().generate(PROMPTS)
    assert model_cache.MODELS.held() == []


def test_the_model_stays_for_the_next_unit_and_makes_room_for_another(make, folder, tmp_path, settings, monkeypatch):
    monkeypatch.setattr(model_cache.MODELS, "_room", 1)
    make().generate(PROMPTS[:1])
    [held] = model_cache.MODELS.held()
    make().generate(PROMPTS[1:2])
    assert model_cache.MODELS.held() == [held]
    other = tiny.gpt2(tmp_path / "other", seed=3)
    settings.GENERATOR_MODELS = [str(other)]
    generators.generator({"generator": f"model:{other}"}, study=None, purpose="test").generate(PROMPTS[:1])
    assert len(model_cache.MODELS.held()) == 1
    assert model_cache.MODELS.held() != [held]


class KilledError(BaseException):
    pass


@pytest.mark.extended
def test_what_is_killed_between_batches_loses_nothing_that_was_done(make, written):
    calls = []

    def dies():
        calls.append(1)
        if len(calls) == 4:  # before the first batch, and after each of three
            raise KilledError

    generator = make("?batch_tokens=1")
    generator._check = dies
    with pytest.raises(KilledError):
        generator.generate(PROMPTS)
    assert CachedOutput.objects.count() == 3
    outputs = make("?batch_tokens=1").generate(PROMPTS)
    assert sum(output.is_stored for output in outputs) == 3
    assert sorted(repr(prompt) for batch in written for prompt in batch) == sorted(map(repr, PROMPTS))


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_two_at_once_return_the_same_and_keep_it_once(make):
    make().generate(PROMPTS[:1])  # loads the model
    works = [lambda: make().generate([replace(one, temperature=1.0) for one in PROMPTS]) for _ in range(2)]
    first, second = together(works)
    assert [output.text for output in first] == [output.text for output in second]
    assert CachedOutput.objects.count() == 1 + len(PROMPTS)


@pytest.mark.extended
def test_who_comes_second_returns_what_was_kept_first(make, monkeypatch):
    generator = make()
    keep = CachedGenerator._keep

    def meanwhile(self, outputs):
        for key in outputs:
            CachedOutput.objects.create(digest=key, generator="g", text="of another")
        return keep(self, outputs)

    monkeypatch.setattr(CachedGenerator, "_keep", meanwhile)
    assert {output.text for output in generator.generate(PROMPTS)} == {"of another"}


def test_an_error_is_not_kept(make):
    long = Prompt((Message("user", "cat " * 600),))
    [output] = make().generate([long])
    assert "512" in output.error
    assert not CachedOutput.objects.exists()


@pytest.mark.extended
def test_likelihoods_are_kept_too(make, folder, monkeypatch):
    pairs = PROMPTS[:3], ["a cat", "dog", ""]
    wanted = generation.load(str(folder), Options(device="cpu")).likelihoods(*pairs)
    np.testing.assert_array_equal(make().likelihoods(*pairs), wanted)
    assert np.isnan(wanted).tolist() == [False, False, True]
    assert CachedOutput.objects.filter(likelihood__isnull=False).count() == 2
    monkeypatch.setattr(Model, "_score", lambda *_: pytest.fail("scored again"))
    np.testing.assert_array_equal(make().likelihoods(*pairs), wanted)
    # Of a prompt its messages alone matter here.
    np.testing.assert_array_equal(make().likelihoods([replace(PROMPTS[0], max_tokens=1)], ["a cat"]), wanted[:1])


@pytest.mark.extended
def test_what_postgresql_cannot_keep_is_replaced(make, monkeypatch):
    monkeypatch.setattr(Model, "_outputs", lambda _self, batch, _rows: [Output("a\0b")] * len(batch))
    assert make().generate(PROMPTS[:1])[0].text == "a�b"


def test_what_was_written_for_a_study_goes_with_it_and_with_an_erasure(make, study):
    make().generate(PROMPTS[:2])
    make(study=None).generate(PROMPTS[2:3])
    cached_generator.forget(study)
    assert CachedOutput.objects.count() == 1
    make().generate(PROMPTS[3:4])
    with transaction.atomic():
        study.delete()
    assert CachedOutput.objects.count() == 1


def test_an_erasure_takes_what_models_wrote_along(make, study):
    make().generate(PROMPTS[:1])
    person = Participant.objects.create(study=study, external_id="p", kind=ParticipantKind.CROWD, created_at=NOW)
    erasure.erase(person, NOW)
    assert not CachedOutput.objects.exists()


@pytest.mark.extended
def test_what_is_written_while_its_text_is_erased_is_not_kept(make, study):
    generator = make()
    Participant.objects.create(
        study=study, external_id="p", kind=ParticipantKind.CROWD, created_at=NOW, erased_at=NOW, withdrawn_at=NOW
    )
    assert generator.generate(PROMPTS[:1])[0].text
    assert not CachedOutput.objects.exists()
    make().generate(PROMPTS[:1])  # who begins now has read what is left
    assert CachedOutput.objects.count() == 1


@pytest.mark.parametrize(
    ("named", "problem"),
    [
        ("model:/etc", "CROWDRAG_GENERATORS"),
        ("model:{folder}?beams=0", "beams"),
        ("model:{folder}?temperature=1", "temperature"),
    ],
)
def test_what_the_operator_does_not_offer_is_refused(folder, named, problem):
    with pytest.raises(BadParameterError, match=problem):
        generators.generator({"generator": named.format(folder=folder)}, study=None, purpose="test")


def test_a_model_that_is_not_on_this_machine_says_so_where_it_is_wanted(monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    generator = generators.generator({"generator": "model:nowhere/to-be-found"}, study=None, purpose="test")
    with pytest.raises(BadParameterError):
        generator.generate(PROMPTS)


@pytest.mark.soak
@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_killed_loses_one_batch_at_most(folder, settings, written):
    url = urlsplit(os.environ["DATABASE_URL"])
    database = urlunsplit(url._replace(path="/" + str(connection.settings_dict["NAME"])))
    command = [sys.executable, "-m", "tests.analysis.experiments.generator_process", str(folder), "60"]
    process = subprocess.Popen(
        command, cwd=settings.BASE_DIR,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "crowdrag.settings", "DATABASE_URL": database},
    )  # fmt: skip
    ends_at = time.monotonic() + 120
    while CachedOutput.objects.count() < 5:
        assert time.monotonic() < ends_at
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    before = CachedOutput.objects.count()
    assert 5 <= before < 60
    prompts = [replace(PROMPTS[0], messages=(Message("user", f"the cat {i}"),)) for i in range(60)]
    outputs = CachedGenerator(str(folder), Options(batch_tokens=1, device="cpu"), study=None).generate(prompts)
    assert sum(output.is_stored for output in outputs) == before
    assert sum(map(len, written)) == 60 - before
    assert CachedOutput.objects.count() == 60
