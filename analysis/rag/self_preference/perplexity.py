"""Perplexity of passages under a language model, and tests of whether it differs between authors.

Reference: self_preference, Table 2; design 7.9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from ..protocols import Floats, Generator, Prompt

#: The empty prompt before a passage.
NOTHING = Prompt(messages=())


class TooFewPassagesError(ValueError):
    """There are fewer than two authors, or fewer than two questions with perplexities for all authors."""


@dataclass(frozen=True)
class Difference:
    """Difference between two authors' passages on the same questions.

    Attributes
    ----------
    first, second : str
    difference : float
        Mean perplexity of the first minus that of the second.
    low, high : float
        95 % interval of the difference, by Tukey's test.
    p_tukey : float
        Corrected for all pairs of authors (Tukey 1949; treats the groups as independent).
    p_paired : float
        Of Student's t-test paired by question, since both authors write on the same questions; uncorrected.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_tukey: float
    p_paired: float


@dataclass(frozen=True)
class Comparison:
    """Comparison of all authors.

    Attributes
    ----------
    means, deviations : dict of str to float
        Mean and standard deviation of perplexity by author.
    questions, left_out : int
        Questions compared, and those left out because a perplexity is missing.
    statistic, p : float
        Of the one-way analysis of variance.
    differences : tuple of Difference
        Every pair of authors.
    """

    means: dict[str, float]
    deviations: dict[str, float]
    questions: int
    left_out: int
    statistic: float
    p: float
    differences: tuple[Difference, ...]


def perplexities_of(reader: Generator, texts: Sequence[str]) -> Floats:
    """Compute the perplexity of texts: the exponential of the mean negative log-likelihood of their tokens.

    Parameters
    ----------
    reader : Generator
        A causal model in this process (GPT-2 in the paper). Each token is conditioned on those before it, the first on
        the model's start token, as in Hugging Face's `evaluate`.
    texts : sequence of str, length n

    Returns
    -------
    ndarray of float64, shape (n,)
        At least 1. NaN if a text is empty or exceeds the model's length.

    Raises
    ------
    NoLikelihoodsError
        If the reader cannot compute the likelihood of a text (chat servers).
    """
    perplexities: Floats = np.exp(-reader.likelihoods([NOTHING] * len(texts), texts))
    return perplexities


def compare(perplexity: Mapping[str, ArrayLike], *, level: float = 0.95) -> Comparison:
    """Run an analysis of variance over authors, and Tukey's test of each pair.

    Parameters
    ----------
    perplexity : mapping of str to array_like, shape (n_questions,)
        By author, in the order of the questions. A question with a NaN is left out for all authors and counted.
    level : float
        Confidence level of the intervals.

    Returns
    -------
    Comparison

    Raises
    ------
    TooFewPassagesError
        With fewer than two authors, or fewer than two complete questions.
    ValueError
        If the arrays differ in length, or a perplexity is not above 0.
    """
    if len(perplexity) < 2:
        raise TooFewPassagesError("perplexity is compared between at least two authors")
    table = np.stack([np.asarray(values, dtype=np.float64) for values in perplexity.values()])
    if (table <= 0).any() or np.isinf(table).any():
        raise ValueError("a perplexity is a finite number above 0; NaN where there is none")
    complete = ~np.isnan(table).any(axis=0)
    if complete.sum() < 2:
        raise TooFewPassagesError("fewer than two questions have passages of all authors: compute more perplexities")
    groups = list(table[:, complete])
    names = list(perplexity)
    variance, tukey = scipy.stats.f_oneway(*groups), scipy.stats.tukey_hsd(*groups)
    bounds = tukey.confidence_interval(level)
    return Comparison(
        means={name: float(group.mean()) for name, group in zip(names, groups, strict=True)},
        deviations={name: float(group.std(ddof=1)) for name, group in zip(names, groups, strict=True)},
        questions=int(complete.sum()),
        left_out=int((~complete).sum()),
        statistic=float(variance.statistic),
        p=float(variance.pvalue),
        differences=tuple(
            Difference(
                names[i],
                names[j],
                float(tukey.statistic[i, j]),
                float(bounds.low[i, j]),
                float(bounds.high[i, j]),
                float(tukey.pvalue[i, j]),
                _paired(groups[i] - groups[j]),
            )
            for i, j in combinations(range(len(names)), 2)
        ),
    )


def _paired(difference: NDArray[np.float64]) -> float:
    if np.ptp(difference) == 0:
        return float("nan")  # without variation, the test is undefined
    return float(scipy.stats.ttest_1samp(difference, 0.0).pvalue)
