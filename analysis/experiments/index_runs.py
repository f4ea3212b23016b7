"""Runs that build the index of a corpus: first the places of its documents, then its parts, then the whole.

And the indexes that the runs of a study built or are building.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from analysis.rag.collections.fields import BadCollectionError
from analysis.rag.retrieval.engine import BadRetrieverError
from analysis.rag.retrieval.index_library import IndexEntry, IndexOrder, MissingIndexError
from analysis.rag.retrieval.search import NoDocumentsError
from analysis.rag.retrieval.search_server import SERVERS, SearchServerError
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import Queue, RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study, User

from . import retrievers
from .experiment import BadParameterError

#: Runs of engines without a model, and of those with one, which use the accelerator if a worker has one.
KIND, MODEL_KIND = "index", "index.model"
_CORPUS, _PART, _WHOLE = "corpus", "part", "whole"


def order(name: str, corpus: Path) -> IndexOrder:
    """Describe the index of a corpus by a retriever.

    Raises
    ------
    BadParameterError
        If the retriever is not available or has no index, or there is no such file.
    """
    chosen = retrievers.choice(name)
    try:
        return retrievers.loaded(lambda: retrievers.library().order(chosen, corpus))
    except BadRetrieverError as error:
        raise BadParameterError(str(error)) from error
    except OSError as error:
        raise BadParameterError(f"{corpus} cannot be read: {error.strerror}.") from error


def start(order: IndexOrder, corpus: Path, *, study: Study, by: User | None = None) -> Run:
    """Start a run that builds an index; parts that were built before are not built again."""
    chosen = retrievers.choice(order.choice)
    kind = MODEL_KIND if chosen.engine.argument == "model" else KIND
    parameters = {"order": asdict(order), "path": str(corpus.resolve())}
    return lifecycle.start(study=study, kind=kind, parameters=parameters, by=by)


def order_of(run: Run) -> IndexOrder:
    """Return the order of a run."""
    return IndexOrder(**run.parameters["order"])


@dataclass(frozen=True)
class StudyIndex:
    """An index of a study: complete, or what a run is to build.

    Attributes
    ----------
    corpus, choice, sha256
        As in its order.
    run : Run
        The run that built it, builds it or failed.
    key : str
        Key of a complete index; "" for none.
    documents, size : int or None
        Number of passages and bytes of a complete index.
    built_at : datetime or None
    """

    corpus: str
    choice: str
    sha256: str
    run: Run
    key: str = ""
    documents: int | None = None
    size: int | None = None
    built_at: datetime | None = None

    @property
    def state(self) -> str:
        """State of the run."""
        return RunState.DONE if self.key else self.run.state


def of_study(study: Study) -> list[StudyIndex]:
    """Return the indexes that runs of a study built, or are to build, the newest run first.

    Any study can use an index, but those of other studies are not listed: names of files may say what they work on.
    """
    entries = {entry.run: entry for entry in retrievers.library().entries() if entry.run}
    indexes = []
    for run in study.runs.filter(kind__in=(KIND, MODEL_KIND)).newest_first():
        if (entry := entries.get(str(run.key))) is not None:
            indexes.append(StudyIndex(
                entry.corpus, entry.choice, entry.sha256, run, entry.key, entry.documents, entry.size,
                datetime.fromisoformat(entry.built_at),
            ))  # fmt: skip
        elif run.state != RunState.DONE:  # a run that is done without an index: it was deleted
            ordered = order_of(run)
            indexes.append(StudyIndex(ordered.corpus, ordered.choice, ordered.sha256, run))
    return indexes


def delete(study: Study, key: str) -> StudyIndex:
    """Delete an index that a run of this study built.

    Raises
    ------
    MissingIndexError
        If this study has no complete index with this key.
    BadParameterError
        If it is on a search server that does not answer, or its engine is not available.
    """
    index = next((index for index in of_study(study) if key and index.key == key), None)
    if index is None:
        raise MissingIndexError(f"This study has no index {key}.")
    try:
        retrievers.library().delete(key)
    except (SearchServerError, BadRetrieverError) as error:
        raise BadParameterError(str(error)) from error
    return index


def _plan(run: Run) -> Iterable[dict[str, Any] | kinds.LaterUnit]:
    ordered = order_of(run)
    run.inputs_digest = ordered.sha256
    yield {"step": _CORPUS}
    for part in range(ordered.parts):
        yield kinds.LaterUnit(1, {"step": _PART, "part": part})
    yield kinds.LaterUnit(2, {"step": _WHOLE})


def _work(work: kinds.Work) -> Callable[[], None] | None:
    ordered, corpus, library = order_of(work.run), Path(work.run.parameters["path"]), retrievers.library()
    step = work.unit.payload["step"]
    try:
        if step == _CORPUS:
            work.report(0, 1, "Reading the corpus")
            library.store_corpus(ordered, corpus)
        elif step == _PART:
            retrievers.loaded(lambda: library.build_part(ordered, corpus, work.unit.payload["part"], work.report))
        else:
            entry = library.assemble(ordered, corpus, now=timezone.now(), run=str(work.run.key), report=work.report)
            return partial(lifecycle.note, run=work.run, summary=_summary(entry))
    except (BadCollectionError, NoDocumentsError) as error:
        raise kinds.InputRejectedError([_problem(error)], is_final=True) from error
    except (BadParameterError, BadRetrieverError, MissingIndexError, SearchServerError, FileNotFoundError) as error:
        raise kinds.InputRejectedError([{"message": str(error)}]) from error
    return None


def _problem(error: Exception) -> dict[str, Any]:
    if not isinstance(error, BadCollectionError):
        return {"message": str(error)}
    line = error.location.removeprefix("line ")
    problem = {"file": error.file, "field": error.field, "expected": error.expected, "message": str(error)}
    return problem | ({"line": int(line)} if line.isdecimal() else {})


def _summary(entry: IndexEntry) -> dict[str, Any]:
    return {"index": entry.key, "documents": entry.documents, "bytes": entry.size, **entry.facts}


def _describe(run: Run) -> dict[str, Any]:
    ordered = order_of(run)
    return {"Corpus": ordered.corpus, "Retriever": ordered.choice, "Settings": ordered.version}


def _subjects(runs: Iterable[Run]) -> dict[int, str]:
    return {run.pk: f"{order_of(run).corpus}, {order_of(run).choice}" for run in runs}


def register() -> None:
    """Register the run kinds and the operator's search servers when the app is ready."""
    SERVERS.update(settings.SEARCH_SERVERS)
    for name, queue in ((KIND, Queue.DEFAULT), (MODEL_KIND, Queue.GPU if settings.HAS_GPU_WORKER else Queue.DEFAULT)):
        kinds.register(
            kinds.Kind(
                name=name, title="Search index", queue=queue, plan=_plan, work=_work, describe=_describe,
                subjects=_subjects,
            )
        )  # fmt: skip
