"""The retrievers that a run's parameters name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from django.conf import settings

from analysis.rag.protocols import Collection, Query, Retriever
from analysis.rag.retrieval.search import Searcher

from .experiment import BadParameterError

if TYPE_CHECKING:
    from analysis.rag.retrieval.dense import Dense
    from analysis.rag.retrieval.splade import Splade

#: Retrievers without a model. `bm25` computes word weights from the question's own candidates, as LaMP does with a
#: profile; `bm25:all` from the documents of all questions; `given` uses the scores in the data.
GIVEN = "given"
WORDS = "bm25"
PLAIN = (WORDS, "bm25:all", GIVEN)
#: Retrievers with a model, `dense:NAME` and `splade:NAME`, that the operator allows (`CROWDRAG_RETRIEVERS`).
DENSE, SPLADE = "dense", "splade"
# The last index of a whole collection; all units of a run share it.
_index: list[tuple[Collection, Retriever]] = []


def offered() -> list[str]:
    """The names of all available retrievers."""
    return [*PLAIN, *settings.RETRIEVERS]


def check(names: Sequence[str]) -> None:
    """Refuse unavailable names before anything is generated or loaded.

    Raises
    ------
    BadParameterError
        Names the available retrievers. Models are restricted because somebody must vouch for their files.
    """
    for name in names:
        if name not in offered():
            message = "There is no retriever %(name)r. Available: %(known)s. The operator sets the models."
            raise BadParameterError(message % {"name": name, "known": ", ".join(offered())})


def can_score(names: Sequence[str], query: Query) -> bool:
    """Whether these retrievers can score a query's documents; only `given` may lack scores."""
    from analysis.rag.retrieval.known_scores import are_given

    return GIVEN not in names or are_given(query)


def retriever(name: str, collection: Collection) -> Retriever:
    """Return a retriever for a collection's documents; a process keeps models and the last index.

    Parameters
    ----------
    name : str
        One of `offered`.
    collection : Collection
        The run's questions.

    Raises
    ------
    BadParameterError
        If it is not available, or its model cannot be loaded.
    """
    check([name])
    kind, _colon, model = name.partition(":")
    if kind in (DENSE, SPLADE):
        return _load(kind, model)
    if name == GIVEN:
        from analysis.rag.retrieval.known_scores import KnownScores

        return KnownScores()
    from analysis.rag.retrieval.bm25 import BM25

    if name == WORDS:
        return BM25()
    if not _index or _index[0][0] is not collection:
        _index[:] = [(collection, BM25.over(collection.queries))]
    return _index[0][1]


def searcher(name: str) -> Searcher:
    """Return a searcher of a corpus: `bm25`, or one of the available models.

    Raises
    ------
    BadParameterError
        If it is not available, cannot search, or its model cannot be loaded.
    """
    check([name])
    kind, _colon, model = name.partition(":")
    if kind in (DENSE, SPLADE):
        return _load(kind, model)
    if name != WORDS:
        can = ", ".join([WORDS, *settings.RETRIEVERS])
        raise BadParameterError(f"{name!r} cannot search a corpus. Available: {can}.")
    from analysis.rag.retrieval.bm25 import BM25

    return BM25()


def _load(kind: str, model: str) -> Dense | Splade:
    """Load a model, or take it from the process's cache."""
    from analysis.rag import checkpoints
    from analysis.rag.generation.model_cache import MODELS
    from analysis.rag.retrieval.dense import Dense, UnsupportedEncoderError
    from analysis.rag.retrieval.splade import NoVocabularyWeightsError, Splade

    try:
        load = Dense.load if kind == DENSE else Splade.load
        retrieval_model: Dense | Splade = MODELS.take((kind, model), partial(load, model))
    except (
        checkpoints.NeuralPartsMissingError,
        checkpoints.ModelMissingError,
        UnsupportedEncoderError,
        NoVocabularyWeightsError,
    ) as error:
        raise BadParameterError(str(error)) from error
    return retrieval_model
