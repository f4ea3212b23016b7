"""Number of further judgments needed to tell two participants apart (approximate).

Noether's formula gives the number of topics needed if the difference stays as observed (`analysis.stats.sample_size`).
The judgments are those of that many more topics, judged like the present ones.
"""

import math
from collections.abc import Mapping, Sequence

from analysis.stats.sample_size import signed_rank_pairs

from ...tables.rows import Row
from ..fits import Fit, Fitted
from .votes_by_judges import ALL

#: Significance level of the adjusted p-value, and power.
SIGNIFICANT, POWER = 0.05, 0.8
#: If more than this multiple of the present topics is needed, the formula is meaningless: the difference may be 0.
MOST_TIMES = 10


def per_topic(fitted: Fitted, fits: Sequence[Fit]) -> dict[str, float]:
    """Return the number of judgments of pairs per topic, on each dimension of these fits and on all together."""
    topics = len({topic for _left, _right, topic, _name in fitted.pool.units})
    counts = {fit.dimension.name: len(fit.seen[0]) / topics for fit in fits}
    return counts | {ALL: sum(counts.values())}


def add(tests: list[Row], judgments: Mapping[str, float]) -> list[Row]:
    """Replace the number of topics without a difference by the further topics and judgments needed."""
    for row in tests:
        more = more_topics(row["effect"], row["p"], row["p_adjusted"], n=row["n"], zeros=row.pop("zeros"))
        row["more_topics"] = more
        row["more_judgments"] = None if more is None else math.ceil(more * judgments[row["dimension"]])
    return tests


def more_topics(effect: float | None, p: float | None, p_adjusted: float | None, *, n: int, zeros: int) -> int | None:
    """Return the further topics needed to detect a difference of the observed size with a power of 80 %.

    Parameters
    ----------
    effect, p, p_adjusted : float or None
        Results of the present test.
    n, zeros : int
        Number of topics, and of those without a difference, which the test ignores.

    Returns
    -------
    int or None
        None if the difference is already significant, if there is no test or no difference, or if the test needs more
        than ten times the topics.
    """
    if effect is None or p is None or p_adjusted is None or not effect or p_adjusted <= SIGNIFICANT:
        return None
    # Tighten the level by the factor by which the adjustment increased p.
    pairs = signed_rank_pairs(effect, level=SIGNIFICANT * p / p_adjusted, power=POWER)
    needed = pairs * n / (n - zeros)
    return math.ceil(needed) - n if n < needed <= MOST_TIMES * n else None
