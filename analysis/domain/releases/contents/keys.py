"""Many keys of rows, in eight bytes each: a set takes ten times as much, and a release holds hundreds of thousands."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator


class Keys:
    """A set of keys that is made once: `in`, `len`, and iteration in ascending order.

    They are given in ascending order, each once, as a query ordered by them yields them.
    """

    def __init__(self, ascending: Iterable[int]) -> None:
        self._keys = array("q", ascending)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, int):
            return False
        place = bisect_left(self._keys, key)
        return place < len(self._keys) and self._keys[place] == key

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def as_array(self) -> str:
        """Return them as one parameter of a query: an array of PostgreSQL in its own writing."""
        return f"{{{','.join(map(str, self._keys))}}}"
