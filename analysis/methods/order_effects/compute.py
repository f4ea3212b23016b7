"""Order effects: influence of a response's side or an item's position on judgments (docs/methods/order-effects.md).

crowdrag25, section 5.1, Table 5.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.agreement import SharedPairs
from analysis.stats.judgments import canonical
from analysis.stats.labels import A, N
from analysis.stats.position_bias import side_test

from ...inputs.arrays import EXPERT, Inputs, Ints
from ...tables.rows import Row, number
from .. import estimates
from ..agreement.compute import CHOSEN, coders_of
from ..context import Context, Tables
from ..estimates import Estimate, noted, undefined
from ..fits import Fit, Fitted
from ..settings import AnalysisSettings

ALL = "all"
WITHIN, ACROSS = "within", "across"
FORWARD, REVERSE, BOTH, FIRST, SECOND = "forward", "reverse", "both", "first", "second"
NO_PAIR = "no pair was judged in both orders on this dimension"
NOT_PREFERENCES = "order effects need a choice between two responses, and this dimension has other options"
NO_POSITION = "the positions of items in questionnaires are unknown"
NO_CHOICE = "nobody chose one of the two responses on this dimension"
BOTH_ORDERS = "both_orders"
# Codes of labels as presented.
FRONT, NEUTRAL = A, N


@dataclass(frozen=True, eq=False)
class _Votes:
    """The votes of one dimension used for order effects.

    Attributes
    ----------
    pair : ndarray of int
        The two responses, regardless of their sides.
    value : ndarray of int
        In canonical orientation: 0 is the lower response ID.
    flipped : ndarray of bool
        Whether the higher ID was on the left.
    """

    pair: Ints
    coder: Ints
    value: Ints
    flipped: NDArray[np.bool_]
    pairs: int
    coders: int

    def alpha(self, keep: NDArray[np.bool_], topic: Ints, drawn: bool, shared: SharedPairs) -> Estimate:
        """Compute alpha of the selected votes, one for each judge and pair; `topic`: the topic of each pair."""
        key = self.pair[keep] * self.coders + self.coder[keep]
        # If a judge saw both orders, keep the canonical one: otherwise they would agree with themselves.
        order = np.lexsort((self.flipped[keep], key))
        once = order[np.unique(key[order], return_index=True)[1]]
        votes = (self.pair[keep][once], self.coder[keep][once], self.value[keep][once])
        return estimates.alpha(votes, topic, values=3, drawn_coders=drawn, shared=shared)


def compute_tables(analysed: Context) -> Tables:
    """Compute agreement by order, differences between orders, and preferences for the first response."""
    inputs = analysed.inputs
    parts = _by_order(inputs, analysed.main, analysed.settings)
    return {
        "order_effects": [
            noted(
                {"dimension": dimension, "effect": effect, "part": part} | alpha.columns("alpha") | {"items": alpha.n},
                [alpha.note],
            )
            for (dimension, effect), by_part in parts.items()
            for part, alpha in by_part.items()
        ],
        "order_differences": _differences(parts),
        "front_preferences": list(_front_preferences(analysed)),
    }


Parts = dict[tuple[str, str], dict[str, Estimate]]


def _by_order(inputs: Inputs, main: Fitted, settings: AnalysisSettings) -> Parts:
    """Compute alpha of each part by dimension and effect, and the means over dimensions."""
    parts: Parts = {}
    if not main.fits:
        return parts
    pairs = _pairs(main)
    units = SharedPairs.of_any([(fit.unit, fit.coder) for fit in main.fits], main.pool.topic)
    for effect in (WITHIN, ACROSS):
        of_both = _shared_of_pairs(main, pairs) if effect == WITHIN else None
        for fit in main.fits:
            parts[fit.dimension.name, effect] = (
                _across(inputs, main, fit, settings, units)
                if of_both is None
                else _within(inputs, main, fit, pairs, of_both)
            )
        by_dimension = [parts[fit.dimension.name, effect] for fit in main.fits]
        parts[ALL, effect] = {
            part: estimates.mean([dimension_parts[part] for dimension_parts in by_dimension])
            for part in by_dimension[0]
        }
    return parts


Pairs = tuple[Ints, NDArray[np.bool_], Ints]


def _pairs(main: Fitted) -> Pairs:
    """Return each unit's pair of responses as one number (-1: not a pair), whether it is flipped, and units by pair."""
    left, right = main.pool.left, main.pool.right
    is_pair = (left >= 0) & (right >= 0)
    sides = canonical(left[is_pair], right[is_pair])
    pair = np.full(len(left), -1, dtype=np.int64)
    flipped = np.zeros(len(left), dtype=np.bool_)
    _, pair[is_pair], sizes = np.unique(
        np.column_stack([sides.low, sides.high]), axis=0, return_inverse=True, return_counts=True
    )
    flipped[is_pair] = sides.flipped
    return pair, flipped, np.append(sizes, 0)


def _shared_of_pairs(main: Fitted, pairs: Pairs) -> SharedPairs:
    """Return the pairs of judges of each pair of responses, in either order."""
    pair, _flipped, sizes = pairs
    people = len(main.pool.participants)
    judged = np.unique(np.concatenate([pair[fit.unit] * people + fit.coder for fit in main.fits]))
    topic = np.zeros(max(1, len(sizes) - 1), dtype=np.int64)
    topic[pair[pair >= 0]] = main.pool.topic[pair >= 0]
    return SharedPairs(*np.divmod(judged[judged >= 0], people), topic)


def _votes(main: Fitted, fit: Fit, pairs: Pairs) -> _Votes:
    pair, flipped, sizes = pairs
    value = canonical(main.pool.left[fit.unit], main.pool.right[fit.unit]).labels(fit.value)
    return _Votes(
        pair[fit.unit], fit.coder, value, flipped[fit.unit], max(1, len(sizes) - 1), len(main.pool.participants)
    )


def _within(inputs: Inputs, main: Fitted, fit: Fit, pairs: Pairs, shared: SharedPairs) -> dict[str, Estimate]:
    """Compute alpha of each order for pairs judged in both, and of both orders together in canonical orientation."""
    if not fit.dimension.is_preference or np.any(main.pool.right[fit.unit] < 0):
        return dict.fromkeys((FORWARD, REVERSE, BOTH), undefined(NOT_PREFERENCES))
    votes = _votes(main, fit, pairs)
    judged = [np.bincount(votes.pair[votes.flipped == side], minlength=votes.pairs) > 0 for side in (False, True)]
    both = (judged[0] & judged[1])[votes.pair]
    if not both.any():
        return dict.fromkeys((FORWARD, REVERSE, BOTH), undefined(NO_PAIR))
    of_pair = np.zeros(votes.pairs, dtype=np.int64)
    of_pair[votes.pair] = main.pool.topic[fit.unit]
    chosen = {FORWARD: both & ~votes.flipped, REVERSE: both & votes.flipped, BOTH: both}
    drawn = coders_of(inputs.pool) not in CHOSEN
    return {part: votes.alpha(keep, of_pair, drawn, shared) for part, keep in chosen.items()}


def _across(
    inputs: Inputs, main: Fitted, fit: Fit, settings: AnalysisSettings, shared: SharedPairs
) -> dict[str, Estimate]:
    """Compute alpha of the first items of the questionnaires, and of the later ones."""
    pool = main.pool
    counted = pool.first_votes(settings.k) & (pool.dimension == inputs.dimensions.index(fit.dimension))
    position = pool.position[counted]
    if not np.any(position > 0):
        return dict.fromkeys((FIRST, SECOND), undefined(NO_POSITION))
    chosen = {
        FIRST: (position > 0) & (position <= settings.first_positions),
        SECOND: position > settings.first_positions,
    }
    how: dict[str, Any] = {
        "values": len(fit.dimension.domain),
        "drawn_coders": coders_of(inputs.pool) not in CHOSEN,
        "domain": None if fit.dimension.is_preference else fit.dimension.domain,
        "shared": shared,
    }
    return {
        part: estimates.alpha((fit.unit[keep], fit.coder[keep], fit.value[keep]), pool.topic, **how)
        for part, keep in chosen.items()
    }


def _differences(parts: Parts) -> list[Row]:
    """Compute the largest absolute difference between the parts, as published, and the signed difference.

    An interval of the signed difference can include zero.
    """
    differences: dict[tuple[str, str], tuple[Estimate, Estimate]] = {}
    for (dimension, effect), by_part in parts.items():
        if dimension == ALL:
            by_dimension = [
                dimension_differences for key, dimension_differences in differences.items() if key[1] == effect
            ]
            differences[ALL, effect] = (
                estimates.mean([dimension_differences[0] for dimension_differences in by_dimension]),
                estimates.difference(*list(by_part.values())[:2]),
            )
        elif effect == WITHIN:
            apart = [estimates.difference(by_part[BOTH], by_part[part]) for part in (FORWARD, REVERSE)]
            signed = estimates.difference(by_part[FORWARD], by_part[REVERSE])
            differences[dimension, effect] = estimates.largest(apart), signed
        else:
            signed = estimates.difference(by_part[FIRST], by_part[SECOND])
            differences[dimension, effect] = estimates.largest([signed]), signed
    return [
        noted(
            {"dimension": dimension, "effect": effect}
            | largest.columns("largest", "largest_low", "largest_high")
            | signed.columns("difference")
            | {"items": signed.n},
            [largest.note, signed.note],
        )
        for (dimension, effect), (largest, signed) in differences.items()
    ]


def _front_preferences(analysed: Context) -> Iterator[Row]:
    """Yield the share of choices for the first response, by pool of people, pairs and dimension."""
    pools = [analysed.inputs.pool, *(name for name in (EXPERT,) if name != analysed.inputs.pool)]
    for name in pools:
        fitted = analysed.fitted.get(name)
        if fitted is None or not fitted.fits:
            continue
        pair, _, sizes = _pairs(fitted)
        for pairs, units in ((ALL, pair >= 0), (BOTH_ORDERS, sizes[pair] > 1)):
            front = _Front(fitted, pair, units, coders_of(name) not in CHOSEN)
            yield from front.rows({"coders": coders_of(name), "pairs": pairs}, tests=pairs == BOTH_ORDERS)


@dataclass(frozen=True, eq=False)
class _Front:
    """Choices for the first response on some units of a pool."""

    fitted: Fitted
    pair: Ints
    units: NDArray[np.bool_]
    drawn: bool

    def rows(self, key: Row, *, tests: bool) -> list[Row]:
        """Return one row for each dimension, and one for the choices on all of them."""
        fits = [fit for fit in self.fitted.fits if fit.dimension.is_preference]
        tested_rows = [self._row(key, fit.dimension.name, [fit]) for fit in fits]
        if fits:
            tested_rows.append(self._row(key, ALL, fits))
        if tests:
            adjusted = _adjusted([p for _, p in tested_rows])
            for (row, p), also in zip(tested_rows, adjusted, strict=True):
                row |= {"p": number(p), "p_adjusted": number(also)}
        return [row for row, _ in tested_rows]

    def _row(self, key: Row, name: str, fits: list[Fit]) -> tuple[Row, float]:
        unit = np.concatenate([fit.unit for fit in fits])
        value = np.concatenate([fit.value for fit in fits])
        choice = (value != NEUTRAL) & self.units[unit]
        coder = np.concatenate([fit.coder for fit in fits])[choice]
        unit, first = unit[choice], value[choice] == FRONT
        problem = NO_CHOICE if self.units.any() else NO_PAIR
        topic = self.fitted.pool.topic[unit]
        share = estimates.share(first, topic, coder if self.drawn else None, problem=problem)
        # For each pair of responses in both orders: choices of the first minus choices of the second.
        signs = np.where(first, 1, -1)
        excess = np.bincount(self.pair[unit], weights=signs, minlength=1).astype(np.int64)
        row = {"coders": key["coders"], "dimension": name, "pairs": key["pairs"]} | share.columns("front_preference")
        return noted(row | {"p": None, "p_adjusted": None, "n": share.n}, [share.note]), side_test(excess).p


def _adjusted(tested: list[float]) -> list[float]:
    """Adjust p-values over the dimensions by Benjamini-Hochberg; the last one, for all together, is not adjusted."""
    if not tested:
        return []
    p = np.array(tested[:-1])
    known = ~np.isnan(p)
    if known.any():
        p[known] = scipy.stats.false_discovery_control(p[known])
    return [*p.tolist(), tested[-1]]
