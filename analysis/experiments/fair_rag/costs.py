"""Upper bound of a fair RAG run's cost, before it starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import perm

import numpy as np

from analysis.rag.fair_rag import query_measures
from analysis.rag.fair_rag.rankings import rank
from analysis.rag.fair_rag.utility import FEWEST_USEFUL
from analysis.rag.protocols import Collection, Query
from analysis.rag.retrieval.known_scores import NoScoresError
from analysis.ranking.plackett_luce import UnusableScoresError

from .. import entailment_models, retrievers
from ..experiment import CostEstimate
from . import eligibility
from .parameters import FairRagParameters

#: Tokens per English word, including its share of punctuation.
TOKENS_IN_A_WORD = 1.35
#: Tokens around a prompt, and around an entailment question to the model.
FRAME = 30
#: Seconds per token of a text pair with an entailment model as large as roberta-large-mnli, on two cores.
SECONDS_PER_PAIRED_TOKEN = 0.01
#: Sampling and measures of one query, on one core.
SECONDS_PER_QUERY = 0.1
#: Retrievers that rank without loading a model; the number of questions ranked to estimate the share of distinct lists.
QUICK, RANKED = frozenset({"bm25", "given"}), 5


def estimate(collection: Collection, parameters: FairRagParameters) -> CostEstimate:
    """Labels of all questions that can be ranked, and the maximum number of lists.

    The real cost is lower: questions with fewer than two useful documents drop out after labelling, and lists repeat.

    Raises
    ------
    BadParameterError
        If a retriever or entailment model is not available, or a retriever has no scores for any question.
    """
    retrievers.check(parameters.retrievers)
    entailment_models.check(parameters.entailment)
    labelled = eligibility.labelled(collection, parameters)
    taking = [query for query in labelled if len(query.documents) >= FEWEST_USEFUL]
    generation = _generation_cost(labelled, taking, parameters, 1.0)
    share = _share_of_lists(collection, taking, parameters)
    judged = 0
    seconds = SECONDS_PER_QUERY * len(taking)
    if parameters.entailment.startswith(entailment_models.NLI):
        for query in taking:
            pairs = most_lists(query, parameters) * min(parameters.k, len(query.documents))
            judged += pairs
            seconds += (
                share * SECONDS_PER_PAIRED_TOKEN * pairs * (_tokens(query, parameters)[1] + parameters.max_tokens)
            )
    return replace(
        generation,
        seconds=seconds,
        queries=len(taking),
        left_out=len(collection.queries) - len(taking),
        note=_note(collection, parameters, judged),
        likely=_generation_cost(labelled, taking, parameters, share) if share < 1 else None,
    )


def _generation_cost(
    labelled: Sequence[Query], taking: Sequence[Query], parameters: FairRagParameters, share: float
) -> CostEstimate:
    """The cost of generation, if this share of the maximum number of lists is generated."""
    calls = prompt_tokens = completion_tokens = 0
    for query in labelled:
        question, documents = _tokens(query, parameters)
        prompts = len(query.documents) + 1
        calls += prompts
        prompt_tokens += prompts * question + round(documents * len(query.documents))
        completion_tokens += prompts * parameters.max_tokens
    for query in taking:
        question, documents = _tokens(query, parameters)
        held = min(parameters.k, len(query.documents))
        lists = round(share * most_lists(query, parameters))
        pairs = lists * held if parameters.entailment == entailment_models.GENERATOR else 0
        calls += lists + pairs
        prompt_tokens += lists * round(question + held * documents) + pairs * round(FRAME + documents)
        completion_tokens += lists * parameters.max_tokens + pairs
    return CostEstimate(calls=calls, prompt_tokens=prompt_tokens, completion_tokens=completion_tokens)


def _share_of_lists(collection: Collection, taking: Sequence[Query], parameters: FairRagParameters) -> float:
    """The share of distinct lists in the maximum number of lists, estimated by ranking some questions as a run does.

    It is not yet known which documents are useful, so half of them are assumed to be. The share is 1 if ranking would
    need to load a model.
    """
    if not taking or not all(name.split(":")[0] in QUICK for name in parameters.retrievers):
        return 1.0
    generated = most = 0
    for query in taking[:: max(1, len(taking) // RANKED)][:RANKED]:
        useful = np.arange(len(query.documents)) < (len(query.documents) + 1) // 2
        try:
            scores = {name: retrievers.retriever(name, collection).scores(query) for name in parameters.retrievers}
            ranked = rank(
                scores, useful, parameters.alphas, samples=parameters.samples, k=parameters.k,
                budget=parameters.budget, chance=lambda _name: np.random.default_rng(0),
            )  # fmt: skip
        except (UnusableScoresError, NoScoresError):
            continue
        generated += len(query_measures.to_generate(ranked))
        most += most_lists(query, parameters)
    return generated / most if most else 1.0


def _note(collection: Collection, parameters: FairRagParameters, judged: int) -> str:
    note = (
        "These are maximum numbers: questions with fewer than two useful documents are excluded after "
        "labelling, and equal lists are generated once."
    )
    if judged:
        sentence = "The entailment model reads up to %(n)s pairs of texts. The time assumes a large model on two cores."
        note = f"{note} {sentence % {'n': f'{judged:,}'}}"
    if bare := eligibility.without_scores(collection, parameters):
        sentence = "Excluded because “given” needs a score for every document: %(named)s."
        note = f"{note} {sentence % {'named': eligibility.named([query.id for query in bare])}}"
    return note


def most_lists(query: Query, parameters: FairRagParameters) -> int:
    """The maximum number of distinct lists generated for a query."""
    n = len(query.documents)
    every = perm(n, min(parameters.k, n))
    sampled = min(parameters.ways * parameters.samples, every)
    sampled = min(sampled, parameters.budget) if parameters.budget else sampled
    return min(sampled + len(parameters.retrievers), every)


def _tokens(query: Query, parameters: FairRagParameters) -> tuple[int, float]:
    """Tokens of a prompt without documents, and the average tokens of a document."""
    words = len(query.question.split()) + len(parameters.instruction.split())
    lengths = [len(document.title.split()) + len(document.text.split()) for document in query.documents]
    if parameters.most_words:
        lengths = [min(length, parameters.most_words) for length in lengths]
    mean = sum(lengths) / len(lengths) if lengths else 0.0
    return round(FRAME + TOKENS_IN_A_WORD * words), TOKENS_IN_A_WORD * mean
