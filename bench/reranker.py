"""A training step of uplift RAG's reranker against a plain `transformers` Trainer step of the same batch and model."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from analysis.rag import checkpoints
from analysis.rag.protocols import Document, Query
from analysis.rag.uplift_rag import reranker, training
from analysis.rag.uplift_rag.training import losses
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery

#: Timed steps, after one warm-up step.
STEPS = int(os.environ.get("BENCH_RERANKER_STEPS", "6"))
QUERIES, DOCUMENTS = 4, 10
#: Maximum words of a document of another question: retrieved passages differ in length.
WORDS = 120
#: A question's passages in the bank.
KINDS = ("human_true", "gpt_true", "gpt_false", "llama_false")


def run() -> list[dict]:
    """Use the same queries per step, initial weights and optimiser, both on this machine's device."""
    import torch

    batches, source = _batches()
    data = [each for batch in batches for each in batch]
    schedule = training.Schedule(epochs=1, learning_rate=1e-5, queries=QUERIES)
    ours = reranker.start(checkpoints.BUNDLED, rng=np.random.default_rng(0))
    learning = training._Learning(ours, [training._example(ours, each) for each in data], schedule)
    ours.model.train()
    taken = _ours(learning)
    theirs = reranker.start(checkpoints.BUNDLED, rng=np.random.default_rng(0))
    peer = _theirs(theirs, batches, schedule)
    mine, plain = float(np.median(taken)), float(np.median(peer))
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {ours.device}, {torch.get_num_threads()} threads"
    return [
        {
            "name": f"training step of {QUERIES} queries of {DOCUMENTS} documents, times faster than Trainer's",
            "ratio": plain / mine,
            "target": 1,
            "detail": f"medians of {STEPS} steps: {plain:.2f} s with Trainer, {mine:.2f} s here; {source}; {load}",
        }
    ]


def _ours(learning: training._Learning) -> list[float]:
    found = []
    for step in range(STEPS + 1):
        began = time.perf_counter()
        learning.step(learning.examples[step * QUERIES : (step + 1) * QUERIES])
        found.append(time.perf_counter() - began)
    return found[1:]


def _theirs(model: reranker.Reranker, batches: list[list[LabelledQuery]], schedule: training.Schedule) -> list[float]:
    """Time a typical Trainer: a collator that pads a batch, and the loss in `compute_loss`."""
    import torch
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Clock(TrainerCallback):
        """Record when each step ends."""

        def __init__(self) -> None:
            self.began = 0.0
            self.found: list[float] = []

        def on_step_begin(self, *_args: Any, **_options: Any) -> None:
            self.began = time.perf_counter()

        def on_step_end(self, *_args: Any, **_options: Any) -> None:
            self.found.append(time.perf_counter() - self.began)

    class Uplift(Trainer):
        """A trainer with the same joint loss."""

        def compute_loss(self, model: Any, inputs: Any, *_args: Any, **_options: Any) -> Any:
            sizes, uplift = inputs.pop("sizes").tolist(), inputs.pop("uplift")
            return losses(model(**inputs).logits, uplift, sizes).total(schedule.weights) / len(sizes)

    def collate(batch: list[LabelledQuery]) -> dict[str, Any]:
        pairs = [pair for each in batch for pair in model.encode(each.query.question, each.documents)]
        padded = model.tokenizer.pad({key: [pair[key] for pair in pairs] for key in pairs[0]}, return_tensors="pt")
        uplift = torch.tensor(np.concatenate([each.uplift for each in batch]), dtype=torch.float32)
        return {**padded, "uplift": uplift, "sizes": torch.tensor([len(each.documents) for each in batch])}

    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, per_device_train_batch_size=QUERIES, num_train_epochs=1, learning_rate=schedule.learning_rate,
            report_to=[], save_strategy="no", logging_strategy="no", remove_unused_columns=False, disable_tqdm=True,
            use_cpu=model.device.type == "cpu", dataloader_num_workers=0, train_sampling_strategy="sequential",
        )  # fmt: skip
        data = [each for batch in batches for each in batch]
        trainer = Uplift(model.model, arguments, data_collator=collate, train_dataset=data, callbacks=[clock])
        trainer.train()
    return clock.found[1:]


def _batches() -> tuple[list[list[LabelledQuery]], str]:
    """Return questions with true, false and other questions' passages, or synthetic ones of similar lengths."""
    data = os.environ.get("CROWDRAG_DATA")
    rng = np.random.default_rng(0)
    n = (STEPS + 1) * QUERIES
    questions, source = (_bank(Path(data), n), "nq_passages") if data else (_made_up(rng, n), "made-up texts")
    made = []
    for place, (question, texts) in enumerate(questions):
        others = [text for other, (_question, own) in enumerate(questions) if other != place for text in own]
        strangers = [" ".join(others[i].split()[: rng.integers(20, WORDS)]) for i in rng.permutation(len(others))]
        documents = tuple(Document(str(i), text) for i, text in enumerate((texts + strangers)[:DOCUMENTS]))
        alone = tuple("right" if rng.random() < 0.3 else "wrong" for _document in documents)
        made.append(LabelledQuery(Query(str(place), question, ("right",), documents), documents, "wrong", alone))
    return [made[i : i + QUERIES] for i in range(0, n, QUERIES)], source


def _bank(data: Path, n: int) -> list[tuple[str, list[str]]]:
    found = []
    with gzip.open(data / "self_preference" / "nq_passages.jsonl.gz", "rt") as lines:
        for _i, line in zip(range(n), lines, strict=False):
            row = json.loads(line)
            found.append(
                (row["question"], [row[key] for key in ("human_true", "gpt_true", "gpt_false", "llama_false")])
            )
    return found


def _made_up(rng: np.random.Generator, n: int) -> list[tuple[str, list[str]]]:
    words = ["lake", "river", "song", "country", "winter", "record", "first", "album", "released", "the", "of", "in"]
    return [
        (f"what is {i}", [" ".join(rng.choice(words, rng.integers(60, WORDS))) for _text in range(4)]) for i in range(n)
    ]
