"""The tables of a self-preference experiment, from all that its stages found."""

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
from ..job import Job
from .parameters import BUILD, KNOWLEDGE, RATINGS, READINGS, SelfPreferenceParameters
from .stages import PERPLEXITY, authors, with_passages

Flaws = dict[str, tuple[tuple[str, str], ...]]


def tables(job: Job) -> dict[str, list[Row]]:
    """All tables; one of which there is nothing to say is left out."""
    own: SelfPreferenceParameters = job.parameters
    queries, flaws, built = _bank(job)
    names = authors(job.collection, own)
    average = Means([query.id for query in queries], job.rng("self-preference"), own.resamples)
    ratings = {question: [_rating(each) for each in found] for question, found in job.found(RATINGS).items()}
    choices = {question: [_choice(each) for each in found] for question, found in job.found(READINGS).items()}
    asked = {question: _recall(found) for question, found in job.found(KNOWLEDGE).items()}
    given = _given(queries)
    levels = {question: each.level for question, each in (asked or _levels_given(given, own.evaluator)).items()}
    known = {model: {q: each.recall for q, each in by_question.items()} for model, by_question in given.items()}
    evaluator = own.evaluator or job.run.parameters.get("generator", "")
    made = {
        "self_preference_ratings": pointwise.means(ratings, names, average),
        "self_preference_rating_tests": pointwise.differences(ratings, names, average, own.evaluator),
        "self_preference_pairs": pairwise.preferences(choices, average, own.evaluator),
        "self_preference_factuality": pairwise.factuality(choices, average, own.evaluator),
        "self_preference_by_knowledge": pairwise.by_knowledge(choices, levels, average),
        "self_preference_styles": pairwise.styles(choices, average),
        "self_preference_knowledge": descriptive.knowledge(known, descriptive.GIVEN, average)
        + descriptive.knowledge({evaluator: asked} if asked else {}, descriptive.ASKED, average),
        "self_preference_recounted": descriptive.recounted(given, average),
        "self_preference_exceptions": descriptive.exceptions(given, {query.id: query for query in queries}),
        "self_preference_bank": descriptive.bank(queries, flaws, average),
        "self_preference_perplexity": descriptive.perplexities(queries, names),
        "self_preference_scores": pointwise.distribution(ratings, names),
        "self_preference_told": pairwise.stated_use(choices, average),
        "self_preference_outcomes": descriptive.outcomes(_outcomes(job, flaws, built, asked, ratings, choices)),
        "self_preference_examples": descriptive.examples(queries, names),
    }
    return {name: [_written(row) for row in rows] for name, rows in made.items() if rows}


def _bank(job: Job) -> tuple[list[Query], Flaws, Mapping[str, Any]]:
    """The questions with all their passages, and which of these could not be used."""
    built, measured = job.found(BUILD), job.found(PERPLEXITY)
    queries = [
        with_passages(query, built[query.id]) if query.id in built else query for query in job.collection.queries
    ]
    queries = [descriptive.measured(query, measured[query.id]) if query.id in measured else query for query in queries]
    return queries, {query.id: bank.usable(query)[1] for query in queries}, built


def _given(queries: Iterable[Query]) -> dict[str, dict[str, StatedKnowledge]]:
    """By model and question, what the data says that models know."""
    found: dict[str, dict[str, StatedKnowledge]] = {}
    for query in queries:
        for model, each in knowledge.stated_knowledge(query).items():
            found.setdefault(model, {})[query.id] = each
    return dict(sorted(found.items()))


def _levels_given(given: Mapping[str, Mapping[str, StatedKnowledge]], evaluator: str) -> dict[str, Recall]:
    """What the data says that the evaluator knows, where it was not asked."""
    return {question: each.recall for question, each in given.get(evaluator, {}).items() if each.recall.answers}


def _outcomes(
    job: Job,
    flaws: Flaws,
    built: Mapping[str, Any],
    asked: Mapping[str, Recall],
    ratings: pointwise.Ratings,
    choices: pairwise.Choices,
) -> Iterable[tuple[str, str, int]]:
    for found in flaws.values():
        yield from (("bank", why, 0) for _passage, why in found)
    for found in built.values():
        yield from ((BUILD, "", 1) for _passage in found["passages"])
        yield from ((BUILD, each["reason"], each["attempts"]) for each in found["dropped"])
    for query in job.collection.queries if KNOWLEDGE in job.parameters.parts else ():
        answers = asked[query.id].answers if query.id in asked else ()
        yield from ((KNOWLEDGE, "" if answer else "no_text", 1) for answer in answers)
        if not answers:
            yield KNOWLEDGE, bank.Flaw.NO_GOLD, 0
    for each in (one for found in ratings.values() for one in found):
        yield each.setting, each.problem, each.attempts
    for one in (one for found in choices.values() for one in found):
        yield READINGS, one.problem, one.attempts


def _rating(found: Mapping[str, Any]) -> Rating:
    return Rating(**{**found, "setting": Setting(found["setting"])})


def _choice(found: Mapping[str, Any]) -> Choice:
    known = {each.name: found[each.name] for each in fields(Choice)}
    return Choice(**{**known, "case": Case(found["case"])})


def _recall(found: Mapping[str, Any]) -> Recall:
    return Recall(tuple(found["answers"]), found["right"])


def _written(row: Mapping[str, Any]) -> Row:
    """A row as JSON: None for NaN, plain texts for members of enumerations."""
    return {
        key: number(value) if isinstance(value, float) else str(value) if isinstance(value, str) else value
        for key, value in row.items()
    }
