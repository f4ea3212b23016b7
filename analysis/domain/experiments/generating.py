"""The generator that a run's parameters name: an endpoint, or a model in this process.

A name is `endpoint:NAME` or `model:NAME`, with options after a question mark: `endpoint:vllm?top_p=0.9&seed=1`,
`model:/srv/models/flan-t5-large?beams=4`. docs/guides/gpu.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from django.conf import settings

from analysis.rag.generation.loading import BadOptionError, Options
from analysis.rag.shapes import Generator
from crowdrag.llm.models import Endpoint
from crowdrag.llm.requests import RESERVED
from crowdrag.studies.models import Study

from ..results.settings import BadParameterError
from .chatting import Chat
from .remembering import Remembering

WHERE = ("endpoint", "model")


@dataclass(frozen=True)
class Named:
    """What a generator's name says.

    Attributes
    ----------
    where : "endpoint" or "model"
    name : str
    options : dict of str to JSON value
        What stands after the question mark.
    """

    where: str
    name: str
    options: dict[str, Any]


def read(named: str) -> Named:
    """Read a generator's name; whether there is such a one is not looked at.

    Raises
    ------
    BadParameterError
        If it does not begin with endpoint: or model:, or names nothing.
    """
    where, colon, rest = named.strip().partition(":")
    name, _mark, options = rest.partition("?")
    if where not in WHERE or not colon or not name.strip():
        raise BadParameterError(
            f"generator is {named!r}; it is “endpoint:NAME” for a model server or “model:NAME” for a model in this "
            "process, NAME being a bundle, a folder or a name on a hub."
        )
    try:
        pairs = dict(parse_qsl(options, keep_blank_values=True, strict_parsing=bool(options)))
    except ValueError as error:
        raise BadParameterError(
            f"generator is {named!r}; options after the question mark are NAME=VALUE, with & between them."
        ) from error
    return Named(where, name.strip(), {key: _value(value) for key, value in pairs.items()})


def generator(parameters: Mapping[str, Any], *, study: Study | None, purpose: str) -> Generator:
    """Return the generator that a run's parameter `generator` names.

    Parameters
    ----------
    parameters : mapping
        Of a run; only `generator` is read.
    study : Study or None
        Who pays for calls.
    purpose : str
        What for, in a word or two; kept with calls.

    Returns
    -------
    Generator
        It remembers: equal prompts are generated once, whatever asks for them, and a killed process loses what was in
        flight alone.

    Raises
    ------
    BadParameterError
        If there is no such endpoint or model, or it has no such option.
    """
    named = read(str(parameters.get("generator") or ""))
    if named.where == "endpoint":
        if taken := RESERVED & set(named.options):
            raise BadParameterError(f"These options are not a generator's to set: {', '.join(sorted(taken))}.")
        return Chat(endpoint(named.name), study, purpose, named.options)
    check_offered(named.name)
    try:
        options = Options.read(named.options)
    except BadOptionError as error:
        raise BadParameterError(str(error)) from error
    return Remembering(named.name, options, study=study)


def offered() -> list[str]:
    """The models in this process that the operator offers, the default first (docs/guides/gpu.md)."""
    return [model.strip() for model in settings.GENERATOR_MODELS if model.strip()]


def check_offered(model: str) -> None:
    """Let nobody but the operator say which files a worker loads.

    Raises
    ------
    BadParameterError
        If the operator does not offer it; it names what they offer.
    """
    if model not in offered():
        listed = ", ".join(offered()) or "none"
        raise BadParameterError(f"The model {model} is not offered here (CROWDRAG_GENERATORS); there are: {listed}.")


def endpoint(name: str) -> Endpoint:
    """Find an endpoint that may be asked by its name.

    Raises
    ------
    BadParameterError
        If there is none; it names those there are.
    """
    found = Endpoint.objects.allowed().filter(name=name).first()
    if found is None:
        names = ", ".join(Endpoint.objects.allowed().order_by("name").values_list("name", flat=True)) or "none"
        raise BadParameterError(f"There is no endpoint {name!r} that may be asked; there are: {names}.")
    return found


def _value(text: str) -> Any:
    """A number where it is one, else the text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, int | float | bool) else text
