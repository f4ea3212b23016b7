"""The prompts of the paper (appendix A.4), those of FlashRAG: with documents in the turn of the system, and without."""

from __future__ import annotations

from collections.abc import Sequence

from ..shapes import Document, Message, Prompt

NAIVE = "Answer the question based on your own knowledge. Only give me the answer and do not output any other words."
WITH_DOCUMENTS = (
    "Answer the question based on the given document. Only give me the answer and do not output any other words."
    "\nThe following are given documents.\n\n{reference}"
)
QUESTION = "Question: {question}\nAnswer:"


def prompt(question: str, documents: Sequence[Document] = (), *, max_tokens: int = 32) -> Prompt:
    """The question with these documents in this order, or without any: then another instruction stands there.

    Parameters
    ----------
    question : str
    documents : sequence of Document
        As the generator reads them, the first one first. What all prompts share stands first: the instruction.
    max_tokens : int
        How long the answer may be.

    Returns
    -------
    Prompt
        Temperature 0: equal prompts have equal answers.

    Examples
    --------
    >>> print(prompt("Who?", [Document("1", "Ada did.", title="Ada")]).messages[0].content)
    Answer the question based on the given document. Only give me the answer and do not output any other words.
    The following are given documents.
    <BLANKLINE>
    Doc 1(Title: Ada) Ada did.
    """
    system = WITH_DOCUMENTS.format(reference=reference(documents)) if documents else NAIVE
    messages = (Message("system", system), Message("user", QUESTION.format(question=question)))
    return Prompt(messages, max_tokens=max_tokens)


def reference(documents: Sequence[Document]) -> str:
    """Documents as the prompt shows them: numbered from 1, one a line, with their titles where they have one."""
    return "\n".join(f"Doc {i}{_title(each)} {each.text}" for i, each in enumerate(documents, start=1))


def _title(document: Document) -> str:
    return f"(Title: {document.title})" if document.title else ":"
