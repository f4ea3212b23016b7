"""DPA-RAG: align a reranker and a generator with the knowledge that the generator can use (Dong et al., WWW 2025).

Dual preference alignment. External alignment: documents that turn a wrong answer right are aligned knowledge, those
that turn a right one wrong are unaligned. Queries with either train a reranker by three objectives at once (point-wise,
pair-wise, contrastive), weighted by multiple-gradient descent. Internal alignment: the generator learns which documents
to trust.

The generator rewrites training questions in five ways, so that the reranker learns from more of them (section 3.1). A
rewritten question keeps the documents of the original and their effect on its answer. Pairs are ordered only by answer
score, without a reward model in addition to the retriever's similarity. Aligned and unaligned are by the comparison's
metric. The internal alignment is missing: the authors fine-tune the generator in a stage in which it states which
documents are aligned. We cannot train a generator behind an API. So its prompt states what this training is for:
documents may mislead, and its own knowledge counts.
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
from . import dpa_trainer
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

#: Instructions for rewriting a question, by their name in the paper.
WAYS = {
    "rephrasing": "Rephrase the question with the same intention.",
    "complexity": "Increase the semantic complexity of the question.",
    "decomposition": "Decompose the question into several sub-questions.",
    "constraint": "Add conditional and constraining statements to the question.",
    "sparql": "Rewrite the question in the syntax of SPARQL.",
}
INSTRUCTION = "{way} Only give me the new question and do not output any other words."
#: Maximum number of tokens of a rewritten question.
MAX_TOKENS = 96
#: Number of questions whose prompts go to the generator in one call.
AT_ONCE = 32


def augmented(
    labelled: Sequence[LabelledQuery], generator: Generator, report: Callable[[int, int, str], None]
) -> list[LabelledQuery]:
    """Rewrite questions, keeping the documents and answers of the originals.

    Parameters
    ----------
    labelled : sequence of LabelledQuery
    generator : Generator
        It rewrites the questions. Then it says for each new question whether the original follows from it (the authors
        use an entailment model). A question for which it says no is left out.
    report : callable
        Called from time to time; it raises to stop.

    Returns
    -------
    list of LabelledQuery
        At most five per original, in the order of the originals. Refusals, empty texts and mere repetitions of the
        original are left out.
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
    """Build the prompt for rewriting a question in one way."""
    messages = (Message("system", INSTRUCTION.format(way=WAYS[way])), Message("user", f"Question: {question}"))
    return Prompt(messages, max_tokens=MAX_TOKENS)


ALIGNMENT = (
    "Some of the given documents may be wrong or beside the question. Rely on those that fit what you know, and on "
    "your own knowledge where none does."
)
_FOLDER = "dpa"
RERANKER = "dpa_reranker"


class Dpa(StepwiseMethod):
    """Answer with the first documents by the generator's preference, and a prompt that allows it to doubt them.

    Parameters
    ----------
    settings : BaselineSettings
    self_alignment : bool
        Whether the prompt has `ALIGNMENT`; otherwise it is the same as for all methods.
    augments : bool
        Whether the reranker also learns from rewritten questions.
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
        dpa_trainer.train(self._trained, [*preferences, *extra], self.settings, held_out=preferred(training.held_out),
                           rng=training.rng, report=training.report, checkpoint=training.checkpoint)  # fmt: skip

    def save(self, folder: Path) -> None:
        """Save the reranker."""
        self._fitted().save(folder / _FOLDER, {"method": self.name})

    def load(self, folder: Path) -> None:
        """Load what `save` wrote."""
        self._trained = reranker.load(folder / _FOLDER, device=self.settings.device)

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with the first documents by preference. See `protocol.Method`."""
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
    """Return the queries with an aligned or an unaligned document; a query without a gold answer has none."""
    return [example for example in labelled if example.query.answers and example.documents and np.any(example.uplift)]


def aligned(request: Prompt) -> Prompt:
    """Add `ALIGNMENT` to a prompt, after its instruction and documents."""
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
