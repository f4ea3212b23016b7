"""Orders, cost forecasts and starts of experiments; files with candidate documents.

What an experiment asks is then what stands in the file: no worker needs the corpus, and the file's digest says it all.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from analysis.rag.collections import corpus as corpora
from analysis.rag.collections import fields, qa
from analysis.rag.protocols import Collection
from analysis.rag.retrieval import search
from analysis.rag.retrieval.search import NoDocumentsError
from crowdrag.jobs import file_storage, lifecycle, run_files
from crowdrag.jobs.models import Run, Upload
from crowdrag.llm import forecasts, gateway, ledger
from crowdrag.llm.models import Endpoint
from crowdrag.studies.models import Study, User

from . import generators, question_sets, retrievers
from . import runs as experiments_runs
from .experiment import COMMON, PREFIX, BadParameterError, CostEstimate, Experiment
from .question_sets import BadCollectionError

#: More questions than this need a number to be named.
MOST_QUERIES = 200_000
ENDPOINT = "endpoint"


@dataclass(frozen=True)
class Order:
    """An experiment with all its parameters, checked; two of one digest are the same."""

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
    """Check parameters and fill in what is not said, so that a run says all that it was made with.

    Raises
    ------
    BadParameterError
        If one is unknown or out of bounds, the collection is none that the experiment takes, or there is no such
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
    """Other generators that the parameters name."""
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
    estimate : Estimate
        The experiment's own.
    units : int
    cost : Decimal or None
        In minor units of `currency`; None where other generators have other prices.
    left : Decimal or None
        Of the study's budget; None where nothing is paid.
    seconds : float or None
        At the pace of the generator's latest answers; None where nothing tells.
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
        """Whether it may stop at the budget."""
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
    """The forecast of an order with no eligible question."""
    none = CostEstimate(0, 0, 0, left_out=len(order.collection.queries))
    return CostForecast(
        none, units=0, cost=Decimal(0), currency=order.study.currency, left=None, seconds=None, problem=why,
        left_out=order.collection.left_out,
    )  # fmt: skip


def _too_long(collection: Collection, parameters: Any) -> str:
    """Warn where right answers are longer than the token limit: then only length is measured."""
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
    """Time at the generator's pace: of an endpoint's latest answers, else of its latest run of this kind."""
    if not estimate.calls:
        return estimate.seconds
    kind, generator = order.experiment.kind, order.parameters["generator"]
    share = experiments_runs.share_of_latest(kind, generator)
    speed = forecasts.measure_speed(endpoint, kind) if endpoint is not None else None
    if endpoint is not None and speed is not None:
        return experiments_runs.seconds(speed.at_once(estimate.calls, endpoint), estimate, share) + estimate.seconds
    speed = experiments_runs.of_runs(kind, generator)
    # A run's time holds its other work already.
    return None if speed is None else max(experiments_runs.seconds(speed, estimate, share), estimate.seconds)


def start(order: Order, *, by: User | None = None) -> Run:
    """Start the run; raises `kinds.InputRejectedError` where its questions cannot be read."""
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
    """Return the generators that may be named, each with what it is: endpoints and models that the operator allows.

    `is_here`: models in a worker alone, for what servers do not tell.
    """
    here = [(f"model:{name}", f"{name}, in a worker") for name in generators.offered()]
    if is_here:
        return here
    allowed = Endpoint.objects.allowed().order_by("name")
    endpoints = [(f"endpoint:{endpoint.name}", f"{endpoint.name} ({endpoint.model})") for endpoint in allowed]
    return [*endpoints, *here]


def default_parameters(study: Study) -> str:
    """Which generator a form begins with: the study's last one, else an endpoint of this place, else the first."""
    names = [name for name, _title in offered()]
    runs = Run.objects.filter(study=study, kind__startswith=PREFIX).newest_first()
    for named in runs.values_list("parameters__generator", flat=True)[:1]:
        if named in names:
            return str(named)
    local = Endpoint.objects.allowed().filter(is_local=True).order_by("name").values_list("name", flat=True).first()
    return f"{ENDPOINT}:{local}" if local else next(iter(names), "")


def upload_questions(study: Study, path: Path) -> Upload:
    """Store a file of this machine with a study, unless it has one with the same name and content."""
    _size, digest = file_storage.file_digest(path)
    upload = Upload.objects.filter(study=study, name=path.name, sha256=digest).order_by("-pk").first()
    return upload or run_files.store_upload(study=study, source=path)


def of_upload(study: Study, source: str, pk: int, others: int = 0) -> dict[str, Any]:
    """Return the parameter `collection` for a file that was handed in: with its name and digest, which say what it was.

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


#: Candidates of a question, where nobody says how many.
CANDIDATES = 100
MOST_CANDIDATES = 1000


def with_candidates(
    *, study: Study, questions: Path, corpus: Path, n: int = CANDIDATES, searcher: str = retrievers.WORDS
) -> Upload:
    """Give each question the best documents of a corpus, and store them with the study.

    Parameters
    ----------
    study : Study
    questions : Path
        In the format `qa`; documents may be named by their ids in the corpus.
    corpus : Path
        docs/reference/question-files.md. It is read from disk, not stored.
    n : int
        How many; they stand by falling score, in the place of what the question had. 0: those that it names stay.
    searcher : str
        As `retrievers.searcher` reads it.

    Returns
    -------
    Upload
        Equal questions, corpus, n and searcher give one and the same.

    Raises
    ------
    BadCollectionError
        If a file is not what it is said to be, with file and line.
    BadParameterError
        If the searcher is not offered, or n is out of bounds.
    """
    if not 0 <= n <= MOST_CANDIDATES:
        message = "candidates must be a whole number from 0 to %(most)s, not %(n)s."
        raise BadParameterError(message % {"n": n, "most": MOST_CANDIDATES})
    who = retrievers.searcher(searcher)
    try:
        with corpora.Corpus.open(corpus) as opened:
            collection = qa.read(questions, corpus=opened)
            collection = search.retrieve(collection, opened, who, n) if n else collection
    except (fields.BadCollectionError, NoDocumentsError, OSError) as error:
        raise BadCollectionError(str(error)) from error
    with tempfile.TemporaryDirectory() as folder:
        by = re.sub(r"\W+", "-", searcher)
        name = f"{_stem(questions)}-{n}-by-{by}-of-{_stem(corpus)}" if n else f"{_stem(questions)}-of-{_stem(corpus)}"
        return upload_questions(study, _written(Path(folder) / f"{name}.jsonl.gz", collection))


def _stem(path: Path) -> str:
    return path.name.split(".")[0]


def _written(path: Path, questions: Collection) -> Path:
    """Write a collection; equal questions give equal bytes, without name or time."""
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
        for row in qa.write(questions.queries):
            packed.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    return path
