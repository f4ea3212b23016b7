"""What every method of the comparison is: its names and settings, how it is trained, kept and asked, many at once.

A method that learns nothing has an empty `fit`, `save` and `load`. docs/methods/uplift.md.

A method says what it asks as a Python generator: it yields prompts, is sent their outputs, yields what follows from
these, and returns its answer. Nobody waits for a single prompt: a device gets batches, an endpoint all its slots.

Tables, charts, captions, the form, the methods paragraph, the bibliography, the estimate and docs read it from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import abc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from ... import protocols
from ...checkpoints import BUNDLED
from ...protocols import Document, Generator, Output, Prompt, Query
from ..reranker import Precision
from ..uplift_labels import LabelledQuery, Metric, prompt


@dataclass(frozen=True)
class BaselineSettings:
    """What all methods of a comparison share, so that they differ by nothing else.

    Attributes
    ----------
    feed : int
        How many documents a fixed top-k method hands to the generator.
    max_tokens : int
        How long an answer may be.
    metric : "em" or "f1"
        What methods that learn from scores learn from.
    encoder : str
        Any name, folder or bundle that `checkpoints.find` knows: what rerankers start from.
    embedder : str
        The same, for one vector a text: what questions and documents are compared by (SKR, Adaptive-RAG, AAR).
    cross_encoder : str
        The same, for a cross-encoder that was trained on relevance elsewhere (`BAAI/bge-reranker-base` in the paper)
        and is used as it is; "": one is trained from `encoder`.
    device : str or None
        `cpu`, `cuda`; None takes a CUDA device where there is one.
    epochs : int
    learning_rate : float
    batch : int
        Queries a step.
    longest : int
        Tokens of a question with a document, of all that is trained.
    warm_up : float
        The share of training steps in which the learning rate rises; it falls linearly to 0 in the others.
    patience : int or None
        Epochs without a lower loss of held-out queries after which training stops; None: never.
    precision : "full" or "half"
        Half computes in bfloat16 and keeps weights in full: for CUDA devices.
    seed : int
        What is random in training comes from `rng`; this is for what takes numbers only.
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


@dataclass(frozen=True)
class Training:
    """What a method may learn from: nothing of the queries it is tested on.

    Attributes
    ----------
    labelled : tuple of Labelled
        To learn from.
    held_out : tuple of Labelled
        For early stopping or choosing; may be empty.
    generator : Generator
        For methods that ask it while they learn. Labels' own prompts are stored already and cost nothing again.
    rng : numpy.random.Generator
    report : callable
        Called with (done, total, message) now and then; it raises when training must stop: let it pass.
    """

    labelled: tuple[LabelledQuery, ...]
    held_out: tuple[LabelledQuery, ...]
    generator: Generator
    rng: np.random.Generator
    report: Callable[[int, int, str], None] = lambda _done, _total, _message: None


@dataclass(frozen=True)
class MethodAnswer:
    """A method's answer to a query.

    Attributes
    ----------
    text : str
        "" where the generator gave none.
    documents : tuple of str
        Ids of the documents that the answer rests on, in the order in which they were handed over; () without any.
    prompt_tokens : int
        Of the prompt, or prompts (REPLUG has one a document), that made the answer: what Table 3 counts.
    outputs : tuple of Output
        Of every call that the answer needed, those for deciding too: what the answer cost.
    error : str
        Why there is no text; "" where there is one.
    form : str
        Which form of the method gave it (`baseline.Form`), where that depends on the generator; "" for the method's.
    """

    text: str
    documents: tuple[str, ...]
    prompt_tokens: int
    outputs: tuple[Output, ...]
    error: str = ""
    form: str = ""


class NotPossibleError(Exception):
    """The method cannot be used here, and why: the comparison goes on without it and says so.

    For instance a generator that gives no likelihoods, or training queries that are all alike.
    """


class Method(Protocol):
    """One way from a query with ranked documents to an answer. Made by what takes `BaselineSettings`."""

    @property
    def name(self) -> str:
        """Its short name, as tables show it: `standard`, `replug`. Unique in a comparison."""
        ...

    @property
    def form(self) -> str:
        """Which of its forms it has, as `baseline.Form` calls it; of what learns, after it has learnt."""
        ...

    def fit(self, training: Training) -> None:
        """Learn.

        Raises
        ------
        NotPossibleError
            If it cannot, and why.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write what was learnt into an empty folder: safetensors, JSON, npy. No pickles."""
        ...

    def load(self, folder: Path) -> None:
        """Take up what `save` wrote, on this machine or another."""
        ...

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Say step by step what is asked to answer a query, so that many are asked together (`asking.together`).

        Parameters, errors and what comes of it are those of `answer`.
        """
        ...

    def answer(self, query: Query, documents: Sequence[Document], generator: Generator) -> MethodAnswer:
        """Answer a query.

        Parameters
        ----------
        query : Query
            Its gold answers are not for methods to read.
        documents : sequence of Document
            The retriever's, best first (10 in the paper); scores in `score` where the retriever gives some. A method
            without a reranker takes the first `Settings.feed`.
        generator : Generator

        Raises
        ------
        NotPossibleError
            If it cannot, and why.
        """
        ...


def answered(output: Output, documents: Sequence[Document], *earlier: Output) -> MethodAnswer:
    """An answer that one call gave, after earlier ones that decided something."""
    ids = tuple(document.id for document in documents)
    return MethodAnswer(output.text, ids, output.prompt_tokens, (*earlier, output), output.error)


Found = TypeVar("Found")
#: Yields prompts, is sent their outputs in their order, and returns what it was asked for.
AnswerSteps = abc.Generator[Sequence[Prompt], Sequence[Output], Found]
#: So many go on side by side: their prompts are held in memory.
AT_ONCE = 64


class StepwiseMethod(ABC):
    """A method that says what it asks, and so answers one question, or many of them together."""

    @property
    @abstractmethod
    def name(self) -> str:
        """See `protocol.Method`."""

    @property
    def form(self) -> str:
        """See `protocol.Method`; a method with one form is called like it."""
        return self.name

    @abstractmethod
    def asking(
        self, query: Query, documents: Sequence[Document], generator: protocols.Generator
    ) -> AnswerSteps[MethodAnswer]:
        """Say step by step what is asked to answer a query. See `protocol.Method`."""

    def answer(self, query: Query, documents: Sequence[Document], generator: protocols.Generator) -> MethodAnswer:
        """Answer one query. See `protocol.Method`."""
        (answer,) = run_in_lockstep([self.asking(query, documents, generator)], generator)
        return answer


def reading(query: Query, documents: Sequence[Document], settings: BaselineSettings) -> AnswerSteps[MethodAnswer]:
    """The generator's answer with these documents in this order, in one prompt: how all but REPLUG end.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
        None: the prompt without documents.
    settings : Settings

    Returns
    -------
    Answered
    """
    (output,) = yield [prompt(query.question, documents, max_tokens=settings.max_tokens)]
    return answered(output, documents)


def run_in_lockstep(
    askings: Iterable[AnswerSteps[Found]],
    generator: protocols.Generator,
    *,
    at_once: int = AT_ONCE,
    report: Callable[[int], None] = lambda _done: None,
) -> list[Found]:
    """Ask for several in lockstep: all prompts of a step in one call of the generator.

    Parameters
    ----------
    askings : iterable of Asking
        They end after as many steps as they like.
    generator : shapes.Generator
        Prompts that are equal within a wave it answers once, as always.
    at_once : int
        So many side by side; the next begin when all of these have ended.
    report : callable
        Called with how many have ended, after each wave; it may raise to stop.

    Returns
    -------
    list
        What each returned, in their order: the same as one after the other.
    """
    answers: list[Found] = []
    remaining = iter(askings)
    while batch := list(islice(remaining, at_once)):
        before = len(answers)
        for ended in _steps(batch, generator):
            report(before + len(ended))
        answers += [ended[index] for index in range(len(batch))]
    return answers


def _steps(askings: Sequence[AnswerSteps[Found]], generator: protocols.Generator) -> Iterator[dict[int, Found]]:
    """Go on with all until each has ended; yields what ended so far, by place, at the beginning and after each wave."""
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
    """A paper as the bibliography lists it.

    Attributes
    ----------
    key : str
        What it is cited by: `yu2023`.
    kind : str
        Of BibTeX entry: `inproceedings`.
    fields : mapping of str to str
        Of the entry.
    """

    key: str
    kind: str
    fields: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True)
class Form:
    """One way in which a baseline is run. A paper's name stands alone where the whole method is there.

    Attributes
    ----------
    key : str
        What rows of tables call it. A key never changes its meaning: stored runs are read by it.
    label : str
        What people read. "after NAME (WHAT IS THERE)" where parts are missing.
    departs : str
        What is missing or different, as a sentence; "" where nothing is.
    """

    key: str
    label: str
    departs: str = ""

    @property
    def in_sentence(self) -> str:
        """The label as it stands within a sentence.

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
        What parameters call it.
    title : str
        What the form calls it.
    does : str
        What it does, in one sentence without a subject.
    make : callable
        Makes it from what all methods of a comparison share.
    forms : tuple of Form
        From the whole method to what has the fewest parts. The last one is that of runs that do not say which.
    work : Work or None
    prompts : mapping of str to str
        Texts of its own that it asks with, by what they are for; others are `prompts.NAIVE` and
        `prompts.WITH_DOCUMENTS`.
    asks : int
        New prompts a question, at most: what labels have asked costs nothing again.
    asks_to_learn : int
        New prompts a question that is learnt from, at most.
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
    """A method with nothing to learn and nothing to keep. What answers is the subclass's."""

    def __init__(self, settings: BaselineSettings | None = None) -> None:
        self.settings = settings or BaselineSettings()

    def fit(self, training: Training) -> None:
        """Nothing is learnt: an empty training split is as good as any."""

    def save(self, folder: Path) -> None:
        """Nothing is written."""

    def load(self, folder: Path) -> None:
        """Nothing is read."""
