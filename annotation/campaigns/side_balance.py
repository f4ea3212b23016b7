"""Balance sides: each response is shown left and right about equally often.

Pairs are edges of a graph whose nodes are texts. Putting one of the two texts on the left gives the edge a direction.
An Eulerian circuit leaves every node as often as it enters it. Nodes of odd degree are first joined to a node of their
origin, so that origins are balanced as well.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from numpy.random import Generator

from ..campaign_types.drawn_items import DrawnItem

TRIES = 24
Node = tuple[str, int | str]


def balance_sides(drawn: Sequence[DrawnItem], *, rng: Generator) -> list[DrawnItem]:
    """Return the pairs with newly drawn sides.

    Each text is on the left as often as on the right, give or take one. The same holds for each origin, over all pairs
    of texts of different origins. Of several draws, the one that best balances the sides of the longer texts is used.
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
    """Return 1 if the longer text is left, -1 if it is right, 0 if they are equally long or there is only one."""
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
    """Return edges that make all degrees even: from odd texts to their origins, then between origins of odd degree."""
    texts = {text.key: text for each in drawn for text in (each.a, each.b) if text}
    degree = Counter(text.key for each in drawn for text in (each.a, each.b) if text)
    odd = [text for key, text in sorted(texts.items()) if degree[key] % 2]
    extra: list[tuple[Node, Node]] = [(("text", text.key), ("origin", text.origin)) for text in odd]
    numbers = Counter(text.origin for text in odd)
    left: list[Node] = [("origin", origin) for origin, number in sorted(numbers.items()) if number % 2]
    return extra + list(zip(left[::2], left[1::2], strict=True))


def _walk(start: Node, edges: list[tuple[Node, Node]], ends: dict[Node, list[int]], starts: list[Node | None]) -> None:
    """Follow unused edges until none is left. All degrees are even, so the walk ends where it began."""
    node = start
    while ends[node]:
        node_after = ends[node].pop()
        if starts[node_after] is not None:
            continue
        starts[node_after] = node
        one, other = edges[node_after]
        node = other if node == one else one
