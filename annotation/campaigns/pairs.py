"""Which pairs of a topic's responses are judged, and which of them in both orders."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import floor

from numpy.random import Generator


@dataclass(frozen=True, slots=True)
class ResponseText:
    """What drawing knows of a response."""

    key: int
    topic: int
    origin: str
    words: int


@dataclass(frozen=True, slots=True)
class DrawnItem:
    """What is judged at once: `a` left and `b` right, or `a` alone where responses are judged one by one."""

    a: ResponseText
    b: ResponseText | None = None

    @property
    def topic(self) -> int:
        """The topic that both answer."""
        return self.a.topic

    @property
    def words(self) -> int:
        """How much there is to read."""
        return self.a.words + (self.b.words if self.b else 0)

    @property
    def combination(self) -> tuple[str, ...]:
        """The origins of its texts, whichever stands left."""
        return tuple(sorted(text.origin for text in (self.a, self.b) if text))

    @property
    def both(self) -> tuple[int, ...]:
        """The keys of its texts, whichever stands left: equal for the two orders of a pair."""
        return tuple(sorted(text.key for text in (self.a, self.b) if text))

    @property
    def reverse(self) -> "DrawnItem":
        """The same texts the other way round."""
        return self if self.b is None else DrawnItem(self.b, self.a)


Edge = tuple[int, int]


def pairs(texts: Iterable[ResponseText], *, per_topic: int | None, rng: Generator) -> list[DrawnItem]:
    """Return pairs of texts on the same topic, each once, whoever stands left.

    Parameters
    ----------
    texts
        what may be compared.
    per_topic
        how many pairs of each topic; None: all of them. Of a sample, each text is in about as many pairs as every
        other of its topic: the numbers differ by one at most.
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
    """Return all pairs of `n` players in such an order that after any number of games all have played equally often.

    Equally often: the numbers differ by one at most. Rounds in which everybody plays once do that for an even number
    of players; for an odd one rings through all of them do (Walecki's), every second game of a ring first.
    """
    if n % 2 == 0:
        return [game for number in range(n - 1) for game in _round(n, number)]
    return [game for number in range(n // 2) for game in _ring(n, number)]


def _round(n: int, number: int) -> list[Edge]:
    """Return a round of the circle method: the last player stays, the others turn."""
    turning = n - 1
    games = [((number + step) % turning, (number - step) % turning) for step in range(1, n // 2)]
    return [(number, n - 1), *games]


def _ring(n: int, number: int) -> list[Edge]:
    turning = n - 1
    zigzag = [(step + 1) // 2 if step % 2 else -(step // 2) for step in range(turning)]
    stops = [n - 1, *((number + offset) % turning for offset in zigzag)]
    # Two steps at a time around a ring of odd length come by every game.
    places = [(2 * step) % n for step in range(n)]
    return [(stops[index], stops[(index + 1) % n]) for index in places]


def reversed_count(total: int, share: float, *, fill_to: int | None = None) -> int:
    """Return how many of so many pairs are shown in both orders.

    With `fill_to`, so many more that what is shown makes whole questionnaires of this size, as far as there are pairs.
    """
    count = min(total, floor(share * total + 0.5))
    if fill_to:
        count += -(total + count) % fill_to
    return count if count <= total else min(total, floor(share * total + 0.5))


def both_orders(drawn: Sequence[DrawnItem], n: int, *, rng: Generator) -> list[int]:
    """Return the places of `n` pairs that are shown in both orders, stratified by their texts' origins and by length.

    Whatever range of lengths one looks at within a combination of origins, the number chosen from it differs from its
    share by less than one.
    """
    ties = rng.random(len(drawn))
    ordered = sorted(range(len(drawn)), key=lambda index: (drawn[index].combination, drawn[index].words, ties[index]))
    return sorted(ordered[index] for index in systematic(len(drawn), n, rng=rng))


def systematic(total: int, n: int, *, rng: Generator) -> list[int]:
    """Return `n` of `total` places, evenly spread from a random start; every place is as probable as every other."""
    start = float(rng.random())
    # Whole numbers keep the count exact: place i is taken where a step of n / total passes a whole number.
    offset = floor(start * total)
    return [i for i in range(total) if ((i + 1) * n + offset) // total > (i * n + offset) // total] if total else []
