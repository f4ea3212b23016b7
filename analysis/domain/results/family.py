"""What the families of tables share: the inputs, the fits, and the tables made so far."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..inputs import Inputs
from ..texts import TopicTexts
from .fitting import Fitted
from .schema import Row
from .settings import Settings

Tables = dict[str, list[Row]]


@dataclass(eq=False)
class Analysed:
    """An analysis at work.

    Attributes
    ----------
    texts : iterable of TopicTexts
        Reads the texts anew each time it is gone through, a topic at a time. Keep numbers, not texts.
    fitted : dict of str to Fitted
        Pools with their models of who can be trusted: the analysed one; experts and pointwise raters if there are any.
    masks : dict of str to ndarray of bool
        Splits of the analysed pool's units: complete, and (of pairs) differentiable and minimal.
    tables : dict
        What earlier families made, by name.
    step : callable
        Says what is being done; what takes seconds calls it.
    """

    inputs: Inputs
    texts: Iterable[TopicTexts]
    settings: Settings
    seed: int
    fitted: dict[str, Fitted]
    masks: dict[str, NDArray[np.bool_]]
    step: Callable[[str], None]
    tables: Tables = field(default_factory=dict)

    @property
    def main(self) -> Fitted:
        """The analysed pool."""
        return self.fitted[self.inputs.pool]


@dataclass(frozen=True)
class Family:
    """Tables that are made together, from the inputs and from what stands before them in the list."""

    title: str
    make: Callable[[Analysed], Tables]
