"""Generator calls of uplift labels beside Q x (D + 1), and how much of their prompts a server need not read again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from analysis.rag.generation.devices import shared
from analysis.rag.protocols import Document, Floats, Message, NoLikelihoodsError, Output, Prompt, Query
from analysis.rag.uplift_rag import uplift_labels
from analysis.rag.uplift_rag.uplift_labels import WITH_DOCUMENTS

QUERIES, DOCUMENTS, WORDS = 100, 10, 100
#: Number of duplicate documents of a question, as when two retrievers found them.
TWICE = 2
_NUMBERS: dict[str, int] = {}


class Counting:
    """A generator that counts the prompts it has not seen before."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: dict[Prompt, None] = {}
        self.times = 0

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        """Count each distinct prompt once."""
        self.times += 1
        self.asked |= dict.fromkeys(prompts)
        return [Output("an answer") for _prompt in prompts]

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        """Not supported."""
        raise NoLikelihoodsError


def run() -> list[dict]:
    """Label as a run does, and count the prompts for the generator; nothing is generated."""
    rng = np.random.default_rng(0)
    generator = Counting()
    prompts: list[list[Prompt]] = []
    for number in range(QUERIES):
        query = _query(number, rng)
        uplift_labels.label(query, query.documents, generator)
        prompts.append(uplift_labels.prompts(query, query.documents)[1:])
    calls, most = len(generator.asked), QUERIES * (DOCUMENTS + 1)
    as_asked, turned = _kept(prompts), _kept([[_question_first(each) for each in some] for some in prompts])
    instruction = len(WITH_DOCUMENTS.partition("{")[0].split())
    least = min(shared([_words(each) for each in some]) for some in prompts)
    return [
        {
            "name": f"Q x (D + 1) over calls, Q = {QUERIES}, D = {DOCUMENTS}, {TWICE} of them twice",
            "ratio": most / calls,
            "target": 1.0,
            "detail": f"{calls:,} calls for {most:,} prompts, a question's in one call of the generator "
            f"({generator.times})",
        },
        {
            "name": "beginning that all prompts of a question share, over the instruction",
            "ratio": least / instruction,
            "target": 1.0,
            "detail": f"{least} words; of all words {as_asked:.1%} were read before; were the question before the "
            f"document, which is not the paper's prompt, {turned:.1%}",
        },
    ]


def _kept(prompts: Sequence[Sequence[Prompt]]) -> float:
    """The share of words in a prefix that another prompt of the same question began with."""
    whole = again = 0
    for some in prompts:
        texts = [_words(each) for each in some]
        whole += sum(map(len, texts))
        again += shared(texts) * (len(texts) - 1)
    return again / whole


def _question_first(prompt: Prompt) -> Prompt:
    system, user = prompt.messages
    instruction, _mark, documents = system.content.partition("Doc 1")
    return replace(prompt, messages=(Message("user", f"{instruction}{user.content}\n\nDoc 1{documents}"),))


def _words(prompt: Prompt) -> tuple[int, ...]:
    """A prompt's words as numbers; equal words have equal numbers."""
    words = " ".join(each.content for each in prompt.messages).split()
    return tuple(_NUMBERS.setdefault(word, len(_NUMBERS)) for word in words)


def _query(number: int, rng: np.random.Generator) -> Query:
    texts = [" ".join(f"w{word}" for word in rng.integers(5000, size=WORDS)) for _ in range(DOCUMENTS - TWICE)]
    texts += texts[:TWICE]
    documents = tuple(Document(f"d{place}", text) for place, text in enumerate(texts))
    return Query(f"q{number}", f"who was the first of them in the year {number}?", ("answer",), documents)
