"""Entailment models by the names that runs use."""

from __future__ import annotations

from functools import partial

from django.conf import settings

from analysis.rag.protocols import Entailment, Generator

from .experiment import BadParameterError

#: The run's generator, asked for yes or no: a stand-in, and marked as one. Nobody: attribution is not measured.
GENERATOR, NONE = "generator", ""
#: An entailment model that the operator named (`CROWDRAG_ENTAILMENT_MODELS`): `nli:NAME`.
NLI = "nli:"


def offered() -> list[str]:
    """The names of all that may be used."""
    return [GENERATOR, NONE, *(NLI + name for name in settings.ENTAILMENT_MODELS)]


def check(name: str) -> None:
    """Refuse a name that is not offered, before anything is asked or loaded.

    Raises
    ------
    BadParameterError
        It says which there are.
    """
    if name not in offered():
        message = "There is no entailment model %(name)r. Available: %(known)s. The operator sets the models."
        raise BadParameterError(message % {"name": name, "known": ", ".join(map(repr, offered()))})


def entailment(name: str, generator: Generator) -> Entailment | None:
    """Make an entailment; None where attribution is not measured.

    Raises
    ------
    BadParameterError
        If it is not offered, or its model cannot be loaded.
    """
    check(name)
    if name == NONE:
        return None
    if name == GENERATOR:
        from analysis.rag.entailment import PromptedEntailment

        return PromptedEntailment(generator)
    return _load(name.removeprefix(NLI))


def _load(model: str) -> Entailment:
    """An entailment model, kept among those of the process."""
    from analysis.rag import checkpoints
    from analysis.rag.entailment import CrossEncoder, NoEntailmentLabelError
    from analysis.rag.generation.model_cache import MODELS

    try:
        cross_encoder: CrossEncoder = MODELS.take((NLI, model), partial(CrossEncoder.load, model))
    except (checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError, NoEntailmentLabelError) as error:
        raise BadParameterError(str(error)) from error
    return cross_encoder
