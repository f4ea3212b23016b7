"""The stages of a self-preference experiment: write passages, test knowledge, rate passages and read pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from analysis.rag.protocols import Collection, Document, Query
from analysis.rag.self_preference import bank, bank_builder, knowledge, pairwise, perplexity, pointwise

from ..experiment import BadParameterError, Payload, Stage, each_query
from ..stage_context import StageContext
from .parameters import BUILD, KNOWLEDGE, RATINGS, READINGS, SelfPreferenceParameters

#: Questions per unit; each has a few dozen prompts.
BATCH = 1
#: Questions per unit of the perplexity stage, and the stage's name.
READ_TOGETHER, PERPLEXITY = 20, "perplexity"


def _only(part: str) -> Callable[[Collection, SelfPreferenceParameters], Iterable[Payload]]:
    """Units of a part; none if the run does not include it."""
    units = each_query(BATCH)

    def units_of_part(collection: Collection, parameters: SelfPreferenceParameters) -> Iterable[Payload]:
        check(collection, parameters)
        return units(collection, parameters) if part in parameters.parts else ()

    return units_of_part


def _measured(collection: Collection, parameters: SelfPreferenceParameters) -> Iterable[Payload]:
    return each_query(READ_TOGETHER)(collection, parameters) if parameters.perplexity else ()


def build(context: StageContext) -> Mapping[str, Any]:
    """Have the evaluator write its passages."""
    parameters: SelfPreferenceParameters = context.parameters
    return {
        query.id: asdict(
            bank_builder.build(
                context.generator,
                query,
                parameters.evaluator,
                styles=parameters.styles,
                attempts=parameters.attempts,
                version=parameters.prompts,
            )
        )
        for query in context.queries
    }


def measure(context: StageContext) -> Mapping[str, Any]:
    """Measure the perplexity of the passages; those longer than the model's context have none."""
    texts = [
        (query.id, passage.id, passage.text)
        for query in context.queries
        for passage in with_own(context, query).documents
    ]
    values = perplexity.perplexities_of(
        context.model(context.parameters.perplexity), [text for _query, _passage, text in texts]
    )
    perplexities: dict[str, dict[str, float]] = {query.id: {} for query in context.queries}
    for (query, passage, _text), value in zip(texts, values.tolist(), strict=True):
        if math.isfinite(value):
            perplexities[query][passage] = value
    return perplexities


def know(context: StageContext) -> Mapping[str, Any]:
    """Ask each question without a passage. Questions without a gold answer have no knowledge level."""
    parameters: SelfPreferenceParameters = context.parameters
    return {
        query.id: asdict(
            knowledge.recall(
                context.generator,
                query,
                tries=parameters.tries,
                temperature=parameters.temperature,
                version=parameters.prompts,
            )
        )
        for query in context.queries
        if query.answers
    }


def rate(context: StageContext) -> Mapping[str, Any]:
    """Have the evaluator rate the passages."""
    parameters: SelfPreferenceParameters = context.parameters
    ratings = {}
    for query in context.queries:
        query_ratings = pointwise.rate(
            context.generator,
            bank.usable(with_own(context, query))[0],
            [pointwise.Setting(setting) for setting in parameters.settings],
            attempts=parameters.attempts,
            is_constrained=parameters.constrained,
            version=parameters.prompts,
        )
        ratings[query.id] = [asdict(rating) for rating in query_ratings]
    return ratings


def read(context: StageContext) -> Mapping[str, Any]:
    """Have the evaluator choose between passages in pairs."""
    parameters: SelfPreferenceParameters = context.parameters
    names = authors(context.collection, parameters)
    choices = {}
    for query in context.queries:
        usable = bank.usable(with_own(context, query))[0]
        pairs = bank.pairs(usable, names, parameters.evaluator, parameters.cases)
        query_choices = pairwise.read(
            context.generator,
            usable,
            pairs,
            attempts=parameters.attempts,
            is_constrained=parameters.constrained_readings,
            version=parameters.prompts,
        )
        choices[query.id] = [asdict(choice) for choice in query_choices]
    return choices


def check(collection: Collection, parameters: SelfPreferenceParameters) -> None:
    """Check that the bank has passages by the named author, before anything is asked.

    Raises
    ------
    BadParameterError
        If it has none, or if the evaluator writes its own and the bank already has passages by it.
    """
    names = bank.authors(collection.queries)
    if BUILD in parameters.parts and parameters.evaluator in names:
        message = (
            "The bank already has passages by an author %(author)r. Use another name for the model's own passages."
        )
        raise BadParameterError(message % {"author": parameters.evaluator})
    if BUILD not in parameters.parts and parameters.author and parameters.author not in names:
        message = (
            "The bank has no author %(author)r. Its authors are %(names)s. Enter this model's author name, "
            "or leave the field empty if it wrote no passages."
        )
        raise BadParameterError(message % {"author": parameters.author, "names": ", ".join(names) or "–"})


def authors(collection: Collection, parameters: SelfPreferenceParameters) -> list[str]:
    """All authors of the bank, including the evaluator if it writes passages."""
    names = bank.authors(collection.queries, parameters.evaluator)
    writes = BUILD in parameters.parts and parameters.evaluator not in names
    return [parameters.evaluator, *names] if writes else names


def with_own(context: StageContext, query: Query) -> Query:
    """Return a question with the passages that the evaluator wrote in an earlier stage."""
    if BUILD not in context.parameters.parts:
        return query
    return with_passages(query, context.result(BUILD, query.id))


def with_passages(query: Query, built: Mapping[str, Any]) -> Query:
    """Return a question with the passages in the results of `build`."""
    return replace(query, documents=(*query.documents, *(Document(**passage) for passage in built["passages"])))


STAGES = (
    Stage(BUILD, "Writing passages", build, _only(BUILD)),
    Stage(PERPLEXITY, "Computing perplexity of passages", measure, _measured),
    Stage(KNOWLEDGE, "Answering without a passage", know, _only(KNOWLEDGE)),
    Stage(RATINGS, "Rating passages", rate, _only(RATINGS)),
    Stage(READINGS, "Answering from two passages", read, _only(READINGS)),
)
