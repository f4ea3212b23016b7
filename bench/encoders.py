"""Encoders against sentence-transformers: texts to vectors, pairs to scores, and a training step of the reranker."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from analysis.rag import checkpoints, encoders
from analysis.rag.protocols import Document, Query
from analysis.rag.uplift_rag import reranker, training
from analysis.rag.uplift_rag.training import losses
from analysis.rag.uplift_rag.training_loop import Schedule
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery

#: Timed steps, after one warm-up step, and rounds of the other measurements, both sides in turn.
STEPS = int(os.environ.get("BENCH_ENCODERS_STEPS", "6"))
ROUNDS = 3
QUERIES, DOCUMENTS = 4, 10
#: Maximum words of a document of another question: retrieved passages differ in length.
WORDS = 120
#: Texts that are embedded, and the library's own batch size.
TEXTS, BATCH = 96, 32


def run() -> list[dict]:
    """Use the same weights, texts and batches on this machine's device; each side is warmed up first."""
    import torch

    batches, source = _batches()
    data = [each for batch in batches for each in batch]
    started = reranker.start(checkpoints.BUNDLED, rng=np.random.default_rng(0))
    load = (
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {started.device}, {torch.get_num_threads()} threads"
    )
    about = f"{checkpoints.BUNDLED}, {source}, {load}"
    return [*_vectors(data, about), *_scores(started, data, about), *_steps(started, batches, about)]


def _vectors(data: list[LabelledQuery], about: str) -> list[dict]:
    from sentence_transformers import SentenceTransformer

    encoder = encoders.load()
    library = SentenceTransformer(str(checkpoints.find().folder), device=str(encoder.device))
    rows = []
    for name, texts in (
        ("passages", [document.text for each in data for document in each.documents][:TEXTS]),
        ("questions", [each.query.question for each in data]),
    ):
        mine, peer, apart = _in_turn(
            lambda texts=texts: encoder.embed(texts),
            lambda texts=texts: library.encode(
                texts, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
            ),
        )
        rows += [
            _row(f"vectors of {len(texts)} {name}, times faster than SentenceTransformer.encode", peer / mine,
                 f"{peer:.2f} s and {mine:.2f} s; {about}"),
            _row(f"vectors of {name}: 1e-5 over the largest difference of a number", 1e-5 / max(apart, 1e-12),
                 f"{apart:.1e}"),
        ]  # fmt: skip
    return rows


def _scores(started: reranker.Reranker, data: list[LabelledQuery], about: str) -> list[dict]:
    """Compare scores of a question's documents: an own loop over batches, and the library that a ready model uses."""
    from sentence_transformers import CrossEncoder

    documents = data[0].documents
    pairs = [(data[0].query.question, document.text) for document in documents]
    with tempfile.TemporaryDirectory() as folder:
        started.save(Path(folder))
        library = CrossEncoder(folder, max_length=started.longest, device=str(started.device))
    mine, peer, apart = _in_turn(
        lambda: started.probabilities(data[0].query.question, documents),
        lambda: library.predict(pairs, batch_size=BATCH, apply_softmax=True, show_progress_bar=False)[:, 1],
    )
    return [
        _row(f"probabilities of {len(pairs)} documents, times faster than CrossEncoder.predict", peer / mine,
             f"{peer:.2f} s and {mine:.2f} s; {about}"),
        _row("probabilities: 1e-5 over the largest difference", 1e-5 / max(apart, 1e-12), f"{apart:.1e}"),
    ]  # fmt: skip


def _steps(started: reranker.Reranker, batches: list[list[LabelledQuery]], about: str) -> list[dict]:
    schedule = Schedule(epochs=1, learning_rate=1e-5, batch=QUERIES)
    theirs = reranker.start(checkpoints.BUNDLED, rng=np.random.default_rng(0))
    # Of the first batch, without dropout.
    own = training.Objectives(started, [], training.Weights()).loss(training.examples(started, batches[0]))
    peer, loss = _theirs(theirs, batches, schedule)
    taken = _ours(started, batches, schedule)
    (mine, my_work), (plain, work) = np.median(taken, axis=0), np.median(peer, axis=0)
    return [
        _row(f"training step of {QUERIES} queries of {DOCUMENTS} documents, times faster than CrossEncoderTrainer",
             plain / mine, f"medians of {STEPS} steps: {plain:.2f} s and {mine:.2f} s; processor time {work:.2f} s and "
             f"{my_work:.2f} s; {about}"),
        _row("loss of a step: 1e-5 over the relative difference", 1e-5 / max(abs(loss / own - 1), 1e-12),
             f"{loss:.7g} and {own:.7g}"),
    ]  # fmt: skip


def _ours(
    model: reranker.Reranker, batches: list[list[LabelledQuery]], schedule: Schedule
) -> list[tuple[float, float]]:
    """Time the steps of the one training loop: seconds of the clock and of the processor."""
    moments = []
    data = [each for batch in batches for each in batch]
    training.train(
        model, data, rng=np.random.default_rng(0), schedule=schedule,
        report=lambda *_said: moments.append((time.perf_counter(), time.process_time())),
    )  # fmt: skip
    return np.diff(moments, axis=0).tolist()


def _in_turn(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float, float]:
    """Return both medians in seconds, and the largest difference of a number."""
    apart = float(np.abs(np.subtract(ours(), theirs())).max())
    taken: tuple[list[float], list[float]] = ([], [])
    for _round in range(ROUNDS):
        for side, work in zip(taken, (ours, theirs), strict=True):
            began = time.perf_counter()
            work()
            side.append(time.perf_counter() - began)
    return float(np.median(taken[0])), float(np.median(taken[1])), apart


def _row(name: str, ratio: float, detail: str) -> dict:
    return {"name": name, "ratio": float(ratio), "target": 1, "detail": detail}


def _theirs(
    model: reranker.Reranker, batches: list[list[LabelledQuery]], schedule: Schedule
) -> tuple[list[tuple[float, float]], float]:
    """Time sentence-transformers' trainer, with the joint loss in the form of the library's list-wise losses."""
    import torch
    from datasets import Dataset
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.util import batch_to_device
    from transformers import TrainerCallback

    class Clock(TrainerCallback):
        """Record when each step ends."""

        def __init__(self) -> None:
            self.began = (0.0, 0.0)
            self.found: list[tuple[float, float]] = []

        def on_step_begin(self, *_args: Any, **_options: Any) -> None:
            self.began = time.perf_counter(), time.process_time()

        def on_step_end(self, *_args: Any, **_options: Any) -> None:
            self.found.append((time.perf_counter() - self.began[0], time.process_time() - self.began[1]))

    class Uplift(torch.nn.Module):
        """The joint loss of queries with lists of documents, all pairs of a step in one batch."""

        def __init__(self, encoder: CrossEncoder) -> None:
            super().__init__()
            self.model = encoder

        def forward(self, inputs: Any, labels: Any, **_options: Any) -> Any:
            queries, documents = inputs
            pairs = [(query, text) for query, texts in zip(queries, documents, strict=True) for text in texts]
            logits = self.model(batch_to_device(self.model.preprocess(pairs), self.model.device))["scores"]
            sizes = [len(texts) for texts in documents]
            return losses(logits, torch.cat(list(labels)).to(logits.device), sizes).total(training.Weights()) / len(
                sizes
            )

    clock = Clock()
    data = [each for batch in batches for each in batch]
    rows = Dataset.from_dict({
        "query": [each.query.question for each in data],
        "documents": [[document.text for document in each.documents] for each in data],
        "labels": [[float(value) for value in each.uplift] for each in data],
    })  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder))
        encoder = CrossEncoder(folder, num_labels=2, max_length=model.longest, device=str(model.device))
        arguments = CrossEncoderTrainingArguments(
            folder, per_device_train_batch_size=QUERIES, num_train_epochs=1, learning_rate=schedule.learning_rate,
            report_to=[], save_strategy="no", logging_strategy="no", disable_tqdm=True,
            use_cpu=model.device.type == "cpu", train_sampling_strategy="sequential",
        )  # fmt: skip
        trainer = CrossEncoderTrainer(
            encoder, arguments, train_dataset=rows, loss=Uplift(encoder), callbacks=[clock]
        )  # fmt: skip
        first = rows[:QUERIES]
        with torch.inference_mode():
            labels = [torch.tensor(each, device=model.device) for each in first["labels"]]
            loss = float(Uplift(encoder.eval())([first["query"], first["documents"]], labels))
        trainer.train()
    return clock.found[1:], loss


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
