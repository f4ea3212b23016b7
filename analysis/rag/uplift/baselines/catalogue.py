"""The baselines, in the order of the paper's Table 1: a new one is a file with its `BASELINE`, and a line here."""

from __future__ import annotations

from collections.abc import Iterable

from . import aar, adaptive, cross_encoder, dpa, naive, replug, skr, standard
from .baseline import Baseline, Form

BASELINES: dict[str, Baseline] = {
    each.name: each
    for each in (
        naive.BASELINE,
        standard.BASELINE,
        cross_encoder.BASELINE,
        aar.BASELINE,
        replug.BASELINE,
        skr.BASELINE,
        adaptive.BASELINE,
        dpa.BASELINE,
    )
}

#: All forms by what rows of tables call them.
FORMS: dict[str, Form] = {form.key: form for each in BASELINES.values() for form in each.forms}


def least(name: str, keys: Iterable[str]) -> Form:
    """The form of a baseline that holds of all of its answers: of several the one with the fewest parts.

    Parameters
    ----------
    name : str
        The baseline's.
    keys : iterable of str
        Forms of its answers; "" where an answer does not say. None: the whole method, which was not possible.
    """
    forms = BASELINES[name].forms
    places = {form.key: place for place, form in enumerate(forms)}
    return forms[max((places.get(key, len(forms) - 1) for key in keys), default=0)]
