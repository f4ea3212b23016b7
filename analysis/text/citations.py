"""Which passages a response cites, in which order, and where (design 7.5; crowdrag25, sections 4.2, 4.3 and 4.5).

Passages go by what they are told apart by, ranks in a list of passages or any other hashable name. Nothing here is
correlated but *positions*: the published analysis correlated the passages' ids, whose order says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from statistics import median

import numpy as np
from numpy.typing import NDArray

from analysis.text.statements import ParsedResponse

NAN = float("nan")


def jaccard(first: Collection[Hashable], second: Collection[Hashable]) -> float:
    """How much two sets of passages overlap: the passages of both, by those of either.

    Parameters
    ----------
    first, second : collection of hashable
        Passages; repetitions do not count.

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
    """Spearman's rho between the orders in which two lists hold the passages that both hold.

    Parameters
    ----------
    first, second : sequence of hashable
        Passages in order, by rank or by first citation; of one that stands there twice the first place counts.

    Returns
    -------
    float
        From -1 to 1; NaN with fewer than two passages in both. With two it is -1 or 1: average over many lists.

    Notes
    -----
    Places in a list are never equal, so with d the difference of a passage's two ranks and m passages
    rho = 1 - 6 sum(d^2) / (m (m^2 - 1)).

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
    """The median rank of the passages that a response cites, and of those that it could have cited.

    Parameters
    ----------
    cited : collection of int
        Ranks of cited passages.
    available : collection of int
        Ranks of all passages that its author had, the cited ones too.

    Returns
    -------
    tuple of float
        Of cited and of uncited passages; NaN where there are none.

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
    """Where in its text a response cites: the end of each statement with citations, as a share of the text.

    Parameters
    ----------
    parsed : ParsedResponse
        The text is what its statements say, without markers: a long marker moves nothing.

    Returns
    -------
    list of float
        Ascending, from 0 to 1; a statement counts once, however many passages it cites. Empty if nothing is cited, or
        if there is no text.

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
    """How many positions lie in each of some equal parts of the text.

    Parameters
    ----------
    positions : sequence of float
        From 0 to 1.
    bins : int
        How many parts; a position between two belongs to the later, the end of the text to the last.

    Returns
    -------
    ndarray of int, shape (bins,)

    Raises
    ------
    ValueError
        If there is no part, or a position outside of the text.
    """
    if bins < 1:
        msg = f"there must be at least one part, not {bins}"
        raise ValueError(msg)
    relative = np.asarray(positions, dtype=np.float64)
    if not np.all((relative >= 0) & (relative <= 1)):
        msg = "positions lie between 0 and 1"
        raise ValueError(msg)
    return np.bincount(np.minimum((relative * bins).astype(np.int64), bins - 1), minlength=bins)
