"""Dense bi-encoders: a question and a passage become one vector each, and their product is the score.

Pooling, length and prompts follow the model's files, as sentence-transformers writes them. If the files do not state
them, they follow the authors' instructions for the model's family: E5's prefixes, Contriever's plain means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .. import checkpoints, encoders
from ..checkpoints import BUNDLED, Checkpoint
from ..encoders import Encoder, Precision
from ..protocols import Floats, Query
from .search import Documents, SearchResults, TopDocuments, block, by_text, passage, search_text, some_documents

Pooling = Literal["mean", "first"]

_POOLINGS: dict[str, Pooling] = {"mean": "mean", "mean_tokens": "mean", "cls": "first", "cls_token": "first"}
_KNOWN_MODULES = {"Transformer", "Pooling", "Normalize"}


class UnsupportedEncoderError(ValueError):
    """The model's files require a feature that is not supported here."""


@dataclass(frozen=True)
class Style:
    """How a model turns a text into a vector.

    Attributes
    ----------
    question, passage : str
        Prefixes of questions and of passages.
    pooling : "mean" or "first"
        Mean over all tokens, or the first token.
    is_cosine : bool
        Whether to normalise vectors to length 1, so that the score is the cosine; otherwise it is the dot product.
    """

    question: str = ""
    passage: str = ""
    pooling: Pooling = "mean"
    is_cosine: bool = True

    def __str__(self) -> str:
        parts = [f"{self.pooling} pooling", "cosine" if self.is_cosine else "dot product"]
        if self.question or self.passage:
            parts.append(f"prefixes {self.question!r} and {self.passage!r}")
        return ", ".join(parts)


#: Prefixes of questions and passages according to the authors, by the model's name.
_FAMILIES: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (re.compile(r"^e5-.*instruct|multilingual-e5-.*instruct"),
     "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ", ""),
    (re.compile(r"^(multilingual-)?e5-(small|base|large)"), "query: ", "passage: "),
    (re.compile(r"^bge-(small|base|large)-en"), "Represent this sentence for searching relevant passages: ", ""),
)  # fmt: skip
_CONTRIEVER = re.compile(r"contriever")


def style(checkpoint: Checkpoint) -> Style:
    """Return a model's style: from its files, or from its family if they do not state it.

    The family follows from the name of the model or of its folder: `e5-base-v2`, `contriever-msmarco`,
    `bge-base-en-v1.5`. By default, a model uses mean pooling and the cosine.

    Raises
    ------
    UnsupportedEncoderError
        If its files require other pooling, or layers after it.
    """
    name = checkpoint.name.rstrip("/").rpartition("/")[2].lower()
    question, before = _prefixes(checkpoint, name)
    modules = _modules(checkpoint)
    is_contriever = not modules and _CONTRIEVER.search(name) is not None
    similar = checkpoint.settings("config_sentence_transformers.json").get("similarity_fn_name") or "cosine"
    return Style(
        question, before, _pooling(checkpoint), "Normalize" in modules or (similar == "cosine" and not is_contriever)
    )


class Dense:
    """A bi-encoder as a retriever. Create it with `load`. It can be reused, but only by one thread at a time."""

    def __init__(self, encoder: Encoder, style: Style) -> None:
        self._encoder = encoder
        self.style = style

    @classmethod
    def load(
        cls,
        model: str = BUNDLED,
        *,
        device: str | None = None,
        precision: Precision = "full",
        **changed: Any,
    ) -> Dense:
        """Load a bi-encoder.

        Parameters
        ----------
        model : str
            `all-MiniLM-L6-v2` (bundled), a folder, or a name on a hub.
        device, precision
            As for `encoders.load`; half precision suits large corpora.
        **changed
            Fields of `Style` that replace those of the model's files or family.

        Raises
        ------
        NeuralPartsMissingError, ModelMissingError
            See `checkpoints`.
        UnsupportedEncoderError
            See `style`.
        """
        chosen_style = replace(style(checkpoints.find(model)), **changed)
        return cls(encoders.load(model, device=device, precision=precision), chosen_style)

    @property
    def bytes(self) -> int:
        """Device memory that the weights take, in bytes."""
        return self._encoder.bytes

    @property
    def name(self) -> str:
        """Name of the model with its version and style."""
        identity = self._encoder.identity
        return f"{identity.model}, {identity.version}, {self.style}"

    def questions(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode questions; float32, shape (n_texts, n_dimensions)."""
        return self._vectors([self.style.question + text for text in texts])

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Encode passages; float32, shape (n_texts, n_dimensions)."""
        return self._vectors([self.style.passage + text for text in texts])

    def scores(self, query: Query) -> Floats:
        """Score the query's documents.

        Returns
        -------
        ndarray of float64, shape (n_documents,)
            Cosines or dot products. Texts are truncated to the model's length. Equal texts have equal scores.

        Raises
        ------
        NoDocumentsError
            If the query has none.
        EncoderMemoryError
            If a single text does not fit into the device's memory.
        """
        vector = self.questions([search_text(query)])[0]
        return by_text(query, lambda texts: self.passages(texts) @ vector)

    def search(self, questions: Sequence[str], documents: Documents, n: int) -> SearchResults:
        """Find the best documents of a corpus for each question by exact search: every passage is encoded and compared.

        Parameters
        ----------
        questions : sequence of str
        documents : Documents
            Read once, in blocks.
        n : int

        Raises
        ------
        NoDocumentsError
            If the corpus has none.
        """
        vectors = self.questions(questions)
        best = TopDocuments(len(questions), n)
        for start, block_documents in some_documents(documents).blocks(block(len(questions))):
            best.add(start, vectors @ self.passages([passage(document) for document in block_documents]).T)
        return best.results()

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._encoder.embed(texts, pooling=self.style.pooling, normalised=self.style.is_cosine)


def _prefixes(checkpoint: Checkpoint, name: str) -> tuple[str, str]:
    prompts = checkpoint.settings("config_sentence_transformers.json").get("prompts") or {}
    prefixes = {key: value for key, value in prompts.items() if value}
    if prefixes:
        return str(prefixes.get("query", "")), str(prefixes.get("document") or prefixes.get("passage") or "")
    return next((family[1:] for family in _FAMILIES if family[0].search(name)), ("", ""))


def _modules(checkpoint: Checkpoint) -> set[str]:
    """Return the modules in the files of sentence-transformers; empty if the files do not list them."""
    path = checkpoint.folder / "modules.json"
    if not path.is_file():
        return set()
    kinds = {str(module["type"]).rpartition(".")[2] for module in json.loads(path.read_text(encoding="utf-8"))}
    if unknown := kinds - _KNOWN_MODULES:
        raise UnsupportedEncoderError(
            f"{checkpoint.name} has {', '.join(sorted(unknown))} after its encoder, "
            "which is not supported. Use another model."
        )
    return kinds


def _pooling(checkpoint: Checkpoint) -> Pooling:
    about = checkpoint.settings("1_Pooling/config.json")
    mode = about.get("pooling_mode")
    if mode is None:
        prefix = "pooling_mode_"
        modes = [key.removeprefix(prefix) for key, on in about.items() if key.startswith(prefix) and on]
    else:
        modes = [mode] if isinstance(mode, str) else list(mode)
    if not modes:
        return "mean"
    if len(modes) > 1 or modes[0] not in _POOLINGS:
        raise UnsupportedEncoderError(
            f"{checkpoint.name} pools tokens by {' and '.join(modes)}, but only mean and cls are "
            "supported. Use another model."
        )
    return _POOLINGS[modes[0]]
