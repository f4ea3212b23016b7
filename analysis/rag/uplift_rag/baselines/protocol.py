"""The protocol of all compared methods: names and settings, training, saving, and answering in batches.

A method without training has empty `fit`, `save` and `load`. docs/methods/uplift.md.

A method answers as a Python generator: it yields prompts, receives their outputs, yields the prompts that follow from
these, and returns its answer. So prompts of many queries run together: a device gets batches, and an endpoint gets the
next prompts of a query as soon as its last ones are answered.

Tables, charts, captions, the form, the methods paragraph, the bibliography, the estimate and the docs use this module.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import abc, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np

from ... import protocols
from ...checkpoints import BUNDLED
from ...protocols import Document, Generator, Output, Prompt, Query
from ..reranker import Precision
from ..training_loop import Checkpoint, Schedule
from ..uplift_labels import LabelledQuery, Metric, prompt


@dataclass(frozen=True)
class BaselineSettings:
    """Settings that all methods of a comparison share, so that they differ in nothing else.

    Attributes
    ----------
    feed : int
        Number of documents that a fixed top-k method gives to the generator.
    max_tokens : int
        Maximum number of tokens of an answer.
    metric : "em" or "f1"
        Metric of methods that learn from scores.
    encoder : str
        Initial model of rerankers: any name for `checkpoints.find`.
    embedder : str
        Model for text embeddings, with which SKR, Adaptive-RAG and AAR compare questions and documents.
    cross_encoder : str
        A cross-encoder that was trained on relevance elsewhere (`BAAI/bge-reranker-base` in the paper) and is used
        unchanged; if "", one is trained from `encoder`.
    device : str or None
        `cpu`, `cuda`; None means a CUDA device if there is one.
    epochs : int
    learning_rate : float
    batch : int
        Queries per step.
    longest : int
        Maximum number of tokens of a question with a document, for all trained models.
    warm_up : float
        Share of training steps in which the learning rate rises; afterwards it falls linearly to 0.
    patience : int or None
        Training stops after this many epochs without a lower loss on held-out queries; None: never.
    precision : "full" or "half"
        Half computes in bfloat16 and keeps weights in full precision: for CUDA devices.
    seed : int
        For functions that accept only a number; all other randomness in training comes from `rng`.
    """

    feed: int = 5
    max_tokens: int = 32
    metric: Metric = "f1"
    encoder: str = "roberta-base"
    embedder: str = BUNDLED
    cross_encoder: str = ""
    device: str | None = None
    epochs: int = 10
    learning_rate: float = 1e-5
    batch: int = 4
    longest: int = 256
    warm_up: float = 0.0
    patience: int | None = None
    precision: Precision = "full"
    seed: int = 0

    def schedule(self, *, is_watched: bool = True) -> Schedule:
        """Return how a model is trained; without held-out queries (`is_watched`), it never stops early."""
        return Schedule(epochs=self.epochs, learning_rate=self.learning_rate, batch=self.batch, warm_up=self.warm_up,
                        patience=(self.patience or None) if is_watched else None)  # fmt: skip


@dataclass(frozen=True)
class Training:
    """Training data of a method, without any test query.

    Attributes
    ----------
    labelled : tuple of LabelledQuery
        For training.
    held_out : tuple of LabelledQuery
        For early stopping or model selection; may be empty.
    generator : Generator
        For methods that need it in training. The prompts of the labels are already stored and cost nothing again.
    rng : numpy.random.Generator
    report : callable
        Called with (done, total, message) from time to time. It raises to stop the training: do not catch that.
    checkpoint : Checkpoint, optional
        Where the training stores how far it is.
    """

    labelled: tuple[LabelledQuery, ...]
    held_out: tuple[LabelledQuery, ...]
    generator: Generator
    rng: np.random.Generator
    report: Callable[[int, int, str], None] = lambda _done, _total, _message: None
    checkpoint: Checkpoint | None = None


@dataclass(frozen=True)
class MethodAnswer:
    """A method's answer to a query.

    Attributes
    ----------
    text : str
        "" if the generator gave none.
    documents : tuple of str
        Ids of the documents that the answer is based on, in the order of the prompt; () without documents.
    prompt_tokens : int
        Tokens of the prompt, or prompts (REPLUG has one per document), that produced the answer, for Table 3.
    outputs : tuple of Output
        Outputs of every call for this answer, including calls for decisions: the cost of the answer.
    error : str
        Why there is no text; "" if there is one.
    form : str
        Form of the method (`Form`) if it depends on the generator; "" for the method's own.
    """

    text: str
    documents: tuple[str, ...]
    prompt_tokens: int
    outputs: tuple[Output, ...]
    error: str = ""
    form: str = ""


class NotPossibleError(Exception):
    """The method cannot be used here, with the reason: the comparison continues without it and says so.

    Examples: a generator without likelihoods, or training queries that are all alike.
    """


class Method(Protocol):
    """A method that answers a query with ranked documents. Its factory takes `BaselineSettings`."""

    @property
    def name(self) -> str:
        """Short name, as in tables: `standard`, `replug`. Unique in a comparison."""
        ...

    @property
    def form(self) -> str:
        """Key of its form (see `Form`); for a trained method, valid after training."""
        ...

    def fit(self, training: Training) -> None:
        """Train the method.

        Raises
        ------
        NotPossibleError
            If training is not possible, with the reason.
        """
        ...

    def save(self, folder: Path) -> None:
        """Save the trained parts to an empty folder: safetensors, JSON, npy. No pickles."""
        ...

    def load(self, folder: Path) -> None:
        """Load what `save` wrote, on this machine or another."""
        ...

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer a query step by step, so that many run together (`run_steps`).

        Parameters, errors and result are as in `answer`.
        """
        ...

    def answer(self, query: Query, documents: Sequence[Document], generator: Generator) -> MethodAnswer:
        """Answer a query.

        Parameters
        ----------
        query : Query
            Methods must not read its gold answers.
        documents : sequence of Document
            From the retriever, best first (10 in the paper), with `score` if the retriever gives scores. A method
            without a reranker uses the first `BaselineSettings.feed`.
        generator : Generator

        Raises
        ------
        NotPossibleError
            If the method cannot answer, with the reason.
        """
        ...


def answered(output: Output, documents: Sequence[Document], *earlier: Output) -> MethodAnswer:
    """Create an answer from the output of one call, with the outputs of earlier calls for decisions."""
    ids = tuple(document.id for document in documents)
    return MethodAnswer(output.text, ids, output.prompt_tokens, (*earlier, output), output.error)


Found = TypeVar("Found")
#: A generator that yields prompts, receives their outputs in order, and returns its result.
AnswerSteps = abc.Generator[Sequence[Prompt], Sequence[Output], Found]
#: Number of queries that run together: their prompts are held in memory.
AT_ONCE = 64


class StepwiseMethod(ABC):
    """A method that answers step by step, and so can answer one query alone or many together."""

    @property
    @abstractmethod
    def name(self) -> str:
        """See `protocol.Method`."""

    @property
    def form(self) -> str:
        """See `protocol.Method`; by default the same as the name."""
        return self.name

    @abstractmethod
    def asking(
        self, query: Query, documents: Sequence[Document], generator: protocols.Generator
    ) -> AnswerSteps[MethodAnswer]:
        """Answer a query step by step. See `protocol.Method`."""

    def answer(self, query: Query, documents: Sequence[Document], generator: protocols.Generator) -> MethodAnswer:
        """Answer one query. See `protocol.Method`."""
        (answer,) = run_steps([self.asking(query, documents, generator)], generator)
        return answer


def reading(query: Query, documents: Sequence[Document], settings: BaselineSettings) -> AnswerSteps[MethodAnswer]:
    """Answer with these documents in this order, in one prompt: the last step of all methods except REPLUG.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
        If empty, the prompt has no documents.
    settings : BaselineSettings

    Returns
    -------
    MethodAnswer
    """
    (output,) = yield [prompt(query.question, documents, max_tokens=settings.max_tokens)]
    return answered(output, documents)


def run_steps(
    askings: Iterable[AnswerSteps[Found]],
    generator: protocols.Generator,
    *,
    at_once: int = AT_ONCE,
    report: Callable[[int], None] = lambda _done: None,
) -> list[Found]:
    """Run several step-by-step answers together.

    With a server (`protocols.RollingGenerator`), each goes on as soon as its own prompts are answered. Otherwise they
    run in lockstep: all prompts of a step go to the generator in one call, so that a device gets batches.

    Parameters
    ----------
    askings : iterable of AnswerSteps
        They may have different numbers of steps.
    generator : protocols.Generator
        As always, it answers equal prompts of one call once.
    at_once : int
        Maximum number to run together. In lockstep, the next ones begin when all of these have ended.
    report : callable
        Called with the number of finished ones after each step; it may raise to stop.

    Returns
    -------
    list
        The results in order: the same as one after another.
    """
    if isinstance(generator, protocols.RollingGenerator):
        report(0)
        rolling = _Rolling(iter(askings), at_once, report)
        generator.roll(rolling.prompts(), rolling.note)
        return [rolling.ended[index] for index in range(len(rolling.ended))]
    answers: list[Found] = []
    remaining = iter(askings)
    while batch := list(islice(remaining, at_once)):
        before = len(answers)
        for ended in _steps(batch, generator):
            report(before + len(ended))
        answers += [ended[index] for index in range(len(batch))]
    return answers


class _Rolling(Generic[Found]):
    """Step-by-step answers of which each goes on as soon as its own prompts are answered."""

    def __init__(self, askings: Iterator[AnswerSteps[Found]], at_once: int, report: Callable[[int], None]) -> None:
        self.ended: dict[int, Found] = {}
        self._askings, self._at_once, self._report = askings, at_once, report
        self._open: dict[int, AnswerSteps[Found]] = {}
        self._begun = 0
        self._step: dict[int, list[Output | None]] = {}  # outputs of each one's current step
        # Prompts to be sent, and of those that were sent: whose, and the position in its step.
        self._prompts: deque[tuple[int, int, Prompt]] = deque()
        self._sent: list[tuple[int, int]] = []

    def prompts(self) -> Iterator[Prompt | None]:
        """Yield the prompts to send next; None if there are none before another output arrives."""
        while True:
            if self._prompts:
                index, position, prompt = self._prompts.popleft()
                self._sent.append((index, position))
                yield prompt
            elif len(self._open) < self._at_once and (asking := next(self._askings, None)) is not None:
                self._open[self._begun] = asking
                self._begun += 1
                self._advance(self._begun - 1, None)
            elif self._open:
                yield None
            else:
                return

    def note(self, number: int, output: Output) -> None:
        """Take an output; the step it completes is followed by the next."""
        index, position = self._sent[number]
        outputs = self._step[index]
        outputs[position] = output
        complete = [known for known in outputs if known is not None]
        if len(complete) == len(outputs):
            self._advance(index, complete)

    def _advance(self, index: int, outputs: Sequence[Output] | None) -> None:
        asking = self._open[index]
        try:
            prompts = next(asking) if outputs is None else asking.send(outputs)
            while not prompts:
                prompts = asking.send([])
        except StopIteration as end:
            del self._open[index]
            self.ended[index] = end.value
            self._report(len(self.ended))
            return
        self._step[index] = [None] * len(prompts)
        self._prompts.extend((index, position, prompt) for position, prompt in enumerate(prompts))


def _steps(askings: Sequence[AnswerSteps[Found]], generator: protocols.Generator) -> Iterator[dict[int, Found]]:
    """Advance all until each has ended; yield the results so far, by index, at the start and after each step."""
    ended: dict[int, Found] = {}
    waiting: dict[int, Sequence[Prompt]] = {}

    def advance(index: int, outputs: Sequence[Output] | None) -> None:
        try:
            waiting[index] = next(askings[index]) if outputs is None else askings[index].send(outputs)
        except StopIteration as end:
            ended[index] = end.value

    for index in range(len(askings)):
        advance(index, None)
    yield ended
    while waiting:
        requests = dict(waiting)
        waiting.clear()
        outputs = iter(generator.generate([prompt for prompts in requests.values() for prompt in prompts]))
        for index, prompts in requests.items():
            advance(index, list(islice(outputs, len(prompts))))
        yield ended


@dataclass(frozen=True)
class Work:
    """A paper in the bibliography.

    Attributes
    ----------
    key : str
        Citation key: `yu2023`.
    kind : str
        Type of the BibTeX entry: `inproceedings`.
    fields : mapping of str to str
        Fields of the entry.
    """

    key: str
    kind: str
    fields: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True)
class Form:
    """A form in which a baseline is run. The label is the paper's name alone only if the whole method is implemented.

    Attributes
    ----------
    key : str
        Key in rows of tables. A key never changes its meaning, because stored runs refer to it.
    label : str
        Label for readers: "after NAME (PARTS)" if parts are missing.
    departs : str
        What is missing or different, as a sentence; "" if nothing is.
    """

    key: str
    label: str
    departs: str = ""

    @property
    def in_sentence(self) -> str:
        """The label as written within a sentence.

        Examples
        --------
        >>> Form("standard", "Standard RAG").in_sentence, Form("adaptive", "Adaptive-RAG").in_sentence
        ('standard RAG', 'Adaptive-RAG')
        """
        first = self.label.split()[0]
        return self.label[0].lower() + self.label[1:] if first[1:].islower() and "-R" not in first else self.label


@dataclass(frozen=True)
class Baseline:
    """A method that uplift RAG is compared with.

    Attributes
    ----------
    name : str
        Name in parameters.
    title : str
        Name in the web form.
    does : str
        What it does, as one sentence without a subject.
    make : callable
        Creates the method from the settings.
    forms : tuple of Form
        From the complete method to the one with the fewest parts. The last is the form of runs that do not state one.
    work : Work or None
    prompts : mapping of str to str
        Its own prompt texts, by purpose; the others are `uplift_labels.NAIVE` and `uplift_labels.WITH_DOCUMENTS`.
    asks : int
        Maximum number of new prompts per question; prompts of the labels cost nothing again.
    asks_to_learn : int
        Maximum number of new prompts per training question.
    trains : bool
        Whether it trains a model on all labelled documents.
    """

    name: str
    title: str
    does: str
    make: Callable[[BaselineSettings], Method]
    forms: tuple[Form, ...]
    work: Work | None = None
    prompts: Mapping[str, str] = field(default_factory=dict, hash=False)
    asks: int = 1
    asks_to_learn: int = 0
    trains: bool = False


class Untrained(StepwiseMethod):
    """A method without training and without files. Subclasses define how it answers."""

    def __init__(self, settings: BaselineSettings | None = None) -> None:
        self.settings = settings or BaselineSettings()

    def fit(self, training: Training) -> None:
        """Do nothing: any training data will do, even none."""

    def save(self, folder: Path) -> None:
        """Do nothing."""

    def load(self, folder: Path) -> None:
        """Do nothing."""
