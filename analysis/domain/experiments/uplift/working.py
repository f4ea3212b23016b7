"""The stages of an uplift RAG experiment: questions are labelled, splits trained, questions answered by all methods."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analysis.rag import checkpoints
from analysis.rag.shapes import Collection, Generator, NoLikelihoodsError, Output, Query
from analysis.rag.uplift import labels, selecting
from analysis.rag.uplift.labels import Labelled
from analysis.rag.uplift.methods.method import Answered, Method, NotPossibleError, Training
from analysis.rag.uplift.methods.peers import PEERS
from analysis.rag.uplift.methods.standard import read
from analysis.rag.uplift.ours import UPLIFT, UPPER_BOUND, VARIANTS, Uplift, upper_bound

from ..experiment import Payload, Stage
from ..job import Job
from . import keeping, questions
from .parameters import Parameters

LABEL, TRAIN, ANSWER = "label", "train", "answer"
#: With which generator's helpful documents which generator answers (Figure 5).
OWN, OTHER = "own", "other"
#: Why a method is not possible: what methods and models raise.
_IMPOSSIBLE = (NotPossibleError, NoLikelihoodsError, checkpoints.ModelMissingError, checkpoints.NeuralPartsMissingError)


def label(job: Job) -> Mapping[str, Any]:
    """Answer a question without documents and with each one alone: D + 1 prompts."""
    return {query.id: _label(job, query) for query in job.queries}


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
    return {key: about | {"file": keeping.publish(job, made, f"{name}-split-{split}")}}


def answer(job: Job) -> Mapping[str, Any]:
    """Answer a question by every method that the other splits trained."""
    return {query.id: _answer(job, query, job.payload["split"]) for query in job.queries}


def method(job: Job, name: str) -> Method:
    """Make a method with the run's settings."""
    own: Parameters = job.parameters
    settings = own.settings(job.run.seed)
    return Uplift(settings, own.options, name) if name in VARIANTS else PEERS[name](settings)


def train_units(collection: Collection, own: Parameters) -> Iterable[Payload]:
    """A unit for each split and each method that learns for itself."""
    questions.fold_of(collection, own)
    return [{"split": split, "method": name} for split in range(own.splits) for name in own.learning]


def _label(job: Job, query: Query) -> dict[str, Any]:
    own: Parameters = job.parameters
    documents = questions.ranked(job, query)
    found: dict[str, Any] = {"documents": [each.id for each in documents], "scores": [each.score for each in documents]}
    prompts = labels.prompts(query, documents, max_tokens=own.max_tokens)
    found |= _said(job.generator.generate(prompts))
    if own.other:
        found["other"] = _said(job.model(own.other).generate(prompts))
    return found


def _said(outputs: Sequence[Output]) -> dict[str, Any]:
    return {
        "without": outputs[0].text,
        "alone": [each.text for each in outputs[1:]],
        "prompt_tokens": sum(each.prompt_tokens for each in outputs),
        "completion_tokens": sum(each.completion_tokens for each in outputs),
        "refused": sum(bool(each.error) for each in outputs),
    }


def _train_ours(job: Job, made: Uplift, fold: Training, split: int) -> dict[str, Any]:
    """Train, and say at once what the reranker thinks of the split's own documents: only the whole one is kept."""
    own: Parameters = job.parameters
    name = f"{made.name}-split-{split}"
    where = questions.fold_of(job.collection, own)
    if own.trained:
        keeping.take_up(
            job, made, own.trained, name, tested=[job.by_id[each] for each in where if where[each] == split]
        )
    else:
        made.fit(fold)
    believed = {}
    for query_id, found in job.found(LABEL).items():
        if where[query_id] == split:
            documents = questions.labelled(job.by_id[query_id], found, own).documents
            believed[query_id] = made.probabilities(job.by_id[query_id], documents).tolist()
    file = keeping.publish(job, made, name) if made.name == UPLIFT and not own.trained else ""
    history = made.history.as_dict() if made.history else {}
    return {"file": file, "history": history, "believed": believed}


def _answer(job: Job, query: Query, split: int) -> dict[str, Any]:
    own: Parameters = job.parameters
    settings = own.settings(job.run.seed)
    found = job.found_of(LABEL, query.id)
    one = questions.labelled(query, found, own)
    made: dict[str, Any] = {}
    for place, name in enumerate(own.compared):
        job.report(place, len(own.compared), _("Answering"))
        made[name] = _by_method(job, name, split, one)
    made[UPPER_BOUND] = _written(upper_bound(one, job.generator, settings))
    if own.other:
        made["transfer"] = _exchanged(job, query, found)
    return made


def _by_method(job: Job, name: str, split: int, one: Labelled) -> dict[str, Any]:
    """A method's answer, or why there is none. It is not told which answers are right."""
    learnt_as = VARIANTS[name].trained_as if name in VARIANTS else name
    trained = keeping.trained(job, split, learnt_as)
    if reason := trained.get("not_possible"):
        return {"not_possible": reason}
    asked = replace(one.query, answers=())
    try:
        if name in VARIANTS:
            ours = method(job, name)
            assert isinstance(ours, Uplift)
            ours.believed = {asked.id: trained["believed"][asked.id]}
            return _written(ours.answer(asked, one.documents, job.generator))
        return _written(keeping.loaded(job, name, split, method).answer(asked, one.documents, job.generator))
    except _IMPOSSIBLE as error:
        return {"not_possible": str(error)}


def _exchanged(job: Job, query: Query, found: Mapping[str, Any]) -> dict[str, Any]:
    """Both generators' answers with the documents that help either of them."""
    own: Parameters = job.parameters
    settings = own.settings(job.run.seed)
    generators: dict[str, Generator] = {OWN: job.generator, OTHER: job.model(own.other)}
    helpful = {
        name: selecting.oracle(questions.labelled(query, found, own, other=name == OTHER)) for name in generators
    }
    return {
        f"{of}:{by}": _written(read(query, documents, generator, settings))
        for of, documents in helpful.items()
        for by, generator in generators.items()
    }


def _written(answered: Answered) -> dict[str, Any]:
    return {
        "text": answered.text,
        "documents": list(answered.documents),
        "prompt_tokens": answered.prompt_tokens,
        "calls": len(answered.outputs),
        "all_tokens": sum(each.prompt_tokens + each.completion_tokens for each in answered.outputs),
        "refused": bool(answered.error),
    }


STAGES = (
    Stage(LABEL, gettext_lazy("What each document adds"), label, questions.each),
    Stage(TRAIN, gettext_lazy("Training"), train, train_units),
    Stage(ANSWER, gettext_lazy("Answering by all methods"), answer, questions.each),
)
