"""The two stages: which documents are useful to the generator, then all rankings of those queries that take part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.utils.translation import gettext as _

from analysis.rag.answers import METRICS, Metric
from analysis.rag.fair import measuring, utility
from analysis.rag.fair.lists import List
from analysis.rag.fair.prompts import prompt
from analysis.rag.fair.ranking import Ranked, rank
from analysis.rag.fair.utility import Labels
from analysis.rag.shapes import Collection, Entailment, Output, Prompt, Query, Usage
from analysis.ranking.plackett_luce import UnusableScoresError

from .. import entailing, retrieving
from ..job import Job
from .parameters import DEFAULT_METRIC, Parameters

LABELS, RANKINGS = "labels", "rankings"
#: A unit of labels has about so many prompts, and prompts are sent so many at a time: a minute on two cores at most.
PROMPTS = 32
#: A document entails a claim from this probability on: more likely than not.
ENTAILS = 0.5
#: A retriever had no usable scores.
NO_SCORES = "no usable scores"


def label_units(collection: Collection, _parameters: Parameters) -> Iterable[dict[str, Any]]:
    """Units of labels: queries of about as many prompts as are sent at a time."""
    unit: list[str] = []
    size = 0
    for query in collection.queries:
        own = len(query.documents) + 1
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
    asked = {
        query.id: utility.prompts(query, parameters.asking) for query in job.queries if not utility.unusable(query)
    }
    outputs = iter(_generate(job, [each for prompts in asked.values() for each in prompts]))
    found: dict[str, Any] = {}
    for query in job.queries:
        if reason := utility.unusable(query):
            found[query.id] = {"reason": reason}
            continue
        own = [next(outputs) for _prompt in asked[query.id]]
        labels = utility.labels(query, [each.text for each in own], metric(query, parameters))
        found[query.id] = labels.write() | {"reason": utility.left_out(labels), "used": _used(own)}
    return found


def measure(job: Job) -> Mapping[str, Any]:
    """Rank the queries that take part in all ways, generate the distinct lists, and measure what comes of them."""
    return {query.id: found for query in job.queries if (found := _measure(job, query))}


def metric(query: Query, parameters: Parameters) -> Metric:
    """How answers to a query are measured: as the run asks for, else as its data does, else by F1."""
    return METRICS[parameters.metric or query.metric or DEFAULT_METRIC]


def _measure(job: Job, query: Query) -> dict[str, Any]:
    parameters: Parameters = job.parameters
    labelled = job.found_of(LABELS, query.id)
    if labelled["reason"]:
        return {}
    useful = Labels.read(labelled).useful
    try:
        ranked = rank(
            {name: retrieving.retriever(name, job.collection).scores(query) for name in parameters.retrievers},
            useful,
            parameters.alphas,
            samples=parameters.samples,
            k=parameters.k,
            budget=parameters.budget,
            chance=lambda name: job.rng(f"fair {query.id} {name}"),
        )
    except UnusableScoresError:
        return {"reason": NO_SCORES}
    lists = measuring.to_generate(ranked)
    outputs = _generate(job, [prompt(query, _documents(query, each), parameters.asking) for each in lists])
    before = asdict(job.usage)
    outcomes = _outcomes(job, query, lists, outputs)
    points = measuring.measure(query.id, useful, parameters.k, ranked, outcomes, bounds=parameters.exposure_bounds)
    return {
        "points": [point.write() for point in points],
        "sampled": _sampled(ranked),
        "used": _used(outputs),
        "attribution": _between(before, asdict(job.usage)),
    }


def _generate(job: Job, prompts: Sequence[Prompt]) -> list[Output]:
    """Ask for some prompts at a time, so that one learns in between how far it is, and whether to stop."""
    outputs: list[Output] = []
    for start in range(0, len(prompts), PROMPTS):
        job.report(start, len(prompts), _("Asking the generator"))
        outputs += job.generator.generate(prompts[start : start + PROMPTS])
    return outputs


def _outcomes(
    job: Job, query: Query, lists: Sequence[List], outputs: Sequence[Output]
) -> dict[List, measuring.Outcome]:
    """Utility and attribution of each list."""
    parameters: Parameters = job.parameters
    used = metric(query, parameters)
    said = [output.text.strip() for output in outputs]
    entailment = entailing.entailment(parameters.entailment, job.generator)
    follows = None if entailment is None else _follows(job, entailment, query, lists, said)
    return {
        each: measuring.Outcome(
            utility.utility(used, text, query.answers),
            None if follows is None else tuple(follows.get((place, text), False) for place in each),
        )
        for each, text in zip(lists, said, strict=True)
    }


def _follows(
    job: Job, entailment: Entailment, query: Query, lists: Sequence[List], said: Sequence[str]
) -> dict[tuple[int, str], bool]:
    """Whether an output follows from a document, by the document's place.

    Equal claims about one document are asked once; an empty output is no claim and follows from nothing.
    """
    parameters: Parameters = job.parameters
    claims = {(place, text): None for each, text in zip(lists, said, strict=True) for place in each if text}
    pairs = list(claims)
    found: dict[tuple[int, str], bool] = {}
    for start in range(0, len(pairs), PROMPTS):
        job.report(start, len(pairs), _("What follows from which document"))
        part = pairs[start : start + PROMPTS]
        asked = [(_premise(query, place), _claim(query, text, parameters)) for place, text in part]
        found |= dict(zip(part, (entailment.probabilities(asked) > ENTAILS).tolist(), strict=True))
    return found


def _premise(query: Query, place: int) -> str:
    document = query.documents[place]
    return f"{document.title}\n{document.text}" if document.title else document.text


def _claim(query: Query, text: str, parameters: Parameters) -> str:
    return text if parameters.claim == "answer" else f"{query.question.strip()} {text}"


def _documents(query: Query, places: List) -> list[Any]:
    return [query.documents[place] for place in places]


def _sampled(ranked: Sequence[Ranked]) -> int:
    """How many generator calls one call a ranking would have been."""
    return sum(len(each.rankings) for each in ranked)


def _used(outputs: Sequence[Output]) -> dict[str, int]:
    """What prompts took, whether or not they were answered before: the same however often the unit is worked on."""
    return {
        "prompts": len(outputs),
        "prompt_tokens": sum(each.prompt_tokens for each in outputs),
        "completion_tokens": sum(each.completion_tokens for each in outputs),
        "failed": sum(bool(each.error) for each in outputs),
    }


def _between(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, int]:
    gained = {name: after[name] - before[name] for name in asdict(Usage())}
    return {
        "prompts": gained["calls"] + gained["stored"],
        **{name: gained[name] for name in ("prompt_tokens", "completion_tokens", "failed")},
    }
