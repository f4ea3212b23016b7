"""Balance sides: each response is shown left and right about equally often.

Pairs are edges of a graph whose nodes are texts; to put one of the two left is to give its edge a direction. Along a
walk that uses each edge once and comes back (Euler's), every node is left as often as it is entered. Nodes with an odd
number of edges are joined to a node of their origin's first, so that origins come out even as well.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from numpy.random import Generator

from .pairs import DrawnItem

TRIES = 24
Node = tuple[str, int | str]


def balance_sides(drawn: Sequence[DrawnItem], *, rng: Generator) -> list[DrawnItem]:
    """Return the pairs with their sides drawn anew.

    For each text the numbers of times that it stands left and right differ by one at most; so do, over all pairs of
    texts of different origins, those for each origin. Of several such drawings, one in which the longer text stands
    left about as often as right.
    """
    best: list[DrawnItem] = list(drawn)
    least: int | None = None
    for _try in range(TRIES):
        oriented = _walked(drawn, rng)
        tilt = abs(sum(longer_left(each) for each in oriented))
        if least is None or tilt < least:
            best, least = oriented, tilt
        if least <= len(drawn) % 2:
            break
    return best


def longer_left(each: DrawnItem) -> int:
    """Return 1 if the longer text stands left, -1 if it stands right, 0 if there is none."""
    if each.b is None:
        return 0
    return (each.a.words > each.b.words) - (each.a.words < each.b.words)


def _walked(drawn: Sequence[DrawnItem], rng: Generator) -> list[DrawnItem]:
    edges: list[tuple[Node, Node]] = [(("text", each.a.key), ("text", each.b.key)) for each in drawn if each.b]
    edges += _even_degrees(drawn)
    ends: dict[Node, list[int]] = defaultdict(list)
    for index in rng.permutation(len(edges)):
        for node in edges[index]:
            ends[node].append(int(index))
    starts: list[Node | None] = [None] * len(edges)
    for node in list(ends):
        _walk(node, edges, ends, starts)
    return [each if starts[index] == ("text", each.a.key) else each.reverse for index, each in enumerate(drawn)]


def _even_degrees(drawn: Sequence[DrawnItem]) -> list[tuple[Node, Node]]:
    """Return edges from each odd node to its origin's, and between those of origins that are odd then."""
    texts = {text.key: text for each in drawn for text in (each.a, each.b) if text}
    degree = Counter(text.key for each in drawn for text in (each.a, each.b) if text)
    odd = [text for key, text in sorted(texts.items()) if degree[key] % 2]
    extra: list[tuple[Node, Node]] = [(("text", text.key), ("origin", text.origin)) for text in odd]
    numbers = Counter(text.origin for text in odd)
    left: list[Node] = [("origin", origin) for origin, number in sorted(numbers.items()) if number % 2]
    return extra + list(zip(left[::2], left[1::2], strict=True))


def _walk(start: Node, edges: list[tuple[Node, Node]], ends: dict[Node, list[int]], starts: list[Node | None]) -> None:
    """Go along unused edges until there are none; every node is even, so the walk ends where it began."""
    node = start
    while ends[node]:
        node_after = ends[node].pop()
        if starts[node_after] is not None:
            continue
        starts[node_after] = node
        one, other = edges[node_after]
        node = other if node == one else one
