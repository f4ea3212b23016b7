"""Tests of differences between grades, paired by topic (crowdrag25, Table 7; docs/methods/significance.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from analysis.stats.bootstrap import Floats

from ...inputs.arrays import Inputs
from ...tables.rows import Row
from .. import paired_tests
from ..context import Context, Tables
from ..grade_fits import Graded, Resampled

ALL = "all"
# Process this many resamples at a time to limit memory.
_AT_ONCE = 100


@dataclass(frozen=True, eq=False)
class _Cells:
    """Mean grade of each topic, style, origin and dimension; NaN if there is none."""

    inside: scipy.sparse.csr_array  # maps grades to cells
    shape: tuple[int, int, int, int]

    def of(self, grade: Floats) -> Floats:
        """Return the cells of grades of shape (n,) or (n, resamples).

        The axes are topics, styles, origins, dimensions (and resamples).
        """
        counts = np.asarray(self.inside.sum(axis=1)).ravel()
        counts = counts if grade.ndim == 1 else counts[:, None]
        sums = np.asarray(self.inside @ grade)
        means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
        return means.reshape(*self.shape, *grade.shape[1:])


@dataclass(frozen=True)
class _Comparison:
    """A comparison of two origins within a style, or of two styles; on one dimension or over all."""

    dimension: int
    style: int
    one: tuple[int, int]
    origins: bool

    def difference(self, cells: Floats) -> Floats:
        """Return the difference of each topic, over the styles, origins or dimensions that both have in it."""
        at = [slice(None), slice(None), slice(None), slice(None)]
        sides = []
        for side in self.one:
            where: list[object] = list(at)
            where[2 if self.origins else 1] = [side]
            if self.origins and self.style >= 0:
                where[1] = [self.style]
            if self.dimension >= 0:
                where[3] = [self.dimension]
            sides.append(_picked(cells, where))
        apart = sides[0] - sides[1]
        compared = ~np.isnan(apart)
        n = compared.sum(axis=(1, 2, 3))
        total = np.where(compared, apart, 0.0).sum(axis=(1, 2, 3))
        means: Floats = np.divide(total, n, out=np.full(n.shape, np.nan), where=n > 0)
        return means


def compute_tables(analysed: Context) -> Tables:
    """Test the differences between grades of origins and of styles."""
    if analysed.graded is None:
        return {"grade_tests": []}
    return {"grade_tests": rows(analysed.inputs, *analysed.graded)}


def rows(inputs: Inputs, graded: Graded, resampled: Resampled) -> list[Row]:
    """Make one row for each test: origins within each style and all, then styles; p is adjusted over all tests."""
    names = [fit.dimension.name for fit in graded.comparisons.fits]
    of = [inputs.responses[response] for response in graded.response.tolist()]
    styles, style = np.unique([response.style for response in of], return_inverse=True)
    origins, origin = np.unique([response.origin for response in of], return_inverse=True)
    shape = (len(resampled.topics), len(styles), len(origins), len(names))
    cell = np.ravel_multi_index((resampled.topic, style, origin, graded.fit), shape)
    places = np.arange(len(cell))
    inside = scipy.sparse.coo_array(
        (np.ones(len(cell)), (cell, places)), shape=(int(np.prod(shape)), len(cell))
    ).tocsr()
    cells = _Cells(inside, shape)
    tests = list(_comparisons(len(names), len(styles), len(origins)))
    differences = _differences(tests, cells, graded, resampled)
    rows = []
    for test, (difference, samples) in zip(tests, differences, strict=True):
        sides = (origins if test.origins else styles)[list(test.one)]
        key: Row = {
            "dimension": names[test.dimension] if test.dimension >= 0 else ALL,
            "style": str(styles[test.style]) if test.style >= 0 else ALL,
            "comparison": " - ".join(sides.tolist()),
        }
        rows.append(key | paired_tests.tested_row(difference, resampled.weights, samples))
    return paired_tests.adjust(rows)


def _comparisons(dimensions: int, styles: int, origins: int) -> Iterator[_Comparison]:
    for dimension in (*range(dimensions), -1):
        for style in (*range(styles), -1) if styles > 1 else range(styles):
            for one in combinations(range(origins), 2):
                yield _Comparison(dimension, style, one, origins=True)
        for one in combinations(range(styles), 2):
            yield _Comparison(dimension, -1, one, origins=False)


def _differences(
    tests: list[_Comparison], cells: _Cells, graded: Graded, resampled: Resampled
) -> Iterator[tuple[Floats, Floats | None]]:
    """Yield the differences of each topic, and of each resample if grades vary between resamples, by test."""
    now = cells.of(graded.comparable(graded.grade))
    if resampled.grade is None:
        yield from ((test.difference(now), None) for test in tests)
        return
    again = np.empty((len(tests), resampled.grade.shape[1], len(resampled.topics)), dtype=np.float32)
    for begin in range(0, resampled.grade.shape[1], _AT_ONCE):
        block = slice(begin, begin + _AT_ONCE)
        then = cells.of(graded.comparable(resampled.grade[:, block].astype(np.float64)))
        for position, test in enumerate(tests):
            again[position, block] = test.difference(then).T
    for position, test in enumerate(tests):
        yield test.difference(now), again[position].astype(np.float64)


def _picked(cells: Floats, where: list[object]) -> Floats:
    """Select cells along the first four axes, keeping all axes."""
    for axis, which in enumerate(where):
        if isinstance(which, list):
            cells = np.take(cells, which, axis=axis)
    return cells
