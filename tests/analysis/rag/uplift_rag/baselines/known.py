"""Queries of known truth for methods: what the generator knows, and what each document makes of it."""

from collections.abc import Mapping, Sequence

import numpy as np

from analysis.rag.protocols import Document, Floats, NoLikelihoodsError, Output, Prompt, Query
from analysis.rag.uplift_rag.baselines.protocol import Training
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery, label

WRONG = "no idea"


class Scripted:
    """Answers what the first of its words that stands in a prompt says, the longest first; counts what it is asked."""

    name = "scripted"

    def __init__(self, answers: Mapping[str, str], *, likes: Mapping[str, float] | None = None) -> None:
        self.answers = dict(sorted(answers.items(), key=lambda each: -len(each[0])))
        self.likes = likes
        self.asked: list[Prompt] = []
        self.waves: list[int] = []

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        self.asked += prompts
        self.waves.append(len(prompts))
        return [self._output(prompt) for prompt in prompts]

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        if self.likes is None:
            raise NoLikelihoodsError
        self.waves.append(len(prompts))
        return np.array([sum(like for word, like in self.likes.items() if word in words(prompt)) for prompt in prompts])

    def _output(self, prompt: Prompt) -> Output:
        text = words(prompt)
        said = next((answer for word, answer in self.answers.items() if word in text), WRONG)
        if said == "FAIL":
            return Output("", error="refused")
        return Output(said, prompt_tokens=len(text.split()), completion_tokens=2)


def words(prompt: Prompt) -> str:
    return "\n".join(message.content for message in prompt.messages)


def letters(texts: Sequence[str]) -> Floats:
    """Embeds a text by how often it has each letter: no model, the same everywhere."""
    counts = np.array([[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts], dtype=np.float64)
    return (counts + 1e-3) / np.linalg.norm(counts + 1e-3, axis=1, keepdims=True)


def query(name: str, question: str, texts: Sequence[str], answers: Sequence[str] = ("yes",), *,
          scores: Sequence[float] | None = None) -> Query:  # fmt: skip
    documents = tuple(
        Document(f"{name}-{i}", text, score=None if scores is None else scores[i]) for i, text in enumerate(texts)
    )
    return Query(name, question, tuple(answers), documents)


def training(queries: Sequence[Query], generator: Scripted, *, held_out: Sequence[Query] = (), seed: int = 0,
             metric: str = "em") -> Training:  # fmt: skip
    def labelled(some: Sequence[Query]) -> tuple[LabelledQuery, ...]:
        return tuple(label(each, each.documents, generator, metric=metric)[0] for each in some)

    return Training(labelled(queries), labelled(held_out), generator, np.random.default_rng(seed))
