"""More questions for DPA-RAG's reranker: each written anew in five ways, and held against the original.

Dong et al. 2025, section 3.1. A new question keeps the documents of the original with what these did to its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...entailment.asking import Asking as Entailing
from ...shapes import Generator, Message, Prompt
from ..labels import Labelled

#: What is asked for, by the paper's name of it.
WAYS = {
    "rephrasing": "Rephrase the question with the same intention.",
    "complexity": "Increase the semantic complexity of the question.",
    "decomposition": "Decompose the question into several sub-questions.",
    "constraint": "Add conditional and constraining statements to the question.",
    "sparql": "Rewrite the question in the syntax of SPARQL.",
}
INSTRUCTION = "{way} Only give me the new question and do not output any other words."
#: How long a new question may be.
MAX_TOKENS = 96
#: Questions whose prompts go to the generator together.
AT_ONCE = 32


def augmented(
    labelled: Sequence[Labelled], generator: Generator, report: Callable[[int, int, str], None]
) -> list[Labelled]:
    """Questions written anew, with the documents and answers of the originals.

    Parameters
    ----------
    labelled : sequence of Labelled
    generator : Generator
        It writes, and then says of each new question whether the original follows from it (the authors ask an
        entailment model): one of which it says no is left out.
    report : callable
        Called now and then; it raises to stop.

    Returns
    -------
    list of Labelled
        Five of each at most, in the order of the originals. What the generator refuses, leaves empty or only repeats
        is left out.
    """
    found: list[Labelled] = []
    for start in range(0, len(labelled), AT_ONCE):
        some = labelled[start : start + AT_ONCE]
        outputs = generator.generate([prompt(each.query.question, way) for each in some for way in WAYS])
        written = [
            (some[place // len(WAYS)], text)
            for place, output in enumerate(outputs)
            if (text := " ".join(output.text.split())) and not output.error
        ]
        new = [(one, text) for one, text in written if text.casefold() != one.query.question.casefold()]
        follows = Entailing(generator).probabilities([(text, one.query.question) for one, text in new])
        found += [
            replace(one, query=replace(one.query, question=text))
            for (one, text), p in zip(new, follows, strict=True)
            if p != 0
        ]
        report(min(start + AT_ONCE, len(labelled)), len(labelled), "writing questions anew")
    return found


def prompt(question: str, way: str) -> Prompt:
    """What asks for a question written anew in a way."""
    messages = (Message("system", INSTRUCTION.format(way=WAYS[way])), Message("user", f"Question: {question}"))
    return Prompt(messages, max_tokens=MAX_TOKENS)
