"""The types of retrieval engines: what an engine states, a choice of one, and the steps of an index."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ..collections.corpus import Corpus
from ..protocols import Collection, Retriever
from .search import Documents, Searcher

Report = Callable[[int, int, str], None]


class BadRetrieverError(ValueError):
    """There is no such engine, its name lacks something, or it cannot do what is asked."""


@dataclass(frozen=True)
class NoSettings:
    """The settings of an engine that has none."""


@dataclass(frozen=True)
class IndexPart:
    """One part of the work on an index.

    Attributes
    ----------
    choice : Choice
    documents : Documents
        The whole corpus.
    first, last : int
        Positions of the part's first document, and of the one after its last.
    key : str
        Of the index.
    folder : Path
        An empty folder for what the part leaves behind.
    shared : Path
        A folder that all indexes of a library share, for example for vectors.
    report : callable(done, total, message)
    """

    choice: Choice
    documents: Documents
    first: int
    last: int
    key: str
    folder: Path
    shared: Path
    report: Report


@dataclass(frozen=True)
class IndexAssembly:
    """The last step of an index: what the parts left behind becomes the index.

    Attributes
    ----------
    choice : Choice
    documents : Documents
    parts : tuple of Path
        Folders of the parts, in the order of their documents.
    key : str
        Of the index.
    folder : Path
        An empty folder for the index.
    shared : Path
    report : callable(done, total, message)
    """

    choice: Choice
    documents: Documents
    parts: tuple[Path, ...]
    key: str
    folder: Path
    shared: Path
    report: Report


@dataclass(frozen=True)
class IndexRecipe:
    """How an engine builds, identifies and opens its indexes.

    Attributes
    ----------
    part : callable(IndexPart)
        Works on a part of the corpus.
    assemble : callable(IndexAssembly) -> dict
        Makes the index and returns facts about it, as JSON values.
    open : callable(choice, folder, shared) -> Searcher
        Opens an index, memory-mapped where possible.
    version : callable(choice) -> str
        Everything beside the corpus that the index depends on: settings, the model with the version of its files, the
        library's version. Equal versions and corpora have equal indexes.
    part_bytes : int
        Bytes of the corpus in a part: what is done again after an interruption.
    shared : callable(choice) -> str
        Name of the index's folder among those that indexes share; "" for none.
    delete : callable(choice, key), optional
        Removes what an index has outside its folders.
    """

    part: Callable[[IndexPart], None]
    assemble: Callable[[IndexAssembly], dict[str, Any]]
    open: Callable[[Choice, Path, Path], Searcher]
    version: Callable[[Choice], str]
    part_bytes: int = 32 << 20
    shared: Callable[[Choice], str] = lambda _choice: ""
    delete: Callable[[Choice, str], None] | None = None


@dataclass(frozen=True)
class Engine:
    """A retrieval engine.

    Attributes
    ----------
    name : str
        Permanent, without colon or question mark.
    title, help : str
        For people: what it is, and when to use it.
    argument : str
        What stands after the colon ("model"); "" if nothing does.
    needs_argument : bool
        Whether something must. Otherwise `argument` itself is the only word that may stand there, and means that words
        are weighed over the documents of all questions: it cannot search a corpus.
    allowed_as : str
        The name under which an operator allows its models, if not its own.
    settings : type
        Frozen dataclass of its settings, with defaults. It raises ValueError for wrong ones.
    ranks : callable(choice, collection) -> Retriever, optional
        Scores the candidates of a collection's queries.
    searches : callable(choice) -> Searcher, optional
        Searches a corpus without an index.
    index : IndexRecipe, optional
    looks_up : callable(choice, collection, corpus, n) -> Collection, optional
        Replaces each question's documents by the best n that another system found, by the question's id.
    """

    name: str
    title: str
    help: str
    argument: str = ""
    needs_argument: bool = False
    allowed_as: str = ""
    settings: type[Any] = NoSettings
    ranks: Callable[[Choice, Collection], Retriever] | None = None
    searches: Callable[[Choice], Searcher] | None = None
    index: IndexRecipe | None = None
    looks_up: Callable[[Choice, Collection, Corpus, int], Collection] | None = None

    @property
    def pattern(self) -> str:
        """The form of its name for people: `dense:MODEL`."""
        return f"{self.name}:{self.argument.upper()}" if self.needs_argument else self.name


@dataclass(frozen=True)
class Choice:
    """An engine with its argument and settings. `str` gives its name, which `read` reads."""

    engine: Engine
    argument: str = ""
    settings: Any = field(default_factory=NoSettings)

    def __str__(self) -> str:
        usual = asdict(self.engine.settings())
        changed = {name: value for name, value in asdict(self.settings).items() if value != usual[name]}
        written = {name: value if isinstance(value, str) else json.dumps(value) for name, value in changed.items()}
        colon = f":{self.argument}" if self.argument else ""
        return f"{self.engine.name}{colon}" + (f"?{urlencode(written)}" if written else "")

    @property
    def is_for_corpora(self) -> bool:
        """Whether it can search a corpus, with or without an index."""
        can = self.engine.searches is not None or self.engine.index is not None
        return can and (self.engine.needs_argument or not self.argument)

    @property
    def allowed_name(self) -> str:
        """The name that an operator must have allowed: engine and argument, without settings."""
        return f"{self.engine.allowed_as or self.engine.name}:{self.argument}"
