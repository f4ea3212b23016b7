"""DPA-RAG: a reranker, and a generator, aligned with what the generator can use (Dong et al., WWW 2025).

Dong et al. 2025, section 3.1. A new question keeps the documents of the original with what these did to its answer.

Dual preference alignment. Outside: documents that turn a wrong answer right are aligned knowledge, those that turn a
right one wrong unaligned; queries with either train a reranker by three objectives at once (point by point, pair by
pair, by contrast), weighed by multiple-gradient descent. Inside: the generator learns which documents to trust.

Questions are written anew in five ways by the generator, so that the reranker learns from more of them. Pairs are
ordered by answer score alone, without a reward model beside the retriever's similarity; aligned and unaligned are by
the comparison's metric. What is missing is the inside: the authors fine-tune the
generator in a stage in which it says which documents are aligned; a generator behind an interface is not ours to
train, so its prompt says what this training is for: that documents may mislead, and that what it knows itself counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...entailment import PromptedEntailment as Entailing
from ...protocols import Document, Generator, Message, Prompt, Query
from .. import reranker
from ..uplift_labels import LabelledQuery, prompt
from . import dpa_training
from .protocol import (
    AnswerSteps,
    Baseline,
    BaselineSettings,
    Form,
    MethodAnswer,
    NotPossibleError,
    StepwiseMethod,
    Training,
    Work,
    answered,
)

#: What is asked for, by the paper's name of it.
WAYS = {
    "rephrasing": "Rephrase the question with the same intention.",
    "complexity": "Increase the semantic complexity of the question.",
    "decomposition": "Decompose the question into several sub-questions.",
    "constraint": "Add conditional and constraining statements to the question.",
    "sparql": "Rewrite the question in the syntax of SPARQL.",
}
INSTRUCTION = "{way} Only give me the new question and do not output any other words."
#: How long a new question may be.
MAX_TOKENS = 96
#: Questions whose prompts go to the generator together.
AT_ONCE = 32


def augmented(
    labelled: Sequence[LabelledQuery], generator: Generator, report: Callable[[int, int, str], None]
) -> list[LabelledQuery]:
    """Questions written anew, with the documents and answers of the originals.

    Parameters
    ----------
    labelled : sequence of Labelled
    generator : Generator
        It writes, and then says of each new question whether the original follows from it (the authors ask an
        entailment model): one of which it says no is left out.
    report : callable
        Called now and then; it raises to stop.

    Returns
    -------
    list of Labelled
        Five of each at most, in the order of the originals. What the generator refuses, leaves empty or only repeats
        is left out.
    """
    augmented_queries: list[LabelledQuery] = []
    for start in range(0, len(labelled), AT_ONCE):
        batch = labelled[start : start + AT_ONCE]
        outputs = generator.generate(
            [augmentation_prompt(example.query.question, way) for example in batch for way in WAYS]
        )
        texts = [
            (batch[index // len(WAYS)], text)
            for index, output in enumerate(outputs)
            if (text := " ".join(output.text.split())) and not output.error
        ]
        rewritten = [
            (original, text) for original, text in texts if text.casefold() != original.query.question.casefold()
        ]
        follows = Entailing(generator).probabilities([(text, original.query.question) for original, text in rewritten])
        augmented_queries += [
            replace(original, query=replace(original.query, question=text))
            for (original, text), p in zip(rewritten, follows, strict=True)
            if p != 0
        ]
        report(min(start + AT_ONCE, len(labelled)), len(labelled), "rewriting questions")
    return augmented_queries


def augmentation_prompt(question: str, way: str) -> Prompt:
    """What asks for a question written anew in a way."""
    messages = (Message("system", INSTRUCTION.format(way=WAYS[way])), Message("user", f"Question: {question}"))
    return Prompt(messages, max_tokens=MAX_TOKENS)


ALIGNMENT = (
    "Some of the given documents may be wrong or beside the question. Rely on those that fit what you know, and on "
    "your own knowledge where none does."
)
_FOLDER = "dpa"
RERANKER = "dpa_reranker"


class Dpa(StepwiseMethod):
    """The first documents by the generator's preference, with a prompt that lets it doubt them.

    Parameters
    ----------
    settings : Settings
    self_alignment : bool
        Whether the prompt has `ALIGNMENT`. Without, the prompt is every other method's.
    augments : bool
        Whether the reranker learns from questions that are written anew, too.
    """

    name = "dpa"
    form = RERANKER

    def __init__(
        self, settings: BaselineSettings | None = None, *, self_alignment: bool = True, augments: bool = True
    ) -> None:
        self.settings = settings or BaselineSettings()
        self.augments = augments
        self.self_alignment = self_alignment
        self._trained: reranker.Reranker | None = None

    def fit(self, training: Training) -> None:
        """Train the reranker on queries with aligned or unaligned documents.

        Raises
        ------
        NotPossibleError
            If there is no such query.
        """
        preferences = preferred(training.labelled)
        if not preferences:
            raise NotPossibleError(
                "DPA-RAG needs documents that change whether an answer is right, but the "
                f"{len(training.labelled)} training "
                f"queries have none. Use more queries or another metric."
            )
        extra = augmented(preferences, training.generator, training.report) if self.augments else []
        self._trained = reranker.start(self.settings.encoder, rng=training.rng, device=self.settings.device,
                                       longest=self.settings.longest, precision=self.settings.precision)  # fmt: skip
        dpa_training.train(self._trained, [*preferences, *extra], self.settings, held_out=preferred(training.held_out),
                           rng=training.rng, report=training.report)  # fmt: skip

    def save(self, folder: Path) -> None:
        """Write the reranker."""
        self._fitted().save(folder / _FOLDER, {"method": self.name})

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        self._trained = reranker.load(folder / _FOLDER, device=self.settings.device)

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Ask with the first documents by preference. See `protocol.Method`."""
        fed: Sequence[Document] = ()
        if documents:
            order = np.argsort(-self._fitted().probabilities(query.question, documents), kind="stable")
            fed = [documents[index] for index in order[: self.settings.feed]]
        request = prompt(query.question, fed, max_tokens=self.settings.max_tokens)
        (output,) = yield [aligned(request) if fed and self.self_alignment else request]
        return answered(output, fed)

    def _fitted(self) -> reranker.Reranker:
        if self._trained is None:
            raise NotPossibleError("DPA-RAG is not trained yet: fit it first.")
        return self._trained


def preferred(labelled: Sequence[LabelledQuery]) -> list[LabelledQuery]:
    """The queries that have an aligned or an unaligned document; without a right answer a query has none."""
    return [example for example in labelled if example.query.answers and example.documents and np.any(example.uplift)]


def aligned(request: Prompt) -> Prompt:
    """The prompt with `ALIGNMENT` after its instruction and documents."""
    system, *messages = request.messages
    return replace(request, messages=(Message("system", f"{system.content}\n\n{ALIGNMENT}"), *messages))


BASELINE = Baseline(
    name="dpa",
    title="DPA-RAG",
    does="selects the first documents, ranked by what changed the generator's answers to other questions",
    make=Dpa,
    forms=(
        Form(
            RERANKER,
            "after DPA-RAG (reranker only)",
            "The reranker was trained with three objectives at once, also on questions rewritten in five "
            "ways. The generator was instructed to doubt documents, instead of being trained in two stages.",
        ),
        Form(
            "dpa",
            "after DPA-RAG (reranker and an instruction)",
            "Questions were not rewritten. The generator was instructed to doubt documents, instead of being "
            "trained to do so.",
        ),
    ),
    work=Work(
        "dong2025",
        "inproceedings",
        {
            "author": "Dong, Guanting and Zhu, Yutao and Zhang, Chenghao and Wang, Zechen and Wen, Ji-Rong and "
            "Dou, Zhicheng",
            "title": "Understand What {LLM} Needs: Dual Preference Alignment for Retrieval-Augmented Generation",
            "booktitle": "Proceedings of the ACM Web Conference 2025",
            "pages": "4206--4225",
            "year": "2025",
            "url": "https://arxiv.org/abs/2406.18676",
        },
    ),
    prompts={"alignment": ALIGNMENT} | WAYS,
    asks_to_learn=2 * len(WAYS),
    trains=True,
)
