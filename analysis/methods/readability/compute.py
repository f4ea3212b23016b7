"""Reading ease of responses and cited passages (docs/methods/readability.md)."""

from collections.abc import Sequence

import numpy as np

from ...inputs.arrays import Inputs, Ints
from ...tables.rows import Row
from ..context import Context, Tables
from ..response_groups import Resampling, distribution_rows, groups
from ..text_features import TextFeatures


def compute_tables(analysed: Context) -> Tables:
    """Compute reading ease by style and origin."""
    if not analysed.text_features:
        return {}
    rows = readability_rows(analysed.inputs, analysed.text_features, analysed.topics_of_responses)
    return {"readability": rows}


def readability_rows(inputs: Inputs, features: Sequence[TextFeatures], resampling: Resampling) -> list[Row]:
    """Make the rows of reading ease of responses and cited passages, by style and origin: one for each statistic."""
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
    """Compute by how much responses are easier to read than the passages they cite."""
    values = np.array([member.flesch - member.source_flesch for member in members])
    if np.isnan(values).all():
        return []
    return distribution_rows(key | {"measure": "difference"}, values, topic, resampling)
