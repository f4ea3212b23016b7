"""What the generator is asked: the question alone, or with the first k documents of a ranking (fair_rag, 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..collections.lamp import prompted
from ..shapes import Document, Message, Prompt, Query

#: What is said to a chat model before the question.
INSTRUCTION = "Answer the question with as few words as possible. Give the answer alone, without any explanation."


@dataclass(frozen=True)
class Asking:
    """How the generator is asked; the same for labels and rankings.

    Attributes
    ----------
    instruction : str
        What stands before the question; "" for none (personalisation tasks carry their own).
    max_tokens : int
        Of the answer.
    most_words : int
        Documents are cut after so many words; 0: whole.
    """

    instruction: str = INSTRUCTION
    max_tokens: int = 24
    most_words: int = 0


def prompt(query: Query, documents: Sequence[Document], asking: Asking) -> Prompt:
    """Ask a question, with documents in this order; without any, the question alone.

    A task with prompts of its own (LaMP) is put in its words, without the instruction. Else instruction and question
    stand first, so that all prompts of a query share their beginning and a server that keeps
    what it has read reads it once.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
    asking : Asking

    Returns
    -------
    Prompt
        At temperature 0: chance comes into the experiment by the rankings alone (fair_rag, 4).
    """
    if query.task:
        return Prompt((Message("user", prompted(query, documents, most_words=asking.most_words)),), asking.max_tokens)
    parts = [f"Question: {query.question}"]
    if documents:
        listed = (f"[{i}] {_text(document, asking.most_words)}" for i, document in enumerate(documents, 1))
        parts.append("Documents:\n" + "\n".join(listed))
    parts.append("Answer:")
    system = (Message("system", asking.instruction),) if asking.instruction else ()
    return Prompt((*system, Message("user", "\n\n".join(parts))), max_tokens=asking.max_tokens)


def _text(document: Document, most_words: int) -> str:
    words = f"{document.title}\n{document.text}".split() if document.title else document.text.split()
    return " ".join(words[:most_words] if most_words else words)
