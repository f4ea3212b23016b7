"""What a baseline says of itself: its names, its paper, its prompts, what it leaves out, and how it is made.

Tables, charts, captions, the form, the methods paragraph, the bibliography, the estimate and docs read it from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .protocol import Method, Settings


@dataclass(frozen=True)
class Work:
    """A paper as the bibliography lists it.

    Attributes
    ----------
    key : str
        What it is cited by: `yu2023`.
    kind : str
        Of BibTeX entry: `inproceedings`.
    fields : mapping of str to str
        Of the entry.
    """

    key: str
    kind: str
    fields: Mapping[str, str] = field(hash=False)


@dataclass(frozen=True)
class Form:
    """One way in which a baseline is run. A paper's name stands alone where the whole method is there.

    Attributes
    ----------
    key : str
        What rows of tables call it. A key never changes its meaning: stored runs are read by it.
    label : str
        What people read. "after NAME (WHAT IS THERE)" where parts are missing.
    departs : str
        What is missing or different, as a sentence; "" where nothing is.
    """

    key: str
    label: str
    departs: str = ""

    @property
    def in_sentence(self) -> str:
        """The label as it stands within a sentence.

        Examples
        --------
        >>> Form("standard", "Standard RAG").in_sentence, Form("adaptive", "Adaptive-RAG").in_sentence
        ('standard RAG', 'Adaptive-RAG')
        """
        first = self.label.split()[0]
        return self.label[0].lower() + self.label[1:] if first[1:].islower() and "-R" not in first else self.label


@dataclass(frozen=True)
class Baseline:
    """A method that uplift RAG is compared with.

    Attributes
    ----------
    name : str
        What parameters call it.
    title : str
        What the form calls it.
    does : str
        What it does, in one sentence without a subject.
    make : callable
        Makes it from what all methods of a comparison share.
    forms : tuple of Form
        From the whole method to what has the fewest parts. The last one is that of runs that do not say which.
    work : Work or None
    prompts : mapping of str to str
        Texts of its own that it asks with, by what they are for; others are `prompts.NAIVE` and
        `prompts.WITH_DOCUMENTS`.
    asks : int
        New prompts a question, at most: what labels have asked costs nothing again.
    asks_to_learn : int
        New prompts a question that is learnt from, at most.
    trains : bool
        Whether it trains a model on all labelled documents.
    """

    name: str
    title: str
    does: str
    make: Callable[[Settings], Method]
    forms: tuple[Form, ...]
    work: Work | None = None
    prompts: Mapping[str, str] = field(default_factory=dict, hash=False)
    asks: int = 1
    asks_to_learn: int = 0
    trains: bool = False
