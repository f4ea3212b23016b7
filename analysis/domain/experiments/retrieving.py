"""The retrievers that a run's parameters name."""

from __future__ import annotations

from collections.abc import Sequence

from django.conf import settings
from django.utils.translation import gettext as _

from analysis.rag.shapes import Collection, Retriever

from .experiment import BadParameterError

#: Retrievers without a model. `bm25` weighs words by the question's own candidates, as LaMP does with a profile,
#: `bm25:all` by the documents of all questions; `given` takes the scores that stand in the data.
PLAIN = ("bm25", "bm25:all", "given")
#: Retrievers with a model, `dense:NAME` and `splade:NAME`; those that the operator named (`CROWDRAG_RETRIEVERS`).
DENSE, SPLADE = "dense", "splade"
# A process keeps so many: models are large.
_MOST = 3
_kept: list[tuple[str, Collection | None, Retriever]] = []


def offered() -> list[str]:
    """The names of all retrievers that may be used."""
    return [*PLAIN, *settings.RETRIEVERS]


def check(names: Sequence[str]) -> None:
    """Refuse a name that is not offered, before anything is asked or loaded.

    Raises
    ------
    BadParameterError
        It says which there are: a model is a program's input that somebody must answer for.
    """
    for name in names:
        if name not in offered():
            said = _("There is no retriever %(name)r here; there are %(known)s. The operator names models.")
            raise BadParameterError(said % {"name": name, "known": ", ".join(offered())})


def retriever(name: str, collection: Collection) -> Retriever:
    """Make a retriever of a collection's documents; a process keeps the last ones.

    Parameters
    ----------
    name : str
        One of `offered`.
    collection : Collection
        Of the run.

    Raises
    ------
    BadParameterError
        If it is not offered, or its model cannot be loaded.
    """
    check([name])
    over = collection if name == "bm25:all" else None
    for kept in _kept:
        if kept[0] == name and kept[1] is over:
            return kept[2]
    made = _make(name, collection)
    _kept.append((name, over, made))
    del _kept[:-_MOST]
    return made


def _make(name: str, collection: Collection) -> Retriever:
    kind, _colon, model = name.partition(":")
    if kind in (DENSE, SPLADE):
        return _load(kind, model)
    if name == "given":
        from analysis.rag.retrieval.given import Given

        return Given()
    from analysis.rag.retrieval.bm25 import BM25

    return BM25.over(collection.queries) if name == "bm25:all" else BM25()


def _load(kind: str, model: str) -> Retriever:
    from analysis.rag import checkpoints
    from analysis.rag.retrieval.dense import Dense, UnsupportedEncoderError
    from analysis.rag.retrieval.splade import NoVocabularyWeightsError, Splade

    try:
        return Dense.load(model) if kind == DENSE else Splade.load(model)
    except (
        checkpoints.NeuralPartsMissingError,
        checkpoints.ModelMissingError,
        UnsupportedEncoderError,
        NoVocabularyWeightsError,
    ) as error:
        raise BadParameterError(str(error)) from error
