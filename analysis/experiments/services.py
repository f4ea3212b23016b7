"""Orders, cost forecasts and starts of experiments; files with candidate documents.

The questions of an experiment are stored with their candidates, so that workers do not need the corpus and the file's
digest identifies the complete input.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from statistics import median
from typing import Any

from analysis.rag.collections import corpus as corpora
from analysis.rag.collections import fields, qa
from analysis.rag.protocols import Collection
from analysis.rag.retrieval import search
from analysis.rag.retrieval.engine import BadRetrieverError
from analysis.rag.retrieval.search import NoDocumentsError
from analysis.rag.retrieval.search_server import SearchServerError
from crowdrag.jobs import file_storage, lifecycle, run_files
from crowdrag.jobs.models import Run, Upload
from crowdrag.llm import forecasts, gateway, ledger
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study, User

from . import generators, index_runs, question_sets, retrievers
from . import runs as experiments_runs
from .experiment import COMMON, PREFIX, BadParameterError, CostEstimate, Experiment
from .question_sets import BadCollectionError

#: Above this number of questions, users must set a maximum.
MOST_QUERIES = 200_000
ENDPOINT = "endpoint"


@dataclass(frozen=True)
class Order:
    """An experiment with all its parameters, checked; orders with equal digests are equal."""

    experiment: Experiment
    study: Study
    parameters: dict[str, Any]
    seed: int = 0

    @cached_property
    def digest(self) -> str:
        """The digest that identifies the order."""
        written = json.dumps([self.experiment.name, self.parameters, self.seed], sort_keys=True)
        return hashlib.sha256(written.encode()).hexdigest()[:32]

    @cached_property
    def collection(self) -> Collection:
        """Its questions; raises `BadCollectionError`."""
        questions = question_sets.collection(
            self.parameters, self.study, seed=self.seed, folds=self.experiment.dividing(self.parameters)
        )
        if len(questions.queries) > MOST_QUERIES:
            message = "There are %(n)s questions, but a run can have at most %(most)s. Enter how many to sample."
            raise question_sets.BadCollectionError(
                message % {"n": f"{len(questions.queries):,}", "most": f"{MOST_QUERIES:,}"}
            )
        return questions


def order(experiment: Experiment, study: Study, parameters: Mapping[str, Any], *, seed: int = 0) -> Order:
    """Check parameters and fill in defaults, so that a run records its complete settings.

    Raises
    ------
    BadParameterError
        If one is unknown or out of bounds, the experiment does not support the collection, or there is no such
        generator.
    """
    if seed < 0:
        raise BadParameterError(f"The seed must be 0 or more, not {seed}.")
    own_parameters = experiment.own_parameters(parameters).to_dict()
    collection = dict(parameters.get("collection") or {"source": experiment.collections[0]})
    if collection.get("source") not in experiment.collections:
        message = "%(title)s cannot use %(source)r. Choose one of %(known)s."
        known = ", ".join(experiment.collections)
        raise BadParameterError(
            message % {"title": experiment.title, "source": collection.get("source"), "known": known}
        )
    for mark in (question_sets.APART, question_sets.NEAR):
        collection.pop(mark, None)
        if experiment.folds is not None:
            collection[mark] = True
    queries = parameters.get("queries") or 0
    if not isinstance(queries, int) or queries < 0:
        raise BadParameterError(f"queries must be a whole number, or 0 for all, not {queries!r}.")
    common = {"collection": collection, "generator": str(parameters.get("generator") or ""), "queries": queries}
    for name in (common["generator"], *_models(experiment, own_parameters)):
        generators.generator({"generator": name}, study=study, purpose=experiment.kind)
    return Order(experiment, study, common | own_parameters, seed)


def _models(experiment: Experiment, own_parameters: Mapping[str, Any]) -> list[str]:
    """The other generators that the parameters name."""
    return [
        own_parameters[parameter.name]
        for parameter in experiment.declared
        if parameter.kind == "model" and own_parameters.get(parameter.name)
    ]


@dataclass(frozen=True)
class CostForecast:
    """Upper bounds of calls, tokens and money of an order.

    Attributes
    ----------
    estimate : CostEstimate
        The experiment's own.
    units : int
    cost : Decimal
        In minor units of `currency`.
    left : Decimal or None
        The study's remaining budget; None where nothing is paid.
    seconds : float or None
        At the speed of the generator's latest answers; None if it is unknown.
    problem : str
        Why it cannot be started; "" if it can.
    """

    estimate: CostEstimate
    units: int
    cost: Decimal
    currency: str
    left: Decimal | None
    seconds: float | None
    problem: str = ""
    left_out: tuple[tuple[str, int], ...] = field(default=())

    @property
    def is_over_budget(self) -> bool:
        """Whether the run may stop because the budget is used up."""
        return self.left is not None and self.cost > self.left


def forecast(order: Order) -> CostForecast:
    """Estimate the cost of an order.

    Raises
    ------
    BadParameterError, BadCollectionError
        If the questions cannot be read, or not with these parameters.
    """
    collection, own_parameters = order.collection, order.experiment.own_parameters(order.parameters)
    if nobody := experiments_runs.why_none(order.experiment, collection, own_parameters):
        return _why_nothing(order, nobody)
    estimate = order.experiment.estimate(collection, own_parameters)
    estimate = replace(estimate, note=f"{estimate.note} {_too_long(collection, own_parameters)}".strip())
    endpoint, problem, left = _endpoint(order.parameters["generator"]), "", None
    cost = Decimal(0)
    if endpoint is not None:
        worst = estimate.worst
        cost = ledger.price(endpoint=endpoint, prompt=worst.prompt_tokens, completion=worst.completion_tokens)
        left = None if endpoint.is_free else ledger.remaining(study=order.study)
        try:
            ledger.admit(study=order.study, endpoint=endpoint)
        except gateway.GatewayError as error:
            problem = problem or str(error)
    return CostForecast(
        estimate=estimate,
        units=experiments_runs.size(order.experiment, collection, own_parameters),
        cost=cost,
        currency=endpoint.currency if endpoint else order.study.currency,
        left=left,
        seconds=_seconds(order, estimate, endpoint),
        problem=problem,
        left_out=collection.left_out,
    )


def _why_nothing(order: Order, why: str) -> CostForecast:
    """Forecast for an order without eligible questions."""
    none = CostEstimate(0, 0, 0, left_out=len(order.collection.queries))
    return CostForecast(
        none, units=0, cost=Decimal(0), currency=order.study.currency, left=None, seconds=None, problem=why,
        left_out=order.collection.left_out,
    )  # fmt: skip


def _too_long(collection: Collection, parameters: Any) -> str:
    """Warn if gold answers are longer than the token limit: the metrics would then mainly measure length."""
    words = [max(len(answer.split()) for answer in query.answers) for query in collection.queries if query.answers]
    tokens = getattr(parameters, "max_tokens", 0)
    if not tokens or not words or median(words) <= tokens:
        return ""
    message = (
        "Half of the right answers have %(words)s words or more, but the model can write only %(tokens)s "
        "tokens. Raise the tokens per answer, and ask for long answers in the instruction, if there is "
        "one."
    )
    return message % {"words": f"{median(words):,.0f}", "tokens": tokens}


def _endpoint(named: str) -> Endpoint | None:
    read = generators.read(named)
    return Endpoint.objects.filter(name=read.name).first() if read.where == ENDPOINT else None


def _seconds(order: Order, estimate: CostEstimate, endpoint: Endpoint | None) -> float | None:
    """Duration at the generator's speed: from an endpoint's latest answers, else from its latest run of this kind."""
    if not estimate.calls:
        return estimate.seconds
    kind, generator = order.experiment.kind, order.parameters["generator"]
    share = experiments_runs.share_of_latest(kind, generator)
    speed = forecasts.measure_speed(endpoint, kind) if endpoint is not None else None
    if endpoint is not None and speed is not None:
        return experiments_runs.seconds(speed.at_once(estimate.calls, endpoint), estimate, share) + estimate.seconds
    speed = experiments_runs.of_runs(kind, generator)
    # A run's duration already includes its other work.
    return None if speed is None else max(experiments_runs.seconds(speed, estimate, share), estimate.seconds)


def start(order: Order, *, by: User | None = None) -> Run:
    """Start the run; raises `kinds.InputRejectedError` if its questions cannot be read."""
    return lifecycle.start(
        study=order.study, kind=order.experiment.kind, parameters=order.parameters, by=by, seed=order.seed
    )


def changed_parameters(experiment: Experiment, run: Run) -> list[tuple[str, Any]]:
    """Return the run's own parameters that differ from the defaults."""
    try:
        usual = experiment.own_parameters({}).to_dict()
    except BadParameterError:
        return []
    return [
        (name, value) for name, value in run.parameters.items()
        if name not in COMMON and (name not in usual or usual[name] != value)
    ]  # fmt: skip


def offered(*, is_here: bool = False) -> list[tuple[str, str]]:
    """Return the available generators with their titles: endpoints, and models that the operator allows.

    `is_here`: only models in a worker, for values that servers do not return.
    """
    here = [(f"model:{name}", f"{name}, in a worker") for name in generators.offered()]
    if is_here:
        return here
    allowed = Endpoint.objects.allowed().order_by("name")
    endpoints = [(f"endpoint:{endpoint.name}", f"{endpoint.name} ({endpoint.model})") for endpoint in allowed]
    return [*endpoints, *here]


def default_parameters(study: Study) -> str:
    """The default generator of a form: the study's last one, else one of this server's endpoints, else the first."""
    names = [name for name, _title in offered()]
    runs = Run.objects.filter(study=study, kind__startswith=PREFIX).newest_first()
    for named in runs.values_list("parameters__generator", flat=True)[:1]:
        if named in names:
            return str(named)
    local = Endpoint.objects.allowed().filter(is_local=True).order_by("name").values_list("name", flat=True).first()
    return f"{ENDPOINT}:{local}" if local else next(iter(names), "")


def upload_questions(study: Study, path: Path) -> Upload:
    """Store a local file with a study, unless it already has one with the same name and content."""
    _size, digest = file_storage.file_digest(path)
    upload = Upload.objects.filter(study=study, name=path.name, sha256=digest).order_by("-pk").first()
    return upload or run_files.store_upload(study=study, source=path)


def of_upload(study: Study, source: str, pk: int, others: int = 0) -> dict[str, Any]:
    """Return the parameter `collection` for an uploaded file, with the file's name and digest as a record.

    Raises
    ------
    BadParameterError
        If the study has no such file.
    """
    upload = Upload.objects.filter(study=study, pk=pk).first()
    if upload is None:
        raise BadParameterError("This file was not uploaded to this study.")
    parameters = {"source": source, "upload": upload.pk, "name": upload.name, "sha256": upload.sha256}
    return parameters | ({"others": others} if others else {})


#: The default number of candidates of a question.
CANDIDATES = 100
MOST_CANDIDATES = 1000


def with_candidates(
    *,
    study: Study,
    questions: Path,
    corpus: Path,
    n: int = CANDIDATES,
    searcher: str = retrievers.WORDS,
    note: Callable[[str, int], None] = lambda _reason, _count: None,
) -> Upload:
    """Retrieve the best documents of a corpus for each question, and store them with the study.

    Parameters
    ----------
    study : Study
    questions : Path
        In the format `qa`; documents may be given by their ids in the corpus.
    corpus : Path
        In the format of docs/reference/question-files.md. It is read from disk, not stored.
    n : int
        Number of documents, sorted by descending score. They replace the question's own documents. 0: keep the
        documents that it names.
    searcher : str
        A retriever of `retrievers.offered_for_corpora`, with or without settings. The index of this corpus is used if
        there is one (index_runs); without one, the whole corpus is read. `trec:FILE` takes the documents that a run
        file ranks.
    note : callable(reason, count)
        Told what was left out.

    Returns
    -------
    Upload
        The same upload for equal questions, corpus, n and searcher.

    Raises
    ------
    BadCollectionError
        If a file is invalid; with file and line.
    BadParameterError
        If the searcher is not available, or n is out of bounds.
    """
    if not 0 <= n <= MOST_CANDIDATES:
        message = "candidates must be a whole number from 0 to %(most)s, not %(n)s."
        raise BadParameterError(message % {"n": n, "most": MOST_CANDIDATES})
    chosen = retrievers.choice(searcher)
    try:
        with _opened(corpus, searcher) as (opened, who):
            collection = qa.read(questions, corpus=opened)
            if n and who is not None:
                collection = retrievers.loaded(partial(search.retrieve, collection, opened, who, n))
            elif n and chosen.engine.looks_up is not None:
                collection = retrievers.loaded(partial(chosen.engine.looks_up, chosen, collection, opened, n))
    except (fields.BadCollectionError, NoDocumentsError, OSError) as error:
        raise BadCollectionError(str(error)) from error
    except (BadRetrieverError, SearchServerError) as error:
        raise BadParameterError(str(error)) from error
    for reason, count in collection.left_out:
        note(reason, count)
    with tempfile.TemporaryDirectory() as folder:
        # The name of a run file or an index, not where it is.
        by = re.sub(
            r"\W+", "-", f"{chosen.engine.name}-{_stem(Path(chosen.argument))}" if chosen.engine.looks_up else searcher
        )
        name = f"{_stem(questions)}-{n}-by-{by}-of-{_stem(corpus)}" if n else f"{_stem(questions)}-of-{_stem(corpus)}"
        return upload_questions(study, _written(Path(folder) / f"{name}.jsonl.gz", collection))


@contextmanager
def _opened(corpus: Path, searcher: str) -> Iterator[tuple[corpora.Corpus, search.Searcher | None]]:
    """Open a corpus with its index if there is one, else with a searcher that reads it all; None if it looks up."""
    library = retrievers.library()
    order = index_runs.order(searcher, corpus) if library.entries() and retrievers.has_index(searcher) else None
    if order is not None and library.find(order) is not None:
        with library.open(order, corpus) as opened_index:
            yield opened_index
        return
    is_search = retrievers.choice(searcher).engine.looks_up is None
    who = retrievers.searcher(searcher) if is_search else None
    with corpora.Corpus.open(corpus) as opened:
        yield opened, who


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def _written(path: Path, questions: Collection) -> Path:
    """Write a collection without name or time, so that equal questions give equal bytes."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        for row in qa.write(questions.queries):
            packed.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    return path
