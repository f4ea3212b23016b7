"""Many simulated campaigns at once, looked at after each questionnaire (docs/methods/sequential.md).

Judgments have the models of `simulation`. Systems have the responses of a topic in turn. All pairs are judged, some in
both orders; questionnaires are dealt at random, and each is judged by new people in k rounds of random order. This is
the balanced random order of a campaign's pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from analysis.stats.bootstrap import Floats
from analysis.stats.designs import LABELS, Design, Expectation, Ints, harder, threshold
from analysis.stats.goal_decisions import UNDECIDED, boundary_of, decide
from analysis.stats.goals import Goal
from analysis.stats.sequential import Votes, fixed_p, largest
from analysis.stats.simulation import answers, ring_distance, verdict

#: How many campaigns, and how many of their votes, are simulated at once, to bound the memory.
AT_ONCE: Final = 250
VOTES_AT_ONCE: Final = 2_000_000


@dataclass(frozen=True, eq=False)
class SimulatedCampaigns:
    """Judgments of many campaigns in the order in which questionnaires were submitted.

    Attributes
    ----------
    topic, first, second : ndarray of int, shape (n_campaigns, n_questionnaires, n_items)
        The topic and the systems of the two responses of each judged pair. Each questionnaire has its own judge.
    score : ndarray of float, of the same shape
        1 if the first was judged better, 0 if the second was, 0.5 if neither.
    topics, systems, responses : int
    """

    topic: Ints
    first: Ints
    second: Ints
    score: Floats
    topics: int
    systems: int
    responses: int

    def votes(self, campaign: int, questionnaires: int) -> Votes:
        """Return the votes of the first questionnaires of one campaign, as the analysis takes them."""
        of = (campaign, slice(questionnaires))
        judge = np.broadcast_to(np.arange(self.topic.shape[1])[:, None], self.topic.shape[1:])[:questionnaires]
        compares = self.first[of] != self.second[of]
        first, second, score, topic = (
            values[of][compares] for values in (self.first, self.second, self.score, self.topic)
        )
        return Votes(first, second, score, topic, np.asarray(judge)[compares])


@dataclass(frozen=True, eq=False)
class Paths:
    """What is known after each questionnaire of each campaign.

    Attributes
    ----------
    difference, variance : ndarray of shape (n_questionnaires, n_campaigns, n_pairs)
        Of mean grades of two systems, in the order of `itertools.combinations`. NaN before there is anything.
    over_judges : ndarray
        The variance over judges only, as if the topics were all that there are; of the same shape.
    topics : ndarray of int, shape (n_questionnaires, n_campaigns)
        How many have been judged. The number of judges is that of questionnaires.
    items : int
        Pairs of a questionnaire.
    scale : int
        The best grade.
    """

    difference: Floats
    variance: Floats
    over_judges: Floats
    topics: Ints
    items: int
    scale: int

    @property
    def judges(self) -> Ints:
        """How many judges there are after each questionnaire, shape (n_questionnaires, 1)."""
        return np.arange(1, len(self.topics) + 1)[:, None]

    def decisions(self, goal: Goal, *, every: int = 1, is_fixed: bool = False, ignores_topics: bool = False) -> Ints:
        """Decide a goal at each look, shape (n_looks, n_campaigns); codes of `goal_decisions.decide`.

        Parameters
        ----------
        every : int
            Questionnaires between looks.
        is_fixed : bool
            Whether each look is the only one, as in a fixed design.
        ignores_topics : bool
            Whether only judges are clusters. This is wrong, and shows by how much.
        """
        at = slice(every - 1, None, every)
        difference, variance = self.difference[at], (self.over_judges if ignores_topics else self.variance)[at]
        judges = np.broadcast_to(self.judges, self.topics.shape)[at]
        freedom = (np.minimum(self.topics[at], judges) - 1.0)[..., None]
        test = fixed_p if is_fixed else boundary_of(goal, self.scale).p
        p = test(difference - goal.margin, variance, freedom)
        return decide(goal, difference=difference, p=p, topics=self.topics[at], judges=judges)


def joined(parts: list[Paths]) -> Paths:
    """Join the paths of several sets of campaigns of one design."""
    columns = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("difference", "variance", "over_judges", "topics")
    }
    return Paths(**columns, items=parts[0].items, scale=parts[0].scale)


def simulate_paths(
    design: Design, expected: Expectation, effects: ArrayLike, campaigns: int, rng: np.random.Generator
) -> Paths:
    """Simulate campaigns in parts and look at them; parameters as in `simulate_campaigns`."""
    most = max(1, min(AT_ONCE, VOTES_AT_ONCE // (design.pairs_shown * design.k)))
    sizes = [most] * (campaigns // most) + [campaigns % most] * (campaigns % most > 0)
    return joined([look_at(simulate_campaigns(design, expected, effects, size, rng)) for size in sizes])


def simulate_campaigns(
    design: Design, expected: Expectation, effects: ArrayLike, campaigns: int, rng: np.random.Generator
) -> SimulatedCampaigns:
    """Draw merits, true labels, judges and judgments of many campaigns with one dimension.

    Parameters
    ----------
    design : Design
        Its styles, dimensions and limit of questionnaires are not used. Pairs that do not fill a questionnaire are left
        out; if none is filled, there are no judgments.
    expected : Expectation
        Its effect is not used; `topic_effect` varies each system's.
    effects : array_like, shape (n_systems,)
        Mean merit of each system's responses, on the log scale.
    campaigns : int
    rng : numpy.random.Generator
    """
    effect = np.asarray(effects, dtype=np.float64)
    topics, responses, rows = design.topics, design.responses, np.arange(campaigns)[:, None]
    system = np.arange(responses) % len(effect)
    of_topic = effect + expected.topic_effect * rng.normal(size=(campaigns, topics, len(effect)))
    merit = expected.spread * rng.normal(size=(campaigns, topics, responses)) + of_topic[:, :, system]
    topic, left, right = _pairs(design, campaigns, rng)
    lead = merit[rows, topic, left] - merit[rows, topic, right] + rng.logistic(size=left.shape)
    truth = verdict(lead, threshold(design, expected))
    sheets = topic.shape[1] // design.items
    rounds = [np.argsort(rng.random((campaigns, sheets)), axis=1) for _ in range(design.k)]
    sheet = np.concatenate(rounds, axis=1)
    shown_at = (sheet[:, :, None] * design.items + np.arange(design.items)).reshape(campaigns, -1)
    shape = (campaigns, sheet.shape[1], design.items)
    topic, left, right, truth = (
        np.take_along_axis(values, shown_at, axis=1).reshape(shape) for values in (topic, left, right, truth)
    )
    people = expected.competence
    who = rng.integers(len(people.spam), size=shape[:2])
    trouble = expected.difficulty * rng.normal(size=(campaigns, topics))
    spam = harder(people.spam[who, 0][:, :, None], trouble[rows[:, :, None], topic])
    label, _spammed = answers(truth, spam, people.strategy[who, 0][:, :, None, :], rng)
    score = 1 - label / (LABELS - 1)
    return SimulatedCampaigns(topic, system[left], system[right], score, topics, len(effect), responses)


def _pairs(design: Design, campaigns: int, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Draw the presented pairs of each campaign in random order: topic, left and right response."""
    every = sorted(
        combinations(range(design.responses), 2), key=lambda edge: ring_distance(edge, design.responses)
    )  # fmt: skip
    edges = np.array(every[: design.pairs_per_topic])
    # Of a sample of pairs, other responses are neighbours on each topic.
    response = np.argsort(rng.random((campaigns, design.topics, design.responses)), axis=2)
    once = design.topics * len(edges)
    twice = np.argsort(rng.random((campaigns, once)), axis=1)[:, : round(once * design.both_orders)]
    shown = np.concatenate([np.broadcast_to(np.arange(once), (campaigns, once)), twice], axis=1)
    side = np.concatenate([rng.random((campaigns, once)) < 0.5, np.zeros_like(twice, dtype=bool)], axis=1)
    side[:, once:] = ~np.take_along_axis(side, twice, axis=1)
    order = np.argsort(rng.random(shown.shape), axis=1)
    shown, side = np.take_along_axis(shown, order, axis=1), np.take_along_axis(side, order, axis=1)
    topic, edge = np.divmod(shown, len(edges))
    campaign = np.arange(campaigns)[:, None]
    first, second = response[campaign, topic, edges[edge, 0]], response[campaign, topic, edges[edge, 1]]
    return topic, np.where(side, second, first), np.where(side, first, second)


def look_at(campaigns: SimulatedCampaigns) -> Paths:
    """Compute differences of mean grades and their variances after each questionnaire, of all campaigns at once.

    The results are those of `sequential.system_means` on the same votes. Sums over judges, and over topics and judges,
    are kept as moments: sums of products of each cluster's scores and counts.
    """
    pairs = list(combinations(range(campaigns.systems), 2))
    # Systems relative to the first one, which has no coordinate.
    unit = np.eye(campaigns.systems)[:, 1:]
    contrast = np.array([unit[first] - unit[second] for first, second in pairs])
    steps = [_step(*parts, contrast, campaigns.responses) for parts in _sums(campaigns, unit)]
    difference, variance, over_judges, topics = (np.array(values) for values in zip(*steps, strict=True))
    return Paths(difference, variance, over_judges, topics, campaigns.topic.shape[2], campaigns.responses)


@dataclass
class _Moments:
    """Sums over clusters of products of scores (b) and of counts (l), one value for each campaign."""

    bb: Floats
    bl: Floats
    ll: Floats

    def add(self, score: Floats, count: Floats, cells: Floats, cell_counts: Floats) -> None:
        """Add products of the scores and counts of votes with those of the clusters that the votes belong to."""
        self.bb = self.bb + np.einsum("bva,bvc->bac", score, cells)
        self.bl = self.bl + np.einsum("bva,bvcd->bacd", score, cell_counts)
        self.ll = self.ll + np.einsum("bvac,bvde->bacde", count, cell_counts)

    def squares(self, effect: Floats) -> Floats:
        """Return the sum of squares of the clusters' residuals, shape (n_campaigns, d, d)."""
        cross = np.einsum("bacd,bd->bac", self.bl, effect)
        squared = np.einsum("bacde,bc,be->bad", self.ll, effect, effect)
        return np.asarray(self.bb - cross - cross.transpose(0, 2, 1) + squared)


def _sums(
    campaigns: SimulatedCampaigns, unit: Floats
) -> Iterator[tuple[Floats, Floats, Floats, _Moments, _Moments, int]]:
    """Yield after each questionnaire: scores and counts by topic, how many votes a topic has, and moments."""
    number, sheets, _items = campaigns.topic.shape
    d, rows = unit.shape[1], np.arange(number)[:, None]
    by_topic = np.zeros((number, campaigns.topics, d))
    counts, seen = np.zeros((number, campaigns.topics, d, d)), np.zeros((number, campaigns.topics))
    judges, cells = (
        _Moments(np.zeros((number, d, d)), np.zeros((number, d, d, d)), np.zeros((number, d, d, d, d)))
        for _ in range(2)
    )
    for sheet in range(sheets):
        topic = campaigns.topic[:, sheet]
        vector = unit[campaigns.first[:, sheet]] - unit[campaigns.second[:, sheet]]
        score = vector * (campaigns.score[:, sheet] - 0.5)[:, :, None]
        count = vector[:, :, :, None] * vector[:, :, None, :]
        np.add.at(by_topic, (rows, topic), score)
        np.add.at(counts, (rows, topic), count)
        np.add.at(seen, (rows, topic), np.abs(vector).max(axis=2))
        same = (topic[:, :, None] == topic[:, None, :]).astype(np.float64)
        cells.add(score, count, same @ score, np.einsum("bvw,bwcd->bvcd", same, count))
        whole, whole_count = score.sum(axis=1, keepdims=True), count.sum(axis=1, keepdims=True)
        judges.add(whole, whole_count, whole, whole_count)
        yield by_topic, counts, seen, judges, cells, sheet + 1


def _step(
    by_topic: Floats, counts: Floats, seen: Floats, judges: _Moments, cells: _Moments, sheets: int,
    contrast: Floats, scale: int,
) -> tuple[Floats, Floats, Floats, Ints]:  # fmt: skip
    laplacian = counts.sum(axis=1)
    is_known = np.linalg.det(laplacian) > 0.5  # a whole number: how many trees of comparisons connect all systems
    laplacian = np.where(is_known[:, None, None], laplacian, np.eye(laplacian.shape[1]))
    inverse = np.linalg.inv(laplacian)
    effect = np.einsum("bac,bc->ba", inverse, by_topic.sum(axis=1))
    residual = by_topic - np.einsum("btac,bc->bta", counts, effect)
    topics = (seen > 0).sum(axis=1)
    transform = scale * np.einsum("pa,bac->bpc", contrast, inverse)
    with np.errstate(divide="ignore", invalid="ignore"):
        over_topics = np.square(np.einsum("bpc,btc->bpt", transform, residual)).sum(axis=2)
        over_topics *= (topics / (topics - 1))[:, None]
        over_judges, over_cells = (
            np.einsum("bpc,bcd,bpd->bp", transform, moments.squares(effect), transform) for moments in (judges, cells)
        )
        over_judges = over_judges * sheets / (sheets - 1) if sheets > 1 else np.full_like(over_judges, np.nan)
    variance = largest(over_topics, over_judges, over_cells)
    difference = scale * effect @ contrast.T
    known = is_known[:, None]
    difference, variance, over_judges = (
        np.where(known, values, np.nan) for values in (difference, variance, over_judges)
    )
    return difference, variance, over_judges, topics


@dataclass(frozen=True)
class Saving:
    """What a sequential campaign needs, against the fixed design of equal power; both in judged pairs.

    Attributes
    ----------
    power : float
        Share of campaigns that decide rightly.
    wrong : float
        Share of campaigns that decide wrongly.
    judgments : float
        Mean number until decided; all of them if undecided.
    median : float
    fixed : float
        Number with which the fixed design is right as often; NaN if it is right more often after the first look, or
        less often with all judgments.
    """

    power: float
    wrong: float
    judgments: float
    median: float
    fixed: float

    @property
    def saved(self) -> float:
        """Share of the fixed design's judgments that is saved; negative if more are needed."""
        return 1 - self.judgments / self.fixed


def saving(paths: Paths, goal: Goal, right: int, *, every: int = 1) -> Saving:
    """Compare sequential campaigns with fixed designs, on the same simulated campaigns.

    Parameters
    ----------
    right : int
        The right answer's code; `goal_decisions.UNDECIDED` if every answer is wrong.
    """
    codes = paths.decisions(goal, every=every)
    looks = codes != UNDECIDED
    is_decided, first = looks.any(axis=0), looks.argmax(axis=0)
    answer = np.take_along_axis(codes, first[None], axis=0)[0]
    until = np.where(is_decided, (first + 1) * every, len(paths.topics)) * paths.items
    power = float((is_decided & (answer == right)).mean())
    at_once = (paths.decisions(goal, is_fixed=True) == right).mean(axis=1)
    return Saving(
        power,
        float((is_decided & (answer != right)).mean()),
        float(until.mean()),
        float(np.median(until)),
        _reached(np.maximum.accumulate(at_once), power) * paths.items,
    )


def _reached(power: Floats, needed: float) -> float:
    """Return after how many looks a rising power is reached, by linear interpolation."""
    index = int(np.searchsorted(power, needed))
    if index == 0 or index == len(power):
        return float("nan")
    before, after = float(power[index - 1]), float(power[index])
    return index + (needed - before) / (after - before)
