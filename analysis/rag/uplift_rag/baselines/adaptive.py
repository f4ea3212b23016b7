"""Adaptive-RAG: choose no, one or several retrieval steps by a question's complexity (Jeong et al., NAACL 2024).

A language model is trained to classify questions with automatic labels: the simplest of the three strategies (A, B, C)
whose answer to a training question is correct. If none is correct, the label follows from the data set (one step for
questions of one hop). Several steps alternate between reasoning and retrieval (IRCoT, Trivedi et al., ACL 2023).

The authors' classifier is a T5. Here it is the encoder on which rerankers are based, with one logit per label.
Retrieval for a thought is among the query's candidates, by embeddings of question and thought, since there may be no
corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from pathlib import Path

import numpy as np

from ... import qa_metrics
from ...protocols import Document, Generator, Message, Output, Prompt, Query
from ..uplift_labels import QUESTION, LabelledQuery, reference
from . import question_classifier
from .embeddings import Embed, embedder, text
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
    reading,
    run_steps,
)
from .question_classifier import Classifier

THINK = (
    "Think about the question step by step, based on the given documents. Write the next thought only, as one short "
    "sentence that says which fact is still missing. If nothing is missing, write: So the answer is: and the answer."
    "\nThe following are given documents.\n\n{reference}"
)
#: Words in a thought that mean that no further step is needed.
DONE = "the answer is"
CLASSIFIER = "adaptive_classifier"
_FOLDER = "adaptive"


class Complexity(IntEnum):
    """Number of retrieval steps that a question needs: A, B and C in the paper."""

    NONE = 0
    ONE = 1
    SEVERAL = 2


#: Labels as in the paper.
LABELS = ("A", "B", "C")


class Adaptive(StepwiseMethod):
    """Answer with the predicted number of retrieval steps.

    Parameters
    ----------
    settings : BaselineSettings
    otherwise : Complexity or None
        The label of a training question that no strategy answers correctly: ONE for single-hop data sets, SEVERAL for
        multi-hop data sets; None leaves the question out.
    steps : int
        Maximum number of thoughts for one question.
    embed : callable, optional
        By default the sentence encoder in the settings.
    """

    name = "adaptive"
    form = CLASSIFIER

    def __init__(
        self,
        settings: BaselineSettings | None = None,
        *,
        otherwise: Complexity | None = Complexity.ONE,
        steps: int = 3,
        embed: Embed | None = None,
    ) -> None:
        self.settings = settings or BaselineSettings()
        self.otherwise = otherwise
        self.steps = steps
        self._embed = embed or embedder(self.settings.embedder, self.settings.device)
        self._classifier: Classifier | None = None

    def fit(self, training: Training) -> None:
        """Label training questions by the fewest steps with a correct answer, and train the classifier on them.

        Raises
        ------
        NotPossibleError
            If no training question has a label.
        """
        questions, labels = self._labels(training.labelled, training)
        if not labels:
            raise NotPossibleError(
                f"Adaptive-RAG needs questions that a strategy answers right, but none of the {len(training.labelled)} "
                f"training questions is like this. Use more questions, or set a label for the others."
            )
        watched = self._labels(training.held_out, training) if self.settings.patience else ([], [])
        classifier = question_classifier.start(self.settings.encoder, LABELS, rng=training.rng, settings=self.settings)
        classifier.train(questions, labels, self.settings, held_out=watched, rng=training.rng, report=training.report,
                         checkpoint=training.checkpoint)  # fmt: skip
        self._classifier = classifier

    def save(self, folder: Path) -> None:
        """Save the classifier."""
        self._fitted().save(folder / _FOLDER)

    def load(self, folder: Path) -> None:
        """Load what `save` wrote."""
        self._classifier = question_classifier.load(folder / _FOLDER, LABELS, self.settings)

    def complexity(self, question: str) -> Complexity:
        """Predict the number of steps that a question needs."""
        return Complexity(int(self._fitted().classes([question])[0]))

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with the predicted number of steps. See `protocol.Method`."""
        match self.complexity(query.question) if documents else Complexity.NONE:
            case Complexity.NONE:
                return reading(query, (), self.settings)
            case Complexity.ONE:
                return reading(query, documents[: self.settings.feed], self.settings)
            case Complexity.SEVERAL:
                return self.several(query, documents)

    def several(self, query: Query, documents: Sequence[Document]) -> AnswerSteps[MethodAnswer]:
        """Alternate between reasoning and retrieval, then answer with all retrieved documents.

        Each step adds half of `BaselineSettings.feed` documents: first the retriever's best, then those most similar to
        the question with the last thought. It ends when a thought contains the answer, a thought is empty, no document
        is left, or there are `steps` thoughts. `prompt_tokens` includes the prompts of the thoughts.
        """
        step = max(1, -(-self.settings.feed // 2))
        fed, remaining = list(documents[:step]), list(documents[step:])
        thoughts: list[str] = []
        outputs: list[Output] = []
        for _step in range(self.steps):
            (output,) = yield [self._thinking(query, fed, thoughts)]
            outputs.append(output)
            thought = " ".join(output.text.split())
            if not thought or DONE in thought.lower() or not remaining:
                break
            thoughts.append(thought)
            closest = self._closest(f"{query.question} {thought}", remaining)[:step]
            fed += closest
            remaining = [item for item in remaining if item not in closest]
        last = yield from reading(query, fed, self.settings)
        tokens = sum(item.prompt_tokens for item in outputs) + last.prompt_tokens
        return replace(last, prompt_tokens=tokens, outputs=(*outputs, *last.outputs))

    def _labels(self, labelled: Sequence[LabelledQuery], training: Training) -> tuple[list[str], list[int]]:
        """Return questions with the simplest strategy that answers correctly; leave out those without a label."""
        labels = run_steps(
            map(self._labelling, labelled), training.generator,
            report=lambda finished: training.report(finished, len(labelled), "complexity"),
        )  # fmt: skip
        labelled_questions = [
            (example.query.question, label)
            for example, label in zip(labelled, labels, strict=True)
            if label is not None
        ]
        return [question for question, _label in labelled_questions], [
            int(label) for _question, label in labelled_questions
        ]

    def _labelling(self, labelled: LabelledQuery) -> AnswerSteps[Complexity | None]:
        """Find the simplest strategy that answers correctly, cheapest first: more expensive ones are then not run."""
        query, documents = labelled.query, labelled.documents
        if not query.answers:
            return None
        if qa_metrics.exact_match(labelled.without, query.answers):
            return Complexity.NONE
        if documents:
            answer = yield from reading(query, documents[: self.settings.feed], self.settings)
            if qa_metrics.exact_match(answer.text, query.answers):
                return Complexity.ONE
            several = yield from self.several(query, documents)
            if qa_metrics.exact_match(several.text, query.answers):
                return Complexity.SEVERAL
        return self.otherwise

    def _thinking(self, query: Query, documents: Sequence[Document], thoughts: Sequence[str]) -> Prompt:
        system = Message("system", THINK.format(reference=reference(documents)))
        content = QUESTION.format(question=query.question).removesuffix("Answer:") + "Thoughts: " + " ".join(thoughts)
        return Prompt((system, Message("user", content.strip())), max_tokens=max(self.settings.max_tokens, 48))

    def _closest(self, words: str, documents: Sequence[Document]) -> list[Document]:
        vectors = self._embed([words, *(text(document) for document in documents)])
        return [documents[index] for index in np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")]

    def _fitted(self) -> Classifier:
        if self._classifier is None:
            raise NotPossibleError("Adaptive-RAG is not trained yet: fit it first.")
        return self._classifier


BASELINE = Baseline(
    name="adaptive",
    title="Adaptive-RAG",
    does="selects no documents, the first documents, or alternates reasoning and retrieval, depending on "
    "the question's complexity",
    make=Adaptive,
    forms=(
        Form(CLASSIFIER, "Adaptive-RAG"),
        Form(
            "adaptive",
            "after Adaptive-RAG (logistic regression)",
            "The question's complexity was predicted by a logistic regression on its vector, instead of a "
            "language model.",
        ),
    ),
    work=Work(
        "jeong2024",
        "inproceedings",
        {
            "author": "Jeong, Soyeong and Baek, Jinheon and Cho, Sukmin and Hwang, Sung Ju and Park, Jong C.",
            "title": "{Adaptive-RAG}: Learning to Adapt Retrieval-Augmented Large Language Models through Question "
            "Complexity",
            "booktitle": "Proceedings of NAACL 2024",
            "year": "2024",
            "url": "https://aclanthology.org/2024.naacl-long.389/",
        },
    ),
    prompts={"thought": THINK},
    asks=5,
    asks_to_learn=5,
)
