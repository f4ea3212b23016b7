"""The retrieval engines: each is one value, from which names, options, builds of indexes and searches are derived.

An engine is chosen by a name such as `bm25`, `bm25?k1=0.9&b=0.4` or `dense:all-MiniLM-L6-v2`: the engine, after a colon
its argument (a model, for example), and after a question mark its settings. Settings are the fields of a frozen
dataclass, which checks them. docs/methods/retrieval.md.

An engine can do any of four things: score the candidates that a question comes with (`ranks`), search a corpus as it
is (`searches`), search a corpus by an index that is built once (`index`, `index_library.IndexLibrary`), and look up
what another system found in a corpus (`looks_up`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from ..collections.corpus import Corpus
from ..protocols import Collection, Retriever
from .bm25 import BM25, Bm25Settings
from .bm25 import version as bm25_version
from .engine import BadRetrieverError, Choice, Engine, IndexAssembly, IndexPart, IndexRecipe
from .faiss_index import FlatSettings, HnswSettings, IvfSettings
from .lucene_index import LuceneSettings
from .search import Documents, Searcher, SearchResults, search_text
from .search_server import SERVERS, SearchServer, ServerIndex, ServerSettings

if TYPE_CHECKING:
    from .dense import Dense
    from .faiss_index import FaissIndex
    from .splade import Splade
    from .vector_store import StoredVectors


def read(name: str) -> Choice:
    """Read the name of a choice.

    Raises
    ------
    BadRetrieverError
        If there is no such engine, its argument is missing, or a setting is unknown or out of bounds.
    """
    rest, _mark, options = name.strip().partition("?")
    engine_name, _colon, argument = rest.partition(":")
    engine = ENGINES.get(engine_name.strip())
    if engine is None:
        listed = ", ".join(engine.pattern for engine in ENGINES.values())
        raise BadRetrieverError(f"There is no retriever {name!r}. Retrievers: {listed}.")
    argument = argument.strip()
    if engine.needs_argument and not argument:
        raise BadRetrieverError(f"{engine.name} needs a {engine.argument}: {engine.pattern}.")
    if argument and not engine.needs_argument and argument != engine.argument:
        only = f"only {engine.argument!r}" if engine.argument else "nothing"
        raise BadRetrieverError(f"There is no retriever {name!r}: {only} may stand after {engine.name}:.")
    return Choice(engine, argument, _settings(engine, name, options))


def _settings(engine: Engine, name: str, options: str) -> Any:
    try:
        pairs = dict(parse_qsl(options, keep_blank_values=True, strict_parsing=bool(options)))
    except ValueError as error:
        raise BadRetrieverError(f"{name!r}: settings must be NAME=VALUE, separated by &.") from error
    declared = {each.name: each.default for each in fields(engine.settings)}
    if unknown := set(pairs) - set(declared):
        listed = ", ".join(declared) or "none"
        raise BadRetrieverError(f"{engine.name} has no setting {min(unknown)!r}. Settings: {listed}.")
    values = {key: _value(key, value, declared[key]) for key, value in pairs.items()}
    try:
        return engine.settings(**values)
    except ValueError as error:
        raise BadRetrieverError(f"{name!r}: {error}") from error


def _value(name: str, text: str, default: object) -> Any:
    """Read a setting as a value of the same type as its default."""
    if isinstance(default, str):
        return text
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    kind: Any = type(default)
    is_right = type(value) is kind or (kind is float and type(value) is int)
    if not is_right:
        expected = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise BadRetrieverError(f"{name} must be {expected}, not {text!r}.")
    return kind(value)


# The last index of a whole collection; all units of a run share it.
_index: list[tuple[Collection, Any, Retriever]] = []


def _rank_by_words(choice: Choice, collection: Collection) -> Retriever:
    if choice.argument != "all":
        return BM25(choice.settings)
    if not _index or _index[0][0] is not collection or _index[0][1] != choice.settings:
        _index[:] = [(collection, choice.settings, BM25.over(collection.queries, choice.settings))]
    return _index[0][2]


def _search_by_words(choice: Choice) -> Searcher:
    return BM25(choice.settings)


def _count_words(part: IndexPart) -> None:
    from . import word_index

    word_index.count(part.documents, part.first, part.last, part.choice.settings, part.folder, part.report)


def _assemble_words(assembly: IndexAssembly) -> dict[str, Any]:
    from . import word_index

    settings = assembly.choice.settings
    return dict(word_index.assemble(assembly.parts, settings, assembly.folder, assembly.report))


def _open_words(choice: Choice, folder: Path, _shared: Path) -> Searcher:
    from .word_index import WordIndex

    return WordIndex(folder, choice.settings)


def _version_of_words(choice: Choice) -> str:
    return f"{choice.settings}, bm25s {bm25_version()}"


def _given(_choice: Choice, _collection: Collection) -> Retriever:
    from .known_scores import KnownScores

    return KnownScores()


def load_dense(choice: Choice) -> Dense:
    """Load a bi-encoder, or take it from the process's cache."""
    from ..generation.model_cache import MODELS
    from .dense import Dense

    model: Dense = MODELS.take(("dense", choice.argument), partial(Dense.load, choice.argument))
    return model


def load_splade(choice: Choice) -> Splade:
    """Load a SPLADE model, or take it from the process's cache."""
    from ..generation.model_cache import MODELS
    from .splade import Splade

    model: Splade = MODELS.take(("splade", choice.argument), partial(Splade.load, choice.argument))
    return model


def _vectors_of(choice: Choice) -> str:
    return hashlib.sha256(load_dense(Choice(ENGINES["dense"], choice.argument)).name.encode()).hexdigest()[:32]


def _encode(part: IndexPart) -> None:
    from . import vector_store

    store = vector_store.VectorStore(part.shared)
    model = load_dense(part.choice)
    vector_store.encode(store, part.documents, part.first, part.last, model.passages, part.folder, part.report)


def _locate(assembly: IndexAssembly) -> dict[str, Any]:
    from . import vector_store

    assembly.report(0, 1, "Locating vectors")
    vector_store.locate(vector_store.VectorStore(assembly.shared), assembly.parts, assembly.folder)
    return {}


def _assemble_faiss(assembly: IndexAssembly) -> dict[str, Any]:
    from . import faiss_index, vector_store

    _locate(assembly)
    vectors = vector_store.StoredVectors(assembly.folder, vector_store.VectorStore(assembly.shared))
    return dict(faiss_index.assemble(vectors, assembly.choice.settings, assembly.folder, assembly.report))


@dataclass(frozen=True, eq=False)
class _DenseIndex:
    """Vectors with the model that encodes questions, as a searcher of their corpus."""

    name: str
    model: Dense
    vectors: StoredVectors | FaissIndex

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        if len(documents) != len(self.vectors):
            raise ValueError(f"the index is of {len(self.vectors)} documents, not of {len(documents)}")
        return self.vectors.search(self.model.questions(questions), n)


def _open_dense(choice: Choice, folder: Path, shared: Path) -> Searcher:
    from .vector_store import StoredVectors, VectorStore

    return _DenseIndex(_version_of_dense(choice), load_dense(choice), StoredVectors(folder, VectorStore(shared)))


def _open_faiss(choice: Choice, folder: Path, _shared: Path) -> Searcher:
    from .faiss_index import FaissIndex

    return _DenseIndex(_version_of_faiss(choice), load_dense(choice), FaissIndex(folder, choice.settings))


def _version_of_dense(choice: Choice) -> str:
    return load_dense(choice).name


def _version_of_faiss(choice: Choice) -> str:
    from . import faiss_index

    return f"{load_dense(choice).name}, {choice.settings}, FAISS {faiss_index.version()}"


def _look_up(choice: Choice, collection: Collection, corpus: Corpus, n: int) -> Collection:
    from . import trec_runs

    return trec_runs.retrieve(collection, trec_runs.read(choice.argument), corpus, n)


def _server(choice: Choice) -> SearchServer:
    if choice.argument not in SERVERS:
        listed = ", ".join(SERVERS) or "none"
        raise BadRetrieverError(f"There is no search server {choice.argument!r}. Servers: {listed}.")
    return SearchServer(SERVERS[choice.argument])


def _on_server(key: str) -> str:
    """Return the name of an index on its server."""
    return f"crowdrag-{key}"


def _send_documents(part: IndexPart) -> None:
    index = _on_server(part.key)
    with _server(part.choice) as server:
        server.create(index, part.choice.settings)
        server.add(index, part.documents, part.first, part.last, part.report)


def _finish_on_server(assembly: IndexAssembly) -> dict[str, Any]:
    index = _on_server(assembly.key)
    with _server(assembly.choice) as server:
        server.finish(index, len(assembly.documents))
    return {"on_server": index}


def _open_on_server(choice: Choice, folder: Path, _shared: Path) -> Searcher:
    return ServerIndex(_server(choice), _on_server(folder.name), f"{choice} ({choice.settings})")


def _delete_on_server(choice: Choice, key: str) -> None:
    with _server(choice) as server:
        server.delete(_on_server(key))


def _look_up_in_lucene(choice: Choice, collection: Collection, corpus: Corpus, n: int) -> Collection:
    from . import lucene_index, trec_runs

    questions = [(query.id, search_text(query)) for query in collection.queries]
    rankings = lucene_index.rank(Path(choice.argument), questions, n, choice.settings)
    return trec_runs.retrieve(collection, trec_runs.TrecRun(str(choice), rankings), corpus, n)


# Encoding a passage takes milliseconds, so little of it is in a part.
_PART_TO_ENCODE = 2 << 20


def _faiss(kind: str, settings: type[Any], description: str) -> Engine:
    return Engine(
        name=f"faiss-{kind}",
        title=f"FAISS {kind.upper() if kind != 'flat' else kind}",
        help=description,
        argument="model",
        needs_argument=True,
        allowed_as="dense",
        settings=settings,
        index=IndexRecipe(_encode, _assemble_faiss, _open_faiss, _version_of_faiss, _PART_TO_ENCODE, _vectors_of),
    )


_ENGINES: Sequence[Engine] = (
    Engine(
        name="bm25",
        title="BM25",
        help="Words in common, weighed by how rare they are. No model, fast, and hard to beat.",
        argument="all",
        settings=Bm25Settings,
        ranks=_rank_by_words,
        searches=_search_by_words,
        index=IndexRecipe(_count_words, _assemble_words, _open_words, _version_of_words),
    ),
    Engine(
        name="given",
        title="Scores of the data",
        help="The scores that came with the documents.",
        ranks=_given,
    ),
    Engine(
        name="dense",
        title="Dense vectors",
        help="One vector for a question and one for a passage, compared exactly.",
        argument="model",
        needs_argument=True,
        ranks=lambda choice, _collection: load_dense(choice),
        searches=load_dense,
        index=IndexRecipe(_encode, _locate, _open_dense, _version_of_dense, _PART_TO_ENCODE, _vectors_of),
    ),
    _faiss("flat", FlatSettings, "The same vectors, compared exactly by FAISS."),
    _faiss(
        "ivf", IvfSettings, "The same vectors in lists, of which a search looks into some: less memory, some missed."
    ),
    _faiss("hnsw", HnswSettings, "The same vectors in a graph of neighbours: fastest, most memory, few missed."),
    Engine(
        name="splade",
        title="SPLADE",
        help="Weights of words, also of words that a text lacks, by a masked language model.",
        argument="model",
        needs_argument=True,
        ranks=lambda choice, _collection: load_splade(choice),
        searches=load_splade,
    ),
    Engine(
        name="opensearch",
        title="OpenSearch or Elasticsearch",
        help="BM25 by a server that others run, for corpora that are there anyway, or too large for one machine.",
        argument="server",
        needs_argument=True,
        settings=ServerSettings,
        index=IndexRecipe(
            _send_documents,
            _finish_on_server,
            _open_on_server,
            lambda choice: str(choice.settings),
            delete=_delete_on_server,
        ),
    ),
    Engine(
        name="trec",
        title="TREC run file",
        help="What any other system found for the questions: qid Q0 docid rank score tag.",
        argument="file",
        needs_argument=True,
        looks_up=_look_up,
    ),
    Engine(
        name="pyserini",
        title="Lucene by Pyserini",
        help="BM25 by an existing Lucene index, as Anserini and Pyserini make them.",
        argument="folder",
        needs_argument=True,
        settings=LuceneSettings,
        looks_up=_look_up_in_lucene,
    ),
)
#: All engines by name.
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _ENGINES}
