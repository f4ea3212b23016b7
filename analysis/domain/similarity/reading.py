"""Scores that stand, for an analysis."""

from collections.abc import Sequence

from crowdrag.studies.models import Study

from ...models import Encoder, Likeness
from .. import inputs
from ..results.settings import BadParameterError
from . import choosing

#: Says that an analysis leaves BERTScores out.
NONE = "none"


def read(study: Study, responses: Sequence[inputs.Response], *, named: str = "") -> inputs.Likenesses | None:
    """Read the scores of these responses by the model named, else by the one used last; None if there are none.

    Raises
    ------
    BadParameterError
        If a model is named that scored nothing in this study.
    """
    if named == NONE:
        return None
    encoders = Encoder.objects.filter(study=study)
    if named:
        wanted = choosing.read(named)
        encoders = encoders.filter(model=wanted.model)
        encoders = encoders if wanted.layer is None else encoders.filter(layer=wanted.layer)
    encoder = encoders.order_by("-used_at", "-pk").first()
    if encoder is None:
        if named:
            raise BadParameterError(f"No BERTScores of {named} are kept in this study: have them computed first.")
        return None
    place: dict[str, int] = {}
    for i, response in enumerate(responses):
        place.setdefault(response.text, i)
    rows = Likeness.objects.filter(encoder=encoder, first__in=place, second__in=place)
    pairs = sorted(
        (min(place[first], place[second]), max(place[first], place[second]), f1)
        for first, second, f1 in rows.values_list("first", "second", "f1")
    )
    return inputs.Likenesses(encoder.model, encoder.layer, encoder.version, tuple(pairs)) if pairs else None
