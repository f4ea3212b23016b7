"""Draws of the labels of one part of the judgments: annealed, resampled, then Gibbs sampled (`mace_posterior`).

Spam probabilities and strategies are integrated out (`_mace_tables`): a judge is known by how many of their votes say
the true label, and a label is drawn given all others by looking up what that would change. Chains run beside each
other, the last axis. They begin with labels at random and the likelihood at power 0. The power rises to 1 in steps so
small that the weights of the chains stay even; after each step chains are drawn anew by their weights, and go on. So
each optimum has as many chains as its evidence asks for, however hard it would be to walk from one to another (a
sequential Monte Carlo sampler). Chains are drawn anew within populations that know nothing of each other: their spread
is the Monte Carlo error.

Judges with too many votes for a table keep a drawn spam probability and strategy. Annealing treats these roughly; the
sweeps that follow are exact.

Reference: Del Moral, Doucet, Jasra, Sequential Monte Carlo samplers, JRSS B 68 (2006); Liu, The collapsed Gibbs
sampler, JASA 89 (1994).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats._mace_problem import Problem, Settings
from analysis.stats._mace_tables import Ints, Singles, is_small, table
from analysis.stats.bootstrap import Floats

Labels = NDArray[np.int8]
_EVEN = 0.5  # so large a share of the chains a step of annealing is worth at least, by their weights
_EDGE = 1e-6  # spam probabilities that are drawn stay this far from 0 and 1, where logarithms end


@dataclass
class _State:
    """Several chains beside each other (the last axis)."""

    label: Labels  # (items, chains)
    place: Ints  # (judges with a table, chains): where each stands in it
    gain: Singles  # (labels, judges without, chains): what one more true vote changes
    log_likelihood: Floats  # (chains,): of the votes of judges without a table
    spam: Floats  # (judges without, chains)

    def take(self, chains: Ints) -> _State:
        """Some of the chains."""
        return _State(
            self.label[:, chains],
            self.place[:, chains],
            self.gain[:, :, chains],
            self.log_likelihood[chains],
            self.spam[:, chains],
        )


@dataclass(frozen=True, eq=False)
class _Item:
    """The votes on an item by judges with a table, those for one label after those for another."""

    number: int
    judges: Ints  # (votes,)
    moves: Ints  # (votes, labels): how far a judge's place moves if the label is this one, less `offsets`
    offsets: Ints  # (votes, 1): where their gains begin for the label of the vote
    spans: tuple[tuple[int, int, int], ...]  # label, and from where to where its votes stand
    untabled: tuple[tuple[int, int], ...]  # label and judge of the votes of the others


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was found of a part: posterior by population, joint draws of labels, and expected spam probabilities."""

    posterior: Floats  # (items, labels, populations)
    label: Labels  # (items, draws)
    spam: Floats  # (annotators,)


class Chains:
    """The judgments of a part, as chains see them."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem, self.settings = problem, settings
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
        strides = np.array([each.strides for each in tables], dtype=np.int64).reshape(len(tables), labels)
        among = np.where(tabled, np.cumsum(tabled), np.cumsum(~tabled)) - 1
        self.counts = counts[self.untabled]
        order = np.lexsort((problem.value, problem.unit))
        ends = np.cumsum(np.bincount(problem.unit, minlength=units))
        self.items = []
        for number, (first, last) in enumerate(zip(np.r_[0, ends[:-1]].tolist(), ends.tolist(), strict=True)):
            votes = order[first:last]
            mine = votes[tabled[problem.coder[votes]]]
            rest = votes[~tabled[problem.coder[votes]]]
            judges, value = among[problem.coder[mine]], problem.value[mine]
            edges = np.searchsorted(value, np.arange(labels + 1)).tolist()
            offsets = self.begin[judges] * labels + (value * sizes[judges])[:, None]
            steps = np.where(value[:, None] == np.arange(labels), strides[judges, value][:, None], 0)
            self.items.append(
                _Item(
                    number=number,
                    judges=judges,
                    moves=steps - offsets,
                    offsets=offsets,
                    spans=tuple(
                        span for span in zip(range(labels), edges[:-1], edges[1:], strict=True) if span[1] < span[2]
                    ),
                    untabled=tuple(zip(problem.value[rest].tolist(), among[problem.coder[rest]].tolist(), strict=True)),
                )
            )
        # Of each judge without a table the items that they gave each label.
        self.given = [
            [problem.unit[(problem.coder == who) & (problem.value == label)] for label in range(labels)]
            for who in self.untabled.tolist()
        ]

    def draw(self, chains: int, populations: int, steps: int, kept: int, thin: int, rng: np.random.Generator) -> Drawn:
        """Anneal, then sweep: every `thin` sweeps the chains' labels are kept, chains in random order."""
        units, people, labels = self.problem.shape
        state = self._annealed(chains, populations, steps, rng)
        expected = np.zeros((units, labels, populations))
        spam = np.zeros(people)
        drawn = np.empty((units, kept, chains), dtype=np.int8)
        for draw in range(kept):
            for _ in range(thin):
                self._sweep(state, 1.0, rng, expected)
                spam[self.tabled] += self.spam[state.place + self.begin].mean(axis=1)
                spam[self.untabled] += state.spam.mean(axis=1)
            drawn[:, draw] = state.label[:, rng.permutation(chains)]
        expected *= populations / (chains * kept * thin)
        known = np.flatnonzero(self.problem.fixed >= 0)
        expected[known] = np.eye(labels)[self.problem.fixed[known]][:, :, None]
        return Drawn(expected, drawn.reshape(units, -1), spam / (kept * thin))

    def _annealed(self, chains: int, populations: int, steps: int, rng: np.random.Generator) -> _State:
        """Chains distributed as the evidence of the optima asks, after so many steps at most."""
        state = self._begun(chains, rng)
        power = 0.0
        for left in range(steps, 0, -1):
            level = self._log_likelihoods(state).reshape(populations, -1)
            even = _even_step(level, 1.0 - power)
            power = min(1.0, power + max(even, (1.0 - power) / left))
            state = state.take(_redrawn(even * level, rng))
            self._sweep(state, power, rng)
            if power == 1.0:
                break
        return state

    def _begun(self, chains: int, rng: np.random.Generator) -> _State:
        """Labels at random; spam probabilities and strategies of those without a table drawn from their priors."""
        units, _people, labels = self.problem.shape
        label = rng.integers(labels, size=(units, chains), dtype=np.int8)
        known = np.flatnonzero(self.problem.fixed >= 0)
        label[known] = self.problem.fixed[known][:, None]
        place = np.zeros((len(self.tabled), chains), dtype=np.int64)
        for item in self.items:
            place[item.judges] += item.moves.take(label[item.number], axis=1) + item.offsets
        few = len(self.untabled)
        state = _State(
            label,
            place,
            np.zeros((labels, few, chains), dtype=np.float32),
            np.zeros(chains),
            np.zeros((few, chains)),
        )
        self._parameters(state, 0.0, rng)
        return state

    def _log_likelihoods(self, state: _State) -> Floats:
        """Of all votes given the labels (and the parameters that are drawn), shape (chains,)."""
        found: Floats = state.log_likelihood + self.log_likelihood[state.place + self.begin].sum(axis=0)
        return found

    def _sweep(self, state: _State, power: float, rng: np.random.Generator, expected: Floats | None = None) -> None:
        """Draw the label of each item given all others; their probabilities are added to what was expected so far."""
        _units, _people, labels = self.problem.shape
        chains = state.label.shape[1]
        weight = np.empty((labels, chains), dtype=np.float32)
        for item in self.items:
            if self.problem.fixed[item.number] >= 0:
                continue
            label = state.label[item.number]
            # Where the judges stand without this item, from where the gains for their votes on it begin.
            place = state.place[item.judges] - item.moves.take(label.astype(np.intp), axis=1)
            gain = self.gain.take(place)
            weight[:] = 0.0
            for value, first, last in item.spans:
                np.add.reduce(gain[first:last], axis=0, out=weight[value])
            for value, who in item.untabled:
                weight[value] += state.gain[value, who]
            weight *= np.float32(power)
            weight -= np.maximum.reduce(weight, axis=0)
            np.exp(weight, out=weight)
            weight /= np.add.reduce(weight, axis=0)
            if expected is not None:
                expected[item.number] += np.add.reduce(weight.reshape(labels, expected.shape[2], -1), axis=2)
            chance = rng.random(chains, dtype=np.float32)
            label[:] = 0
            below = np.zeros(chains, dtype=np.float32)
            for each in weight[:-1]:
                below += each
                label += chance > below
            place += item.moves.take(label.astype(np.intp), axis=1)
            state.place[item.judges] = place
        self._parameters(state, power, rng)

    def _parameters(self, state: _State, power: float, rng: np.random.Generator) -> None:
        """Draw which votes of those without a table were knowledge, then their spam probabilities and strategies."""
        a, b = self.settings.spam_prior
        state.log_likelihood[:] = 0.0
        for who, given in enumerate(self.given):
            counts = self.counts[who][:, None]
            true = np.array([(state.label[items] == label).sum(axis=0) for label, items in enumerate(given)])
            gain = state.gain[:, who].astype(np.float64)
            knew = rng.binomial(true, -np.expm1(-gain))  # a share of 1 - 1 / (1 + (1 - e) / (e s))
            know = knew.sum(axis=0)
            spam = rng.standard_gamma(a + power * (counts.sum() - know))
            spam = np.clip(spam / (spam + rng.standard_gamma(b + power * know)), _EDGE, 1.0 - _EDGE)
            strategy = rng.standard_gamma(self.settings.strategy_prior + power * (counts - knew))
            spammed = spam * strategy / strategy.sum(axis=0)
            gain = np.log1p((1.0 - spam) / spammed)
            state.gain[:, who], state.spam[who] = gain, spam
            state.log_likelihood += (counts * np.log(spammed) + true * gain).sum(axis=0)


def _even_step(level: Floats, most: float) -> float:
    """By how much the power may rise, until the chains of a population are worth half of them by their weights."""
    if _worth(level * most) >= _EVEN:
        return most
    low, high = 0.0, most
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if _worth(level * middle) >= _EVEN else (low, middle)
    return low


def _worth(log_weight: Floats) -> float:
    """The effective share of the chains, the mean of the populations."""
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return float((weight.sum(axis=1) ** 2 / (weight**2).sum(axis=1)).mean() / weight.shape[1])


def _redrawn(log_weight: Floats, rng: np.random.Generator) -> Ints:
    """Which chains go on: drawn by their weights within each population, evenly spaced (systematic resampling)."""
    populations, chains = log_weight.shape
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    total = np.cumsum(weight, axis=1)
    at = (np.arange(chains) + rng.random((populations, 1))) / chains * total[:, -1:]
    found = np.empty((populations, chains), dtype=np.int64)
    for row in range(populations):
        found[row] = row * chains + np.minimum(np.searchsorted(total[row], at[row]), chains - 1)
    return found.ravel()
