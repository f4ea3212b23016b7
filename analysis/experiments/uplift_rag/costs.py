"""What an uplift RAG run asks for at most, before it starts."""

from __future__ import annotations

from analysis.rag.protocols import Collection, Query
from analysis.rag.uplift_rag.baselines.catalogue import BASELINES
from analysis.rag.uplift_rag.uplift_labels import NAIVE, WITH_DOCUMENTS

from ..experiment import CostEstimate
from . import questions, trained_methods
from .parameters import UpliftRagParameters

#: What an English word comes to in tokens, with its part of punctuation.
TOKENS_IN_A_WORD = 1.35
#: Of a chat's frame around a prompt.
FRAME = 20
#: A training step on two cores with the bundled encoder takes about so long a token; of its other work little.
SECONDS_PER_TOKEN = 1.5e-4


def estimate(collection: Collection, parameters: UpliftRagParameters) -> CostEstimate:
    """The prompts of the labels, one for each method, and the training of all rerankers.

    Methods that hand over the same documents ask the same and are answered once: what comes is less.

    Raises
    ------
    BadParameterError
        If there are fewer questions than splits, or the run that is to lend its rerankers cannot.
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
    # Of each fold what the others trained; of the data's own splits what its training questions trained, once.
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
    """Tokens of a prompt without documents, and of a document on average."""
    question_words = len(query.question.split()) + max(len(NAIVE.split()), len(WITH_DOCUMENTS.split()))
    words = [len(document.title.split()) + len(document.text.split()) for document in query.documents]
    return FRAME + TOKENS_IN_A_WORD * question_words, TOKENS_IN_A_WORD * sum(words) / len(words)
