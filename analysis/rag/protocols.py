"""Data types and protocols of all experiments: questions, documents, retrievers, generators, entailment models.

No Django and no models. docs/methods/experiments.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True)
class Document:
    """A text that may be given to a generator.

    Attributes
    ----------
    id : str
        Unique among the documents of a query.
    text : str
    title : str
    score : float or None
        A retriever's score that came with the data; None if there is none.
    is_helpful : bool or None
        Helpfulness according to the data (for example, it states a true answer); None if the data does not say. Only
        methods that receive the truth on purpose read it.
    author, style, answer : str
        For a passage in a bank (self-preference): its author, its style, and the answer that it states, true or false;
        "" if the data does not say.
    label : str
        Other information in the data (LaMP: a film's tag, a review's score, an email's subject). Prompts may state it;
        no retriever reads it.
    """

    id: str
    text: str
    title: str = ""
    score: float | None = None
    is_helpful: bool | None = None
    author: str = ""
    style: str = ""
    answer: str = ""
    label: str = ""


@dataclass(frozen=True)
class Query:
    """A question, its gold answers, and its candidate documents in the order of the data.

    Attributes
    ----------
    id : str
        Unique in its collection.
    question : str
    answers : tuple of str
        All correct answers. If empty, there is no gold answer; methods that need one leave the query out and count it.
    documents : tuple of Document
    metric : str
        Name of the answer metric that the data prescribes (`qa_metrics.METRICS`); "" if the experiment chooses.
    sought : str
        Text that retrievers search for if it is not the whole question (LaMP); "" if it is.
    task : str
        A task with its own prompts (`collections.lamp.prompted`); "" for plain questions.
    facts : mapping of str to JSON value
        Further information on the question. A method reads only the names it knows (in a bank, `perplexity` by author,
        `knowledge` by model).
    """

    id: str
    question: str
    answers: tuple[str, ...]
    documents: tuple[Document, ...] = ()
    metric: str = ""
    sought: str = ""
    task: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Collection:
    """Queries with a name, and counts of what the reader left out, by reason."""

    name: str
    queries: tuple[Query, ...]
    left_out: tuple[tuple[str, int], ...] = ()


class Retriever(Protocol):
    """Score documents for a question. Rankings sort by descending score; ties keep the order of the documents."""

    @property
    def name(self) -> str:
        """Name, with the model's version if there is a model: equal names give equal scores."""
        ...

    def scores(self, query: Query) -> Floats:
        """Score the query's documents; float64, shape (n_documents,), higher is better, never NaN."""
        ...


@dataclass(frozen=True)
class Message:
    """One turn of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True)
class Prompt:
    """A prompt for a generator. Equal prompts (all fields) are generated once, whichever method asks for them.

    Attributes
    ----------
    messages : tuple of Message
        The part that all prompts of a query share comes first, so that a server can cache its prefix.
    max_tokens : int
    temperature : float
    choices : tuple of str
        If not empty, the output is one of these: constrained if the generator supports it, otherwise parsed.
    sample : int
        Number of this output among several outputs of the same prompt.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 64
    temperature: float = 0.0
    choices: tuple[str, ...] = ()
    sample: int = 0


@dataclass(frozen=True)
class Output:
    """A generator's output for one prompt.

    Attributes
    ----------
    text : str
        Empty if the generator refused or failed.
    prompt_tokens, completion_tokens : int
        As counted by the generator; 0 if it does not report them.
    cost : float
        In the endpoint's currency; 0.0 for a model in this process.
    is_stored : bool
        Whether the output was stored from an earlier request and cost nothing now.
    error : str
        Why there is no text; "" if there is one.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    is_stored: bool = False
    error: str = ""


class Generator(Protocol):
    """Generate outputs for prompts."""

    @property
    def name(self) -> str:
        """Name with version: equal names and prompts give equal outputs at temperature 0."""
        ...

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in the given order. Repeated prompts are answered once."""
        ...

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Return the mean log-likelihood per token (nats) of each continuation after its prompt; shape (n,).

        NaN if the continuation is empty, or if prompt and continuation together exceed the model's context.

        Raises
        ------
        NoLikelihoodsError
            If this generator cannot compute them (most chat servers). Methods that need them (REPLUG, AAR) say so.
        """
        ...


@dataclass(frozen=True)
class Scored:
    """Likelihoods with their usage.

    Attributes
    ----------
    values : ndarray of float64, shape (n,)
        As in `Generator.likelihoods`.
    outputs : tuple of Output
        For each likelihood, its token counts, its cost and whether it was stored; without text.
    tokens : tuple of ndarray of float64
        For each continuation, the log-likelihood of every token; empty where `values` is NaN. The tuple itself is empty
        if the generator does not report single tokens.
    """

    values: Floats
    outputs: tuple[Output, ...]
    tokens: tuple[Floats, ...] = ()


@runtime_checkable
class ScoringGenerator(Protocol):
    """A generator that reports the usage of likelihoods."""

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Scored:
        """Compute `Generator.likelihoods` and report the usage."""
        ...


@runtime_checkable
class RollingGenerator(Protocol):
    """A generator that takes further prompts while it answers others: a server, but not a model that needs batches."""

    def roll(self, prompts: Iterable[Prompt | None], on_output: Callable[[int, Output], None]) -> None:
        """Answer prompts as they come.

        Parameters
        ----------
        prompts : iterable of Prompt or None
            Read one after the other, shortly before they are sent. None means that there is no further prompt until
            another output arrives: then it is read again. Repeated prompts are answered once.
        on_output : callable(int, Output)
            Called with the number of each prompt, from 0, and its output, in order of arrival. It may raise to stop.
        """
        ...


class NoLikelihoodsError(Exception):
    """The generator cannot compute the likelihood of a given text."""


class Entailment(Protocol):
    """Estimate the probability that a claim follows from a premise."""

    @property
    def name(self) -> str:
        """Name with version."""
        ...

    @property
    def is_standin(self) -> bool:
        """Whether this is a language model's yes or no instead of an entailment model: such results are marked."""
        ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Return the probability that the second text (hypothesis) follows from the first (premise): (n,), in [0, 1].

        NaN if it is undefined: the hypothesis is empty, or too long for the model to read in full.
        """
        ...


@dataclass
class Usage:
    """Running totals of an experiment's usage.

    `calls` counts the requests that were really made, `stored` the prompts answered from stored outputs.
    """

    calls: int = 0
    stored: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    failed: int = field(default=0)

    def add(self, outputs: Iterable[Output]) -> None:
        """Add the usage of outputs to the totals."""
        for output in outputs:
            self.stored += output.is_stored
            self.calls += not output.is_stored
            self.failed += bool(output.error)
            self.prompt_tokens += output.prompt_tokens
            self.completion_tokens += output.completion_tokens
            self.cost += output.cost
