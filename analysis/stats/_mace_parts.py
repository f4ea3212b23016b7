"""The judgments of MACE in parts that have nothing to do with each other.

Nothing links two annotators who judged no item together, nor through others: all parameters of MACE are an annotator's
own. The likelihood of a study is therefore a product over the connected parts of the graph of annotators and items, and
the best fit of the whole is put together of the best fit of each part. Crowds judge in small groups, so that there
are many: 60 among the 420 annotators of the CrowdRAG-25 sample. And judgments that come in change the parts that they
fall into, and no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Parts:
    """To which part each item and annotator belongs, from 0 to ``count - 1``."""

    count: int
    of_item: Ints  # (items,)
    of_annotator: Ints  # (annotators,)

    def sums(self, of_items: Floats, of_annotators: Floats) -> Floats:
        """Sums by part of what items and annotators have, shapes (items, restarts) and (annotators, restarts).

        Returns
        -------
        ndarray of shape (parts, restarts)
        """
        return np.asarray(self._items @ of_items + self._annotators @ of_annotators)

    @cached_property
    def _items(self) -> sparse.csr_array:
        return _members(self.of_item, self.count)

    @cached_property
    def _annotators(self) -> sparse.csr_array:
        return _members(self.of_annotator, self.count)


def whole(items: int, annotators: int) -> Parts:
    """Everything as one part."""
    return Parts(1, np.zeros(items, dtype=np.int64), np.zeros(annotators, dtype=np.int64))


def connected(item: Ints, annotator: Ints, *, items: int, annotators: int) -> Parts:
    """The connected parts; items and annotators without judgments are each a part of their own."""
    nodes = items + annotators
    links = sparse.coo_array((np.ones(len(item), dtype=np.int8), (item, items + annotator)), shape=(nodes, nodes))
    count, part = connected_components(links, directed=False)
    part = part.astype(np.int64)
    return Parts(int(count), part[:items], part[items:])


def _members(part: Ints, count: int) -> sparse.csr_array:
    """A 0/1 matrix whose product sums by part, in the order in which its members stand."""
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=count))
    return sparse.csr_array((np.ones(len(part)), order, np.r_[0, ends]), shape=(count, len(part)))
