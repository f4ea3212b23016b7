"""A generator and an entailment whose every answer is known beforehand: utility is planted in the documents."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.rag.protocols import Document, Floats, NoLikelihoodsError, Output, Prompt, Query
from tests.llm.model_server import words

GOLD = "alder birch cedar dogwood"


def document(place: int, word: str) -> Document:
    """A document that brings one word into the answer; "" for one that brings none, "noise" for one that misleads."""
    return Document(f"d{place}", f"text {place} says <{word}>" if word else f"text {place} says nothing")


def query(name: str, words: Sequence[str], gold: str = GOLD) -> Query:
    """A query whose documents bring these words."""
    documents = tuple(document(i, word) for i, word in enumerate(words))
    return Query(name, f"which trees are there in {name}?", (gold,) if gold else (), documents, metric="f1")


def said(text: str) -> list[str]:
    """The words that the documents in a text bring, in their order."""
    return [part.split(">")[0] for part in text.split("<")[1:]]


@dataclass
class Planted:
    """Answers with the words of its documents: the first of them always, later ones unless the first is noise."""

    seen: list[Prompt] = field(default_factory=list)
    refuses: str = ""

    @property
    def name(self) -> str:
        return "planted"

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        kept: dict[Prompt, Output] = {}
        for prompt in prompts:
            if prompt not in kept:
                self.seen.append(prompt)
                content = prompt.messages[-1].content
                kept[prompt] = self._choose(content) if prompt.choices else self._answer(content)
        return [kept[prompt] for prompt in prompts]

    def _choose(self, content: str) -> Output:
        """Whether a claim follows from a passage (analysis.rag.entailment)."""
        passage, claim = content.removeprefix("Passage:\n").split("\n\nDoes")[0].split("\n\nClaim:\n")
        follows = Follows().probabilities([(passage, claim)])[0] > 0
        return Output("yes" if follows else "no", prompt_tokens=9, completion_tokens=1)

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        raise NoLikelihoodsError

    def _answer(self, content: str) -> Output:
        if self.refuses and self.refuses in content:
            return Output("", error="refused")
        return Output(answer(said(content)), prompt_tokens=len(content.split()), completion_tokens=3)


def answer(words: Sequence[str]) -> str:
    """The answer from documents that bring these words."""
    if words and words[0] == "noise":
        return "noise"
    return " ".join(["guess", *dict.fromkeys(words)])


class Follows:
    """An output follows from a document that brings one of its words."""

    name = "planted"
    is_standin = True

    def probabilities(self, pairs: Sequence[tuple[str, str]]) -> Floats:
        return np.array([float(any(word in claim.split() for word in said(text))) for text, claim in pairs])


def reply(body: dict[str, Any]) -> str:
    """The answer of a model server to a request: the words of its documents, or the first option of a choice."""
    if body.get("response_format"):
        return words(body)
    return answer(said(body["messages"][-1]["content"]))
