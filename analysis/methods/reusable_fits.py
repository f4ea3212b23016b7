"""Fits of an earlier analysis that still hold for the present judgments (docs/methods/updating.md)."""

import base64
import zlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analysis.stats import mace
from analysis.stats.mace_posterior import AveragedPosterior

from ..inputs.arrays import Dimension, Inputs, Ints, Pool
from ..tables.rows import Row

#: Table that stores a run's fits. It is not a result table and is not listed, but an erasure removes rows from it too.
FITS = "fits"

Votes = tuple[Ints, Ints, Ints]


def rows_of(pool: str, dimension: str, participants: Sequence[str], model: mace.Mace) -> list[Row]:
    """Make rows of the parameters of a fit, to be read by `ReusableFits`."""
    parameters = model.parameters
    return [
        {
            "pool": pool,
            "dimension": dimension,
            "participant": participants[who],
            "spam": float(parameters.spam[who]),
            "know": float(parameters.know[who]),
            "strategy": parameters.strategy[who].tolist(),
        }
        for who in range(len(participants))
    ]


def drawn_rows(inputs: Inputs, pool: str, dimension: str, averaged: AveragedPosterior, judged: np.ndarray) -> list[Row]:
    """Make rows of the posterior of all participants and judged units, to be read by `ReusableFits.drawn`."""
    key: Row = {"pool": pool, "dimension": dimension}
    spam = zip(inputs.pools[pool].participants, averaged.spam_probability.tolist(), strict=True)
    rows = [key | {"participant": name, "expected_spam": value} for name, value in spam]
    units = _units(inputs, inputs.pools[pool])
    return rows + [
        key | {"unit": units[i], "posterior": averaged.posterior[i].tolist(), "labels": packed(averaged.label[i])}
        for i in np.flatnonzero(judged).tolist()
    ]


def packed(values: np.ndarray) -> str:
    """Encode integers from 0 to 32,767 as text: the bytes of each, a colon, and the compressed numbers in base64."""
    size = 1 if values.max(initial=0) < 128 else 2
    return f"{size}:{base64.b64encode(zlib.compress(values.astype(f'<i{size}').tobytes(), 1)).decode()}"


def unpacked(text: str) -> NDArray[np.int16]:
    """Decode integers from the text of `packed`."""
    size, colon, content = text.partition(":")
    if not colon:  # as earlier analyses have it
        return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype="<i2")
    return np.frombuffer(zlib.decompress(base64.b64decode(content)), dtype=f"<i{size}").astype(np.int16)


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
        Parameters of its fits: `rows_of` each.
    tables : dict
        Some of its tables by name; results that depend on labels only are reused if the labels are unchanged.
    """

    inputs: Inputs
    fits: Sequence[Row] = field(repr=False)
    tables: Mapping[str, Sequence[Row]] = field(repr=False, default_factory=dict)

    @cached_property
    def _parameters(self) -> dict[tuple[str, str], dict[str, Row]]:
        parameters: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.fits:
            if "spam" in row:
                parameters.setdefault((row["pool"], row["dimension"]), {})[row["participant"]] = row
        return parameters

    @cached_property
    def _drawn(self) -> dict[tuple[str, str], list[Row]]:
        draws: dict[tuple[str, str], list[Row]] = {}
        for row in self.fits:
            if "pool" in row and "spam" not in row:
                draws.setdefault((row["pool"], row["dimension"]), []).append(row)
        return draws

    @cached_property
    def imputed(self) -> dict[tuple[str, str], dict[str, Row]]:
        """Rows of the grades for every draw (`grades.imputed_rows`), by topic and dimension, then by response."""
        grades: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.fits:
            if "grades" in row:
                grades.setdefault((row["topic"], row["dimension"]), {})[row["response"]] = row
        return grades

    def drawn(self, inputs: Inputs, pool: str, dimension: str, standing: "ReusableFit") -> AveragedPosterior | None:
        """Return the posterior of the earlier analysis; NaN for participants with new judgments and for new units."""
        rows = self._drawn.get((pool, dimension), [])
        labels = [unpacked(row["labels"]) for row in rows if "unit" in row]
        if not labels:
            return None
        now = inputs.pools[pool]
        people = {row["participant"]: row["expected_spam"] for row in rows if "participant" in row}
        spam = np.array([people.get(name, np.nan) for name in now.participants])
        unit_index = {unit: i for i, unit in enumerate(_units(inputs, now))}
        where = np.array([unit_index.get(tuple(row["unit"]), -1) for row in rows if "unit" in row])
        is_known_unit = where >= 0
        posterior = np.full((len(unit_index), len(next(row["posterior"] for row in rows if "unit" in row))), np.nan)
        posterior[where[is_known_unit]] = np.array([row["posterior"] for row in rows if "unit" in row])[is_known_unit]
        label = np.zeros((len(unit_index), len(labels[0])), dtype=np.int8)
        label[where[is_known_unit]] = np.stack(labels)[is_known_unit]
        changed = np.isnan(standing.settled.spam)
        return AveragedPosterior(posterior, np.where(changed, np.nan, spam), label, float("nan"))

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
        parameters = self._parameters.get((pool, dimension), {})
        if not parameters:
            return None
        now = inputs.pools[pool]
        labels = len(next(iter(parameters.values()))["strategy"])
        start = _empty(len(now.participants), labels)
        for who, name in enumerate(now.participants):
            if name in parameters:
                row = parameters[name]
                start.spam[who], start.know[who], start.strategy[who] = row["spam"], row["know"], row["strategy"]
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
