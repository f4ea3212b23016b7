"""The stages: labels of useful documents, rankings of the eligible queries, and attribution of answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.rag.fair_rag import query_measures, utility
from analysis.rag.fair_rag.rankings import List, QueryRanking, rank
from analysis.rag.fair_rag.utility import Labels, prompt
from analysis.rag.protocols import Collection, Entailment, Output, Prompt, Query
from analysis.rag.qa_metrics import Metric
from analysis.rag.retrieval.known_scores import NoScoresError
from analysis.ranking.plackett_luce import UnusableScoresError

from ...tables.rows import Row, number
from .. import entailment_models, retrievers
from ..stage_context import StageContext
from .eligibility import NO_SCORES, metric, metrics, reason, without_scores
from .parameters import FairRagParameters

#: Probability from which a document entails a claim: more likely than not.
ENTAILS = 0.5
#: Pairs per request to the entailment model.
PAIRS = 64


@dataclass(frozen=True)
class Attribution:
    """Attribution of answers to documents, for the lists of one query.

    Attributes
    ----------
    follows : tuple of tuple of bool
        For each list: whether the answer follows from each of its documents.
    by : str
        The name of the entailment model.
    is_standin : bool
        Whether a language model's yes or no stands in for an entailment model.
    used : dict of str to int
        The generator's usage for it; `failed`: the number of pairs without a result.
    """

    follows: tuple[tuple[bool, ...], ...]
    by: str
    is_standin: bool
    used: dict[str, int]

    def write(self) -> dict[str, Any]:
        """Return the model's name and the usage as JSON."""
        return {"by": self.by, "is_standin": self.is_standin} | self.used


def attribute(context: StageContext, query: Query, lists: Sequence[List], answers: Sequence[str]) -> Attribution | None:
    """Determine from which documents of its list each answer follows; None if the run does not measure attribution.

    Equal claims about one document are checked once. An empty answer makes no claim and follows from nothing. A pair
    without a result also counts as not following, and is counted as failed.

    Parameters
    ----------
    context : StageContext
    query : Query
    lists : sequence of tuple of int
        Documents by index.
    answers : sequence of str
        The answer to each list.
    """
    parameters: FairRagParameters = context.parameters
    entailment = entailment_models.entailment(parameters.entailment, context.generator)
    if entailment is None:
        return None
    before = asdict(context.usage)
    claims = {
        (document_index, text): None
        for documents, text in zip(lists, answers, strict=True)
        for document_index in documents
        if text
    }
    probabilities = _ask(context, entailment, query, list(claims))
    after = asdict(context.usage)
    used = {
        "prompts": sum(after[name] - before[name] for name in ("calls", "stored")),
        **{name: after[name] - before[name] for name in ("prompt_tokens", "completion_tokens")},
        "failed": sum(map(isnan, probabilities.values())),
    }
    follows = tuple(
        tuple(probabilities.get((document_index, text), 0.0) > ENTAILS for document_index in documents)
        for documents, text in zip(lists, answers, strict=True)
    )
    return Attribution(follows, entailment.name, entailment.is_standin, used)


def _ask(
    context: StageContext, entailment: Entailment, query: Query, claims: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], float]:
    """Return probabilities by document and claim.

    Claims about one document are adjacent, so that it is encoded once.
    """
    parameters: FairRagParameters = context.parameters
    ordered = sorted(claims)
    probabilities: dict[tuple[int, str], float] = {}
    for start in range(0, len(ordered), PAIRS):
        context.report(start, len(ordered), "Attributing answers to documents", by_answer=True)
        part = ordered[start : start + PAIRS]
        pairs = [(_premise(query, document_index), _claim(query, text, parameters)) for document_index, text in part]
        probabilities |= dict(zip(part, entailment.probabilities(pairs).tolist(), strict=True))
    return probabilities


def _premise(query: Query, document_index: int) -> str:
    document = query.documents[document_index]
    return f"{document.title}\n{document.text}" if document.title else document.text


def _claim(query: Query, text: str, parameters: FairRagParameters) -> str:
    return text if parameters.claim == "answer" else f"{query.question.strip()} {text}"


#: Number of questions in the table of examples.
QUESTIONS = 5
#: The name of the "ranking" without documents.
NONE = "none"


def draw_examples(
    query: Query,
    ranked: Sequence[QueryRanking],
    answers: Mapping[List, str],
    utilities: Mapping[List, float],
    rng: np.random.Generator,
) -> list[Row]:
    """Sample one list of each ranking method with its answer; frequent lists are more likely."""
    examples_drawn = []
    for one in ranked:
        chances = one.chosen.weight / one.chosen.weight.sum()
        documents = one.chosen.items[int(rng.choice(len(chances), p=chances))]
        examples_drawn.append(
            {
                "retriever": one.way.retriever,
                "rank": one.way.rank,
                "alpha": one.way.alpha,
                "documents": ", ".join(query.documents[document_index].id for document_index in documents),
                "answer": answers[documents],
                "utility": number(utilities[documents]),
            }
        )
    return examples_drawn


def examples(context: StageContext, labelled: Mapping[str, Any], ranked: Mapping[str, Any]) -> list[Row]:
    """Sample example questions among those that take part with the run's seed; returns rows in the data's order."""
    taking = [name for name, ranking in ranked.items() if "examples" in ranking]
    size = min(QUESTIONS, len(taking))
    places = context.rng("fair examples").choice(len(taking), size=size, replace=False) if size else ()
    return [row for index in sorted(places) for row in _of(context.by_id[taking[index]], labelled, ranked)]


def _of(query: Query, labelled: Mapping[str, Any], ranked: Mapping[str, Any]) -> Iterable[Row]:
    about: Row = {"query": query.id, "question": query.question, "gold": " / ".join(query.answers)}
    without = labelled[query.id]
    yield about | {
        "retriever": None, "rank": NONE, "alpha": None, "documents": None, "answer": without.get("said"),
        "utility": number(without["without"]),
    }  # fmt: skip
    for example in ranked[query.id]["examples"]:
        yield about | example


LABELS, RANKINGS = "labels", "rankings"
#: Approximate number of prompts in a unit of labels: a few minutes on two cores.
PROMPTS = 64


def label_units(collection: Collection, parameters: FairRagParameters) -> Iterable[dict[str, Any]]:
    """Units of labels: groups of queries with about `PROMPTS` prompts in total.

    Raises
    ------
    BadParameterError
        If a retriever has no scores for any query: the labels would be paid for nothing.
    """
    without_scores(collection, parameters)
    unit: list[str] = []
    size = 0
    for query in collection.queries:
        prompts = 0 if reason(query, parameters) else len(query.documents) + 1
        if unit and size + prompts > PROMPTS:
            yield {"queries": unit}
            unit, size = [], 0
        unit.append(query.id)
        size += prompts
    if unit:
        yield {"queries": unit}


def label(context: StageContext) -> Mapping[str, Any]:
    """Label the documents of some queries, by the utility of answers without documents and with each document alone."""
    parameters: FairRagParameters = context.parameters
    retrievers.check(parameters.retrievers)  # before any call is paid
    entailment_models.check(parameters.entailment)
    prompts_by_query = {
        query.id: utility.prompts(query, parameters.asking)
        for query in context.queries
        if not reason(query, parameters)
    }
    outputs = iter(_generate(context, [prompt for prompts in prompts_by_query.values() for prompt in prompts]))
    results: dict[str, Any] = {}
    for query in context.queries:
        if why := reason(query, parameters):
            results[query.id] = {"reason": why}
            continue
        query_outputs = [next(outputs) for _prompt in prompts_by_query[query.id]]
        by = metric(query, parameters)
        labels = utility.labels(query, [output.text for output in query_outputs], by)
        results[query.id] = labels.write() | {
            "said": query_outputs[0].text.strip(),
            "reason": utility.left_out(labels),
            "used": _used(query_outputs, by),
        }
    return results


def measure(context: StageContext) -> Mapping[str, Any]:
    """Rank the eligible queries with all ranking methods, generate their distinct lists and compute the measures."""
    return {query.id: measures for query in context.queries if (measures := _measure(context, query))}


def _measure(context: StageContext, query: Query) -> dict[str, Any]:
    parameters: FairRagParameters = context.parameters
    labelled = context.result(LABELS, query.id)
    if labelled["reason"]:
        return {}
    useful = Labels.read(labelled).useful
    try:
        ranked = _rank(context, query, useful)
    except (UnusableScoresError, NoScoresError):
        return {"reason": NO_SCORES}
    lists = query_measures.to_generate(ranked)
    prompts = [
        prompt(query, [query.documents[document_index] for document_index in documents], parameters.asking)
        for documents in lists
    ]
    outputs = _generate(context, prompts)
    answers = [output.text.strip() for output in outputs]
    attribution = attribute(context, query, lists, answers)
    by = metric(query, parameters)
    outcomes = {
        documents: query_measures.Outcome(
            utility.utility(by, answers[index], query.answers),
            None if attribution is None else attribution.follows[index],
        )
        for index, documents in enumerate(lists)
    }
    scored = {
        documents: {one.name: one.score(text, query.answers) for one in metrics(query, parameters)}
        for documents, text in zip(lists, answers, strict=True)
    }
    points = query_measures.measure(query.id, useful, parameters.k, ranked, outcomes, bounds=parameters.exposure_bounds)
    return {
        "points": [point.write() for point in points],
        "examples": draw_examples(
            query,
            ranked,
            dict(zip(lists, answers, strict=True)),
            {documents: outcome.utility for documents, outcome in outcomes.items()},
            context.rng(f"fair examples {query.id}"),
        ),
        "scores": [score.write() for score in query_measures.scores(query.id, ranked, scored)],
        # The number of calls, if each sampled ranking needed one.
        "sampled": sum(len(ranking.rankings) for ranking in ranked),
        "used": _used(outputs, by),
        "attribution": None if attribution is None else attribution.write(),
    }


def _rank(context: StageContext, query: Query, useful: NDArray[np.bool_]) -> list[QueryRanking]:
    parameters: FairRagParameters = context.parameters
    return rank(
        {name: retrievers.retriever(name, context.collection).scores(query) for name in parameters.retrievers},
        useful,
        parameters.alphas,
        samples=parameters.samples,
        k=parameters.k,
        budget=parameters.budget,
        chance=lambda name: context.rng(f"fair {query.id} {name}"),
    )


def _generate(context: StageContext, prompts: Sequence[Prompt]) -> list[Output]:
    """Generate answers to all prompts; each answer counts as one step of progress."""
    context.report(0, len(prompts), "Generating answers", by_answer=True)
    return context.generator.generate(prompts)


def _used(outputs: Sequence[Output], by: Metric) -> dict[str, int]:
    """The usage of prompts. Stored answers count too, so that repeating a unit gives equal numbers."""
    return {
        "prompts": len(outputs),
        "prompt_tokens": sum(output.prompt_tokens for output in outputs),
        "completion_tokens": sum(output.completion_tokens for output in outputs),
        "failed": sum(bool(output.error) for output in outputs),
        "unreadable": sum(not output.error and not by.reads(output.text) for output in outputs),
    }
