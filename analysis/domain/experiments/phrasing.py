"""How models, counts and numbers are put in methods paragraphs and captions. English whatever the page's language."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import PurePath
from typing import Any, Final

from crowdrag.llm.models import Endpoint

from .. import captions
from ..captions import Words
from . import generating
from .experiment import BadParameterError

#: Parameters that name models.
MODELS: Final = ("generator", "other")


def model(named: str) -> str:
    """Name the model that was asked, and how it was reached: an endpoint's name alone tells nobody which it was.

    Parameters
    ----------
    named : str
        As `generating.read` reads it, with its options.

    Returns
    -------
    str
        The model as its server calls it now, with the endpoint; as `named` stands where the endpoint is gone. Of a
        model in this process its name, of a folder the last part: the rest is of a machine.

    Examples
    --------
    >>> model("model:/srv/models/flan-t5-xxl?beams=4")
    'flan-t5-xxl (beams=4)'
    """
    try:
        read = generating.read(named)
    except BadParameterError:
        return named
    about = [f"{name}={value}" for name, value in read.options.items()]
    if read.where == "endpoint":
        found = Endpoint.objects.filter(name=read.name).values_list("model", flat=True).first()
        if found is None:
            return named
        return _beside(found, [f"endpoint {read.name}", *about])
    folder = PurePath(read.name)
    return _beside(folder.name if folder.is_absolute() else read.name, about)


def caption(said: Words, parameters: Mapping[str, Any]) -> str:
    """A caption with a run's parameters in it; models are called as in the methods paragraph."""
    text = str(said)
    named = [name for name in MODELS if f"{{{name}}}" in text and parameters.get(name)]
    return captions.caption(text, {**parameters, **{name: model(str(parameters[name])) for name in named}})


def many(number: int, thing: str) -> str:
    """A count with what is counted, in the singular for one.

    Examples
    --------
    >>> many(1, "question"), many(2000, "resample")
    ('1 question', '2,000 resamples')
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def plainly(number: float) -> str:
    """A number without an exponent, with six digits at most.

    Examples
    --------
    >>> plainly(1e-05), plainly(1.0), plainly(2_000_000)
    ('0.00001', '1', '2000000')
    """
    return f"{Decimal(f'{number:g}'):f}"


def _beside(name: str, about: list[str]) -> str:
    return f"{name} ({', '.join(about)})" if about else name
