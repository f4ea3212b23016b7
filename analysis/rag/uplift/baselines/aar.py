"""AAR: a retriever that learns which documents a generator likes (Yu et al., ACL 2023).

The augmentation-adapted retriever takes as positive what the source model prefers together with what people marked, as
negative the hard ones among the rest, and trains a bi-encoder by contrast. The adapted retriever is then a plug-in
before any generator.

Simplified: the preference is how well the generator answers with the document alone (the likelihood of the right
answer where the generator gives likelihoods, else the answer's score) instead of the cross-attention of a T5 that reads
all documents at once; people's marks are stood in for by documents that contain a right answer; negatives are the
query's other candidates instead of those of a refreshed index; and of the bi-encoder only a linear map of the
question's embedding is trained, from the identity: score(q, d) = q W d. The loss is convex in W, so nothing in it is
random.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...shapes import Document, Generator, NoLikelihoodsError, Query
from ..labels import Labelled
from ..prompts import prompt
from . import adapter
from .asking import AT_ONCE, Answering, Asking, reading
from .baseline import Baseline, Form, Work
from .containment import contains_answer
from .embedding import Embed, Floats, embedder, text
from .protocol import Answered, NotPossibleError, Settings, Training

#: How far W may leave the identity: the held-out queries choose; without any, the middle one.
PENALTIES = (0.1, 1.0, 10.0)
_FILE = "adapter.npy"


class Aar(Answering):
    """The first documents by a retriever that is adapted to the generator.

    Parameters
    ----------
    settings : Settings
    preferred : int
        How many documents of a query the generator prefers (the paper's K).
    embed : callable, optional
        By default the sentence encoder that the settings name.
    """

    name = "aar"

    def __init__(self, settings: Settings | None = None, *, preferred: int = 2, embed: Embed | None = None) -> None:
        self.settings = settings or Settings()
        self.preferred = preferred
        self._embed = embed or embedder(self.settings.embedder, self.settings.device)
        self._adapter: Floats | None = None

    def fit(self, training: Training) -> None:
        """Learn from each query that has a document to prefer and one to put behind it.

        Raises
        ------
        NotPossibleError
            If no query has both.
        """
        queries = self._contrasts(training.labelled, training)
        if not queries:
            raise NotPossibleError(
                f"AAR learns from queries of which the generator prefers some documents to others, and there is none "
                f"among {len(training.labelled)} training queries: train on more, or label more documents of each."
            )
        held_out = self._contrasts(training.held_out, training)
        penalties = PENALTIES if held_out else PENALTIES[1:2]
        found = []
        for done, penalty in enumerate(penalties):
            found.append(adapter.fit(queries, penalty=penalty))
            training.report(done + 1, len(penalties), "adapting")
        losses = [adapter.contrast(each, held_out)[0] if held_out else 0.0 for each in found]
        self._adapter = found[int(np.argmin(losses))]

    def save(self, folder: Path) -> None:
        """Write the linear map."""
        np.save(folder / _FILE, self._fitted(), allow_pickle=False)

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        self._adapter = np.load(folder / _FILE, allow_pickle=False)

    def ranked(self, query: Query, documents: Sequence[Document]) -> list[Document]:
        """The documents by the adapted retriever, the best first; equal ones as they came."""
        learnt = self._fitted()
        vectors = self._embed([query.question, *(text(each) for each in documents)])
        order = np.argsort(-(vectors[0] @ learnt @ vectors[1:].T), kind="stable")
        return [documents[place] for place in order]

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> Asking[Answered]:
        """Ask with the first documents of the adapted retriever. See `protocol.Method`."""
        given = self.ranked(query, documents)[: self.settings.feed] if documents else ()
        return reading(query, given, self.settings)

    def _contrasts(self, labelled: Sequence[Labelled], training: Training) -> list[adapter.Contrast]:
        usable = [each for each in labelled if each.documents and each.query.answers]
        found = []
        for start in range(0, len(usable), AT_ONCE):
            some = usable[start : start + AT_ONCE]
            for each, preferences in zip(some, _preferences(some, training.generator), strict=True):
                positive = self._positive(each, preferences)
                if positive.any() and not positive.all():
                    vectors = self._embed([each.query.question, *(text(document) for document in each.documents)])
                    found.append(adapter.Contrast(vectors[0], vectors[1:], positive))
        return found

    def _positive(self, labelled: Labelled, preferences: Floats) -> adapter.Bools:
        """What the generator prefers, or what contains a right answer."""
        liked = most_preferred(preferences, self.preferred)
        marked = [contains_answer(each, labelled.query.answers) for each in labelled.documents]
        return np.asarray(liked | np.array(marked), dtype=np.bool_)

    def _fitted(self) -> Floats:
        if self._adapter is None:
            raise NotPossibleError("AAR has learnt nothing yet: fit it first.")
        return self._adapter


def _preferences(some: Sequence[Labelled], generator: Generator) -> list[Floats]:
    """How well the generator answers with each document alone, by query: all of them in one call."""
    asked = [prompt(each.query.question, [document]) for each in some for document in each.documents]
    right = [each.query.answers[0] for each in some for _document in each.documents]
    try:
        together = generator.likelihoods(asked, right)
    except NoLikelihoodsError:
        return [each.scores_alone for each in some]
    ends = np.cumsum([len(each.documents) for each in some])[:-1]
    likely = np.split(together, ends)
    # NaN: a document that is too long to be read, of which the answer's score says at least that.
    return [each.scores_alone if np.isnan(own).any() else own for each, own in zip(some, likely, strict=True)]


def most_preferred(preferences: Floats, count: int) -> adapter.Bools:
    """Which documents are among the most preferred: at most `count`, all of them above the query's mean.

    Parameters
    ----------
    preferences : ndarray, shape (n_documents,)
        Never NaN. All equal: none is preferred.
    count : int
        Of equal ones at the edge the earlier.

    Returns
    -------
    ndarray of bool, shape (n_documents,)

    Examples
    --------
    >>> most_preferred(np.array([0.0, 1.0, 0.9, 0.8]), 2)
    array([False,  True,  True, False])
    """
    chosen = np.zeros(len(preferences), dtype=np.bool_)
    if len(preferences) and np.ptp(preferences) > 0:
        first = np.argsort(-preferences, kind="stable")[:count]
        chosen[first] = preferences[first] > preferences.mean()
    return chosen


BASELINE = Baseline(
    name="aar",
    title="AAR",
    does="hands over the first documents of a retriever that is adapted to what the generator prefers",
    make=Aar,
    forms=(
        Form(
            "aar",
            "after AAR (linear adapter)",
            "Of the encoder only a linear map of the question's vector was trained, in place of the whole encoder.",
        ),
    ),
    work=Work(
        "yu2023",
        "inproceedings",
        {
            "author": "Yu, Zichun and Xiong, Chenyan and Yu, Shi and Liu, Zhiyuan",
            "title": "Augmentation-Adapted Retriever Improves Generalization of Language Models as Generic Plug-In",
            "booktitle": "Proceedings of ACL 2023",
            "pages": "2421--2436",
            "year": "2023",
            "doi": "10.18653/v1/2023.acl-long.136",
        },
    ),
)
