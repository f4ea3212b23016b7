"""The two stages: which documents are useful to the generator, then all rankings of those queries that take part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from analysis.rag.answers import Metric
from analysis.rag.fair import measuring, scoring, utility
from analysis.rag.fair.prompts import prompt
from analysis.rag.fair.ranking import Ranked, rank
from analysis.rag.fair.utility import Labels
from analysis.rag.retrieval.given import NoScoresError
from analysis.rag.shapes import Collection, Output, Prompt, Query
from analysis.ranking.plackett_luce import UnusableScoresError

from .. import entailing, retrieving
from ..job import Job
from . import showing
from .attributing import attribute
from .parameters import Parameters
from .taking import NO_SCORES, metric, metrics, reason, without_scores

LABELS, RANKINGS = "labels", "rankings"
#: A unit of labels has about so many prompts: some minutes on two cores.
PROMPTS = 64


def label_units(collection: Collection, parameters: Parameters) -> Iterable[dict[str, Any]]:
    """Units of labels: queries of about `PROMPTS` prompts together.

    Raises
    ------
    BadParameterError
        If a retriever has no scores for any query: labels would be paid for nothing.
    """
    without_scores(collection, parameters)
    unit: list[str] = []
    size = 0
    for query in collection.queries:
        own = 0 if reason(query, parameters) else len(query.documents) + 1
        if unit and size + own > PROMPTS:
            yield {"queries": unit}
            unit, size = [], 0
        unit.append(query.id)
        size += own
    if unit:
        yield {"queries": unit}


def label(job: Job) -> Mapping[str, Any]:
    """Label the documents of some queries, by the utility of answers without and with each of them alone."""
    parameters: Parameters = job.parameters
    retrieving.check(parameters.retrievers)  # before anything is paid
    entailing.check(parameters.entailment)
    asked = {
        query.id: utility.prompts(query, parameters.asking) for query in job.queries if not reason(query, parameters)
    }
    outputs = iter(_generate(job, [each for prompts in asked.values() for each in prompts]))
    found: dict[str, Any] = {}
    for query in job.queries:
        if why := reason(query, parameters):
            found[query.id] = {"reason": why}
            continue
        own = [next(outputs) for _prompt in asked[query.id]]
        by = metric(query, parameters)
        labels = utility.labels(query, [each.text for each in own], by)
        found[query.id] = labels.write() | {
            "said": own[0].text.strip(),
            "reason": utility.left_out(labels),
            "used": _used(own, by),
        }
    return found


def measure(job: Job) -> Mapping[str, Any]:
    """Rank the queries that take part in all ways, generate the distinct lists, and measure what comes of them."""
    return {query.id: found for query in job.queries if (found := _measure(job, query))}


def _measure(job: Job, query: Query) -> dict[str, Any]:
    parameters: Parameters = job.parameters
    labelled = job.found_of(LABELS, query.id)
    if labelled["reason"]:
        return {}
    useful = Labels.read(labelled).useful
    try:
        ranked = _rank(job, query, useful)
    except (UnusableScoresError, NoScoresError):
        return {"reason": NO_SCORES}
    lists = measuring.to_generate(ranked)
    asked = [prompt(query, [query.documents[place] for place in each], parameters.asking) for each in lists]
    outputs = _generate(job, asked)
    said = [output.text.strip() for output in outputs]
    attribution = attribute(job, query, lists, said)
    by = metric(query, parameters)
    outcomes = {
        each: measuring.Outcome(
            utility.utility(by, said[place], query.answers),
            None if attribution is None else attribution.follows[place],
        )
        for place, each in enumerate(lists)
    }
    scored = {
        each: {one.name: one.score(text, query.answers) for one in metrics(query, parameters)}
        for each, text in zip(lists, said, strict=True)
    }
    points = measuring.measure(query.id, useful, parameters.k, ranked, outcomes, bounds=parameters.exposure_bounds)
    return {
        "points": [point.write() for point in points],
        "examples": showing.drawn(
            query,
            ranked,
            dict(zip(lists, said, strict=True)),
            {each: outcome.utility for each, outcome in outcomes.items()},
            job.rng(f"fair examples {query.id}"),
        ),
        "scores": [each.write() for each in scoring.scores(query.id, ranked, scored)],
        # What one call a ranking would have come to.
        "sampled": sum(len(each.rankings) for each in ranked),
        "used": _used(outputs, by),
        "attribution": None if attribution is None else attribution.write(),
    }


def _rank(job: Job, query: Query, useful: NDArray[np.bool_]) -> list[Ranked]:
    parameters: Parameters = job.parameters
    return rank(
        {name: retrieving.retriever(name, job.collection).scores(query) for name in parameters.retrievers},
        useful,
        parameters.alphas,
        samples=parameters.samples,
        k=parameters.k,
        budget=parameters.budget,
        chance=lambda name: job.rng(f"fair {query.id} {name}"),
    )


def _generate(job: Job, prompts: Sequence[Prompt]) -> list[Output]:
    """Ask for all prompts; each answer is a step."""
    job.report(0, len(prompts), _("Asking the generator"), by_answer=True)
    return job.generator.generate(prompts)


def _used(outputs: Sequence[Output], by: Metric) -> dict[str, int]:
    """What prompts took, whether or not they were answered before: the same however often the unit is worked on."""
    return {
        "prompts": len(outputs),
        "prompt_tokens": sum(each.prompt_tokens for each in outputs),
        "completion_tokens": sum(each.completion_tokens for each in outputs),
        "failed": sum(bool(each.error) for each in outputs),
        "unreadable": sum(not each.error and not by.reads(each.text) for each in outputs),
    }
