"""What every method of the comparison is: made from settings, trained on labelled queries, kept in a folder, asked.

A method that learns nothing has an empty `fit`, `save` and `load`. docs/methods/uplift.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...checkpoints import BUNDLED
from ...shapes import Document, Generator, Output, Query
from ..labels import Labelled, Metric
from ..reranker import Precision

if TYPE_CHECKING:
    from .asking import Asking


@dataclass(frozen=True)
class Settings:
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

    labelled: tuple[Labelled, ...]
    held_out: tuple[Labelled, ...]
    generator: Generator
    rng: np.random.Generator
    report: Callable[[int, int, str], None] = lambda _done, _total, _message: None


@dataclass(frozen=True)
class Answered:
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
    """One way from a query with ranked documents to an answer. Made by a class or function that takes `Settings`."""

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

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> Asking[Answered]:
        """Say step by step what is asked to answer a query, so that many are asked together (`asking.together`).

        Parameters, errors and what comes of it are those of `answer`.
        """
        ...

    def answer(self, query: Query, documents: Sequence[Document], generator: Generator) -> Answered:
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


def answered(output: Output, documents: Sequence[Document], *earlier: Output) -> Answered:
    """An answer that one call gave, after earlier ones that decided something."""
    ids = tuple(each.id for each in documents)
    return Answered(output.text, ids, output.prompt_tokens, (*earlier, output), output.error)
