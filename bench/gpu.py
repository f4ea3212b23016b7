"""Models in this process on a device: answers, likelihoods and embeddings, against plain transformers and the CPU.

The texts are synthetic: questions with passages that share words, so that prompts have a common beginning as those of
uplift labels have. `BENCH_GPU_MODEL` names a generator, `BENCH_GPU_PROMPTS` the number of prompts (512).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from analysis.rag import checkpoints, encoders, generation
from analysis.rag.protocols import Message, Prompt

MODEL = os.environ.get("BENCH_GPU_MODEL", checkpoints.BUNDLED_GENERATOR)
PROMPTS = int(os.environ.get("BENCH_GPU_PROMPTS", "512"))
#: Questions share an instruction and have ten passages, each asked about alone.
PASSAGES = 10
WORDS, MAX_TOKENS = 100, 64
#: The peer gets its prompts in the order in which they come, so many at once.
PEER_BATCH = 64
#: Each so many-th prompt is enough for the CPU.
CPU_STEP = 32
INSTRUCTION = "Answer the question in one sentence, from the passage alone. If the passage does not say, say so."


def run() -> list[dict]:
    """Same model, prompts and limits; each side is warmed up before its time begins."""
    import torch

    if not torch.cuda.is_available():
        return [{"name": "no device", "ratio": 1, "target": 1, "detail": "this measurement needs a CUDA device"}]
    prompts = _prompts(PROMPTS)
    device = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    ours = generation.load(MODEL)
    model = f"{ours.name} on {device}"
    mine, answers = _timed(lambda: ours.generate(prompts), lambda: ours.generate(prompts[:8]))
    peer, texts = _timed(lambda: _plain(ours, prompts), lambda: _plain(ours, prompts[:8]))
    slow = generation.load(MODEL, generation.Options(device="cpu"))
    step = CPU_STEP
    few = prompts[::step]
    cpu, _answers = _timed(lambda: slow.generate(few), lambda: slow.generate(few[:1]))
    tokens = sum(answer.completion_tokens for answer in answers)
    read = sum(answer.prompt_tokens for answer in answers)
    alike = np.mean([answer.text.strip() == text.strip() for answer, text in zip(answers, texts, strict=True)])
    rows = [
        {
            "name": f"answers to {len(prompts)} prompts, times faster than transformers in batches of {PEER_BATCH}",
            "ratio": peer / mine,
            "target": 1,
            "detail": f"{mine:.1f} s here ({tokens / mine:,.0f} tokens written and {read / mine:,.0f} read a second), "
            f"{peer:.1f} s plain; {alike:.0%} of the answers equal to the letter; {model}",
        },
        {
            "name": "answers, times faster than on this machine's CPU",
            "ratio": (cpu / len(few)) / (mine / len(prompts)),
            "target": 1,
            "detail": f"{len(few)} prompts in {cpu:.1f} s on {torch.get_num_threads()} threads",
        },
    ]
    continuations = [answer.text or "No." for answer in answers]
    scored, found = _timed(
        lambda: ours.likelihoods(prompts, continuations), lambda: ours.likelihoods(prompts[:8], continuations[:8])
    )
    apart = np.nanmax(np.abs(found[::step] - slow.likelihoods(few, continuations[::step])))
    rows.append(
        {
            "name": "likelihoods: 0.1 nats a token over the largest difference from full precision on the CPU",
            "ratio": 0.1 / max(apart, 1e-9),
            "target": 1,
            "detail": f"{len(prompts) / scored:,.0f} likelihoods a second; {apart:.2g} of {len(few)} at most",
        }
    )
    rows.append(_embeddings(device))
    return rows


def _prompts(count: int) -> list[Prompt]:
    rng = np.random.default_rng(0)
    starts, ends = ("ba", "ko", "li", "mu", "ne", "so"), ("ter", "lan", "mer", "dia")
    words = [start + end for start in starts for end in ends]
    prompts = []
    for number in range(count):
        question = f"What is known about {words[(number // PASSAGES) % len(words)]} number {number // PASSAGES}?"
        passage = " ".join(rng.choice(words, size=rng.integers(WORDS // 2, WORDS)))
        text = f"{INSTRUCTION}\n\nQuestion: {question}\n\nPassage: {passage}"
        prompts.append(Prompt((Message("user", text),), max_tokens=MAX_TOKENS))
    return prompts


def _timed(work: Callable[[], Any], warm_up: Callable[[], Any]) -> tuple[float, Any]:
    warm_up()
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def _plain(ours: Any, prompts: Sequence[Prompt]) -> list[str]:
    """As one would write it with transformers: batches in the order of the prompts, padded to the longest."""
    tokenizer, model, torch = ours.loaded.tokenizer, ours.loaded.model, ours.loaded.prepared.torch
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    texts = []
    for start in range(0, len(prompts), PEER_BATCH):
        batch = [
            tokenizer.apply_chat_template(
                [{"role": message.role, "content": message.content} for message in prompt.messages],
                tokenize=False,
                add_generation_prompt=True,
            )
            for prompt in prompts[start : start + PEER_BATCH]
        ]
        inputs = tokenizer(batch, return_tensors="pt", padding=True, add_special_tokens=False).to(ours.device)
        with torch.no_grad():
            rows = model.generate(**inputs, max_new_tokens=MAX_TOKENS, do_sample=False, pad_token_id=ours._pad)
        texts += tokenizer.batch_decode(rows[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    return texts


def _embeddings(device: str) -> dict:
    fast, slow = encoders.load(), encoders.load(device="cpu")
    texts = [prompt.messages[0].content for prompt in _prompts(20_000)]
    mine, vectors = _timed(lambda: fast.embed(texts), lambda: fast.embed(texts[:64]))
    cpu, exact = _timed(lambda: slow.embed(texts[:256]), lambda: slow.embed(texts[:8]))
    apart = float(np.abs(vectors[:256] - exact).max())
    return {
        "name": "embeddings, times faster than on this machine's CPU",
        "ratio": (cpu / 256) / (mine / len(texts)),
        "target": 1,
        "detail": f"{len(texts) / mine:,.0f} passages a second; largest difference of a number {apart:.2g}; "
        f"{fast.identity.model} on {device}",
    }
