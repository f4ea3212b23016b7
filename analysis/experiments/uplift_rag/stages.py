"""The stages of an uplift RAG experiment: questions are labelled, splits trained, questions answered by all methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.rag import checkpoints
from analysis.rag.generation.devices import ModelMemoryError
from analysis.rag.protocols import Collection, Generator, NoLikelihoodsError, Output, Prompt, Query
from analysis.rag.uplift_rag import document_selection, uplift_labels
from analysis.rag.uplift_rag.baselines.catalogue import BASELINES
from analysis.rag.uplift_rag.baselines.protocol import (
    AnswerSteps,
    Method,
    MethodAnswer,
    NotPossibleError,
    Training,
    reading,
    run_in_lockstep,
)
from analysis.rag.uplift_rag.training import TrainingMemoryError
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery
from analysis.rag.uplift_rag.variants import UPLIFT, UPPER_BOUND, VARIANTS, Uplift, upper_bound

from ..experiment import Payload, Stage
from ..job import Job
from . import questions, trained_methods
from .parameters import UpliftRagParameters

LABEL, TRAIN, ANSWER = "label", "train", "answer"
#: With which generator's helpful documents which generator answers (Figure 5).
OWN, OTHER = "own", "other"
TRANSFER = "transfer"
#: Questions of a unit: their prompts go to the generator together, some hundred, so that a device has batches and an
#: endpoint its slots filled; what a unit found is lost with it (though not what was answered, which is kept).
TOGETHER = {LABEL: 8, ANSWER: 16}
#: Why a method is not possible: what methods and models raise. One that does not fit into memory keeps no other back.
_IMPOSSIBLE = (
    NotPossibleError, NoLikelihoodsError, checkpoints.ModelMissingError, checkpoints.NeuralPartsMissingError,
    ModelMemoryError, TrainingMemoryError,
)  # fmt: skip


def label(job: Job) -> Mapping[str, Any]:
    """Answer questions without documents and with each one alone: D + 1 prompts each, those of a unit together."""
    own: UpliftRagParameters = job.parameters
    found: dict[str, dict[str, Any]] = {}
    prompts: dict[str, list[Prompt]] = {}
    for query in job.queries:
        documents = questions.ranked(job, query)
        found[query.id] = {
            "documents": [each.id for each in documents],
            "scores": [each.score for each in documents],
        }
        prompts[query.id] = uplift_labels.prompts(query, documents, max_tokens=own.max_tokens)
    for name, said in _said(job.generator, prompts).items():
        found[name] |= said
    if own.other:
        for name, said in _said(job.model(own.other), prompts).items():
            found[name]["other"] = said
    return found


def train(job: Job) -> Mapping[str, Any]:
    """Fit one method on one split; what it learnt becomes the run's file."""
    split, name = job.payload["split"], job.payload["method"]
    key = f"{split}:{name}"
    learning = questions.training(job, split)
    fold = Training(
        tuple(learning.learnt), tuple(learning.held_out), job.generator, job.rng(f"train {key}"), job.report
    )
    about = {"left_out": learning.left_out}
    made = method(job, name)
    try:
        if isinstance(made, Uplift):
            return {key: about | _train_ours(job, made, fold, split)}
        made.fit(fold)
    except _IMPOSSIBLE as error:
        return {key: about | {"not_possible": str(error)}}
    return {key: about | {"file": trained_methods.publish(job, made, f"{name}-split-{split}")}}


def answer(job: Job) -> Mapping[str, Any]:
    """Answer questions by every method that the other splits trained: those of a unit together, a wave a step."""
    own: UpliftRagParameters = job.parameters
    asked: dict[tuple[str, ...], AnswerSteps[dict[str, Any]]] = {}
    of_other: dict[tuple[str, ...], AnswerSteps[dict[str, Any]]] = {}
    for query in job.queries:
        labelled = questions.labelled(query, job.found_of(LABEL, query.id), own)
        for name in own.compared:
            asked[query.id, name] = _by_method(job, name, job.payload["split"], labelled)
        asked[query.id, UPPER_BOUND] = _written(upper_bound(labelled, own.settings(job.run.seed)), UPPER_BOUND)
        for (of, by), asking in _exchanged(job, query).items():
            (asked if by == OWN else of_other)[query.id, TRANSFER, f"{of}:{by}"] = asking
    said = _together(job, asked, job.generator)
    if of_other:
        said |= _together(job, of_other, job.model(own.other))
    made: dict[str, dict[str, Any]] = {query.id: {} for query in job.queries}
    for (query_id, name, *exchange), found in said.items():
        if exchange:
            made[query_id].setdefault(name, {})[exchange[0]] = found
        else:
            made[query_id][name] = found
    return made


def method(job: Job, name: str) -> Method:
    """Make a method with the run's settings."""
    own: UpliftRagParameters = job.parameters
    settings = own.settings(job.run.seed)
    if questions.is_given(job.collection) and questions.watched_fold(job.collection, own, questions.TEST) is not None:
        # The data's own questions for choosing do choose: without a patience, among all epochs.
        settings = replace(settings, patience=settings.patience or own.epochs)
    return Uplift(settings, own.options, name) if name in VARIANTS else BASELINES[name].make(settings)


def train_units(collection: Collection, own: UpliftRagParameters) -> Iterable[Payload]:
    """A unit for each split and each method that learns for itself."""
    questions.check_given(collection, own)
    trained_methods.check(own)
    folds = questions.tested_folds(collection, own)
    return [{"split": split, "method": name} for split in folds for name in own.learning]


def _said(generator: Generator, prompts: Mapping[str, Sequence[Prompt]]) -> dict[str, dict[str, Any]]:
    """What a generator says to the label prompts of some questions, by question."""
    outputs = iter(generator.generate([each for some in prompts.values() for each in some]))
    return {name: _labels(list(islice(outputs, len(some)))) for name, some in prompts.items()}


def _labels(outputs: Sequence[Output]) -> dict[str, Any]:
    return {
        "without": outputs[0].text,
        "alone": [each.text for each in outputs[1:]],
        "prompt_tokens": sum(each.prompt_tokens for each in outputs),
        "completion_tokens": sum(each.completion_tokens for each in outputs),
        "refused": sum(bool(each.error) for each in outputs),
    }


def _train_ours(job: Job, made: Uplift, fold: Training, split: int) -> dict[str, Any]:
    """Train, and say at once what the reranker thinks of the split's own documents: only the whole one is kept."""
    own: UpliftRagParameters = job.parameters
    name = f"{made.name}-split-{split}"
    where = questions.fold_of(job.collection, own)
    if own.trained:
        trained_methods.take_up(
            job, made, own.trained, name, tested=[job.by_id[each] for each in where if where[each] == split]
        )
    else:
        made.fit(fold)
    believed = {}
    for query_id, found in job.each_found(LABEL, [each for each in where if where[each] == split]):
        documents = questions.labelled(job.by_id[query_id], found, own).documents
        believed[query_id] = made.probabilities(job.by_id[query_id], documents).tolist()
    file = trained_methods.publish(job, made, name) if made.name == UPLIFT and not own.trained else ""
    history = made.history.as_dict() if made.history else {}
    return {"file": file, "history": history, "believed": believed}


def _by_method(job: Job, name: str, split: int, one: LabelledQuery) -> AnswerSteps[dict[str, Any]]:
    """A method's answer, or why there is none. It is not told which answers are right."""
    learnt_as = VARIANTS[name].trained_as if name in VARIANTS else name
    trained = trained_methods.trained(job, split, learnt_as)
    if reason := trained.get("not_possible"):
        return {"not_possible": reason}
    asked = replace(one.query, answers=())
    try:
        if name in VARIANTS:
            made = method(job, name)
            assert isinstance(made, Uplift)
            made.believed = {asked.id: trained["believed"][asked.id]}
        else:
            made = trained_methods.loaded(job, name, split, method)
        return (yield from _written(made.asking(asked, one.documents, job.generator), made.form))
    except _IMPOSSIBLE as error:
        return {"not_possible": str(error)}


def _exchanged(job: Job, query: Query) -> dict[tuple[str, str], AnswerSteps[dict[str, Any]]]:
    """Both generators' answers with the documents that help either of them: whose documents, and who answers."""
    own: UpliftRagParameters = job.parameters
    if not own.other:
        return {}
    settings = own.settings(job.run.seed)
    found = job.found_of(LABEL, query.id)
    helpful = {
        name: document_selection.oracle(questions.labelled(query, found, own, other=name == OTHER))
        for name in (OWN, OTHER)
    }
    return {(of, by): _written(reading(query, helpful[of], settings), of) for of in helpful for by in helpful}


def _together(
    job: Job, asked: Mapping[tuple[str, ...], AnswerSteps[dict[str, Any]]], generator: Generator
) -> dict[tuple[str, ...], dict[str, Any]]:
    """What came of all that is asked of one generator, by what it is."""
    total = len(asked)
    found = run_in_lockstep(
        asked.values(), generator, at_once=total, report=lambda done: job.report(done, total, _("Answering"))
    )
    return dict(zip(asked, found, strict=True))


def _written(asking: AnswerSteps[MethodAnswer], form: str) -> AnswerSteps[dict[str, Any]]:
    """An answer as it is stored, with the form of the method that gave it."""
    found = yield from asking
    return {
        "form": found.form or form,
        "text": found.text,
        "documents": list(found.documents),
        "prompt_tokens": found.prompt_tokens,
        "calls": len(found.outputs),
        "all_tokens": sum(each.prompt_tokens + each.completion_tokens for each in found.outputs),
        "refused": bool(found.error),
    }


STAGES = (
    Stage(LABEL, gettext_lazy("What each document adds"), label, questions.batches_of(TOGETHER[LABEL])),
    Stage(TRAIN, gettext_lazy("Training"), train, train_units),
    Stage(
        ANSWER, gettext_lazy("Answering by all methods"), answer, questions.batches_of(TOGETHER[ANSWER], is_tested=True)
    ),
)
