"""A bank of some questions, and an evaluator whose preferences are known, so that every table is known exactly.

Question i: at i % 4 == 0 it goes by author where one passage is false, else by truth. Where both have the same truth,
it goes by order at even i, else by author. It is the author `gpt`. It knows nothing of i % 4 == 0, half of i % 4 == 1.
"""

import re
from collections.abc import Sequence

import numpy as np

from analysis.rag.protocols import Document, Floats, Output, Prompt, Query

ME = "gpt"
PLAIN = {"human": 3, "gpt": 5, "llama": 4}
_BLOCK = re.compile(r'"""\n(.*?)\n"""', re.DOTALL)
_STATED = re.compile(r"\b(?:truth|lie|fib)\d+\b")


def question(i: int) -> Query:
    """Question i with all kinds of passages."""
    truth, lie, fib = f"truth{i}", f"lie{i}", f"fib{i}"
    normal = [
        ("human_true", "human", truth),
        ("gpt_true", "gpt", truth),
        ("llama_true", "llama", truth),
        ("gpt_false", "gpt", lie),
        ("llama_false", "llama", fib),
        ("human_false_llama", "human", fib),
        ("human_false_gpt", "human", lie),
    ]
    documents = [
        Document(name, f"[{author}] It is {answer}.", is_helpful=answer == truth, author=author, answer=answer)
        for name, author, answer in normal
    ]
    documents += [
        Document(f"gpt_{style}", f"[gpt] {style}: {truth}.", is_helpful=True, author="gpt", style=style, answer=truth)
        for style in ("qa", "long")
    ]
    return Query(f"q{i}", f"What is number {i}?", (truth,), tuple(documents))


class Evaluator:
    """Answers as planted; `is_broken_first`: with nonsense when asked the first time."""

    def __init__(self, is_broken_first: bool = False):
        self.is_broken_first = is_broken_first
        self.asked: list[Prompt] = []

    @property
    def name(self) -> str:
        return "planted"

    def generate(self, prompts: Sequence[Prompt]) -> list[Output]:
        self.asked += prompts
        return [Output(self._reply(prompt)) for prompt in prompts]

    def likelihoods(self, prompts: Sequence[Prompt], continuations: Sequence[str]) -> Floats:
        return np.zeros(len(prompts))

    def _reply(self, prompt: Prompt) -> str:
        text = prompt.messages[0].content
        blocks = _BLOCK.findall(text)
        if self.is_broken_first and prompt.sample == 0 and blocks:
            return "I cannot say."
        if len(blocks) == 2:
            return self._read(*blocks)
        if blocks:
            return f"###{_rated(blocks[0], is_rag='Question:' in text)}***"
        i = int(re.search(r"number (\d+)", text)[1])
        right = {0: 0, 1: 3}.get(i % 4, 5)
        return f"truth{i}" if prompt.sample < right else "no idea"

    def _read(self, first: str, second: str) -> str:
        stated = [_STATED.search(each)[0] for each in (first, second)]
        i = int(re.search(r"\d+", stated[0])[0])
        true = [each.startswith("truth") for each in stated]
        mine = [each.startswith(f"[{ME}]") for each in (first, second)]
        used = told = self._used(i, first, second, true, mine)
        if true[0] != true[1] and i % 4 == 1:
            told = 1 - used  # it names the other one
        return f"Answer: {stated[used]};\nAnswer retrieved from which passage: {told + 1}"

    def _used(self, i: int, first: str, second: str, true: list[bool], mine: list[bool]) -> int:
        styled = [re.search(r"\] (qa|long):", each) for each in (first, second)]
        if any(styled):
            place = 0 if styled[0] else 1
            return place if styled[place][1] == "qa" else 1 - place
        if true[0] != true[1]:
            return mine.index(True) if i % 4 == 0 else true.index(True)
        return 0 if i % 2 == 0 else mine.index(True)


def _rated(passage: str, *, is_rag: bool) -> int:
    stated = _STATED.search(passage)[0]
    author = re.match(r"\[(\w+)\]", passage)[1]
    if is_rag:
        return 4 if stated.startswith("truth") else 2
    i = int(stated[-1])
    return PLAIN[author] + ((author == "human" and i % 2) or (author == "llama" and i % 4 == 0))
