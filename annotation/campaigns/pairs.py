"""Select the pairs of a topic's responses to be judged, and those to be shown in both orders."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import floor

from numpy.random import Generator

from ..campaign_types.drawn_items import DrawnItem, ResponseText

Edge = tuple[int, int]


def pairs(texts: Iterable[ResponseText], *, per_topic: int | None, rng: Generator) -> list[DrawnItem]:
    """Return pairs of texts on the same topic, each in one order.

    Parameters
    ----------
    texts
        the candidates.
    per_topic
        number of pairs per topic; None for all. In a sample, the numbers of pairs of a topic's texts differ by at
        most one.
    """
    by_topic: dict[int, list[ResponseText]] = defaultdict(list)
    for text in sorted(texts, key=lambda text: (text.topic, text.key)):
        by_topic[text.topic].append(text)
    drawn: list[DrawnItem] = []
    for responses in by_topic.values():
        if per_topic is None or per_topic >= len(responses) * (len(responses) - 1) // 2:
            drawn += [DrawnItem(a, b) for a, b in combinations(responses, 2)]
        else:
            mixed = [responses[index] for index in rng.permutation(len(responses))]
            drawn += [DrawnItem(mixed[i], mixed[j]) for i, j in schedule(len(responses))[:per_topic]]
    return drawn


def schedule(n: int) -> list[Edge]:
    """Return all pairs of `n` players in an order in which each prefix is balanced.

    Balanced: the players' numbers of games differ by one at most. For an even number of players, the order consists of
    rounds in which everybody plays once. For an odd number, it consists of Hamiltonian cycles (Walecki's), with every
    second game of a cycle first.
    """
    if n % 2 == 0:
        return [game for number in range(n - 1) for game in _round(n, number)]
    return [game for number in range(n // 2) for game in _ring(n, number)]


def _round(n: int, number: int) -> list[Edge]:
    """Return a round of the circle method: the last player is fixed, the others rotate."""
    turning = n - 1
    games = [((number + step) % turning, (number - step) % turning) for step in range(1, n // 2)]
    return [(number, n - 1), *games]


def _ring(n: int, number: int) -> list[Edge]:
    turning = n - 1
    zigzag = [(step + 1) // 2 if step % 2 else -(step // 2) for step in range(turning)]
    stops = [n - 1, *((number + offset) % turning for offset in zigzag)]
    # Two steps at a time around a cycle of odd length visit every game.
    places = [(2 * step) % n for step in range(n)]
    return [(stops[index], stops[(index + 1) % n]) for index in places]


def reversed_count(total: int, share: float, *, fill_to: int | None = None) -> int:
    """Return how many of `total` pairs are shown in both orders.

    With `fill_to`, as many more as are needed to fill whole questionnaires of this size, if there are enough pairs.
    """
    count = min(total, floor(share * total + 0.5))
    if fill_to:
        count += -(total + count) % fill_to
    return count if count <= total else min(total, floor(share * total + 0.5))


def both_orders(drawn: Sequence[DrawnItem], n: int, *, rng: Generator) -> list[int]:
    """Return the indices of `n` pairs to show in both orders, stratified by origins and by length.

    In every range of lengths within a combination of origins, the number of selected pairs differs from its expected
    share by less than one.
    """
    ties = rng.random(len(drawn))
    ordered = sorted(range(len(drawn)), key=lambda index: (drawn[index].combination, drawn[index].words, ties[index]))
    return sorted(ordered[index] for index in systematic(len(drawn), n, rng=rng))


def systematic(total: int, n: int, *, rng: Generator) -> list[int]:
    """Return `n` of `total` indices, evenly spaced from a random start. All indices are equally probable."""
    start = float(rng.random())
    # Integers keep the count exact: index i is selected where a step of n / total crosses an integer.
    offset = floor(start * total)
    return [i for i in range(total) if ((i + 1) * n + offset) // total > (i * n + offset) // total] if total else []
