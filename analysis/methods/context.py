"""Data shared by all methods of an analysis: inputs, fits, and the tables computed so far."""

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
    """BERTScore F1 of pairs of responses, if computed before (docs/methods/bertscore.md)."""

    def __call__(self, candidate: int, reference: int) -> float | None:
        """Return F1 of two responses by their index in `Inputs.responses`; None if not computed."""


@dataclass(eq=False)
class Context:
    """An analysis in progress.

    Attributes
    ----------
    texts : iterable of TopicTexts
        Each iteration reads the texts anew, one topic at a time. Keep numbers, not texts.
    fitted : dict of str to Fitted
        Pools with their MACE models: the analysed pool; experts and pointwise raters if there are any. Empty, as
        `masks` and `redrawn`, for methods that do not read judgments (`Method.reads_judgments`).
    masks : dict of str to ndarray of bool
        Splits of the analysed pool's units: complete and, for pairs, differentiable and minimal.
    redrawn : dict of str to ResampledFits or None
        Pools in every resample, if competences are refitted or judges are drawn too; None: the labels stay the same.
    tables : dict
        Tables of earlier methods, by name.
    step : callable
        Reports progress; call it before work that takes seconds.
    earlier : ReusableFits or None
        The analysis that this one updates.
    graded : tuple of Graded and Resampled, or None
        Grades and their resamples, once computed.
    imputed : list of dict
        Grades for every draw of the labels, for updates of this analysis (`reusable_fits.grades_row`).
    similarity : Similarity or None
        BERTScores stored when the inputs were read (`Inputs.similarity_scores`); None if there were none. An analysis
        computes none itself.
    """

    inputs: Inputs
    texts: Iterable[TopicTexts]
    settings: AnalysisSettings
    seed: int
    step: Callable[[str], None]
    fitted: dict[str, Fitted] = field(default_factory=dict)
    masks: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    redrawn: dict[str, ResampledFits | None] = field(default_factory=dict)
    similarity: Similarity | None = None
    earlier: ReusableFits | None = None
    graded: tuple[Graded, Resampled] | None = None
    imputed: list[Row] = field(default_factory=list)

    @cached_property
    def text_features(self) -> list[TextFeatures]:
        """Features of each response's text, in the order of the inputs' responses; cached."""
        return text_features.read(self.texts, self.inputs.language)

    @cached_property
    def topics_of_responses(self) -> Resampling:
        """Topics of all responses with their bootstrap weights."""
        return Resampling.of(self.inputs.responses, self.settings, self.seed)

    @property
    def main(self) -> Fitted:
        """The analysed pool."""
        return self.fitted[self.inputs.pool]
