"""What was written: every response, and how long responses are (crowdrag25, section 4.1 and Figures 1 and 5)."""

from collections.abc import Sequence

import numpy as np

from ..inputs import Inputs, Ints, Response
from . import citing, facts
from .facts import Facts
from .family import Analysed, Tables
from .margins import Resampling, cells, groups, statistics, with_reason
from .schema import NOTE, Row, number
from .settings import Settings

NO_EASE = "there is no reading ease for texts in this language"
NO_STATEMENT = "the response has no statement"
NOTHING_CITED = "the response cites nothing"


def family(analysed: Analysed) -> Tables:
    """Responses, their lengths, and which passages they cite. Without texts there is nothing to say."""
    inputs, settings = analysed.inputs, analysed.settings
    found = facts.read(analysed.texts, inputs.language)
    if not found:
        return {}
    analysed.step("How long responses are, and what they cite")
    resampling = Resampling.of(inputs.responses, settings, analysed.seed)
    return {
        "responses": response_rows(inputs, found),
        "lengths": length_rows(inputs, found, settings, resampling),
        "readability": readability_rows(inputs, found, resampling),
        **citing.tables(inputs, found, settings, resampling),
    }


def response_rows(inputs: Inputs, found: Sequence[Facts]) -> list[Row]:
    """One row a response."""
    has_ease = facts.is_readable(inputs.language)
    rows = []
    for each in found:
        response = inputs.responses[each.place]
        row: Row = {
            "response": response.name,
            "topic": response.topic,
            "style": response.style,
            "origin": response.origin,
            "words": response.words,
            "statements": each.statements,
            "citations": each.citations,
            "cited_passages": len(each.cited),
            "flesch": number(each.flesch),
            "source_flesch": number(each.source_flesch),
        }
        if not has_ease:
            row[NOTE] = NO_EASE
        elif row["flesch"] is None:
            row[NOTE] = NO_STATEMENT
        elif row["source_flesch"] is None:
            row[NOTE] = NOTHING_CITED
        rows.append(row)
    return rows


def length_rows(inputs: Inputs, found: Sequence[Facts], settings: Settings, resampling: Resampling) -> list[Row]:
    """Distributions by style and origin, without non-responses: one row a measure and statistic.

    Words, statements and cited passages are of responses. Citations per passage are of cited passages: how many
    statements of its response cite it. Passages per statement are of statements, those without citations too.
    """
    full = [each for each in found if inputs.responses[each.place].words >= settings.min_words]
    responses = [inputs.responses[each.place] for each in full]
    rows = []
    for style, origin, chosen in groups(responses, inputs.styles):
        members = [each for each, is_in in zip(full, chosen, strict=True) if is_in]
        for measure, (values, topic) in _measures(inputs, members, resampling).items():
            rows += _distribution({"style": style, "origin": origin, "measure": measure}, values, topic, resampling)
    return rows


def readability_rows(inputs: Inputs, found: Sequence[Facts], resampling: Resampling) -> list[Row]:
    """Reading ease of responses and of what they cite, by style and origin: one row a text and statistic."""
    responses = [inputs.responses[each.place] for each in found]
    rows = []
    for style, origin, chosen in groups(responses, inputs.styles):
        members = [each for each, is_in in zip(found, chosen, strict=True) if is_in]
        topic = resampling.places([inputs.responses[each.place] for each in members])
        for name in ("flesch", "source_flesch"):
            values = np.array([getattr(each, name) for each in members])
            key = {"style": style, "origin": origin, "measure": name}
            if np.isnan(values).all():
                continue
            rows += _distribution(key, values, topic, resampling)
        rows += _difference({"style": style, "origin": origin}, members, topic, resampling)
    return rows


def _difference(key: Row, members: Sequence[Facts], topic: Ints, resampling: Resampling) -> list[Row]:
    """How much easier responses are to read than what they cite, response by response."""
    values = np.array([each.flesch - each.source_flesch for each in members])
    if np.isnan(values).all():
        return []
    return _distribution(key | {"measure": "difference"}, values, topic, resampling)


def _measures(
    inputs: Inputs, members: Sequence[Facts], resampling: Resampling
) -> dict[str, tuple[Sequence[float], Ints]]:
    """The values of each measure with their topics."""
    responses: list[Response] = [inputs.responses[each.place] for each in members]
    topic = resampling.places(responses)
    return {
        "words": ([response.words for response in responses], topic),
        "statements": ([each.statements for each in members], topic),
        "cited_passages": ([len(each.cited) for each in members], topic),
        "citations_per_passage": _flat([each.cited_times for each in members], topic),
        "passages_per_statement": _flat([each.cited_by for each in members], topic),
    }


def _flat(values: Sequence[Sequence[int]], topic: Ints) -> tuple[Sequence[float], Ints]:
    flat = [float(value) for each in values for value in each]
    return flat, np.repeat(topic, [len(each) for each in values])


def _distribution(key: Row, values: Sequence[float] | np.ndarray, topic: Ints, resampling: Resampling) -> list[Row]:
    n = int(np.sum(~np.isnan(np.asarray(values, dtype=np.float64))))
    return [
        with_reason(key | {"statistic": name} | cells(found := resampling.interval(statistic), n), name, found.clusters)
        for name, statistic in statistics(values, topic, resampling).items()
    ]
