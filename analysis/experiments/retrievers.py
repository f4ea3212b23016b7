"""The retrievers that a run's parameters or a command name, as far as the operator allows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar

from django.conf import settings

from analysis.rag import checkpoints
from analysis.rag.protocols import Collection, Query, Retriever
from analysis.rag.retrieval import engines
from analysis.rag.retrieval.dense import UnsupportedEncoderError
from analysis.rag.retrieval.engine import BadRetrieverError, Choice
from analysis.rag.retrieval.engines import ENGINES
from analysis.rag.retrieval.faiss_index import FaissMissingError
from analysis.rag.retrieval.index_library import IndexLibrary
from analysis.rag.retrieval.lucene_index import PyseriniMissingError
from analysis.rag.retrieval.search import BadSearchError, Searcher
from analysis.rag.retrieval.search_server import SERVERS, SearchServerError
from analysis.rag.retrieval.splade import NoVocabularyWeightsError

from .experiment import BadParameterError

#: `given` uses the scores in the data. `bm25` computes word weights from the question's own candidates, as LaMP does
#: with a profile; `bm25:all` from the documents of all questions.
GIVEN = "given"
WORDS = "bm25"

Result = TypeVar("Result")


def offered() -> list[str]:
    """Return the names of all retrievers that can score a question's candidates, without settings."""
    without_model = [engine for engine in ENGINES.values() if engine.ranks is not None and not engine.needs_argument]
    names = ((engine.name, f"{engine.name}:{engine.argument}" if engine.argument else "") for engine in without_model)
    return [*filter(None, chain(*names)), *settings.RETRIEVERS]


def offered_for_corpora() -> list[str]:
    """Return the names of all retrievers that can search a corpus, without settings."""
    names = []
    for engine in ENGINES.values():
        if engine.searches is None and engine.index is None:
            continue
        allowed_as = f"{engine.allowed_as or engine.name}:"
        models = [name.removeprefix(allowed_as) for name in settings.RETRIEVERS if name.startswith(allowed_as)]
        arguments = list(SERVERS) if engine.argument == "server" else models
        names += [f"{engine.name}:{argument}" for argument in arguments] if engine.needs_argument else [engine.name]
    return names


def choice(name: str) -> Choice:
    """Read a name.

    Raises
    ------
    BadParameterError
        If there is no such retriever, or the operator does not allow it: somebody must vouch for a model's files.
    """
    try:
        chosen = engines.read(name)
    except BadRetrieverError as error:
        raise BadParameterError(str(error)) from error
    is_unknown_server = chosen.engine.argument == "server" and chosen.argument not in SERVERS
    if is_unknown_server or (chosen.engine.argument == "model" and chosen.allowed_name not in settings.RETRIEVERS):
        message = "There is no retriever %(name)r. Available: %(known)s. The operator sets models and servers."
        known = dict.fromkeys([*offered(), *offered_for_corpora()])
        raise BadParameterError(message % {"name": name, "known": ", ".join(known)})
    return chosen


def check(names: Sequence[str]) -> None:
    """Refuse names of retrievers that cannot score candidates, before anything is generated or loaded.

    Raises
    ------
    BadParameterError
        Names the available retrievers.
    """
    for name in names:
        if (chosen := choice(name)).engine.ranks is None:
            raise _cannot(chosen, "score the candidates of a question", offered())


def can_score(names: Sequence[str], query: Query) -> bool:
    """Whether these retrievers can score a query's documents; only `given` may lack scores."""
    from analysis.rag.retrieval.known_scores import are_given

    return GIVEN not in names or are_given(query)


def retriever(name: str, collection: Collection) -> Retriever:
    """Return a retriever for a collection's documents; a process keeps models and the last index.

    Parameters
    ----------
    name : str
        One of `offered`, with or without settings.
    collection : Collection
        The run's questions.

    Raises
    ------
    BadParameterError
        If it is not available, or its model cannot be loaded.
    """
    chosen = choice(name)
    if (ranks := chosen.engine.ranks) is None:
        raise _cannot(chosen, "score the candidates of a question", offered())
    return loaded(partial(ranks, chosen, collection))


def searcher(name: str) -> Searcher:
    """Return a searcher that reads a whole corpus: `bm25`, or one of the available models.

    Raises
    ------
    BadParameterError
        If it is not available, cannot search without an index, or its model cannot be loaded.
    """
    chosen = choice(name)
    if chosen.engine.searches is None and chosen.engine.index is not None:
        raise BadParameterError(f"{name!r} needs an index of the corpus. Build it first: crowdrag index.")
    if (searches := chosen.engine.searches) is None or not chosen.is_for_corpora:
        raise _cannot(chosen, "search a corpus", offered_for_corpora())
    return loaded(partial(searches, chosen))


def has_index(name: str) -> bool:
    """Return whether a retriever can have indexes."""
    chosen = choice(name)
    return chosen.is_for_corpora and chosen.engine.index is not None


def library() -> IndexLibrary:
    """Return this system's indexes."""
    return IndexLibrary(settings.INDEX_ROOT)


def loaded(load: Callable[[], Result]) -> Result:
    """Call a function that needs a model, a library or a server.

    Raises
    ------
    BadParameterError
        If that cannot be had.
    """
    try:
        return load()
    except (
        checkpoints.NeuralPartsMissingError,
        checkpoints.ModelMissingError,
        UnsupportedEncoderError,
        NoVocabularyWeightsError,
        FaissMissingError,
        PyseriniMissingError,
        BadSearchError,
        SearchServerError,
        BadRetrieverError,
    ) as error:
        raise BadParameterError(str(error)) from error


def _cannot(chosen: Choice, what: str, names: Sequence[str]) -> BadParameterError:
    return BadParameterError(f"{str(chosen)!r} cannot {what}. Available: {', '.join(names)}.")
