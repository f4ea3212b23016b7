"""The stages of an uplift RAG experiment: label questions, train on each split, answer with all methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

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
    run_steps,
)
from analysis.rag.uplift_rag.training_loop import TrainingMemoryError
from analysis.rag.uplift_rag.uplift_labels import LabelledQuery
from analysis.rag.uplift_rag.variants import UPLIFT, UPPER_BOUND, VARIANTS, Uplift, upper_bound

from ..experiment import Payload, Stage
from ..stage_context import StageContext
from . import questions, trained_methods
from .parameters import UpliftRagParameters

LABEL, TRAIN, ANSWER = "label", "train", "answer"
#: Whose helpful documents a generator uses (Figure 5).
OWN, OTHER = "own", "other"
TRANSFER = "transfer"
#: Questions per unit. Their prompts (some hundreds) go to the generator together, so that a device has full batches and
#: an endpoint uses all its slots. A failed unit loses its results, but not the stored answers.
TOGETHER = {LABEL: 8, ANSWER: 16}
#: Exceptions that make a method not possible. A method that does not fit into memory does not stop the others.
_IMPOSSIBLE = (
    NotPossibleError, NoLikelihoodsError, checkpoints.ModelMissingError, checkpoints.NeuralPartsMissingError,
    ModelMemoryError, TrainingMemoryError,
)  # fmt: skip


def label(context: StageContext) -> Mapping[str, Any]:
    """Answer questions without documents and with each document alone: D + 1 prompts each, all of a unit together."""
    parameters: UpliftRagParameters = context.parameters
    labels: dict[str, dict[str, Any]] = {}
    prompts: dict[str, list[Prompt]] = {}
    for query in context.queries:
        documents = questions.ranked(context, query)
        labels[query.id] = {
            "documents": [document.id for document in documents],
            "scores": [document.score for document in documents],
        }
        prompts[query.id] = uplift_labels.prompts(query, documents, max_tokens=parameters.max_tokens)
    for name, generator_labels in _ask_label_prompts(context.generator, prompts).items():
        labels[name] |= generator_labels
    if parameters.other:
        for name, other_labels in _ask_label_prompts(context.model(parameters.other), prompts).items():
            labels[name]["other"] = other_labels
    return labels


def train(context: StageContext) -> Mapping[str, Any]:
    """Train one method on one split; the trained files are published with the run."""
    split, name = context.payload["split"], context.payload["method"]
    key = f"{split}:{name}"
    learning = questions.training(context, split)
    fold = Training(
        tuple(learning.learnt), tuple(learning.held_out), context.generator, context.rng(f"train {key}"),
        context.report, trained_methods.checkpoint(context, key),
    )  # fmt: skip
    about = {"left_out": learning.left_out}
    baseline = method(context, name)
    try:
        if isinstance(baseline, Uplift):
            return {key: about | _train_ours(context, baseline, fold, split)}
        baseline.fit(fold)
    except _IMPOSSIBLE as error:
        return {key: about | {"not_possible": str(error)}}
    return {key: about | {"file": trained_methods.publish(context, baseline, f"{name}-split-{split}")}}


def answer(context: StageContext) -> Mapping[str, Any]:
    """Answer a unit's questions with all methods, trained on the other splits, with all prompts together."""
    parameters: UpliftRagParameters = context.parameters
    steps: dict[tuple[str, ...], AnswerSteps[dict[str, Any]]] = {}
    of_other: dict[tuple[str, ...], AnswerSteps[dict[str, Any]]] = {}
    for query in context.queries:
        labelled = questions.labelled(query, context.result(LABEL, query.id), parameters)
        for name in parameters.compared:
            steps[query.id, name] = _by_method(context, name, context.payload["split"], labelled)
        steps[query.id, UPPER_BOUND] = _written(
            upper_bound(labelled, parameters.settings(context.run.seed)), UPPER_BOUND
        )
        for (of, by), asking in _exchanged(context, query).items():
            (steps if by == OWN else of_other)[query.id, TRANSFER, f"{of}:{by}"] = asking
    answers = _together(context, steps, context.generator)
    if of_other:
        answers |= _together(context, of_other, context.model(parameters.other))
    answers_by_query: dict[str, dict[str, Any]] = {query.id: {} for query in context.queries}
    for (query_id, name, *exchange), method_answer in answers.items():
        if exchange:
            answers_by_query[query_id].setdefault(name, {})[exchange[0]] = method_answer
        else:
            answers_by_query[query_id][name] = method_answer
    return answers_by_query


def method(context: StageContext, name: str) -> Method:
    """Make a method with the run's settings."""
    parameters: UpliftRagParameters = context.parameters
    settings = parameters.settings(context.run.seed)
    if (
        questions.is_given(context.collection)
        and questions.watched_fold(context.collection, parameters, questions.TEST) is not None
    ):
        # The data's own development questions select the epoch: without a patience, among all epochs.
        settings = replace(settings, patience=settings.patience or parameters.epochs)
    return Uplift(settings, parameters.options, name) if name in VARIANTS else BASELINES[name].make(settings)


def train_units(collection: Collection, parameters: UpliftRagParameters) -> Iterable[Payload]:
    """A unit for each split and each method that is trained."""
    questions.check_given(collection, parameters)
    trained_methods.check(parameters)
    folds = questions.tested_folds(collection, parameters)
    return [{"split": split, "method": name} for split in folds for name in parameters.learning]


def _ask_label_prompts(generator: Generator, prompts: Mapping[str, Sequence[Prompt]]) -> dict[str, dict[str, Any]]:
    """Generate answers to the label prompts of some questions; returns answers by question."""
    outputs = iter(generator.generate([prompt for some in prompts.values() for prompt in some]))
    return {name: _labels(list(islice(outputs, len(some)))) for name, some in prompts.items()}


def _labels(outputs: Sequence[Output]) -> dict[str, Any]:
    return {
        "without": outputs[0].text,
        "alone": [output.text for output in outputs[1:]],
        "prompt_tokens": sum(output.prompt_tokens for output in outputs),
        "completion_tokens": sum(output.completion_tokens for output in outputs),
        "refused": sum(bool(output.error) for output in outputs),
    }


def _train_ours(context: StageContext, uplift_method: Uplift, fold: Training, split: int) -> dict[str, Any]:
    """Train, and score the split's own documents immediately: only the full variant's model is stored."""
    parameters: UpliftRagParameters = context.parameters
    name = f"{uplift_method.name}-split-{split}"
    where = questions.fold_of(context.collection, parameters)
    if parameters.trained:
        trained_methods.take_up(
            context,
            uplift_method,
            parameters.trained,
            name,
            tested=[context.by_id[query_id] for query_id in where if where[query_id] == split],
        )
    else:
        uplift_method.fit(fold)
    believed = {}
    for query_id, labels in context.results_of(
        LABEL, [name_in_fold for name_in_fold in where if where[name_in_fold] == split]
    ):
        documents = questions.labelled(context.by_id[query_id], labels, parameters).documents
        believed[query_id] = uplift_method.probabilities(context.by_id[query_id], documents).tolist()
    file = (
        trained_methods.publish(context, uplift_method, name)
        if uplift_method.name == UPLIFT and not parameters.trained
        else ""
    )
    history = uplift_method.history.as_dict() if uplift_method.history else {}
    return {"file": file, "history": history, "believed": believed}


def _by_method(context: StageContext, name: str, split: int, one: LabelledQuery) -> AnswerSteps[dict[str, Any]]:
    """A method's answer, or the reason why there is none. The method does not see the gold answers."""
    learnt_as = VARIANTS[name].trained_as if name in VARIANTS else name
    trained = trained_methods.trained(context, split, learnt_as)
    if reason := trained.get("not_possible"):
        return {"not_possible": reason}
    without_answers = replace(one.query, answers=())
    try:
        if name in VARIANTS:
            baseline = method(context, name)
            assert isinstance(baseline, Uplift)
            baseline.believed = {without_answers.id: trained["believed"][without_answers.id]}
        else:
            baseline = trained_methods.loaded(context, name, split, method)
        return (yield from _written(baseline.asking(without_answers, one.documents, context.generator), baseline.form))
    except _IMPOSSIBLE as error:
        return {"not_possible": str(error)}


def _exchanged(context: StageContext, query: Query) -> dict[tuple[str, str], AnswerSteps[dict[str, Any]]]:
    """Both generators' answers with the documents that help either; keys say whose documents and who answers."""
    parameters: UpliftRagParameters = context.parameters
    if not parameters.other:
        return {}
    settings = parameters.settings(context.run.seed)
    labels = context.result(LABEL, query.id)
    helpful = {
        name: document_selection.oracle(questions.labelled(query, labels, parameters, other=name == OTHER))
        for name in (OWN, OTHER)
    }
    return {(of, by): _written(reading(query, helpful[of], settings), of) for of in helpful for by in helpful}


def _together(
    context: StageContext, steps: Mapping[tuple[str, ...], AnswerSteps[dict[str, Any]]], generator: Generator
) -> dict[tuple[str, ...], dict[str, Any]]:
    """Run all answer steps together on one generator; returns answers by key."""
    total = len(steps)
    answers = run_steps(
        steps.values(), generator, at_once=total, report=lambda done: context.report(done, total, "Answering")
    )
    return dict(zip(steps, answers, strict=True))


def _written(asking: AnswerSteps[MethodAnswer], form: str) -> AnswerSteps[dict[str, Any]]:
    """Convert an answer for storage, with the form of the method that gave it."""
    method_answer = yield from asking
    return {
        "form": method_answer.form or form,
        "text": method_answer.text,
        "documents": list(method_answer.documents),
        "prompt_tokens": method_answer.prompt_tokens,
        "calls": len(method_answer.outputs),
        "all_tokens": sum(output.prompt_tokens + output.completion_tokens for output in method_answer.outputs),
        "refused": bool(method_answer.error),
    }


STAGES = (
    Stage(LABEL, "Labelling uplift of documents", label, questions.batches_of(TOGETHER[LABEL])),
    Stage(TRAIN, "Training", train, train_units, is_local=True),
    Stage(
        ANSWER,
        "Answering with all methods",
        answer,
        questions.batches_of(TOGETHER[ANSWER], is_tested=True),
    ),
)
