"""Responses and their lengths (crowdrag25, section 4.1 and Figures 1 and 5)."""

from collections.abc import Sequence

import numpy as np

from analysis.stats.bootstrap import NOT_NEGATIVE

from ...inputs.arrays import Inputs, Ints, Response
from ...tables.rows import NOTE, Row, number
from .. import text_features
from ..context import Context, Tables
from ..response_groups import Resampling, distribution_rows, groups
from ..settings import AnalysisSettings
from ..text_features import NO_EASE, TextFeatures

NO_STATEMENT = "the response has no statements"
NOTHING_CITED = "the response cites nothing"


def compute_tables(analysed: Context) -> Tables:
    """Compute the tables of responses and lengths; none without texts."""
    inputs, features = analysed.inputs, analysed.text_features
    if not features:
        return {}
    return {
        "responses": response_rows(inputs, features),
        "lengths": length_rows(inputs, features, analysed.settings, analysed.topics_of_responses),
    }


def response_rows(inputs: Inputs, features: Sequence[TextFeatures]) -> list[Row]:
    """Make one row for each response."""
    has_ease = text_features.is_readable(inputs.language)
    rows = []
    for response_features in features:
        response = inputs.responses[response_features.index]
        row: Row = {
            "response": response.name,
            "topic": response.topic,
            "style": response.style,
            "origin": response.origin,
            "words": response.words,
            "statements": response_features.statements,
            "citations": response_features.citations,
            "cited_passages": len(response_features.cited),
            "flesch": number(response_features.flesch),
            "source_flesch": number(response_features.source_flesch),
        }
        if not has_ease:
            row[NOTE] = NO_EASE
        elif row["flesch"] is None:
            row[NOTE] = NO_STATEMENT
        elif row["source_flesch"] is None:
            row[NOTE] = NOTHING_CITED
        rows.append(row)
    return rows


def length_rows(
    inputs: Inputs, features: Sequence[TextFeatures], settings: AnalysisSettings, resampling: Resampling
) -> list[Row]:
    """Make the length distributions by style and origin, without non-responses: one row for each measure and statistic.

    Words, statements and cited passages are counted per response. Citations per passage: how many statements of the
    response cite a cited passage. Passages per statement include statements without citations.
    """
    full = [
        response_features
        for response_features in features
        if inputs.responses[response_features.index].words >= settings.min_words
    ]
    responses = [inputs.responses[response_features.index] for response_features in full]
    rows = []
    for style, origin, chosen in groups(responses, inputs.styles):
        members = [response_features for response_features, is_in in zip(full, chosen, strict=True) if is_in]
        for measure, (values, topic) in _measures(inputs, members, resampling).items():
            key: Row = {"style": style, "origin": origin, "measure": measure}
            rows += distribution_rows(key, values, topic, resampling, bounds=NOT_NEGATIVE)
    return rows


def _measures(
    inputs: Inputs, members: Sequence[TextFeatures], resampling: Resampling
) -> dict[str, tuple[Sequence[float], Ints]]:
    """Return the values of each measure with their topics."""
    responses: list[Response] = [inputs.responses[member.index] for member in members]
    topic = resampling.places(responses)
    return {
        "words": ([response.words for response in responses], topic),
        "statements": ([member.statements for member in members], topic),
        "cited_passages": ([len(member.cited) for member in members], topic),
        "citations_per_passage": _flat([member.cited_times for member in members], topic),
        "passages_per_statement": _flat([member.cited_by for member in members], topic),
    }


def _flat(values: Sequence[Sequence[int]], topic: Ints) -> tuple[Sequence[float], Ints]:
    flat = [float(value) for counts in values for value in counts]
    return flat, np.repeat(topic, [len(counts) for counts in values])
