"""Reading ease of responses and of the passages they had (docs/methods/readability.md)."""

from collections.abc import Sequence

import numpy as np

from ...inputs.arrays import Inputs, Ints
from ...tables.rows import Row
from ..context import Context, Tables
from ..response_groups import Resampling, distribution_rows, groups
from ..text_features import TextFeatures


def compute_tables(analysed: Context) -> Tables:
    """Reading ease by style and origin."""
    if not analysed.text_features:
        return {}
    rows = readability_rows(analysed.inputs, analysed.text_features, analysed.topics_of_responses)
    return {"readability": rows}


def readability_rows(inputs: Inputs, features: Sequence[TextFeatures], resampling: Resampling) -> list[Row]:
    """Reading ease of responses and of what they cite, by style and origin: one row a text and statistic."""
    responses = [inputs.responses[response_features.index] for response_features in features]
    rows = []
    for style, origin, chosen in groups(responses, inputs.styles):
        members = [response_features for response_features, is_in in zip(features, chosen, strict=True) if is_in]
        topic = resampling.places([inputs.responses[member.index] for member in members])
        for name in ("flesch", "source_flesch"):
            values = np.array([getattr(member, name) for member in members])
            key = {"style": style, "origin": origin, "measure": name}
            if np.isnan(values).all():
                continue
            rows += distribution_rows(key, values, topic, resampling)
        rows += _difference({"style": style, "origin": origin}, members, topic, resampling)
    return rows


def _difference(key: Row, members: Sequence[TextFeatures], topic: Ints, resampling: Resampling) -> list[Row]:
    """How much easier responses are to read than what they cite, response by response."""
    values = np.array([member.flesch - member.source_flesch for member in members])
    if np.isnan(values).all():
        return []
    return distribution_rows(key | {"measure": "difference"}, values, topic, resampling)
