"""Documents of tested questions, kept out of what is learnt: told by their text, whatever they are called and by whom.

Folds divide questions. A text that two questions have, of which one is tested, would stand among the documents learnt
from as well: with the label that it has for the other question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ..shapes import Document, Query
from .labels import Labelled


def key(document: Document) -> str:
    """What a document is told by: its text, however its words are set; the title is nothing by itself.

    Examples
    --------
    >>> key(Document("1", "A  text\\n", title="One")) == key(Document("2", "A text"))
    True
    """
    return " ".join(document.text.split())


def digest(document: Document) -> str:
    """A key of sixteen letters: what a trained model says that it has seen."""
    return hashlib.sha256(key(document).encode()).hexdigest()[:16]


def keys(queries: Iterable[Query]) -> set[str]:
    """The keys of all candidates of some queries."""
    return {key(document) for query in queries for document in query.documents}


def without(labelled: Labelled, tested: AbstractSet[str]) -> Labelled:
    """The query without the documents that tested queries have as well, among its labels and its candidates.

    Parameters
    ----------
    labelled : Labelled
    tested : set of str
        Keys.

    Returns
    -------
    Labelled
        Maybe with no document at all: then there is nothing to learn from.
    """
    kept = [place for place, each in enumerate(labelled.documents) if key(each) not in tested]
    candidates = tuple(each for each in labelled.query.documents if key(each) not in tested)
    return replace(
        labelled,
        query=replace(labelled.query, documents=candidates),
        documents=tuple(labelled.documents[place] for place in kept),
        alone=tuple(labelled.alone[place] for place in kept),
    )


def digests(labelled: Iterable[Labelled]) -> list[str]:
    """The digests of all labelled documents, each once, in the order of their letters."""
    return sorted({digest(document) for each in labelled for document in each.documents})
