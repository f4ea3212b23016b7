"""Fits of an earlier analysis that still hold for the present judgments (docs/methods/updating.md)."""

import base64
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from analysis.stats import mace
from analysis.stats.mace_posterior import AveragedPosterior

from ..inputs.arrays import Dimension, Inputs, Ints, Pool
from ..tables.rows import Row

#: Table that stores a run's fits. It is not a result table and is not listed. An erasure deletes it, because nothing
#: starts from the fits of a stale run.
FITS = "fits"

Votes = tuple[Ints, Ints, Ints]


def fit_row(pool: str, dimension: str, model: mace.Mace | None, averaged: AveragedPosterior | None) -> Row:
    """Make the row of a fit, to be read by `ReusableFits`: its arrays, in the order of the run's inputs.

    Participants and units are those of the pool in the inputs, which are stored with the run.
    """
    arrays: dict[str, NDArray[Any]] = {}
    if model is not None:
        parameters = model.parameters
        arrays |= {"spam": parameters.spam, "know": parameters.know, "strategy": parameters.strategy}
    if averaged is not None:
        arrays |= {
            "expected_spam": averaged.spam_probability, "posterior": averaged.posterior, "label": averaged.label
        }  # fmt: skip
    return {"pool": pool, "dimension": dimension, "arrays": {name: packed(array) for name, array in arrays.items()}}


def grades_row(dimensions: Sequence[str], **arrays: NDArray[Any]) -> Row:
    """Make the row of the grades for every draw, to be read by `ReusableFits.grades`."""
    return {"dimensions": list(dimensions), "arrays": {name: packed(array) for name, array in arrays.items()}}


def packed(array: NDArray[Any]) -> str:
    """Encode an array as text: its type, its shape, and its compressed bytes in base64."""
    data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    shape = ",".join(map(str, data.shape))
    content = zstandard.ZstdCompressor(level=1).compress(data.tobytes())
    return f"{data.dtype.str[1:]}:{shape}:{base64.b64encode(content).decode()}"


def unpacked(text: str) -> NDArray[Any]:
    """Decode the text of `packed`."""
    kind, shape, content = text.split(":")
    data = zstandard.ZstdDecompressor().decompress(base64.b64decode(content))
    return np.frombuffer(data, dtype=f"<{kind}").reshape([int(size) for size in shape.split(",")])


def are_readable(rows: Sequence[Row]) -> bool:
    """Check whether the rows of a stored `FITS` can be read: earlier versions stored them differently."""
    return bool(rows) and all("arrays" in row for row in rows)


@dataclass(frozen=True, eq=False)
class ReusableFit:
    """What is known before a dimension is fitted again.

    Attributes
    ----------
    start : Parameters
        Parameters of all participants fitted before; NaN for others.
    settled : Parameters
        The same, but only for participants whose judgments, and all judgments on the same units, are unchanged.
    searched : int
        Number of judgments connected to changed ones, which must be fitted again.
    """

    start: mace.MaceParameters
    settled: mace.MaceParameters
    searched: int


@dataclass(frozen=True, eq=False)
class ReusableFits:
    """An earlier analysis with the same settings and seed: its inputs and results.

    Attributes
    ----------
    inputs : Inputs
    fits : sequence of dict
        Its fits and grades: `fit_row` and `grades_row`.
    tables : dict
        Some of its tables by name, if labels are not averaged; results that depend on labels only are reused if the
        labels are unchanged.
    """

    inputs: Inputs
    fits: Sequence[Row] = field(repr=False)
    tables: Mapping[str, Sequence[Row]] = field(repr=False, default_factory=dict)

    def _fit(self, pool: str, dimension: str, *names: str) -> list[NDArray[Any]] | None:
        """Return some arrays of a fit, or None if it does not have them."""
        for row in self.fits:
            if (row.get("pool"), row["dimension"] if "pool" in row else None) == (pool, dimension):
                stored = row["arrays"]
                return [unpacked(stored[name]) for name in names] if all(name in stored for name in names) else None
        return None

    @cached_property
    def grades(self) -> tuple[Sequence[str], dict[str, NDArray[Any]]] | None:
        """Grades for every draw of the labels: names of the dimensions, and the arrays of `grades_row`."""
        for row in self.fits:
            if "dimensions" in row:
                return row["dimensions"], {name: unpacked(text) for name, text in row["arrays"].items()}
        return None

    def drawn(
        self, inputs: Inputs, pool: str, dimension: str, standing: "ReusableFit", places: tuple[Ints, Ints]
    ) -> AveragedPosterior | None:
        """Return the posterior of the earlier analysis; NaN for participants with new judgments and for new units."""
        stored = self._fit(pool, dimension, "expected_spam", "posterior", "label")
        if stored is None:
            return None
        spam_then, posterior_then, label_then = stored
        now, then, (unit_of, coder_of) = inputs.pools[pool], self.inputs.pools[pool], places
        judged = np.bincount(then.unit[then.dimension == self.place_of(pool, dimension)], minlength=len(unit_of)) > 0
        spam = np.full(len(now.participants), np.nan)
        spam[coder_of[coder_of >= 0]] = spam_then[coder_of >= 0]
        is_known_unit = judged & (unit_of >= 0)
        posterior = np.full((len(now.units), posterior_then.shape[1]), np.nan)
        posterior[unit_of[is_known_unit]] = posterior_then[is_known_unit]
        label = np.zeros((len(now.units), label_then.shape[1]), dtype=np.int8)
        label[unit_of[is_known_unit]] = label_then[is_known_unit]
        changed = np.isnan(standing.settled.spam)
        return AveragedPosterior(posterior, np.where(changed, np.nan, spam), label, float("nan"))

    def judged_pairs(self, pool: str, dimension: str) -> Ints:
        """Return the number of judged units of each topic of the earlier inputs."""
        then = self.inputs.pools[pool]
        at = self.place_of(pool, dimension)
        units = np.unique(then.unit[then.dimension == at])
        return np.bincount(then.topic[units], minlength=len(self.inputs.topics))

    def place_of(self, pool: str, dimension: str) -> int:
        """Return the index of the dimension with this name in an earlier pool, or -1."""
        judged = set(np.unique(self.inputs.pools[pool].dimension).tolist())
        return next((i for i, one in enumerate(self.inputs.dimensions) if one.name == dimension and i in judged), -1)

    def place(self, dimension: Dimension) -> int:
        """Return the index of a dimension in the earlier analysis, or -1; pools may share dimension names."""
        wanted_key = (dimension.name, dimension.values)
        return next(
            (
                i
                for i, earlier_dimension in enumerate(self.inputs.dimensions)
                if (earlier_dimension.name, earlier_dimension.values) == wanted_key
            ),
            -1,
        )

    def places(self, inputs: Inputs, pool: str) -> tuple[Ints, Ints]:
        """Return the present indices of the earlier pool's units and participants; -1 if they no longer exist."""
        now, then = inputs.pools[pool], self.inputs.pools[pool]
        return (
            _translation(_units(self.inputs, then), _units(inputs, now)),
            _translation(then.participants, now.participants),
        )

    def standing(
        self,
        inputs: Inputs,
        pool: str,
        dimension: str,
        seen: Votes,
        known: Ints | None,
        before: tuple[Votes, Ints | None],
        places: tuple[Ints, Ints],
    ) -> ReusableFit | None:
        """Compare the present input of MACE with the earlier one (`before`); None if there was no earlier fit."""
        stored = self._fit(pool, dimension, "spam", "know", "strategy")
        if stored is None:
            return None
        now, coder_of = inputs.pools[pool], places[1]
        start = _empty(len(now.participants), stored[2].shape[1])
        for array, then in zip((start.spam, start.know, start.strategy), stored, strict=True):
            array[coder_of[coder_of >= 0]] = then[coder_of >= 0]
        changed = _changed(now, seen, known, *before, places) | np.isnan(start.spam)
        settled = mace.MaceParameters(np.where(changed, np.nan, start.spam), start.know, start.strategy)
        judged = np.bincount(seen[1], minlength=len(changed)) > 0
        if not (changed & judged).any():
            return ReusableFit(start, settled, 0)
        reached = mace.linked(seen[0], seen[1], changed & judged, items=len(now.units))
        return ReusableFit(start, settled, int(np.count_nonzero(reached[seen[1]])))


def _empty(annotators: int, labels: int) -> mace.MaceParameters:
    return mace.MaceParameters(
        np.full(annotators, np.nan), np.full(annotators, np.nan), np.full((annotators, labels), np.nan)
    )


def _changed(
    now: Pool,
    seen: Votes,
    known: Ints | None,
    seen_then: Votes,
    known_then: Ints | None,
    places: tuple[Ints, Ints],
) -> np.ndarray:
    """Return the judges with a new judgment, and those on units with a removed judgment or a changed known label."""
    unit_of, coder_of = places
    people, values = len(now.participants), 1 + max(int(votes[2].max(initial=0)) for votes in (seen, seen_then))
    unit, coder, value = seen
    u, c, v = unit_of[seen_then[0]], coder_of[seen_then[1]], seen_then[2]
    changed = np.zeros(people, dtype=bool)
    if not np.array_equal(_in_use(value, known, values), _in_use(v, known_then, values)):
        changed[:] = True  # the number of labels in use changed, and with it the model
        return changed
    both = (u >= 0) & (c >= 0)
    key = (unit * people + coder) * values + value
    key_then = np.where(both, (u * people + c) * values + v, -1)
    changed[coder[~np.isin(key, key_then)]] = True
    gone = ~np.isin(key_then, key)
    changed[c[gone & (c >= 0)]] = True
    touched = np.zeros(len(now.units), dtype=bool)
    touched[u[gone & (u >= 0)]] = True
    touched |= _relabelled(known, known_then, unit_of, len(now.units))
    changed[coder[touched[unit]]] = True
    return changed


def _relabelled(known: Ints | None, known_then: Ints | None, unit_of: Ints, units: int) -> np.ndarray:
    """Return units whose known label was added, removed or changed."""
    before = np.full(units, -1)
    if known_then is not None:
        is_known_unit = unit_of >= 0
        before[unit_of[is_known_unit]] = known_then[is_known_unit]
    return np.asarray(before != (known if known is not None else -1))


def _in_use(value: Ints, known: Ints | None, values: int) -> np.ndarray:
    known_labels = known[known >= 0] if known is not None else np.zeros(0, dtype=np.int64)
    return np.bincount(np.r_[value, known_labels], minlength=values) > 0


def _units(inputs: Inputs, pool: Pool) -> list[tuple[str, str, str, str]]:
    """Identify each unit by names."""
    names = [response.name for response in inputs.responses] + [""]  # index -1: no response
    return [(names[left], names[right], inputs.topics[topic], name) for left, right, topic, name in pool.units]


def _translation(before: Sequence[Hashable], now: Sequence[Hashable]) -> Ints:
    """Return the present index of each earlier element; -1 if it no longer exists."""
    index = {name: i for i, name in enumerate(now)}
    return np.array([index.get(name, -1) for name in before], dtype=np.int64)
