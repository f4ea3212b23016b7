"""Upper bound of an uplift RAG run's cost, before it starts."""

from __future__ import annotations

from analysis.rag.protocols import Collection, Query
from analysis.rag.uplift_rag.baselines.catalogue import BASELINES
from analysis.rag.uplift_rag.uplift_labels import NAIVE, WITH_DOCUMENTS

from ..experiment import CostEstimate
from . import questions, trained_methods
from .parameters import UpliftRagParameters

#: Tokens per English word, including its share of punctuation.
TOKENS_IN_A_WORD = 1.35
#: Tokens of the chat template around a prompt.
FRAME = 20
#: Seconds per token of a training step with the bundled encoder on two cores; its other work is negligible.
SECONDS_PER_TOKEN = 1.5e-4


def estimate(collection: Collection, parameters: UpliftRagParameters) -> CostEstimate:
    """Prompts of the labels, one prompt per method, and the training of all rerankers.

    The real cost is lower: methods that use the same documents share one prompt, which is answered once.

    Raises
    ------
    BadParameterError
        If there are fewer questions than splits, or the earlier run cannot provide its rerankers.
    """
    taking = questions.taking(collection)
    questions.check_given(collection, parameters)
    where = questions.fold_of(collection, parameters)
    tested = set(questions.tested_folds(collection, parameters))
    trained_methods.check(parameters)
    models = 2 if parameters.other else 1
    calls = prompt_tokens = trained = 0
    answering = (
        sum(BASELINES[name].asks if name in BASELINES else 1 for name in parameters.compared)
        + 1
        + (3 if parameters.other else 0)
    )
    learning = sum(BASELINES[name].asks_to_learn for name in parameters.learning if name in BASELINES)
    for query in taking:
        without, per_document = _tokens(query)
        documents = min(parameters.retrieve, len(query.documents))
        calls += models * (documents + 1)
        prompt_tokens += round(models * ((documents + 1) * without + documents * per_document))
        if where[query.id] in tested:
            calls += answering
            prompt_tokens += round(answering * (without + min(parameters.feed, documents) * per_document))
        if where[query.id] not in tested or len(tested) > 1:
            calls += learning
            prompt_tokens += round(learning * (without + min(parameters.feed, documents) * per_document))
        trained += round(documents * min(parameters.longest, without + per_document))
    # For each fold, its questions are used in training by all other folds; with the data's own split, only once.
    rounds = 0 if parameters.trained else parameters.epochs * max(1, len(tested) - 1)
    rerankers = sum(name not in BASELINES or BASELINES[name].trains for name in parameters.learning)
    return CostEstimate(
        calls=calls,
        prompt_tokens=prompt_tokens,
        completion_tokens=calls * parameters.max_tokens,
        seconds=SECONDS_PER_TOKEN * trained * rounds * rerankers,
        queries=len(taking),
        left_out=len(collection.queries) - len(taking),
        note="These are maximum numbers: methods that select the same documents share one call.",
    )


def _tokens(query: Query) -> tuple[float, float]:
    """Tokens of a prompt without documents, and the average tokens of a document."""
    question_words = len(query.question.split()) + max(len(NAIVE.split()), len(WITH_DOCUMENTS.split()))
    words = [len(document.title.split()) + len(document.text.split()) for document in query.documents]
    return FRAME + TOKENS_IN_A_WORD * question_words, TOKENS_IN_A_WORD * sum(words) / len(words)
