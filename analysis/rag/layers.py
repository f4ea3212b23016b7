"""A model without its last layers: what BERTScore does not use is not computed."""

from __future__ import annotations

from typing import Any

#: Where encoders keep their layers: BERT, RoBERTa, DeBERTa, MPNet; DistilBERT; T5; XLNet; BART and ModernBERT.
_PLACES = ("encoder.layer", "transformer.layer", "encoder.block", "layer", "layers")


class BadLayerError(ValueError):
    """The model has no such layer."""


class UnsupportedModelError(ValueError):
    """The model keeps its layers where nobody looks for them."""


def cut(model: Any, layer: int | None, *, name: str) -> tuple[Any, int, int]:
    """Take a model's layers after `layer` away; all stay if it is None.

    Parameters
    ----------
    model : torch.nn.Module
        Of transformers; of one that also decodes, only the encoder is kept.
    layer : int or None
        From 0 (the embeddings before any context) to the number of layers.
    name : str
        What the errors call it.

    Returns
    -------
    (Module, int, int)
        The model, how many layers it had, and how many it has.
    """
    if hasattr(model, "encoder") and hasattr(model, "decoder"):
        model = model.encoder
    for place in _PLACES:
        *path, last = place.split(".")
        holder = model
        for step in path:
            holder = getattr(holder, step, None)
        stack = getattr(holder, last, None)
        if stack is not None and hasattr(stack, "__len__"):
            break
    else:
        raise UnsupportedModelError(
            f"{name} ({type(model).__name__}) is of a kind whose layers cannot be told apart: choose another model."
        )
    had = len(stack)
    wanted = had if layer is None else layer
    if not 0 <= wanted <= had:
        raise BadLayerError(f"{name} has {had} layers: choose one from 0 to {had}, not {layer}.")
    setattr(holder, last, stack[:wanted])
    return model, had, wanted
