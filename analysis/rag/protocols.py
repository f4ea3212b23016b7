"""What all experiments handle: questions with their documents, who ranks them, who answers, who says what follows.

No Django, no model: only shapes. docs/methods/experiments.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
        A retriever's score that came with the data; None where none did.
    is_helpful : bool or None
        What the data says of it (it states a true answer, say); None where it says nothing. No method reads it but
        the ones that are given the truth on purpose.
    author, style, answer : str
        Of a passage in a bank (self-preference): who wrote it, in which style, and which answer to the question it
        states, be it true or false; "" where the data does not say.
    label : str
        What the data says of it beside its text (LaMP: a film's tag, a review's score, an email's subject). Prompts may
        state it; no retriever reads it.
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
        Each of them is right. Empty: there is no gold answer, and what needs one leaves the query out and counts it.
    documents : tuple of Document
    metric : str
        The name of the answer metric that the data asks for (`qa_metrics.METRICS`); "" where the experiment chooses.
    sought : str
        What retrievers look for, where it is not the whole question (LaMP); "" where it is.
    task : str
        A task with prompts of its own (`collections.lamp.prompted`); "" for plain questions.
    facts : mapping of str to JSON value
        What else the data says of the question; only methods that know a name read it (a bank's `perplexity` by author,
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
    """Queries with a name, and what was left out while they were read (reason to count)."""

    name: str
    queries: tuple[Query, ...]
    left_out: tuple[tuple[str, int], ...] = ()


class Retriever(Protocol):
    """Scores documents for a question. A ranking is by falling score, equal scores in the documents' order."""

    @property
    def name(self) -> str:
        """What it is, with the version of its model where it has one: equal names give equal scores."""
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
    """What a generator is asked. Equal prompts (all fields) are generated once, whatever asks for them.

    Attributes
    ----------
    messages : tuple of Message
        What all prompts of a query share stands first, so that a server can keep what it has read.
    max_tokens : int
    temperature : float
    choices : tuple of str
        If not empty the output is one of these: constrained where the generator can, otherwise parsed.
    sample : int
        Of several outputs of one prompt, which.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 64
    temperature: float = 0.0
    choices: tuple[str, ...] = ()
    sample: int = 0


@dataclass(frozen=True)
class Output:
    """What a generator said to one prompt.

    Attributes
    ----------
    text : str
        Empty where it refused or failed.
    prompt_tokens, completion_tokens : int
        As the generator counted them; 0 where it does not say.
    cost : float
        In the endpoint's currency; 0.0 for a model in this process.
    is_stored : bool
        Whether it was generated earlier and cost nothing now.
    error : str
        Why there is no text; "" where there is one.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    is_stored: bool = False
    error: str = ""


class Generator(Protocol):
    """Answers prompts."""

    @property
    def name(self) -> str:
        """What it is, with its version: equal names and prompts give equal outputs at temperature 0."""
        ...

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Answer each prompt, in their order. Prompts that occur twice are answered once."""
        ...

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Mean log-likelihood per token (nats) of each continuation after its prompt; shape (n,).

        NaN where the continuation is empty or the two together are longer than the model reads.

        Raises
        ------
        NoLikelihoodsError
            If this generator cannot say (most chat servers): methods that need it (REPLUG, AAR) say so.
        """
        ...


@dataclass(frozen=True)
class Scored:
    """Likelihoods with what asking for them took.

    Attributes
    ----------
    values : ndarray of float64, shape (n,)
        As `Generator.likelihoods` says.
    outputs : tuple of Output
        For each its tokens, cost, and whether it was stored; without a text.
    tokens : tuple of ndarray of float64
        For each continuation the log-likelihood of every token; empty where `values` is NaN. Of a generator that does
        not say it token by token there are none at all.
    """

    values: Floats
    outputs: tuple[Output, ...]
    tokens: tuple[Floats, ...] = ()


@runtime_checkable
class ScoringGenerator(Protocol):
    """A generator that says what likelihoods took."""

    def score(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Scored:
        """As `Generator.likelihoods`, with what it took."""
        ...


class NoLikelihoodsError(Exception):
    """The generator does not give the likelihood of a text that it is handed."""


class Entailment(Protocol):
    """Says how far a claim follows from a premise."""

    @property
    def name(self) -> str:
        """What it is, with its version."""
        ...

    @property
    def is_standin(self) -> bool:
        """Whether this is a language model's yes or no instead of an entailment model: results are marked."""
        ...

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        """Probability that the second text (hypothesis) follows from the first (premise); shape (n,), in [0, 1].

        NaN where that cannot be said: an empty hypothesis, or one that the model does not read whole.
        """
        ...


@dataclass
class Usage:
    """What an experiment has used, counted as it goes.

    `calls` are those that were really made; `stored` the prompts that were answered from what was kept.
    """

    calls: int = 0
    stored: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    failed: int = field(default=0)

    def add(self, outputs: Iterable[Output]) -> None:
        """Count outputs."""
        for output in outputs:
            self.stored += output.is_stored
            self.calls += not output.is_stored
            self.failed += bool(output.error)
            self.prompt_tokens += output.prompt_tokens
            self.completion_tokens += output.completion_tokens
            self.cost += output.cost
