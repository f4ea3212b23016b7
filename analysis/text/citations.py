"""Cited passages of a response, their order, and their positions (design 7.5; crowdrag25, sections 4.2, 4.3 and 4.5).

Passages are identified by ranks in a list of passages or by other hashable ids. Correlations use only *positions*: the
published analysis correlated the passages' ids, whose order has no meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from analysis.text.statements import ParsedResponse

NAN = float("nan")


def jaccard(first: Collection[Hashable], second: Collection[Hashable]) -> float:
    """Compute the overlap of two sets of passages: the size of the intersection divided by that of the union.

    Parameters
    ----------
    first, second : collection of hashable
        Passages; repetitions are ignored.

    Returns
    -------
    float
        From 0 to 1; NaN if both are empty.

    References
    ----------
    Jaccard (1901); crowdrag25, Table 3.

    Examples
    --------
    >>> jaccard({0, 3, 7}, {3, 7, 8, 9})
    0.4
    """
    left, right = set(first), set(second)
    union = len(left | right)
    return len(left & right) / union if union else NAN


def order_correlation(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Compute Spearman's rho between the orders of the passages that are in both lists.

    Parameters
    ----------
    first, second : sequence of hashable
        Passages in order, by rank or by first citation; only the first occurrence counts.

    Returns
    -------
    float
        From -1 to 1; NaN with fewer than two common passages. With two it is -1 or 1: average over many lists.

    Notes
    -----
    Positions in a list are distinct. With d the difference of a passage's two ranks and m passages, rho = 1 - 6
    sum(d^2) / (m (m^2 - 1)).

    References
    ----------
    Spearman (1904); crowdrag25, section 4.3 and Table 3.

    Examples
    --------
    >>> order_correlation(range(20), [0, 7, 3])
    0.5
    """
    left, right = dict.fromkeys(first), dict.fromkeys(second)
    rank = {passage: position for position, passage in enumerate(passage for passage in left if passage in right)}
    m = len(rank)
    if m < 2:
        return NAN
    shared = (passage for passage in right if passage in rank)
    squares = sum((rank[passage] - position) ** 2 for position, passage in enumerate(shared))
    return 1 - 6 * squares / (m * (m * m - 1))


def median_ranks(cited: Collection[int], available: Collection[int]) -> tuple[float, float]:
    """Compute the median ranks of the cited and of the uncited passages of a response.

    Parameters
    ----------
    cited : collection of int
        Ranks of cited passages.
    available : collection of int
        Ranks of all passages that the author had, including the cited ones.

    Returns
    -------
    tuple of float
        Medians of cited and of uncited passages; NaN if there are none.

    References
    ----------
    crowdrag25, Figure 2 (right).

    Examples
    --------
    >>> median_ranks({0, 2}, range(5))
    (1.0, 3.0)
    """
    used = set(cited)
    unused = [rank for rank in available if rank not in used]
    return float(median(used)) if used else NAN, float(median(unused)) if unused else NAN


def citing_positions(parsed: ParsedResponse) -> list[float]:
    """Find where a response cites: the end of each statement with citations, as a share of the text.

    Parameters
    ----------
    parsed : ParsedResponse
        The text is that of its statements, without markers: long markers do not shift positions.

    Returns
    -------
    list of float
        Ascending, from 0 to 1. A statement counts once, even with several citations. Empty if nothing is cited or there
        is no text.

    References
    ----------
    crowdrag25, Figure 4.

    Examples
    --------
    >>> from analysis.text.statements import parse
    >>> citing_positions(parse("Half of it [0, 1]. And the rest.", passages=2))
    [0.4583333333333333]
    """
    ends = np.cumsum([len(statement.text) for statement in parsed.statements])
    if not ends.size or not ends[-1]:
        return []
    return [
        float(end / ends[-1]) for end, statement in zip(ends, parsed.statements, strict=True) if statement.citations
    ]


def binned(positions: Sequence[float], bins: int) -> NDArray[np.int64]:
    """Count the positions in each of several equal parts of the text.

    Parameters
    ----------
    positions : sequence of float
        From 0 to 1.
    bins : int
        Number of parts. A position on a boundary belongs to the later part, and the end of the text to the last part.

    Returns
    -------
    ndarray of int, shape (bins,)

    Raises
    ------
    ValueError
        If there are no parts, or a position is outside the text.
    """
    if bins < 1:
        msg = f"there must be at least one part, not {bins}"
        raise ValueError(msg)
    relative = np.asarray(positions, dtype=np.float64)
    if not np.all((relative >= 0) & (relative <= 1)):
        msg = "positions lie between 0 and 1"
        raise ValueError(msg)
    return np.bincount(np.minimum((relative * bins).astype(np.int64), bins - 1), minlength=bins)
