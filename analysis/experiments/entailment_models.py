"""Entailment models by the names that runs use."""

from __future__ import annotations

from functools import partial

from django.conf import settings

from analysis.rag.protocols import Entailment, Generator

from .experiment import BadParameterError

#: The run's generator, asked yes or no, as a stand-in (marked as such); or no model: attribution is not measured.
GENERATOR, NONE = "generator", ""
#: An entailment model that the operator allows (`CROWDRAG_ENTAILMENT_MODELS`): `nli:NAME`.
NLI = "nli:"


def offered() -> list[str]:
    """The names of all available entailment models."""
    return [GENERATOR, NONE, *(NLI + name for name in settings.ENTAILMENT_MODELS)]


def check(name: str) -> None:
    """Refuse an unavailable name before anything is generated or loaded.

    Raises
    ------
    BadParameterError
        Names the available models.
    """
    if name not in offered():
        message = "There is no entailment model %(name)r. Available: %(known)s. The operator sets the models."
        raise BadParameterError(message % {"name": name, "known": ", ".join(map(repr, offered()))})


def entailment(name: str, generator: Generator) -> Entailment | None:
    """Return the entailment model; None where attribution is not measured.

    Raises
    ------
    BadParameterError
        If it is not available, or cannot be loaded.
    """
    check(name)
    if name == NONE:
        return None
    if name == GENERATOR:
        from analysis.rag.entailment import PromptedEntailment

        return PromptedEntailment(generator)
    return _load(name.removeprefix(NLI))


def _load(model: str) -> Entailment:
    """Load an entailment model, or take it from the process's cache."""
    from analysis.rag import checkpoints
    from analysis.rag.entailment import CrossEncoder, NoEntailmentLabelError
    from analysis.rag.generation.model_cache import MODELS

    try:
        cross_encoder: CrossEncoder = MODELS.take((NLI, model), partial(CrossEncoder.load, model))
    except (checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError, NoEntailmentLabelError) as error:
        raise BadParameterError(str(error)) from error
    return cross_encoder
