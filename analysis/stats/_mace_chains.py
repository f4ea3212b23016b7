"""Sampler of label draws: annealing with resampling, then Gibbs sampling (used by `mace_posterior`).

Spam probabilities and strategies are integrated out (`_mace_engine.table`). The state of a judge is the number of their
true votes. A label is drawn given all others by looking up how it would change the likelihood. Chains run in parallel
along the last axis. They start with random labels and the likelihood at power 0. The power rises to 1 in steps that are
small enough to keep the chain weights even. After each step the chains are resampled by their weights and continue. The
number of chains at each optimum is therefore proportional to its evidence, even if moves between optima are unlikely (a
sequential Monte Carlo sampler). Chains are resampled within independent populations; the spread of the populations
gives the Monte Carlo error.

Connected components of the judgments also run in parallel. Each has its own power, its own resampling and its own
random stream, so its results do not depend on the others. Items that share no judge are drawn at once.

Judges with too many votes for a table keep a sampled spam probability and strategy. Annealing treats them
approximately, but the sweeps after it are exact.

Reference: Del Moral, Doucet, Jasra, Sequential Monte Carlo samplers, JRSS B 68 (2006); Liu, The collapsed Gibbs
sampler, JASA 89 (1994).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats._mace_engine import Ints, Parts, Singles, is_small, sums_by_part, table
from analysis.stats._mace_problem import MaceSettings, Problem
from analysis.stats.bootstrap import Floats

Labels = NDArray[np.int8]
Flags = NDArray[np.bool_]
Places = NDArray[np.int16]  # a quarter of the width of an index: they are read and written all the time
_EVEN = 0.5  # minimum effective share of the chains after an annealing step, computed from their weights
_EDGE = 1e-6  # sampled spam probabilities stay this far from 0 and 1, where the logarithm is infinite
_AT_ONCE = (
    2**18
)  # approximate votes times chains in one lookup: more leave the processor's cache, fewer take more calls


@dataclass
class _State:
    """Several chains along the last axis."""

    label: Labels  # (items, chains)
    position: Places  # (judges with a table, chains): index in the table
    gain: Singles  # (labels, judges without, chains): change of the log likelihood for one more true vote
    log_likelihood: Floats  # (judges without, chains): of the judge's votes
    spam: Floats  # (judges without, chains)


@dataclass(frozen=True, eq=False)
class _Block:
    """Items that share no judge with a table, and their votes."""

    items: Ints
    parts: Ints  # (items,)
    sums: scipy.sparse.csr_array  # (items times labels, votes): matches votes with the label and the item they are for
    item: Ints  # (votes,): index in `items`
    value: Labels  # (votes, 1)
    judges: Ints  # (votes,): index among judges with a table
    strides: Places  # (votes, 1): how far the judge's position moves if the vote is true
    offsets: Ints  # (votes, 1): start of the judge's gains for the label of the vote
    untabled: tuple[tuple[int, int, int], ...]  # item, label and judge of votes by judges without a table

    def moved(self, label: Labels) -> Places:
        """Return by how much these labels of the items move the judge of each vote, shape (votes, chains)."""
        moved: Places = (label.take(self.item, axis=0) == self.value) * self.strides
        return moved


@dataclass(frozen=True, eq=False)
class Drawn:
    """Result of the sampler: posterior by population, joint label draws, and expected spam probabilities."""

    posterior: Floats  # (items, labels, populations)
    label: Labels  # (items, draws)
    spam: Floats  # (annotators,)


class Chains:
    """The sampler for judgments in components; every item and annotator must have judgments."""

    def __init__(self, problem: Problem, parts: Parts, settings: MaceSettings) -> None:
        self.problem, self.parts, self.settings = problem, parts, settings
        units, people, labels = problem.shape
        counts = np.zeros((people, labels), dtype=np.int64)
        np.add.at(counts, (problem.coder, problem.value), 1)
        tabled = is_small(counts)
        self.tabled, self.untabled = np.flatnonzero(tabled), np.flatnonzero(~tabled)
        tables = [table(tuple(counts[annotator].tolist()), settings.spam_prior, settings.strategy_prior)
                  for annotator in self.tabled.tolist()]  # fmt: skip
        sizes = np.array([votes_table.log_likelihood.size for votes_table in tables], dtype=np.int64)
        self.begin = (np.cumsum(sizes) - sizes)[:, None]
        self.log_likelihood = np.concatenate([np.zeros(0), *(votes_table.log_likelihood for votes_table in tables)])
        self.spam = np.concatenate([np.zeros(0), *(votes_table.spam for votes_table in tables)])
        self.gain = np.concatenate(
            [np.zeros(0, dtype=np.float32), *(votes_table.gain.ravel() for votes_table in tables)]
        )
        self.counts = counts[self.untabled]
        # For each judge without a table: the items to which they gave each label.
        self.items_by_label = [
            [problem.unit[(problem.coder == annotator) & (problem.value == label)] for label in range(labels)]
            for annotator in self.untabled.tolist()
        ]
        self.of_tabled, self.of_untabled = (parts.of_annotator[annotator] for annotator in (self.tabled, self.untabled))
        self.sums_of_tabled = sums_by_part(self.of_tabled, parts.count)
        ends = np.cumsum(np.bincount(parts.of_item, minlength=parts.count))
        self.members = np.split(np.argsort(parts.of_item, kind="stable"), ends[:-1])
        among = np.where(tabled, np.cumsum(tabled), np.cumsum(~tabled)) - 1
        strides = np.array([votes_table.strides for votes_table in tables], dtype=np.int16).reshape(len(tables), labels)
        order = np.lexsort((problem.value, problem.unit))
        unit, coder, value = problem.unit[order], problem.coder[order], problem.value[order]
        self.votes = _Votes(unit, value, among[coder], tabled[coder], strides, sizes, self.begin[:, 0])
        is_tabled = self.votes.is_tabled
        self.colour = colour_items(unit[is_tabled], self.votes.judge[is_tabled], units)

    def draw(
        self, chains: int, populations: int, steps: int, draws_kept: int, thin: int, rngs: Sequence[np.random.Generator]
    ) -> Drawn:
        """Anneal, then sweep; keep the chains' labels every `thin` sweeps, in random chain order.

        `rngs` holds the random generator of each component.
        """
        units, people, labels = self.problem.shape
        blocks = self._blocks(chains)
        state = self._annealed(blocks, chains, populations, steps, rngs)
        expected = np.zeros((units, labels, populations))
        spam = np.zeros(people)
        labels_drawn = np.empty((units, draws_kept, chains), dtype=np.int8)
        power = np.ones(self.parts.count)
        for draw in range(draws_kept):
            for _ in range(thin):
                self._sweep(blocks, state, power, rngs, expected)
                spam[self.tabled] += self.spam.take(state.position + self.begin).mean(axis=1)
                spam[self.untabled] += state.spam.mean(axis=1)
            for members, rng in zip(self.members, rngs, strict=True):
                labels_drawn[members, draw] = state.label[members][:, rng.permutation(chains)]
        expected *= populations / (chains * draws_kept * thin)
        fixed_items = np.flatnonzero(self.problem.fixed >= 0)
        expected[fixed_items] = np.eye(labels)[self.problem.fixed[fixed_items]][:, :, None]
        return Drawn(expected, labels_drawn.reshape(units, -1), spam / (draws_kept * thin))

    def _annealed(
        self, blocks: list[_Block], chains: int, populations: int, steps: int, rngs: Sequence[np.random.Generator]
    ) -> _State:
        """Anneal within `steps` steps; chains end at the optima in proportion to their evidence."""
        power = np.zeros(self.parts.count)
        state = self._begun(blocks, chains, rngs)
        for steps_left in range(steps, 0, -1):
            rising = power < 1.0
            level = self._log_likelihoods(state).reshape(len(power), populations, -1)
            even = _even_steps(level, 1.0 - power)
            step = np.maximum(even, (1.0 - power) / steps_left)
            power = np.where(step < 1.0 - power, power + step, 1.0)
            self._redraw(state, rising, level * even[:, None, None], rngs)
            self._sweep(blocks, state, power, rngs, going=rising)
            if (power == 1.0).all():
                break
        return state

    def _begun(self, blocks: list[_Block], chains: int, rngs: Sequence[np.random.Generator]) -> _State:
        """Draw random labels, and the parameters of judges without a table from their priors."""
        units, _people, labels = self.problem.shape
        label = np.empty((units, chains), dtype=np.int8)
        for members, rng in zip(self.members, rngs, strict=True):
            label[members] = rng.integers(labels, size=(len(members), chains), dtype=np.int8)
        fixed_items = np.flatnonzero(self.problem.fixed >= 0)
        label[fixed_items] = self.problem.fixed[fixed_items][:, None]
        position = np.zeros((len(self.tabled), chains), dtype=np.int16)
        for block in blocks:
            position[block.judges] += block.moved(label[block.items])
        untabled = len(self.untabled)
        state = _State(
            label,
            position,
            np.zeros((labels, untabled, chains), dtype=np.float32),
            np.zeros((untabled, chains)),
            np.zeros((untabled, chains)),
        )
        self._parameters(state, np.zeros(self.parts.count), np.ones(self.parts.count, dtype=bool), rngs)
        return state

    def _log_likelihoods(self, state: _State) -> Floats:
        """Compute the log likelihood of each component's votes given the state, shape (parts, chains)."""
        log_likelihoods: Floats = self.sums_of_tabled @ self.log_likelihood.take(state.position + self.begin)
        np.add.at(log_likelihoods, self.of_untabled, state.log_likelihood)
        return log_likelihoods

    def _redraw(self, state: _State, rising: Flags, log_weight: Floats, rngs: Sequence[np.random.Generator]) -> None:
        """Resample the chains of rising components by their weights, within each population."""
        parts, populations, chains = log_weight.shape
        chance = np.zeros((parts, populations))
        for part in np.flatnonzero(rising).tolist():
            chance[part] = rngs[part].random(populations)
        survivors = resample_chains(log_weight, chance)
        survivors[~rising] = np.arange(populations * chains)
        state.label = np.take_along_axis(state.label, survivors[self.parts.of_item], axis=1)
        state.position = np.take_along_axis(state.position, survivors[self.of_tabled], axis=1)
        if len(self.untabled):
            untabled_survivors = survivors[self.of_untabled]
            state.gain = np.take_along_axis(state.gain, untabled_survivors[None], axis=2)
            state.log_likelihood = np.take_along_axis(state.log_likelihood, untabled_survivors, axis=1)
            state.spam = np.take_along_axis(state.spam, untabled_survivors, axis=1)

    def _sweep(
        self,
        blocks: list[_Block],
        state: _State,
        power: Floats,
        rngs: Sequence[np.random.Generator],
        expected: Floats | None = None,
        going: Flags | None = None,
    ) -> None:
        """Draw the label of each item given all others, and add its probabilities to `expected`.

        Components that are not `going` do not change.
        """
        _units, _people, labels = self.problem.shape
        chains = state.label.shape[1]
        is_moving = np.ones(self.parts.count, dtype=bool) if going is None else going
        chance = np.empty(state.label.shape, dtype=np.float32)
        for part in np.flatnonzero(is_moving).tolist():
            members = self.members[part]
            chance[members] = rngs[part].random((len(members), chains), dtype=np.float32)
        for block in blocks:
            moves = is_moving[block.parts]
            if not moves.any():
                continue
            label = state.label.take(block.items, axis=0)
            # Positions of the judges without these items, and their gains for the votes on them.
            position = state.position.take(block.judges, axis=0)
            position -= block.moved(label)
            gain = self.gain.take(np.add(position, block.offsets, dtype=np.intp), mode="clip")
            weight = (block.sums @ gain).reshape(len(block.items), labels, chains)
            for item, value, annotator in block.untabled:
                weight[item, value] += state.gain[value, annotator]
            powers = power[block.parts]
            if (powers != 1.0).any():
                weight *= powers.astype(np.float32)[:, None, None]
            weight -= np.maximum.reduce(weight, axis=1, keepdims=True)
            np.exp(weight, out=weight)
            weight /= np.add.reduce(weight, axis=1, keepdims=True)
            if expected is not None:
                by_population = weight.reshape(*weight.shape[:2], expected.shape[2], -1)
                expected[block.items] += np.add.reduce(by_population, axis=3)
            new_labels = _drawn(weight, chance.take(block.items, axis=0))
            if not moves.all():
                new_labels[~moves] = label[~moves]
            position += block.moved(new_labels)
            state.label[block.items], state.position[block.judges] = new_labels, position
        self._parameters(state, power, is_moving, rngs)

    def _parameters(self, state: _State, power: Floats, is_moving: Flags, rngs: Sequence[np.random.Generator]) -> None:
        """Draw knowledge, spam probabilities and strategies of the judges without a table."""
        a, b = self.settings.spam_prior
        for index, (part, items_by_label) in enumerate(
            zip(self.of_untabled.tolist(), self.items_by_label, strict=True)
        ):
            if not is_moving[part]:
                continue
            rng, by = rngs[part], power[part]
            counts = self.counts[index][:, None]
            true = np.array([(state.label[items] == label).sum(axis=0) for label, items in enumerate(items_by_label)])
            gain = state.gain[:, index].astype(np.float64)
            knew = rng.binomial(true, -np.expm1(-gain))  # a share of 1 - 1 / (1 + (1 - e) / (e s))
            know = knew.sum(axis=0)
            spam = rng.standard_gamma(a + by * (counts.sum() - know))
            spam = np.clip(spam / (spam + rng.standard_gamma(b + by * know)), _EDGE, 1.0 - _EDGE)
            strategy = rng.standard_gamma(self.settings.strategy_prior + by * (counts - knew))
            spammed = spam * strategy / strategy.sum(axis=0)
            gain = np.log1p((1.0 - spam) / spammed)
            state.gain[:, index], state.spam[index] = gain, spam
            state.log_likelihood[index] = (counts * np.log(spammed) + true * gain).sum(axis=0)

    def _blocks(self, chains: int) -> list[_Block]:
        """Group items that share no judge into blocks of limited size; large components get separate blocks."""
        votes, (units, _people, labels) = self.votes, self.problem.shape
        free = np.flatnonzero(self.problem.fixed < 0)
        size = np.bincount(self.parts.of_item)[self.parts.of_item]
        order = free[np.lexsort((free, self.parts.of_item[free], size[free], self.colour[free]))]
        ends = np.cumsum(np.bincount(votes.unit, minlength=units))
        begin = np.r_[0, ends[:-1]]
        blocks = []
        for items in _chunks(order, self.colour, (ends - begin) * chains):
            votes_of_items = np.concatenate([np.arange(begin[item], ends[item]) for item in items.tolist()])
            row = np.repeat(np.arange(len(items)), (ends - begin)[items])
            is_tabled = votes.is_tabled[votes_of_items]
            untabled_votes, row, votes_of_items, rest_row = (
                votes_of_items[~is_tabled],
                row[is_tabled],
                votes_of_items[is_tabled],
                row[~is_tabled],
            )
            value, judges = votes.value[votes_of_items], votes.judge[votes_of_items]
            blocks.append(
                _Block(
                    items=items,
                    parts=self.parts.of_item[items],
                    sums=scipy.sparse.csr_array(
                        (
                            np.ones(len(votes_of_items), dtype=np.float32),
                            (row * labels + value, np.arange(len(votes_of_items))),
                        ),
                        shape=(len(items) * labels, len(votes_of_items)),
                    ),
                    item=row,
                    value=value.astype(np.int8)[:, None],
                    judges=judges,
                    strides=votes.strides[judges, value][:, None],
                    offsets=(votes.begin[judges] * labels + value * votes.sizes[judges])[:, None],
                    untabled=tuple(
                        zip(
                            rest_row.tolist(),
                            votes.value[untabled_votes].tolist(),
                            votes.judge[untabled_votes].tolist(),
                            strict=True,
                        )
                    ),
                )
            )
        return blocks


@dataclass(frozen=True, eq=False)
class _Votes:
    """All votes, sorted by item; judges with and without a table are numbered separately."""

    unit: Ints
    value: Ints
    judge: Ints
    is_tabled: Flags
    strides: Places  # (judges with a table, labels)
    sizes: Ints  # (judges with a table,): table sizes
    begin: Ints  # (judges with a table,): table starts


def colour_items(item: Ints, judge: Ints, items: int) -> Ints:
    """Number items from 0 so that a judge's items all have different numbers (greedy, in item order)."""
    judges_of: list[list[int]] = [[] for _ in range(items)]
    for unit, annotator in zip(item.tolist(), judge.tolist(), strict=True):
        judges_of[unit].append(annotator)
    colours_of: dict[int, int] = {}  # bit set of the numbers of a judge's items
    colours = np.zeros(items, dtype=np.int64)
    for unit, judges in enumerate(judges_of):
        used = 0
        for annotator in judges:
            used |= colours_of.get(annotator, 0)
        free = ~used & (used + 1)  # the lowest bit that is not set
        colours[unit] = free.bit_length() - 1
        for annotator in judges:
            colours_of[annotator] = colours_of.get(annotator, 0) | free
    return colours


def _chunks(order: Ints, colour: Ints, cost: Ints) -> Iterator[Ints]:
    """Split the order into runs of one colour whose total cost is limited, with at least one item each."""
    first = total = 0
    for index, item in enumerate(order.tolist()):
        if index > first and (colour[item] != colour[order[first]] or total + cost[item] > _AT_ONCE):
            yield order[first:index]
            first, total = index, 0
        total += int(cost[item])
    if len(order):
        yield order[first:]


def _drawn(weight: Singles, chance: Singles) -> Labels:
    """Draw a label for each item and chain from probabilities of shape (items, labels, chains)."""
    below = weight[:, 0]
    label = (chance > below).view(np.int8)
    for value in range(1, weight.shape[1] - 1):
        below = below + weight[:, value]
        label += chance > below
    return label


def _even_steps(level: Floats, largest: Floats) -> Floats:
    """Find the largest rise of each component's power that keeps the effective share of its chains at one half.

    `level` holds log likelihoods of shape (parts, populations, chains).
    """
    low, high = np.zeros(len(level)), largest.copy()
    is_even = _worth(level * largest[:, None, None]) >= _EVEN
    for _ in range(20):
        middle = (low + high) / 2
        is_low = _worth(level * middle[:, None, None]) >= _EVEN
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.where(is_even, largest, low)


def _worth(log_weight: Floats) -> Floats:
    """Compute the effective share of the chains by component, averaged over populations."""
    weight = np.exp(log_weight - log_weight.max(axis=2, keepdims=True))
    worth: Floats = (weight.sum(axis=2) ** 2 / (weight**2).sum(axis=2)).mean(axis=1) / weight.shape[2]
    return worth


def resample_chains(log_weight: Floats, chance: Floats) -> Ints:
    """Select the surviving chains by weight within each population (systematic resampling).

    `log_weight` has shape (parts, populations, chains), `chance` (parts, populations), and the result (parts, all
    chains).
    """
    parts, populations, chains = log_weight.shape
    weight = np.exp(log_weight - log_weight.max(axis=2, keepdims=True))
    total = np.cumsum(weight, axis=2)
    # The number of points (j + chance) / chains below each cumulative weight.
    below = np.ceil(chains * total / total[:, :, -1:] - chance[:, :, None]).astype(np.int64)
    below[:, :, -1] = chains
    times = np.diff(np.clip(below, 0, chains), axis=2, prepend=0)
    chain = np.arange(populations * chains).reshape(1, populations, chains)
    return np.repeat(np.broadcast_to(chain, times.shape).ravel(), times.ravel()).reshape(parts, -1)
