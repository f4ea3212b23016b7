"""Trained methods as files of the run: published by training units, loaded by answering units."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Q, QuerySet
from django.utils import timezone

from analysis.rag.protocols import Query
from analysis.rag.uplift_rag import reranker
from analysis.rag.uplift_rag.baselines.protocol import Method
from analysis.rag.uplift_rag.deduplication import digest
from analysis.rag.uplift_rag.training_loop import Checkpoint
from analysis.rag.uplift_rag.variants import Uplift
from crowdrag.jobs.enums import ACTIVE, RunState
from crowdrag.jobs.models import Artifact, Run

from ..experiment import BadParameterError
from ..stage_context import StageContext
from . import questions
from .parameters import UpliftRagParameters

ZIP = "application/zip"
#: The kind of runs that may provide rerankers.
KIND = "experiment.uplift"
#: Equal contents must make equal files: the earliest time that ZIP supports.
_TIME = (1980, 1, 1, 0, 0, 0)
#: For how long checkpoints of a run that was cancelled or failed are kept.
_RESUMED_WITHIN = timedelta(days=1)
#: Number of methods that a process keeps loaded: those of one or two splits.
_MOST = 16
_loaded: OrderedDict[tuple[int, int, str], Method] = OrderedDict()


def publish(context: StageContext, fitted: Method, name: str) -> str:
    """Publish a trained method as NAME.zip with the unit. Return the file's name, "" for methods without training."""
    with tempfile.TemporaryDirectory(prefix="uplift-") as folder:
        fitted.save(Path(folder))
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        if not files:
            return ""
        with tempfile.NamedTemporaryFile(prefix="uplift-", suffix=".zip", delete=False) as packed:
            _pack(files, Path(folder), packed)
    context.publish(f"{name}.zip", Path(packed.name), ZIP)
    return f"{name}.zip"


def _pack(files: Sequence[Path], folder: Path, into: IO[bytes]) -> None:
    with zipfile.ZipFile(into, "w", zipfile.ZIP_STORED) as pack:  # weights do not compress
        for path in files:
            about = zipfile.ZipInfo(str(path.relative_to(folder)), _TIME)
            with path.open("rb") as source, pack.open(about, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)


def checkpoint(context: StageContext, key: str) -> Checkpoint:
    """Where a training unit stores how far it is, on this machine: after a kill, it goes on there.

    A worker of another machine begins anew. Files of units that have ended are deleted, and those of runs that have
    ended, unless they stopped less than a day ago and can be resumed.
    """
    folder = settings.DATA_DIR / "trainings" / str(context.run.key)
    needed = {
        _checkpoint_name(f"{payload['split']}:{payload['method']}")
        for payload in context.run.units.open().values_list("payload", flat=True)
        if payload.get("stage") == "train"
    }
    stopped = Q(state__in=[RunState.FAILED, RunState.CANCELLED], finished_at__gte=timezone.now() - _RESUMED_WITHIN)
    for other in folder.parent.glob("*"):
        if other != folder and not Run.objects.filter(Q(state__in=ACTIVE) | stopped, key=other.name).exists():
            shutil.rmtree(other, ignore_errors=True)
    for path in folder.glob("*.pt"):
        if path.name not in needed:
            path.unlink(missing_ok=True)
    return Checkpoint(folder / _checkpoint_name(key))


def _checkpoint_name(key: str) -> str:
    return f"{hashlib.sha256(key.encode()).hexdigest()[:16]}.pt"


def trained(context: StageContext, split: int, name: str) -> dict[str, Any]:
    """The training stage's result for a method on a split."""
    training: dict[str, Any] = context.result("train", f"{split}:{name}")
    return training


def loaded(context: StageContext, name: str, split: int, make: Callable[[StageContext, str], Method]) -> Method:
    """A method as trained on a split; a process keeps the last ones."""
    key = (context.run.pk, split, name)
    if key not in _loaded:
        fitted = make(context, name)
        if file := trained(context, split, name).get("file"):
            take(fitted, context.run, file)
        _loaded[key] = fitted
        while len(_loaded) > _MOST:
            _loaded.popitem(last=False)
    _loaded.move_to_end(key)
    return _loaded[key]


def take(fitted: Method, run: Run, file: str) -> None:
    """Load a run's published file into a method.

    Raises
    ------
    LookupError
        If the run has no such file.
    """
    artifact = Artifact.objects.filter(run=run, name=file).first()
    if artifact is None:
        raise LookupError(f"The run {run.key} has no file {file}.")
    with tempfile.TemporaryDirectory(prefix="uplift-") as folder:
        with default_storage.open(str(artifact.file.name)) as source, zipfile.ZipFile(source) as pack:
            pack.extractall(folder)
        fitted.load(Path(folder))


def take_up(context: StageContext, fitted: Uplift, key: str, name: str, *, tested: Sequence[Query]) -> None:
    """Load an earlier run's reranker of the same split.

    Raises
    ------
    BadParameterError
        If the study has no such finished run, or its reranker was trained on a question that it would be tested on, or
        on one of its documents. Rerankers without a record of their training documents are refused.
    """
    run = find(context, key)
    try:
        take(fitted, run, f"{name}.zip")
    except (LookupError, reranker.NotARerankerError) as error:
        message = (
            "The rerankers of the run %(key)s cannot be used: %(why)s Choose a run with the same number of splits."
        )
        raise BadParameterError(message % {"key": key, "why": error}) from error
    assert fitted.trained is not None
    about = fitted.trained.about
    seen = {*about["trained_on"], *about["held_out"]} & {query.id for query in tested}
    if seen:
        message = ("The rerankers of the run %(key)s were trained on %(n)s questions of this test. Choose a run on "
"the same questions with the same splits and split seed.")  # fmt: skip
        raise BadParameterError(message % {"key": key, "n": len(seen)})
    if questions.is_apart(context.run):
        _refuse_known_documents(key, about, tested)


def _refuse_known_documents(key: str, about: Mapping[str, Any], tested: Sequence[Query]) -> None:
    if "documents" not in about:
        message = ("The rerankers of the run %(key)s do not record their training documents, because they are from "
"an earlier version. Train them again.")  # fmt: skip
        raise BadParameterError(message % {"key": key})
    seen = {digest(document) for query in tested for document in query.documents} & set(about["documents"])
    if seen:
        message = ("The rerankers of the run %(key)s were trained on %(n)s documents of questions in this test. "
"Train them again.")  # fmt: skip
        raise BadParameterError(message % {"key": key, "n": len(seen)})


def check(parameters: UpliftRagParameters) -> None:
    """Refuse an earlier run that cannot provide its rerankers, before anything is generated or paid.

    Raises
    ------
    BadParameterError
        If there is no such finished run, or it split its questions differently: its rerankers would be tested on their
        own training questions.
    """
    if not parameters.trained:
        return
    run = _done(Run.objects.filter(kind=KIND), parameters.trained)
    usual = UpliftRagParameters()
    theirs = {name: run.parameters.get(name, getattr(usual, name)) for name in ("splits", "division")}
    if theirs != {"splits": parameters.splits, "division": parameters.division}:
        message = ("The run %(key)s has %(splits)s splits with the split seed %(division)s. Use the same values, so "
"that no reranker answers a question from its training.")  # fmt: skip
        raise BadParameterError(message % {"key": parameters.trained, **theirs})


def find(context: StageContext, key: str) -> Run:
    """Return a finished uplift run of the same study by its key.

    Raises
    ------
    BadParameterError
        If there is none.
    """
    return _done(Run.objects.filter(study=context.study, kind=context.run.kind), key)


def _done(runs: QuerySet[Run], key: str) -> Run:
    run = next((run for run in runs.filter(state=RunState.DONE) if str(run.key) == key), None)
    if run is None:
        raise BadParameterError(f"This study has no finished run {key!r} of this experiment.")
    return run
