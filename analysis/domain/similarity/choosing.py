"""Which models may be used: those that the operator named (docs/guides/operators.md)."""

from dataclasses import dataclass

from django.conf import settings

from analysis.rag.checkpoints import LAYERS

from ..results.settings import BadParameterError


@dataclass(frozen=True)
class Choice:
    """A model and the layer that is used of it; None: its last one."""

    model: str
    layer: int | None

    def __str__(self) -> str:
        return self.model if self.layer is None else f"{self.model}:{self.layer}"


def offered() -> list[Choice]:
    """The models that the operator named, the default first."""
    return [read(named) for named in settings.BERTSCORE_MODELS]


def read(named: str) -> Choice:
    """Read `NAME` or `NAME:LAYER`; without a layer the one that BERTScore's authors chose, where they chose one."""
    model, colon, layer = named.strip().rpartition(":")
    if colon and layer.isdecimal():
        return Choice(model, int(layer))
    return Choice(named.strip(), LAYERS.get(named.strip()))


def choose(named: str = "") -> Choice:
    """Find a model among those offered; the default where none is named.

    Raises
    ------
    BadParameterError
        If the operator did not name it: a model is a program's input that somebody must answer for.
    """
    choices = offered()
    if not choices:
        raise BadParameterError("The operator of this system offers no model (CROWDRAG_BERTSCORE_MODELS).")
    if not named:
        return choices[0]
    wanted = read(named)
    if wanted not in choices:
        listed = ", ".join(map(str, choices))
        raise BadParameterError(f"The model {named} is not offered here; choose one of {listed}.")
    return wanted
