"""Tables of a self-preference experiment, computed from the results of its stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from analysis.rag.protocols import Query
from analysis.rag.self_preference import bank, descriptive, knowledge, pairwise, pointwise
from analysis.rag.self_preference.bank import Case
from analysis.rag.self_preference.knowledge import Recall, StatedKnowledge
from analysis.rag.self_preference.pairwise import Choice
from analysis.rag.self_preference.pointwise import Rating, Setting
from analysis.rag.self_preference.question_means import Means

from ...tables.rows import Row, number
from ..stage_context import StageContext
from .parameters import BUILD, KNOWLEDGE, RATINGS, READINGS, SelfPreferenceParameters
from .stages import PERPLEXITY, authors, with_passages

Flaws = dict[str, tuple[tuple[str, str], ...]]


def tables(context: StageContext) -> dict[str, list[Row]]:
    """Compute all tables; empty ones are left out."""
    parameters: SelfPreferenceParameters = context.parameters
    queries, flaws, built = _bank(context)
    names = authors(context.collection, parameters)
    average = Means([query.id for query in queries], context.rng("self-preference"), parameters.resamples)
    ratings = {
        question: [_rating(record) for record in records] for question, records in context.results(RATINGS).items()
    }
    choices = {
        question: [_choice(record) for record in records] for question, records in context.results(READINGS).items()
    }
    recalls = {question: _recall(record) for question, record in context.results(KNOWLEDGE).items()}
    stated = _stated_knowledge(queries)
    levels = {
        question: knowledge_of_question.level
        for question, knowledge_of_question in (recalls or _stated_levels(stated, parameters.evaluator)).items()
    }
    known = {
        model: {q: knowledge_of_question.recall for q, knowledge_of_question in by_question.items()}
        for model, by_question in stated.items()
    }
    evaluator = parameters.evaluator or context.run.parameters.get("generator", "")
    tables_by_name = {
        "self_preference_ratings": pointwise.means(ratings, names, average),
        "self_preference_rating_tests": pointwise.differences(ratings, names, average, parameters.evaluator),
        "self_preference_pairs": pairwise.preferences(choices, average, parameters.evaluator),
        "self_preference_factuality": pairwise.factuality(choices, average, parameters.evaluator),
        "self_preference_by_knowledge": pairwise.by_knowledge(choices, levels, average),
        "self_preference_styles": pairwise.styles(choices, average),
        "self_preference_knowledge": descriptive.knowledge(known, descriptive.GIVEN, average)
        + descriptive.knowledge({evaluator: recalls} if recalls else {}, descriptive.ASKED, average),
        "self_preference_recounted": descriptive.recounted(stated, average),
        "self_preference_exceptions": descriptive.exceptions(stated, {query.id: query for query in queries}),
        "self_preference_bank": descriptive.bank(queries, flaws, average),
        "self_preference_perplexity": descriptive.perplexities(queries, names),
        "self_preference_scores": pointwise.distribution(ratings, names),
        "self_preference_told": pairwise.stated_use(choices, average),
        "self_preference_outcomes": descriptive.outcomes(_outcomes(context, flaws, built, recalls, ratings, choices)),
        "self_preference_examples": descriptive.examples(queries, names),
    }
    return {name: [_written(row) for row in rows] for name, rows in tables_by_name.items() if rows}


def _bank(context: StageContext) -> tuple[list[Query], Flaws, Mapping[str, Any]]:
    """The questions with all their passages, and the unusable passages."""
    built, measured = context.results(BUILD), context.results(PERPLEXITY)
    queries = [
        with_passages(query, built[query.id]) if query.id in built else query for query in context.collection.queries
    ]
    queries = [descriptive.measured(query, measured[query.id]) if query.id in measured else query for query in queries]
    return queries, {query.id: bank.usable(query)[1] for query in queries}, built


def _stated_knowledge(queries: Iterable[Query]) -> dict[str, dict[str, StatedKnowledge]]:
    """Knowledge of models as given in the data, by model and question."""
    stated: dict[str, dict[str, StatedKnowledge]] = {}
    for query in queries:
        for model, knowledge_of_model in knowledge.stated_knowledge(query).items():
            stated.setdefault(model, {})[query.id] = knowledge_of_model
    return dict(sorted(stated.items()))


def _stated_levels(stated: Mapping[str, Mapping[str, StatedKnowledge]], evaluator: str) -> dict[str, Recall]:
    """The evaluator's knowledge as given in the data, for runs that did not measure it."""
    return {
        question: knowledge_of_question.recall
        for question, knowledge_of_question in stated.get(evaluator, {}).items()
        if knowledge_of_question.recall.answers
    }


def _outcomes(
    context: StageContext,
    flaws: Flaws,
    built: Mapping[str, Any],
    recalls: Mapping[str, Recall],
    ratings: pointwise.Ratings,
    choices: pairwise.Choices,
) -> Iterable[tuple[str, str, int]]:
    for query_flaws in flaws.values():
        yield from (("bank", why, 0) for _passage, why in query_flaws)
    for query_bank in built.values():
        yield from ((BUILD, "", 1) for _passage in query_bank["passages"])
        yield from ((BUILD, dropped["reason"], dropped["attempts"]) for dropped in query_bank["dropped"])
    for query in context.collection.queries if KNOWLEDGE in context.parameters.parts else ():
        answers = recalls[query.id].answers if query.id in recalls else ()
        yield from ((KNOWLEDGE, "" if answer else "no_text", 1) for answer in answers)
        if not answers:
            yield KNOWLEDGE, bank.Flaw.NO_GOLD, 0
    for rating in (one for query_ratings in ratings.values() for one in query_ratings):
        yield rating.setting, rating.problem, rating.attempts
    for one in (one for query_choices in choices.values() for one in query_choices):
        yield READINGS, one.problem, one.attempts


def _rating(record: Mapping[str, Any]) -> Rating:
    return Rating(**{**record, "setting": Setting(record["setting"])})


def _choice(record: Mapping[str, Any]) -> Choice:
    known = {choice_field.name: record[choice_field.name] for choice_field in fields(Choice)}
    return Choice(**{**known, "case": Case(record["case"])})


def _recall(record: Mapping[str, Any]) -> Recall:
    return Recall(tuple(record["answers"]), record["right"])


def _written(row: Mapping[str, Any]) -> Row:
    """A row as JSON: NaN becomes None, enumeration members become plain strings."""
    return {
        key: number(value) if isinstance(value, float) else str(value) if isinstance(value, str) else value
        for key, value in row.items()
    }
