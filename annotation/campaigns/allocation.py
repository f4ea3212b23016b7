"""Allocate items to questionnaires of equal length, with topics, origins and sides balanced.

`measure` reports the balance that was reached.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ..campaign_types.drawn_items import DrawnItem
from .side_balance import longer_left

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Weights of squared deviations. Unit of words: one percent of a questionnaire's mean length; of lean: an imbalance of
# one pair; of origins: one item too many of a combination.
WORDS: Final = 8.0
LEAN: Final = 1.0
ORIGIN: Final = 0.5
TOPIC: Final = 10.0
TEXT: Final = 10.0
BOTH_ORDERS: Final = 1e7
MOST_SWEEPS: Final = 30
# The largest number of random partners to try for each swap.
MOST_PARTNERS: Final = 300
# The smallest gain that justifies a swap. The search stops if a sweep gains less than ENOUGH per questionnaire.
LEAST_GAIN: Final = 1e-6
ENOUGH: Final = 0.01
EVEN: Final = "even"
SHORT: Final = "short"


class CannotSeparate(ValueError):  # noqa: N818 -- it says what cannot be done
    """The two orders of a pair cannot be put into different questionnaires, because there are too few of them."""


def sizes(total: int, most: int, *, remainder: str = EVEN, twice: int = 0) -> list[int]:
    """Return the number of items of each questionnaire, at most `most`.

    Pairs that are shown in both orders need two questionnaires, even if one has room for all items.

    Parameters
    ----------
    remainder
        `even`: the sizes differ by one at most; `short`: all but the last one are full, if the orders can be separated
        so.
    twice
        number of pairs that are shown in both orders; each adds two items to the total.
    """
    number = max(-(-total // most), 2 if twice else 0)
    even = [total // number + (index < total % number) for index in range(number)]
    if remainder != SHORT or not number:
        return even
    short = [most] * (number - 1) + [total - most * (number - 1)]
    return short if min(short) > 0 and can_separate(short, twice) else even


def can_separate(sizes: Sequence[int], twice: int) -> bool:
    """Return whether both orders of this number of pairs fit into different questionnaires (Gale and Ryser, 1957)."""
    return sum(min(size, twice) for size in sizes) >= 2 * twice


def pack(drawn: Sequence[DrawnItem], sizes: Sequence[int], *, rng: Generator) -> list[list[int]]:
    """Allocate the drawn items to questionnaires; return the indices in `drawn` for each questionnaire.

    Raises
    ------
    CannotSeparate
    """
    if sum(sizes) != len(drawn):
        raise ValueError(f"{len(drawn)} are to be packed into questionnaires of {sum(sizes)} in all.")
    if not drawn:
        return []
    packing = _Packing(drawn, sizes, _dealt(drawn, sizes, rng))
    packing.improve(rng)
    if packing.clashes():
        raise CannotSeparate
    return [np.flatnonzero(packing.held == number).tolist() for number in range(len(sizes))]


def order(questionnaire: Sequence[int], *, rng: Generator) -> list[int]:
    """Return a questionnaire's items in random order."""
    return [questionnaire[index] for index in rng.permutation(len(questionnaire))]


def _dealt(drawn: Sequence[DrawnItem], sizes: Sequence[int], rng: Generator) -> Ints:
    """Deal the items by length, longest first: each round gives one item to each questionnaire that has room."""
    ties = rng.random(len(drawn))
    # The two orders of a pair are equally long and adjacent here, so they are dealt in the same or the next round.
    queue = sorted(range(len(drawn)), key=lambda index: (-drawn[index].words, drawn[index].both, ties[index]))
    rounds = max(sizes)
    seats: list[list[int]] = [[] for _ in range(rounds)]
    for number, size in enumerate(sizes):
        # Shorter questionnaires skip rounds. The skipped rounds are spread over all lengths.
        offset = int(rng.integers(rounds))
        for seat in range(size):
            seats[(seat * rounds + offset) // size % rounds].append(number)
    held = np.empty(len(drawn), dtype=np.int64)
    dealt = [seat_things[index] for seat_things in seats for index in rng.permutation(len(seat_things))]
    held[queue] = dealt
    return held


class _Packing:
    """An allocation of items to questionnaires, with its cost."""

    def __init__(self, drawn: Sequence[DrawnItem], sizes: Sequence[int], held: Ints):
        self.held = held
        number = len(sizes)
        features, targets = _features(drawn, np.asarray(sizes, dtype=np.float64))
        self.features = features
        self.distance = -targets
        np.add.at(self.distance, held, features)
        texts = [[text.key for text in (each.a, each.b) if text] for each in drawn]
        self.repeats = [
            _Repeats([[each.topic] for each in drawn], number, held, TOPIC),
            _Repeats(texts, number, held, TEXT),
        ]
        twice = _both(drawn)
        self.orders = _Repeats([[group] for group in twice], number, held, BOTH_ORDERS) if twice else None
        if self.orders:
            self.repeats.append(self.orders)

    def improve(self, rng: Generator) -> None:
        """Swap items until no swap lowers the cost."""
        total = len(self.held)
        for _sweep in range(MOST_SWEEPS):
            gained = 0.0
            for index in rng.permutation(total):
                others = rng.integers(total, size=MOST_PARTNERS) if total > MOST_PARTNERS else np.arange(total)
                costs = self.cost_of_changing(int(index), others)
                best = int(costs.argmin())
                if costs[best] < -LEAST_GAIN:
                    self.change(int(index), int(others[best]))
                    gained -= float(costs[best])
            if gained < ENOUGH * len(self.distance):
                break

    def cost_of_changing(self, index: int, others: Ints) -> Floats:
        """Return the change in cost if `index` swaps with each of `others`; 0 within the same questionnaire."""
        here, other_values = self.held[index], self.held[others]
        step = self.features[others] - self.features[index]
        gap = self.distance[here] - self.distance[other_values]
        costs: Floats = 2 * (step * (gap + step)).sum(axis=1)
        for each in self.repeats:
            costs += each.cost_of_changing(index, others, int(here), other_values)
        costs[other_values == here] = 0.0
        return costs

    def change(self, index: int, other: int) -> None:
        """Swap two items."""
        here, other_value = self.held[index], self.held[other]
        step = self.features[other] - self.features[index]
        self.distance[here] += step
        self.distance[other_value] -= step
        for each in self.repeats:
            each.change(index, other, int(here), int(other_value))
        self.held[index], self.held[other] = other_value, here

    def clashes(self) -> bool:
        """Return whether both orders of a pair are in the same questionnaire."""
        return self.orders is not None and bool((self.orders.counts > 1).any())


class _Repeats:
    """How often each questionnaire contains the same topic, text, or pair in either order."""

    def __init__(self, things: Sequence[Sequence[Hashable]], number: int, held: Ints, weight: float):
        known: dict[Hashable, int] = {}
        self.labels = np.array(
            [[known.setdefault(each, len(known)) for each in labels_of_seat] for labels_of_seat in things]
        )
        self.counts = np.zeros((number, len(known)), dtype=np.int64)
        for column in self.labels.T:
            np.add.at(self.counts, (held, column), 1)
        self.weight = weight

    def cost_of_changing(self, index: int, others: Ints, here: int, others_value: Ints) -> Floats:
        """Return the change of the weighted sum of squared counts if `index` swaps with each of `others`."""
        labels, theirs = self.labels[index], self.labels[others]
        lost = self.counts[here, labels].sum() - self.counts[others_value[:, None], labels].sum(axis=1)
        gained = self.counts[here, theirs].sum(axis=1) - self.counts[others_value[:, None], theirs].sum(axis=1)
        shared = (theirs[:, :, None] == labels).sum(axis=(1, 2))
        changed: Floats = self.weight * 2.0 * (gained - lost + 2 * (len(labels) - shared))
        return changed

    def change(self, index: int, other: int, here: int, other_value: int) -> None:
        """Swap two items."""
        for label in self.labels[index]:
            self.counts[here, label] -= 1
            self.counts[other_value, label] += 1
        for label in self.labels[other]:
            self.counts[other_value, label] -= 1
            self.counts[here, label] += 1


def _features(drawn: Sequence[DrawnItem], sizes: Floats) -> tuple[Floats, Floats]:
    """Return each item's contribution and each questionnaire's target, both scaled to units of cost."""
    words = np.array([each.words for each in drawn], dtype=np.float64)
    # Questionnaires whose sizes differ by one should be equally long all the same. A short remainder should not.
    shares = sizes / sizes.sum() if np.ptp(sizes) > 1 else np.full(len(sizes), 1 / len(sizes))
    unit = 100 * len(sizes) / max(words.sum(), 1.0)
    columns: list[Floats] = [WORDS**0.5 * unit * words, LEAN**0.5 * _array(longer_left(each) for each in drawn)]
    targets: list[Any] = [WORDS**0.5 * unit * words.sum() * shares, np.zeros(len(sizes))]
    combinations = sorted({each.combination for each in drawn})
    for combination in combinations if len(combinations) > 1 else []:
        column = ORIGIN**0.5 * _array(each.combination == combination for each in drawn)
        columns.append(column)
        targets.append(column.sum() * sizes / sizes.sum())
    for combination in combinations:
        if len(set(combination)) > 1:
            columns.append(LEAN**0.5 * _array(origin_left(each, combination) for each in drawn))
            targets.append(np.zeros(len(sizes)))
    return np.stack(columns, axis=1), np.stack(targets, axis=1)


def origin_left(each: DrawnItem, combination: tuple[str, ...]) -> int:
    """Return 1 if the first of two different origins is left, -1 if it is right, 0 for other combinations."""
    if each.combination != combination or len(set(combination)) < 2:
        return 0
    return 1 if each.a.origin == combination[0] else -1


def _array(values: Any) -> Floats:
    return np.array([float(value) for value in values])


def _both(drawn: Sequence[DrawnItem]) -> list[Hashable]:
    """Return a key for each item that is equal for both orders of a pair; empty if no pair is shown in both orders."""
    seen = [each.both for each in drawn]
    return list(seen) if len(set(seen)) < len(seen) else []


@dataclass(frozen=True)
class Measures:
    """What the questionnaires contain. Numbers of words count all texts of a questionnaire.

    Attributes
    ----------
    both_orders
        number of pairs that are shown in both orders.
    left_right
        greatest difference between how often a text is on the left and on the right.
    origin_lean
        greatest difference, within a questionnaire, between how often an origin is left and right of another origin.
    length_lean
        the same for the longer and the shorter text.
    """

    items: int
    both_orders: int
    questionnaires: int
    fewest: int
    most: int
    fewest_words: int
    most_words: int
    same_topic: int
    same_text: int
    left_right: int
    origin_lean: int
    length_lean: int

    @property
    def spread(self) -> float | None:
        """Ratio of words in the longest to the shortest questionnaire; None without words."""
        return self.most_words / self.fewest_words if self.fewest_words else None


def measure(questionnaires: Sequence[Sequence[DrawnItem]]) -> Measures:
    """Measure the drawn questionnaires."""
    every = [each for questionnaire in questionnaires for each in questionnaire]
    words = [sum(each.words for each in questionnaire) for questionnaire in questionnaires]
    sides: Counter[int] = Counter()
    for each in every:
        if each.b:
            sides[each.a.key] += 1
            sides[each.b.key] -= 1
    orders = Counter(each.both for each in every)
    return Measures(
        items=len(every),
        both_orders=sum(number > 1 for number in orders.values()),
        questionnaires=len(questionnaires),
        fewest=min(map(len, questionnaires), default=0),
        most=max(map(len, questionnaires), default=0),
        fewest_words=min(words, default=0),
        most_words=max(words, default=0),
        same_topic=max((_most(each.topic for each in items) for items in questionnaires), default=0),
        same_text=max((_most(key for each in items for key in each.both) for items in questionnaires), default=0),
        left_right=max(map(abs, sides.values()), default=0),
        origin_lean=max((_origin_lean(items) for items in questionnaires), default=0),
        length_lean=max((abs(sum(map(longer_left, items))) for items in questionnaires), default=0),
    )


def _most(values: Iterable[int]) -> int:
    return max(Counter(values).values(), default=0)


def _origin_lean(questionnaire: Sequence[DrawnItem]) -> int:
    mixed = {each.combination for each in questionnaire}
    return max((abs(sum(origin_left(each, one) for each in questionnaire)) for one in sorted(mixed)), default=0)
