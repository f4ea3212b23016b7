"""The questions of a run: the study's own topics or responses, or an uploaded file.

A collection is read once in the request that starts a run, and once in each process that works on it. Its digest is the
run's inputs digest, so that a run cannot continue with other questions than it began with.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.functional import Promise

from analysis.rag.collections import candidates, fields
from analysis.rag.protocols import Collection, Document, Query
from analysis.rag.self_preference.bank import HUMAN
from analysis.stats.random_streams import named_rng
from analysis.text.statements import without_markers
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.models import Response, RetrievedPassage, Topic

from ..tables.run_tables import OF_STUDY, STUDY


class BadCollectionError(ValueError):
    """The questions cannot be read; `problems` gives the places, in the format that runs use."""

    def __init__(self, message: str, problems: list[dict[str, Any]] | None = None):
        super().__init__(message)
        self.problems = problems or [{"message": message}]


class BadFileError(BadCollectionError):
    """A file of questions is invalid; reading it again will not help."""


@dataclass(frozen=True)
class Format:
    """A file format for questions. Its reader is the function `read` of a module in `analysis.rag.collections`.

    `is_bank`: duplicate texts of a question count once, as candidates; `draws`: each question may get documents of
    other questions in addition to its own.
    """

    title: str | Promise
    help: str | Promise
    module: str
    draws: bool = False
    is_bank: bool = False


#: Formats by their names in parameters and on the command line.
FORMATS: dict[str, Format] = {
    "qa": Format(
        "Questions and answers",
        "JSON lines as in FlashRAG: id, question, golden_answers, and candidate documents.",
        "qa",
        draws=True,
    ),
    "lamp": Format(
        "LaMP",
        "A LaMP task with its outputs: input, profile and output for each question.",
        "lamp",
    ),
    "bank": Format(
        "Passage bank",
        (
            "Questions with true and false passages by people and models: the published JSON file "
            "(nq-both-true.json), or JSON lines."
        ),
        "passage_banks",
        draws=True,
        is_bank=True,
    ),
    "passages": Format(
        "Passages by author",
        (
            "A passage bank with its related files: its file alone, a ZIP archive of the published "
            "repository or of one data set, or JSON lines. In JSON lines, each document of a question has "
            "author, style, answer, and whether the answer is true."
        ),
        "passages_by_author",
    ),
}


def read(name: str, path: Path, *, called: str = "", others: int = 0, rng: np.random.Generator) -> Collection:
    """Read a file of questions.

    Parameters
    ----------
    name : str
        The format's name.
    path : Path
    called : str
        The file's name as users know it; by default that of its path.
    others : int
        Number of documents of other questions to add to each question, sampled with `rng`.

    Raises
    ------
    BadCollectionError
        If there is no such format, or the file is not in it: with the line, where possible.
    """
    if name not in FORMATS:
        message = "There is no format %(name)r. Formats: %(listed)s."
        raise BadCollectionError(message % {"name": name, "listed": ", ".join(FORMATS)})
    form = FORMATS[name]
    if others and not form.draws:
        raise BadCollectionError(
            "Files of this format cannot have extra passages from other questions. Leave this field at 0."
        )
    called = called or path.name
    reader = import_module(f"analysis.rag.collections.{form.module}").read
    try:
        questions: Collection = reader(path, name=called.split(".")[0])
        questions = candidates.without_repeats(questions) if form.is_bank else questions
        return candidates.with_others(questions, others, rng) if others else questions
    except (fields.BadCollectionError, ValueError, OSError, EOFError) as error:
        raise _refused(error, path, called) from error


def with_others(questions: Collection, others: int, folds: Mapping[str, int], rng: np.random.Generator) -> Collection:
    """Add documents of other questions of the same fold to each question; refused where a fold has too few."""
    try:
        return candidates.with_others(questions, others, rng, folds=folds)
    except candidates.TooFewDocumentsError as error:
        raise BadCollectionError(str(error)) from error


def _refused(error: Exception, path: Path, called: str) -> BadFileError:
    """Convert a reader's error into one that names the original file."""
    message = str(error).replace(path.name, called)
    if not isinstance(error, fields.BadCollectionError):
        return BadFileError(message, [{"file": called, "message": message}])
    line = error.location.removeprefix("line ")
    problem: dict[str, Any] = {"file": called, "field": error.field, "expected": error.expected, "message": message}
    return BadFileError(message, [problem | ({"line": int(line)} if line.isdecimal() else {})])


def of_responses(study: Study, style: str = "") -> Collection:
    """Return the study's current topics with all responses to them.

    Responses count if they are included, not erased and, if a style is given, in this style; citation markers are
    removed. All people are one author, each model is one whatever its prompt, and each system is one by its name. There
    is no gold answer. Topics with fewer than two authors are left out and counted.
    """
    rows = Response.objects.filter(study=study, erased_at__isnull=True).included()
    rows = rows.filter(style__name=style) if style else rows
    documents: dict[str, list[Document]] = defaultdict(list)
    for row in rows.order_by("external_id").select_related("topic", "participant", "style"):
        if text := without_markers(row.text).strip():
            documents[row.topic.external_id].append(
                Document(row.external_id, text, author=_author(row), style=row.style.name)
            )
    topics = list(Topic.objects.filter(study=study).current().order_by("external_id", "pk"))
    queries = tuple(
        Query(topic.external_id, topic.query, (), tuple(documents[topic.external_id]))
        for topic in topics
        if len({document.author for document in documents[topic.external_id]}) > 1
    )
    alone = len(topics) - len(queries)
    return Collection(study.slug, queries, (("fewer than two authors", alone),) if alone else ())


def _author(row: Response) -> str:
    if row.origin == Origin.HUMAN:
        return HUMAN
    return str((row.participant.specification or {}).get("model") or row.participant.external_id)


#: Key of the parameter `collection`: the folds of an experiment have no document in common. Older runs do not have the
#: key and continue without it.
APART = "apart"
#: Key of the same parameter: nearly equal documents count as equal (analysis.rag.uplift_rag.deduplication).
NEAR = "near_duplicates"
#: The fold in which each question is tested, by the question's id.
Folds = Callable[[Collection], Mapping[str, int]]
#: The metric for a study's topics, whose answers are long texts.
STUDY_METRIC = "rouge_l"
#: Number of collections that a process keeps in memory.
KEPT = 2


def collection(parameters: Mapping[str, Any], study: Study, *, seed: int = 0, folds: Folds | None = None) -> Collection:
    """Read the questions of a run by its parameters `collection` and `queries`.

    Parameters
    ----------
    parameters : mapping
        `collection`: {"source": "study" or "responses", "style": NAME or ""} or {"source": FORMAT, "upload": primary
        key, "others": number of documents of other questions for each}; `queries`: the maximum number, sampled with the
        seed and kept in the data's order; 0 or missing for all.
    seed : int
        The run's seed; it samples queries and documents of other questions.
    folds : callable, optional
        For an experiment that trains. With `collection["apart"]`, documents of other questions are sampled from the
        question's own fold, among the queries that take part; otherwise from the whole file.

    Raises
    ------
    BadCollectionError
        If there is no such source or upload, or the file is invalid: with file and line.
    """
    source_parameters = parameters.get("collection") or {"source": STUDY}
    if not isinstance(source_parameters, Mapping):
        raise BadCollectionError(f"The collection must be an object with a source, not {source_parameters!r}.")
    source = source_parameters.get("source", STUDY)
    if source in OF_STUDY:
        questions = (of_study if source == STUDY else of_responses)(study, source_parameters.get("style") or "")
    else:
        upload = Upload.objects.filter(study=study, pk=source_parameters.get("upload") or 0).first()
        if upload is None:
            raise BadCollectionError("This file was not uploaded to this study.")
        others = int(source_parameters.get("others") or 0)
        if others and folds and source_parameters.get(APART):
            plain = _of_file(source, upload.file.path, upload.name, 0, seed)
            questions = draw_questions(plain, parameters.get("queries") or 0, seed)
            return with_others(questions, others, folds(questions), _chance(seed))
        questions = _of_file(source, upload.file.path, upload.name, others, seed)
    return draw_questions(questions, parameters.get("queries") or 0, seed)


@lru_cache(maxsize=KEPT)
def _of_file(source: str, path: str, name: str, others: int, seed: int) -> Collection:
    """Read an uploaded file. It is cached, because it never changes and every estimate needs it."""
    return read(source, Path(path), called=name, others=others, rng=_chance(seed))


def _chance(seed: int) -> np.random.Generator:
    return named_rng(seed, "documents of other questions")


def draw_questions(questions: Collection, most: int, seed: int) -> Collection:
    """Sample at most `most` queries, kept in their original order; 0: all."""
    if not most or most >= len(questions.queries):
        return questions
    places = named_rng(seed, "experiment queries").choice(len(questions.queries), size=most, replace=False)
    return replace(questions, queries=tuple(questions.queries[index] for index in sorted(places)))


def of_study(study: Study, style: str = "") -> Collection:
    """Return the study's current topics, with passages in rank order and people's responses as gold answers.

    Responses count if they are included, not erased, by a person and, if a style is given, in this style; citation
    markers are removed. A topic without responses has no answer. Topics without passages are left out and counted.
    """
    answers: dict[str, list[str]] = defaultdict(list)
    responses = Response.objects.filter(study=study, origin=Origin.HUMAN, erased_at__isnull=True).included()
    responses = responses.filter(style__name=style) if style else responses
    for topic, text in responses.order_by("external_id").values_list("topic__external_id", "text"):
        if text.strip():
            answers[topic].append(without_markers(text).strip())
    documents: dict[int, list[Document]] = defaultdict(list)
    retrieved = RetrievedPassage.objects.filter(topic__study=study).order_by("topic_id", "rank", "pk")
    for row in retrieved.select_related("passage"):
        passage = row.passage
        documents[row.topic_id].append(Document(passage.external_id, passage.text, passage.title, row.score))
    topics = list(Topic.objects.filter(study=study).current().order_by("external_id", "pk"))
    queries = tuple(
        Query(topic.external_id, topic.query, tuple(answers[topic.external_id]), tuple(documents[topic.pk]),
              metric=STUDY_METRIC)
        for topic in topics if documents[topic.pk]
    )  # fmt: skip
    bare = len(topics) - len(queries)
    return Collection(study.slug, queries, (("no passages", bare),) if bare else ())


def path_of(run: Run) -> Path | None:
    """The path of a run's uploaded file; None for a run on the study's topics."""
    upload = Upload.objects.filter(
        study=run.study_id, pk=run.parameters.get("collection", {}).get("upload") or 0
    ).first()
    return None if upload is None else Path(upload.file.path)


def digest(questions: Collection) -> str:
    """SHA-256 of a collection's contents: equal digests mean equal questions."""
    sha256 = hashlib.sha256()
    # Question by question: one JSON text of a large collection would take more memory than the collection.
    sha256.update(f'{{"left_out":{_json(questions.left_out)},"name":"","queries":['.encode())
    for index, query in enumerate(questions.queries):
        sha256.update(("," * (index > 0) + _json(asdict(query))).encode())
    sha256.update(b"]}")
    return sha256.hexdigest()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_cached: OrderedDict[int, Collection] = OrderedDict()


def of_run(run: Run, *, folds: Folds | None = None) -> Collection:
    """Read the questions of a planned run; a process keeps the last ones.

    Raises
    ------
    BadCollectionError
        If they differ from those that the run was planned with, or some were erased since.
    """
    if run.stale_at is not None:
        _cached.pop(run.pk, None)
        raise BadCollectionError("Part of the data of this run was erased. Start a new run without that data.")
    if run.pk not in _cached:
        questions = collection(run.parameters, run.study, seed=run.seed, folds=folds)
        if digest(questions) != run.inputs_digest:
            raise BadCollectionError("The questions have changed since this run was started. Start a new run.")
        _cached[run.pk] = questions
        while len(_cached) > KEPT:
            _cached.popitem(last=False)
    _cached.move_to_end(run.pk)
    return _cached[run.pk]
