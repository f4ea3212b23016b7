"""What the families of tables share: the inputs, the fits, and the tables made so far."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..inputs.arrays import Inputs
from ..inputs.texts import TopicTexts
from ..tables.rows import Row
from . import text_features
from .fits import Fitted, ResampledFits
from .grade_fits import Graded, Resampled
from .response_groups import Resampling
from .reusable_fits import ReusableFits
from .settings import AnalysisSettings
from .text_features import TextFeatures

Tables = dict[str, list[Row]]


class Similarity(Protocol):
    """BERTScore F1 of responses, as far as it was computed before (docs/methods/bertscore.md)."""

    def __call__(self, candidate: int, reference: int) -> float | None:
        """The F1 of two responses by their places in `Inputs.responses`; None where it was not computed."""


@dataclass(eq=False)
class Context:
    """An analysis at work.

    Attributes
    ----------
    texts : iterable of TopicTexts
        Reads the texts anew each time it is gone through, a topic at a time. Keep numbers, not texts.
    fitted : dict of str to Fitted
        Pools with their models of who can be trusted: the analysed one; experts and pointwise raters if there are any.
    masks : dict of str to ndarray of bool
        Splits of the analysed pool's units: complete, and (of pairs) differentiable and minimal.
    redrawn : dict of str to Redrawn or None
        Pools in every resample, where competences are fitted anew or judges drawn too; None: labels stay the same.
    tables : dict
        What earlier families made, by name.
    step : callable
        Says what is being done; what takes seconds calls it.
    earlier : Earlier or None
        The analysis that this one is an update of.
    graded : tuple of Graded and Resampled, or None
        Grades, and how they are resampled, once they are made.
    imputed : list of dict
        Grades by every draw of the labels, as an update of this analysis reads them.
    similarity : Similarity or None
        BERTScores that stood when the inputs were read (`Inputs.similarity_scores`); None where nobody had them
        computed. An analysis computes none.
    """

    inputs: Inputs
    texts: Iterable[TopicTexts]
    settings: AnalysisSettings
    seed: int
    fitted: dict[str, Fitted]
    masks: dict[str, NDArray[np.bool_]]
    step: Callable[[str], None]
    tables: Tables = field(default_factory=dict)
    redrawn: dict[str, ResampledFits | None] = field(default_factory=dict)
    similarity: Similarity | None = None
    earlier: ReusableFits | None = None
    graded: tuple[Graded, Resampled] | None = None
    imputed: list[Row] = field(default_factory=list)

    @cached_property
    def text_features(self) -> list[TextFeatures]:
        """Features of each response's text, in the order of the inputs' responses; read once."""
        return text_features.read(self.texts, self.inputs.language)

    @cached_property
    def topics_of_responses(self) -> Resampling:
        """The topics of all responses with their bootstrap weights."""
        return Resampling.of(self.inputs.responses, self.settings, self.seed)

    @property
    def main(self) -> Fitted:
        """The analysed pool."""
        return self.fitted[self.inputs.pool]
