"""Draws of labels: annealed, resampled, then Gibbs sampled (`mace_posterior`).

Spam probabilities and strategies are integrated out (`_mace_tables`): a judge is known by how many of their votes say
the true label, and a label is drawn given all others by looking up what that would change. Chains run beside each
other, the last axis. They begin with labels at random and the likelihood at power 0. The power rises to 1 in steps so
small that the weights of the chains stay even; after each step chains are drawn anew by their weights, and go on. So
each optimum has as many chains as its evidence asks for, however hard it would be to walk from one to another (a
sequential Monte Carlo sampler). Chains are drawn anew within populations that know nothing of each other: their spread
is the Monte Carlo error.

Parts of the judgments that have nothing to do with each other run beside each other too, each with its own power, its
own chains drawn anew and its own stream of chance: what is found of a part does not depend on the others. Items that
share no judge are drawn at once.

Judges with too many votes for a table keep a drawn spam probability and strategy. Annealing treats these roughly; the
sweeps that follow are exact.

Reference: Del Moral, Doucet, Jasra, Sequential Monte Carlo samplers, JRSS B 68 (2006); Liu, The collapsed Gibbs
sampler, JASA 89 (1994).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from analysis.stats._mace_engine import Ints, Parts, Singles, is_small, table
from analysis.stats._mace_problem import MaceSettings, Problem
from analysis.stats.bootstrap import Floats

Labels = NDArray[np.int8]
Flags = NDArray[np.bool_]
Places = NDArray[np.int32]  # half as wide as indices are: they are read and written all the time
_EVEN = 0.5  # so large a share of the chains a step of annealing is worth at least, by their weights
_EDGE = 1e-6  # spam probabilities that are drawn stay this far from 0 and 1, where logarithms end
_AT_ONCE = 2**16  # so many votes times chains are looked up at once, about: they stay in the processor's cache


@dataclass
class _State:
    """Several chains beside each other (the last axis)."""

    label: Labels  # (items, chains)
    place: Places  # (judges with a table, chains): where each stands in it
    gain: Singles  # (labels, judges without, chains): what one more true vote changes
    log_likelihood: Floats  # (judges without, chains): of their votes
    spam: Floats  # (judges without, chains)


@dataclass(frozen=True, eq=False)
class _Block:
    """Items that share no judge with a table, and the votes on them."""

    items: Ints
    parts: Ints  # (items,)
    sums: sparse.csr_array  # (items times labels, votes): which votes are for which label of which item
    item: Ints  # (votes,): along `items`
    value: Labels  # (votes, 1)
    judges: Ints  # (votes,): along those with a table
    strides: Places  # (votes, 1): how far a judge's place moves if the vote says the true label
    offsets: Ints  # (votes, 1): where the judge's gains for the label of the vote begin
    untabled: tuple[tuple[int, int, int], ...]  # item, label and judge of the votes of the others


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was found: posterior by population, joint draws of labels, and expected spam probabilities."""

    posterior: Floats  # (items, labels, populations)
    label: Labels  # (items, draws)
    spam: Floats  # (annotators,)


class Chains:
    """Judgments as chains see them, in parts; every item and annotator has some."""

    def __init__(self, problem: Problem, parts: Parts, settings: MaceSettings) -> None:
        self.problem, self.parts, self.settings = problem, parts, settings
        units, people, labels = problem.shape
        counts = np.zeros((people, labels), dtype=np.int64)
        np.add.at(counts, (problem.coder, problem.value), 1)
        tabled = is_small(counts)
        self.tabled, self.untabled = np.flatnonzero(tabled), np.flatnonzero(~tabled)
        tables = [table(tuple(counts[who].tolist()), settings.spam_prior, settings.strategy_prior)
                  for who in self.tabled.tolist()]  # fmt: skip
        sizes = np.array([each.log_likelihood.size for each in tables], dtype=np.int64)
        self.begin = (np.cumsum(sizes) - sizes)[:, None]
        self.log_likelihood = np.concatenate([np.zeros(0), *(each.log_likelihood for each in tables)])
        self.spam = np.concatenate([np.zeros(0), *(each.spam for each in tables)])
        self.gain = np.concatenate([np.zeros(0, dtype=np.float32), *(each.gain.ravel() for each in tables)])
        self.counts = counts[self.untabled]
        # Of each judge without a table the items that they gave each label.
        self.given = [
            [problem.unit[(problem.coder == who) & (problem.value == label)] for label in range(labels)]
            for who in self.untabled.tolist()
        ]
        self.of_tabled, self.of_untabled = (parts.of_annotator[who] for who in (self.tabled, self.untabled))
        ends = np.cumsum(np.bincount(parts.of_item, minlength=parts.count))
        self.members = np.split(np.argsort(parts.of_item, kind="stable"), ends[:-1])
        among = np.where(tabled, np.cumsum(tabled), np.cumsum(~tabled)) - 1
        strides = np.array([each.strides for each in tables], dtype=np.int32).reshape(len(tables), labels)
        order = np.lexsort((problem.value, problem.unit))
        unit, coder, value = problem.unit[order], problem.coder[order], problem.value[order]
        self.votes = _Votes(unit, value, among[coder], tabled[coder], strides, sizes, self.begin[:, 0])
        mine = self.votes.is_tabled
        self.colour = colour_items(unit[mine], self.votes.judge[mine], units)

    def draw(
        self, chains: int, populations: int, steps: int, kept: int, thin: int, rngs: Sequence[np.random.Generator]
    ) -> Drawn:
        """Anneal, then sweep: every `thin` sweeps the chains' labels are kept, chains in random order.

        `rngs`: the source of chance of each part.
        """
        units, people, labels = self.problem.shape
        blocks = self._blocks(chains)
        state = self._annealed(blocks, chains, populations, steps, rngs)
        expected = np.zeros((units, labels, populations))
        spam = np.zeros(people)
        drawn = np.empty((units, kept, chains), dtype=np.int8)
        power = np.ones(self.parts.count)
        for draw in range(kept):
            for _ in range(thin):
                self._sweep(blocks, state, power, rngs, expected)
                spam[self.tabled] += self.spam[state.place + self.begin].mean(axis=1)
                spam[self.untabled] += state.spam.mean(axis=1)
            for members, rng in zip(self.members, rngs, strict=True):
                drawn[members, draw] = state.label[members][:, rng.permutation(chains)]
        expected *= populations / (chains * kept * thin)
        known = np.flatnonzero(self.problem.fixed >= 0)
        expected[known] = np.eye(labels)[self.problem.fixed[known]][:, :, None]
        return Drawn(expected, drawn.reshape(units, -1), spam / (kept * thin))

    def _annealed(
        self, blocks: list[_Block], chains: int, populations: int, steps: int, rngs: Sequence[np.random.Generator]
    ) -> _State:
        """Chains distributed as the evidence of the optima asks, after so many steps at most."""
        power = np.zeros(self.parts.count)
        state = self._begun(blocks, chains, rngs)
        for left in range(steps, 0, -1):
            rising = power < 1.0
            level = self._log_likelihoods(state).reshape(len(power), populations, -1)
            even = _even_steps(level, 1.0 - power)
            step = np.maximum(even, (1.0 - power) / left)
            power = np.where(step < 1.0 - power, power + step, 1.0)
            self._redraw(state, rising, level * even[:, None, None], rngs)
            self._sweep(blocks, state, power, rngs, going=rising)
            if (power == 1.0).all():
                break
        return state

    def _begun(self, blocks: list[_Block], chains: int, rngs: Sequence[np.random.Generator]) -> _State:
        """Labels at random; spam probabilities and strategies of those without a table drawn from their priors."""
        units, _people, labels = self.problem.shape
        label = np.empty((units, chains), dtype=np.int8)
        for members, rng in zip(self.members, rngs, strict=True):
            label[members] = rng.integers(labels, size=(len(members), chains), dtype=np.int8)
        known = np.flatnonzero(self.problem.fixed >= 0)
        label[known] = self.problem.fixed[known][:, None]
        place = np.zeros((len(self.tabled), chains), dtype=np.int32)
        for block in blocks:
            place[block.judges] += block.strides * (label[block.items][block.item] == block.value)
        few = len(self.untabled)
        state = _State(
            label,
            place,
            np.zeros((labels, few, chains), dtype=np.float32),
            np.zeros((few, chains)),
            np.zeros((few, chains)),
        )
        self._parameters(state, np.zeros(self.parts.count), np.ones(self.parts.count, dtype=bool), rngs)
        return state

    def _log_likelihoods(self, state: _State) -> Floats:
        """Of all votes of a part given the labels (and the parameters that are drawn), shape (parts, chains)."""
        found = np.zeros((self.parts.count, state.label.shape[1]))
        np.add.at(found, self.of_tabled, self.log_likelihood[state.place + self.begin])
        np.add.at(found, self.of_untabled, state.log_likelihood)
        return found

    def _redraw(self, state: _State, rising: Flags, log_weight: Floats, rngs: Sequence[np.random.Generator]) -> None:
        """Draw the chains of some parts anew by their weights, within each population."""
        parts, populations, chains = log_weight.shape
        chance = np.zeros((parts, populations))
        for part in np.flatnonzero(rising).tolist():
            chance[part] = rngs[part].random(populations)
        chosen = resample_chains(log_weight, chance)
        chosen[~rising] = np.arange(populations * chains)
        state.label = np.take_along_axis(state.label, chosen[self.parts.of_item], axis=1)
        state.place = np.take_along_axis(state.place, chosen[self.of_tabled], axis=1)
        if len(self.untabled):
            rest = chosen[self.of_untabled]
            state.gain = np.take_along_axis(state.gain, rest[None], axis=2)
            state.log_likelihood = np.take_along_axis(state.log_likelihood, rest, axis=1)
            state.spam = np.take_along_axis(state.spam, rest, axis=1)

    def _sweep(
        self,
        blocks: list[_Block],
        state: _State,
        power: Floats,
        rngs: Sequence[np.random.Generator],
        expected: Floats | None = None,
        going: Flags | None = None,
    ) -> None:
        """Draw the label of each item given all others; their probabilities are added to what was expected so far.

        Parts that are not `going` stay as they are.
        """
        _units, _people, labels = self.problem.shape
        chains = state.label.shape[1]
        goes = np.ones(self.parts.count, dtype=bool) if going is None else going
        chance = np.empty(state.label.shape, dtype=np.float32)
        for part in np.flatnonzero(goes).tolist():
            members = self.members[part]
            chance[members] = rngs[part].random((len(members), chains), dtype=np.float32)
        for block in blocks:
            moves = goes[block.parts]
            if not moves.any():
                continue
            label = state.label.take(block.items, axis=0)
            # Where the judges stand without these items, from where the gains for their votes on them begin.
            place = state.place.take(block.judges, axis=0)
            place -= block.strides * (label.take(block.item, axis=0) == block.value)
            weight = (block.sums @ self.gain.take(place + block.offsets)).reshape(len(block.items), labels, chains)
            for item, value, who in block.untabled:
                weight[item, value] += state.gain[value, who]
            weight *= power[block.parts].astype(np.float32)[:, None, None]
            weight -= weight.max(axis=1, keepdims=True)
            np.exp(weight, out=weight)
            weight /= weight.sum(axis=1, keepdims=True)
            if expected is not None:
                expected[block.items] += weight.reshape(*weight.shape[:2], expected.shape[2], -1).sum(axis=3)
            drawn = _drawn(weight, chance.take(block.items, axis=0))
            if not moves.all():
                drawn[~moves] = label[~moves]
            place += block.strides * (drawn.take(block.item, axis=0) == block.value)
            state.label[block.items], state.place[block.judges] = drawn, place
        self._parameters(state, power, goes, rngs)

    def _parameters(self, state: _State, power: Floats, goes: Flags, rngs: Sequence[np.random.Generator]) -> None:
        """Draw which votes of those without a table were knowledge, then their spam probabilities and strategies."""
        a, b = self.settings.spam_prior
        for who, (part, given) in enumerate(zip(self.of_untabled.tolist(), self.given, strict=True)):
            if not goes[part]:
                continue
            rng, by = rngs[part], power[part]
            counts = self.counts[who][:, None]
            true = np.array([(state.label[items] == label).sum(axis=0) for label, items in enumerate(given)])
            gain = state.gain[:, who].astype(np.float64)
            knew = rng.binomial(true, -np.expm1(-gain))  # a share of 1 - 1 / (1 + (1 - e) / (e s))
            know = knew.sum(axis=0)
            spam = rng.standard_gamma(a + by * (counts.sum() - know))
            spam = np.clip(spam / (spam + rng.standard_gamma(b + by * know)), _EDGE, 1.0 - _EDGE)
            strategy = rng.standard_gamma(self.settings.strategy_prior + by * (counts - knew))
            spammed = spam * strategy / strategy.sum(axis=0)
            gain = np.log1p((1.0 - spam) / spammed)
            state.gain[:, who], state.spam[who] = gain, spam
            state.log_likelihood[who] = (counts * np.log(spammed) + true * gain).sum(axis=0)

    def _blocks(self, chains: int) -> list[_Block]:
        """Items that share no judge, as many at once as fit; those of large parts apart from those of small ones."""
        votes, (units, _people, labels) = self.votes, self.problem.shape
        free = np.flatnonzero(self.problem.fixed < 0)
        size = np.bincount(self.parts.of_item)[self.parts.of_item]
        order = free[np.lexsort((free, self.parts.of_item[free], size[free], self.colour[free]))]
        ends = np.cumsum(np.bincount(votes.unit, minlength=units))
        begin = np.r_[0, ends[:-1]]
        blocks = []
        for items in _chunks(order, self.colour, (ends - begin) * chains):
            there = np.concatenate([np.arange(begin[item], ends[item]) for item in items.tolist()])
            row = np.repeat(np.arange(len(items)), (ends - begin)[items])
            mine = votes.is_tabled[there]
            rest, row, there, rest_row = there[~mine], row[mine], there[mine], row[~mine]
            value, judges = votes.value[there], votes.judge[there]
            blocks.append(
                _Block(
                    items=items,
                    parts=self.parts.of_item[items],
                    sums=sparse.csr_array(
                        (np.ones(len(there), dtype=np.float32), (row * labels + value, np.arange(len(there)))),
                        shape=(len(items) * labels, len(there)),
                    ),
                    item=row,
                    value=value.astype(np.int8)[:, None],
                    judges=judges,
                    strides=votes.strides[judges, value][:, None],
                    offsets=(votes.begin[judges] * labels + value * votes.sizes[judges])[:, None],
                    untabled=tuple(
                        zip(rest_row.tolist(), votes.value[rest].tolist(), votes.judge[rest].tolist(), strict=True)
                    ),
                )
            )
        return blocks


@dataclass(frozen=True, eq=False)
class _Votes:
    """All votes, those on an item one after another; judges are numbered among those with a table, or without."""

    unit: Ints
    value: Ints
    judge: Ints
    is_tabled: Flags
    strides: Places  # (judges with a table, labels)
    sizes: Ints  # (judges with a table,): of the tables
    begin: Ints  # (judges with a table,): of the tables


def colour_items(item: Ints, judge: Ints, items: int) -> Ints:
    """Numbers for items from 0, so that no two items of one judge have the same (greedy, in the order of the items)."""
    judges_of: list[list[int]] = [[] for _ in range(items)]
    for unit, who in zip(item.tolist(), judge.tolist(), strict=True):
        judges_of[unit].append(who)
    taken: dict[int, int] = {}  # numbers that a judge's items have, a bit each
    found = np.zeros(items, dtype=np.int64)
    for unit, judges in enumerate(judges_of):
        used = 0
        for who in judges:
            used |= taken.get(who, 0)
        free = ~used & (used + 1)  # the lowest bit that is not set
        found[unit] = free.bit_length() - 1
        for who in judges:
            taken[who] = taken.get(who, 0) | free
    return found


def _chunks(order: Ints, colour: Ints, cost: Ints) -> Iterator[Ints]:
    """Neighbours of one colour that together cost little enough, one at least."""
    first = total = 0
    for place, item in enumerate(order.tolist()):
        if place > first and (colour[item] != colour[order[first]] or total + cost[item] > _AT_ONCE):
            yield order[first:place]
            first, total = place, 0
        total += int(cost[item])
    if len(order):
        yield order[first:]


def _drawn(weight: Singles, chance: Singles) -> Labels:
    """A label of each item and chain, by probabilities of shape (items, labels, chains)."""
    label = np.zeros(chance.shape, dtype=np.int8)
    below = np.zeros(chance.shape, dtype=np.float32)
    for value in range(weight.shape[1] - 1):
        below += weight[:, value]
        label += chance > below
    return label


def _even_steps(level: Floats, most: Floats) -> Floats:
    """By how much the power of each part may rise, until the chains of a population are worth half of them.

    `level`: log likelihoods, shape (parts, populations, chains).
    """
    low, high = np.zeros(len(level)), most.copy()
    is_even = _worth(level * most[:, None, None]) >= _EVEN
    for _ in range(20):
        middle = (low + high) / 2
        is_low = _worth(level * middle[:, None, None]) >= _EVEN
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.where(is_even, most, low)


def _worth(log_weight: Floats) -> Floats:
    """The effective share of the chains by part, the mean of the populations."""
    weight = np.exp(log_weight - log_weight.max(axis=2, keepdims=True))
    worth: Floats = (weight.sum(axis=2) ** 2 / (weight**2).sum(axis=2)).mean(axis=1) / weight.shape[2]
    return worth


def resample_chains(log_weight: Floats, chance: Floats) -> Ints:
    """Which chains go on: drawn by their weights within each population, evenly spaced (systematic resampling).

    `log_weight` has shape (parts, populations, chains), `chance` (parts, populations); the outcome (parts, all chains).
    """
    parts, populations, chains = log_weight.shape
    weight = np.exp(log_weight - log_weight.max(axis=2, keepdims=True))
    total = np.cumsum(weight, axis=2)
    # Of the points (j + chance) / chains those below each total.
    below = np.ceil(chains * total / total[:, :, -1:] - chance[:, :, None]).astype(np.int64)
    below[:, :, -1] = chains
    times = np.diff(np.clip(below, 0, chains), axis=2, prepend=0)
    chain = np.arange(populations * chains).reshape(1, populations, chains)
    return np.repeat(np.broadcast_to(chain, times.shape).ravel(), times.ravel()).reshape(parts, -1)
