"""Generators in this process: tiny models against plain transformers, one prompt at a time."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.rag import generation
from analysis.rag.generation import Options, devices, loader, prompt_tokens
from analysis.rag.generation import model as generation_model
from analysis.rag.protocols import Message, Prompt
from tests.analysis.rag import tiny
from tests.analysis.rag.neural import torch, transformers

INSTRUCTION = "Answer the question with the help of the passage. The passage may be wrong, and so may you be. "
TEXTS = ["the cat sat", "a dog barks loudly in the night", "on the mat is a cat. And a dog"]
FAMILIES = ("t5", "gpt2", "llama")
MAKERS = {"t5": tiny.t5, "gpt2": tiny.gpt2, "llama": tiny.llama}
SOME = pytest.mark.parametrize("family", ["t5", "gpt2", pytest.param("llama", marks=pytest.mark.extended)])


def asked(text, **options):
    return Prompt((Message("user", text),), **{"max_tokens": 6, **options})


# One core, so that others have theirs; tiny models are no faster with two.
PROMPTS = [asked(text) for text in TEXTS] + [asked(INSTRUCTION + text) for text in TEXTS]


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("generators")
    return {family: MAKERS[family](root / family) for family in FAMILIES}


@pytest.fixture
def load(folders):
    def _load(family, **options):
        return generation.load(str(folders[family]), Options(device="cpu", **options))

    return _load


class Plain:
    """transformers as its manual shows it: one prompt, nothing shared, nothing padded."""

    def __init__(self, family, folder):
        self.family = family
        factory = transformers.AutoModelForSeq2SeqLM if family == "t5" else transformers.AutoModelForCausalLM
        self.model = factory.from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)

    def ids(self, prompt):
        text = "\n\n".join(message.content for message in prompt.messages)
        if self.family == "llama":
            text = "".join(f"[{message.role}] {message.content}\n" for message in prompt.messages) + "[assistant]"
        return self.tokenizer(text, return_tensors="pt").input_ids

    def generate(self, prompt, beams=1, **options):
        ids = self.ids(prompt)
        options = {"max_new_tokens": prompt.max_tokens, "num_beams": beams, "do_sample": False, **options}
        if self.family != "t5":
            options["pad_token_id"] = self.tokenizer.eos_token_id
        mask = torch.ones_like(ids)
        [row] = self.model.generate(input_ids=ids, attention_mask=mask, **options)
        row = row[1:] if self.family == "t5" else row[ids.shape[1] :]
        return self.tokenizer.decode(row, skip_special_tokens=True)

    def likelihoods(self, prompt, continuation):
        """The log-likelihood of each of a continuation's tokens."""
        target = self.tokenizer(continuation, add_special_tokens=False, return_tensors="pt").input_ids
        ids = self.ids(prompt)
        with torch.inference_mode():
            if self.family == "t5":
                start = torch.full((1, 1), self.model.config.decoder_start_token_id)
                logits = self.model(input_ids=ids, decoder_input_ids=torch.cat([start, target[:, :-1]], dim=1)).logits
            else:
                logits = self.model(torch.cat([ids, target], dim=1)).logits[:, ids.shape[1] - 1 : -1]
        return logits.log_softmax(-1).gather(2, target[..., None])[0, :, 0].double().numpy()


@pytest.fixture
def plain(folders):
    return lambda family: Plain(family, folders[family])


@pytest.mark.parametrize("beams", [1, 3])
@SOME
def test_it_generates_as_transformers_does_one_prompt_at_a_time(load, plain, family, beams):
    theirs = plain(family)
    outputs = load(family, beams=beams).generate(PROMPTS)
    assert [output.text for output in outputs] == [theirs.generate(prompt, beams) for prompt in PROMPTS]
    assert len({output.text for output in outputs}) > 2  # the prompts matter
    assert [output.prompt_tokens for output in outputs] == [theirs.ids(prompt).shape[1] for prompt in PROMPTS]
    assert all(0 < output.completion_tokens <= 6 for output in outputs)


@SOME
def test_so_do_likelihoods(load, plain, family):
    theirs = plain(family)
    continuations = [" a cat", " dog", " o"] * 2
    found = load(family).likelihoods(PROMPTS, continuations)
    wanted = [theirs.likelihoods(*pair).mean() for pair in zip(PROMPTS, continuations, strict=True)]
    np.testing.assert_allclose(found, wanted, rtol=3e-6)


@SOME
def test_a_choice_is_the_one_that_is_likeliest_with_its_end(load, plain, family):
    theirs, choices = plain(family), ("cat", "a dog", "barks", "no")
    prompts = [replace(prompt, choices=choices) for prompt in PROMPTS]
    outputs = load(family, batch_tokens=200).generate(prompts)
    before = " " if family == "gpt2" else ""
    end = theirs.tokenizer.eos_token
    for prompt, output in zip(prompts, outputs, strict=True):
        totals = [theirs.likelihoods(prompt, before + choice + end).sum() for choice in choices]
        assert output.text == choices[int(np.argmax(totals))]


@SOME
def test_whatever_stands_beside_it_a_prompt_gets_the_same_answer(load, family):
    mixed = [prompt for one in PROMPTS for prompt in (one, replace(one, temperature=1.0, sample=2))]
    alone = load(family, batch_tokens=1)
    outputs = [output for prompt in mixed for output in alone.generate([prompt])]
    for tokens in (60, 100_000):
        assert load(family, batch_tokens=tokens).generate(mixed) == outputs


@pytest.mark.parametrize("family", ["gpt2", "llama"])
@pytest.mark.parametrize("beams", [1, 2])
def test_what_prompts_share_at_the_beginning_is_read_once(load, monkeypatch, family, beams):
    prompts = [asked(f"{INSTRUCTION * 2}{i} {text}") for i in range(3) for text in TEXTS]
    sharing = load(family, beams=beams)
    outputs, likelihoods = sharing.generate(prompts), sharing.likelihoods(prompts, [" a cat"] * 9)
    monkeypatch.setattr(devices, "WORTH", 10**9)
    apart = load(family, beams=beams)
    assert apart.generate(prompts) == outputs
    np.testing.assert_allclose(apart.likelihoods(prompts, [" a cat"] * 9), likelihoods, rtol=3e-6)
    assert apart.read > 2 * sharing.read


def test_a_cache_that_cannot_be_handed_on_is_not(load, plain, monkeypatch):
    model = load("llama")
    monkeypatch.setattr(transformers, "DynamicCache", dict)
    prompts = PROMPTS[3:]
    assert [output.text for output in model.generate(prompts)] == [plain("llama").generate(one) for one in prompts]
    np.testing.assert_allclose(
        model.likelihoods(prompts, ["a"] * 3),
        [plain("llama").likelihoods(prompt, "a").mean() for prompt in prompts],
        rtol=3e-6,
    )


def test_equal_prompts_are_generated_once(load, monkeypatch):
    model = load("gpt2")
    written = []
    write = type(model)._write
    monkeypatch.setattr(
        type(model), "_write", lambda self, batch, **kw: (written.extend(batch), write(self, batch, **kw))[1]
    )
    outputs = model.generate([PROMPTS[0], PROMPTS[1], PROMPTS[0]])
    assert len(written) == 2
    assert [output.is_stored for output in outputs] == [False, False, True]
    assert outputs[0].text == outputs[2].text


class Short:
    """Stands in for a device's memory: a batch of more rows than it has room for does not fit."""

    def __init__(self, model, room, error):
        self.model, self.room, self.error, self.rows = model, room, error, []

    def __enter__(self):
        generate = self.model.loaded.model.generate

        def failing(*, input_ids, **options):
            self.rows.append(len(input_ids))
            if len(input_ids) > self.room:
                raise self.error
            return generate(input_ids=input_ids, **options)

        self.model.loaded.model.generate = failing
        return self

    def __exit__(self, *error):
        del self.model.loaded.model.generate


@pytest.mark.parametrize(
    "error",
    [
        lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        MemoryError,
        lambda: RuntimeError("[enforce fail at alloc_cpu.cpp:117] DefaultCPUAllocator: can't allocate memory"),
    ],
    ids=["cuda", "python", "cpu"],
)
def test_where_memory_is_short_batches_become_smaller_and_stay_so(load, error):
    model, prompts = load("gpt2"), [asked(f"{text} {i}") for i in range(3) for text in TEXTS]
    wanted = model.generate(prompts)
    with Short(model, 3, error()) as short:
        assert model.generate(prompts) == wanted
        assert short.rows == [9, 5, 3, 2, 3, 1]
        again = len(short.rows)
        model.generate(prompts)
        assert max(short.rows[again:]) <= 3


def test_one_prompt_that_does_not_fit_is_an_error_that_says_so(load):
    model = load("gpt2")
    with (
        Short(model, 0, torch.OutOfMemoryError("out of memory")),
        pytest.raises(devices.ModelMemoryError),
    ):
        model.generate(PROMPTS[:2])


def test_other_errors_are_not_taken_for_it(load):
    with Short(model := load("gpt2"), 0, RuntimeError("shapes differ")), pytest.raises(RuntimeError, match="shapes"):
        model.generate(PROMPTS[:2])


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_a_prompt_that_is_too_long_is_an_error_and_the_others_are_answered(load, family):
    long, chosen = asked("cat " * 600), asked("cat " * 600, choices=("a", "b"))
    outputs = load(family).generate([long, PROMPTS[0], chosen])
    assert [bool(output.error) for output in outputs] == [True, False, True]
    assert "512" in outputs[0].error
    assert np.isnan(load(family).likelihoods([long, PROMPTS[0]], ["a", ""])).all()


def test_a_model_of_relative_positions_reads_what_it_is_given_unless_told_otherwise(load):
    assert load("t5").generate([asked("cat " * 600)])[0].error == ""
    assert "100" in load("t5", longest=100).generate([asked("cat " * 600)])[0].error


def test_samples_differ_and_are_the_same_another_time(load):
    prompts = [asked(TEXTS[0], temperature=1.0, sample=i) for i in range(6)]
    outputs = load("gpt2").generate(prompts)
    assert len({output.text for output in outputs}) > 1
    assert load("gpt2").generate(prompts) == outputs


@pytest.mark.extended
def test_tokens_are_drawn_in_proportion_to_what_the_model_says():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.0, 0.25]]))
    draws = [
        int(generation_model.Drawn(torch, [asked("x", temperature=2.0, sample=i)])(None, logits).argmax())
        for i in range(1500)
    ]
    shares = np.bincount(draws, minlength=4) / 1500
    wanted = np.sqrt([0.5, 0.25, 0, 0.25]) / np.sqrt([0.5, 0.25, 0, 0.25]).sum()
    np.testing.assert_allclose(shares, wanted, atol=0.04)  # three standard errors
    assert shares[2] == 0


def test_choices_are_drawn_too_where_there_is_a_temperature(load):
    prompts = [asked(TEXTS[0], temperature=50.0, sample=i, choices=("cat", "dog")) for i in range(30)]
    assert {output.text for output in load("gpt2").generate(prompts)} == {"cat", "dog"}


def test_a_template_without_system_messages_gets_them_in_the_users(tmp_path):
    refusing = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + tiny.CHAT
    folder = tiny.llama(tmp_path / "chat", chat=refusing)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    prompt = Prompt((Message("system", "Be brief."), Message("user", "A cat?")))
    written = tokenizer.decode(prompt_tokens.ids(tokenizer, prompt, chat=True))
    assert written == "[user] Be brief.\n\nA cat?\n[assistant]"


def test_a_prompt_of_nothing_is_answered_all_the_same(load):
    [output] = load("gpt2").generate([asked("")])
    assert (output.prompt_tokens, output.error) == (1, "")


def test_names_tell_files_and_search_apart_and_hold_no_path(load, folders, tmp_path):
    names = {load("gpt2").name, load("gpt2", beams=2).name, load("t5").name, load("t5", longest=9).name}
    assert len(names) == 4
    assert not any("/" in name for name in names)
    other = generation.load(str(tiny.gpt2(tmp_path / "gpt2", seed=1)), Options(device="cpu"))
    assert other.name not in names


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"beams": 0}, "beams"),
        ({"beams": True}, "beams"),
        ({"precision": "third"}, "precision"),
        ({"top_p": 1}, "top_p"),
    ],
)
def test_options_that_are_none_are_refused(options, problem):
    with pytest.raises(loader.BadOptionError, match=problem):
        Options.read(options)


@pytest.mark.extended
def test_what_is_no_generator_says_so(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"")
    (tmp_path / "config.json").write_text('{"model_type": "vit"}')
    with pytest.raises(loader.UnsupportedGeneratorError, match="vit"):
        generation.load(str(tmp_path))


@pytest.mark.parametrize(
    ("device", "has_bfloat16", "precision", "own", "wanted"),
    [
        ("cpu", True, "half", "float16", "float32"),
        ("cuda", True, "auto", "float32", "bfloat16"),
        ("cuda", True, "full", "float16", "float32"),
        ("cuda", False, "auto", "float32", "float32"),
        ("cuda", False, "auto", "float16", "float16"),
        ("cuda", False, "half", "float32", "float16"),
    ],
)
def test_half_precision_is_taken_where_it_is_safe(monkeypatch, device, has_bfloat16, precision, own, wanted):
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: has_bfloat16)
    found = devices.number_type(torch, torch.device(device), precision, getattr(torch, own))
    assert found is getattr(torch, wanted)


def test_batches_are_as_large_as_memory_allows(monkeypatch, load):
    config = load("llama").loaded.model.config
    each = devices.bytes_a_token(config, 4)
    assert each == 4 * (2 * 2 * 2 * 4 + 4 * 16 + 3 * 24)  # layers, heads of keys, their size; hidden, inner
    monkeypatch.setattr(devices, "free_memory", lambda *_: 1000 * each)
    assert devices.batch_tokens(torch, torch.device("cpu"), config, 4) == 500
    monkeypatch.setattr(devices, "free_memory", lambda *_: 10)
    assert devices.batch_tokens(torch, torch.device("cpu"), config, 4) == 1


@pytest.mark.soak
def test_the_bundled_model_says_here_what_its_server_says():
    model = generation.load("SmolLM2-135M-Instruct", Options(device="cpu"))
    first, second = model.generate([asked("What is the capital of France?", max_tokens=12), asked("Say hello.")])
    assert "Paris" in first.text
    assert second.completion_tokens <= 6
    right, wrong = model.likelihoods([asked("What is the capital of France?")] * 2, ["Paris", "Purple"])
    assert right > wrong
