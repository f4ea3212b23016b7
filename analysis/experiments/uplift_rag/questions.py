"""Which questions take part, the fold in which each is tested, and their results as objects of `analysis.rag`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from analysis.rag.collections import folds
from analysis.rag.protocols import Collection, Document, Query
from analysis.rag.retrieval.search import NoDocumentsError
from analysis.rag.uplift_rag.deduplication import KnownTexts, without
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery
from crowdrag.jobs.models import Run

from ...tables.run_tables import OF_STUDY, STUDY
from .. import retrievers
from ..experiment import BadParameterError, Payload
from ..question_sets import APART, NEAR
from ..stage_context import StageContext
from .parameters import UpliftRagParameters

#: Folds of data with its own split. Methods are never tested on questions used for training or model selection.
TEST, TRAIN, DEV = 0, 1, 2
PARTS = {folds.TEST: TEST, folds.TRAIN: TRAIN, folds.DEV: DEV}
#: Why a question is left out.
NO_ANSWER, NO_DOCUMENTS = "no right answer", "no documents"


def reason(query: Query) -> str:
    """Why a query is left out; "" if it takes part. A query with a single document does."""
    return NO_ANSWER if not query.answers else NO_DOCUMENTS if not query.documents else ""


def taking(collection: Collection) -> list[Query]:
    """The queries that take part, in the collection's order."""
    return [query for query in collection.queries if not reason(query)]


def left_out(collection: Collection) -> dict[str, int]:
    """The number of queries of the run that are left out, by reason."""
    counted = Counter(reason(query) for query in collection.queries)
    return {why: counted[why] for why in (NO_ANSWER, NO_DOCUMENTS) if counted[why]}


def fold_of(collection: Collection, parameters: UpliftRagParameters) -> dict[str, int]:
    """Assign queries to folds: by their ids alone, or by the data's own split (`TEST`, `TRAIN` or `DEV`).

    Raises
    ------
    BadParameterError
        If there are fewer queries than folds, or only some queries have a split in the data.
    """
    queries = taking(collection)
    if is_given(collection):
        return {query.id: _part(query) for query in queries}
    return _folds(tuple(query.id for query in queries), parameters.splits, parameters.division)


def is_given(collection: Collection) -> bool:
    """Whether the data has its own split into training and test queries."""
    return any(folds.part_of(query) for query in collection.queries)


def tested_folds(collection: Collection, parameters: UpliftRagParameters) -> range:
    """The folds to test: all of them, or only the data's test queries."""
    return range(TEST, TEST + 1) if is_given(collection) else range(parameters.splits)


def watched_fold(collection: Collection, parameters: UpliftRagParameters, split: int) -> int | None:
    """The fold held out to select the epoch while another is tested; None if there is none."""
    if is_given(collection):
        return DEV if DEV in fold_of(collection, parameters).values() else None
    return (split + 1) % parameters.splits if parameters.patience else None


def _part(query: Query) -> int:
    """The fold of a query by the data's own split.

    Raises
    ------
    BadParameterError
        If the query has no split, though others do.
    """
    if not folds.part_of(query):
        message = (
            "The question %(id)s has no split, but others have one. Give each question train, dev or test, "
            "or give none a split."
        )
        raise BadParameterError(message % {"id": query.id})
    return PARTS[folds.part_of(query)]


def check_given(collection: Collection, parameters: UpliftRagParameters) -> None:
    """Refuse a split in the data without training or test queries.

    Raises
    ------
    BadParameterError
    """
    parts = set(fold_of(collection, parameters).values())
    for part, name in ((TRAIN, folds.TRAIN), (TEST, folds.TEST)):
        if is_given(collection) and part not in parts:
            message = "The split “%(name)s” has no usable questions. Add questions for training and testing."
            raise BadParameterError(message % {"name": name})


@lru_cache(maxsize=2)
def _folds(names: tuple[str, ...], n: int, division: int) -> dict[str, int]:
    try:
        numbers = folds.numbers([Query(name, "", ()) for name in names], n=n, seed=division)
    except folds.TooFewQueriesError as error:
        message = "%(n)s usable questions are too few for %(splits)s splits. Use more questions or fewer splits."
        raise BadParameterError(message % {"n": len(names), "splits": n}) from error
    return {name: int(number) for name, number in zip(names, numbers, strict=True)}


def batches_of(most: int, *, is_tested: bool = False) -> Callable[[Collection, UpliftRagParameters], Iterable[Payload]]:
    """Make units with at most this many queries of one fold, fold by fold, so that a fold's methods are loaded once.

    `is_tested`: only for folds that are tested.
    """

    def units(collection: Collection, parameters: UpliftRagParameters) -> Iterable[Payload]:
        where = fold_of(collection, parameters)
        by_fold: dict[int, list[str]] = defaultdict(list)
        for name, fold in where.items():
            by_fold[fold].append(name)
        for split in tested_folds(collection, parameters) if is_tested else sorted(by_fold):
            names = by_fold[split]
            yield from ({"queries": names[at : at + most], "split": split} for at in range(0, len(names), most))

    return units


def ranked(context: StageContext, query: Query) -> tuple[Document, ...]:
    """The best documents according to the run's retriever, with scores, best first; ties in the data's order."""
    parameters: UpliftRagParameters = context.parameters
    try:
        scores = retrievers.retriever(parameters.retriever, context.collection).scores(query)
    except (NoDocumentsError, ValueError) as error:
        raise BadParameterError(str(error)) from error
    order = np.argsort(-scores, kind="stable")[: parameters.retrieve]
    return tuple(replace(query.documents[index], score=float(scores[index])) for index in order)


def labelled(
    query: Query, labels: Mapping[str, Any], parameters: UpliftRagParameters, *, other: bool = False
) -> LabelledQuery:
    """A query's labels from the first stage; by the other generator, if `other`."""
    by_id = {document.id: document for document in query.documents}
    generator_labels = labels["other"] if other else labels
    documents = tuple(
        replace(by_id[name], score=score) for name, score in zip(labels["documents"], labels["scores"], strict=True)
    )
    return LabelledQuery(
        query, documents, generator_labels["without"], tuple(generator_labels["alone"]), parameters.metric
    )


class TrainingQuestions(NamedTuple):
    """The training data for testing one fold.

    Attributes
    ----------
    learnt, held_out : list of LabelledQuery
        Questions of all other folds. With early stopping, the next fold is held out.
    left_out : int
        Number of documents left out because a question of the tested fold has them too.
    """

    learnt: list[LabelledQuery]
    held_out: list[LabelledQuery]
    left_out: int


def training(context: StageContext, split: int) -> TrainingQuestions:
    """Return the training data for a fold, without its questions and without texts that they contain."""
    parameters: UpliftRagParameters = context.parameters
    where = fold_of(context.collection, parameters)
    watched = watched_fold(context.collection, parameters, split)
    tested = _tested(context, split)
    training_questions = TrainingQuestions([], [], 0)
    for name, labels in context.results_of("label", [name for name in where if where[name] != split]):
        whole = labelled(context.by_id[name], labels, parameters)
        one = without(whole, tested.__contains__)
        training_questions = training_questions._replace(
            left_out=training_questions.left_out + len(whole.documents) - len(one.documents)
        )
        if one.documents:
            (training_questions.held_out if where[name] == watched else training_questions.learnt).append(one)
    return training_questions


_known: dict[tuple[int, int], KnownTexts] = {}


def _tested(context: StageContext, split: int) -> KnownTexts:
    """The documents of a fold's questions.

    A process keeps the last fold's, because methods train for it one after another.
    """
    if (context.run.pk, split) not in _known:
        where = fold_of(context.collection, context.parameters) if is_apart(context.run) else {}
        _known.clear()
        _known[context.run.pk, split] = KnownTexts(
            (context.by_id[name] for name in where if where[name] == split), nearly=is_near_apart(context.run)
        )
    return _known[context.run.pk, split]


def is_apart(run: Run) -> bool:
    """Whether a run keeps documents of tested questions out of training. Runs from before this rule do not.

    They continue as they began, so that all their splits are trained alike, and their results say so.
    """
    return bool((run.parameters.get("collection") or {}).get(APART))


def is_near_apart(run: Run) -> bool:
    """Whether nearly equal documents count as equal. In runs from before this rule, they do not."""
    return bool((run.parameters.get("collection") or {}).get(NEAR))


def is_of_people(run: Run) -> bool:
    """Whether gold answers are responses of the study's participants."""
    return (run.parameters.get("collection") or {}).get("source", STUDY) in OF_STUDY


def strangers(run: Run) -> int:
    """The number of documents of other questions added to each question."""
    return int((run.parameters.get("collection") or {}).get("others") or 0)
