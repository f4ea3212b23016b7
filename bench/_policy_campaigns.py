"""Simulated campaigns that draw their questionnaires by a policy, until a question is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats import adaptive_draws, designs, judge_tiers, mace, policies, simulation
from analysis.stats.goals import Goal, GoalKind

Floats, Ints = NDArray[np.float64], NDArray[np.int64]
#: Competence of the published crowd, mean and standard deviation between people (`designs.competence`).
CROWD = (0.45, 0.3)
ERROR = 0.05
#: Competence is estimated at every so-many-th look.
COMPETENCE_EVERY = 3
#: No decision earlier, because variances over few topics are too uncertain.
FEWEST_TOPICS = 10
#: Information at which the boundary is narrowest: of a difference of 0.5 on the log-odds scale.
TUNED = 40.0


@dataclass(frozen=True)
class Setting:
    """The size of a simulated campaign, and how its questionnaires are given out.

    `merit` are the systems' true merits on the log scale; `spread` is the deviation of responses around them.
    """

    merit: tuple[float, ...]
    topics: int = 40
    items: int = 1
    k: int = 5
    spread: float = 1.0
    neutral: float = 0.25
    per_person: int = 1
    control: float = 0.1
    #: Judgments between two looks of the policy, and of the rule.
    every: int = 60


@dataclass(frozen=True, eq=False)
class Campaign:
    """A campaign with true labels and the people who come."""

    setting: Setting
    topic: Ints
    first: Ints
    second: Ints
    truth: Ints
    sheet: list[Ints]

    @classmethod
    def make(cls, setting: Setting, rng: np.random.Generator) -> Campaign:
        """Draw responses, labels and questionnaires: all pairs of each topic, dealt at random."""
        systems = len(setting.merit)
        pairs = np.array(list(combinations(range(systems), 2)))
        topic = np.repeat(np.arange(setting.topics), len(pairs))
        side = rng.random(len(topic)) < 0.5
        one, other = np.tile(pairs, (setting.topics, 1)).T
        first, second = np.where(side, other, one), np.where(side, one, other)
        merit = np.array(setting.merit) + setting.spread * rng.normal(size=(setting.topics, systems))
        lead = merit[topic, first] - merit[topic, second] + scipy.special.logit(rng.random(len(topic)))
        threshold = float(np.quantile(np.abs(lead), setting.neutral))
        truth = simulation.verdict(lead, threshold)
        sheets = max(1, len(topic) // setting.items)
        return cls(setting, topic, first, second, truth, np.array_split(rng.permutation(len(topic)), sheets))

    def pool(self, taken: Ints, item: Ints, lead: Floats, spam: Floats) -> policies.Pool:
        """Return what a policy sees."""
        systems = len(self.setting.merit)
        return policies.Pool(
            first=self.topic * systems + self.first, second=self.topic * systems + self.second,
            topic=np.repeat(np.arange(self.setting.topics), systems),
            system=np.tile(np.arange(systems), self.setting.topics), systems=systems,
            entry_questionnaire=np.repeat(np.arange(len(self.sheet)), [len(each) for each in self.sheet]),
            entry_item=np.concatenate(self.sheet), known=np.zeros(len(self.sheet)), taken=taken,
            free=self.setting.k - taken, votes=[policies.Votes(item, lead, spam)],
        )  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """When a campaign was decided, in judgments; all judgments if it was not. `is_right` is None if undecided."""

    judgments: int
    is_right: bool | None


def until_decided(setting: Setting, policy: policies.Policy, goal: Goal | None, rng: np.random.Generator) -> Outcome:
    """Simulate a campaign and return when its goal was decided."""
    campaign = Campaign.make(setting, rng)
    crowd = designs.competence(*CROWD, dimensions=1, rng=rng, people=len(campaign.sheet) * setting.k)
    sheets, k = len(campaign.sheet), setting.k
    slot_sheet = np.repeat(np.arange(sheets), k)
    is_free = np.ones(sheets * k, dtype=bool)
    votes = RunningVotes()
    people = Crowd(setting, policy.limits_unproven)
    seen = looks = 0
    position: dict[judge_tiers.Tier, Circle] = {}
    by_chance: Circle
    while is_free.any():
        if not position or len(votes) - seen >= setting.every:
            item, label, coder = votes.arrays()
            if len(votes) and (right := _decided(campaign, goal, item, label)) is not None:
                return Outcome(len(votes), right)
            seen, looks = len(votes), looks + 1
            if policy.limits_unproven and looks % COMPETENCE_EVERY == 0:
                people.spam = _spam(item, label, coder, rng)
            taken = k - np.bincount(slot_sheet, weights=is_free, minlength=sheets).astype(np.int64)
            spam = np.array([people.spam.get(person, 0.5) for person in coder.tolist()])
            pool = campaign.pool(taken, item, 1.0 - label, spam)
            by_chance = Circle.of(policies.balanced_weights(pool), is_free, rng)
            position = dict.fromkeys(judge_tiers.Tier, by_chance)
            if policy.score is not None and len(votes):
                position = {
                    tier: Circle.of(policies.slot_weights(score, pool), is_free, rng)
                    for tier, score in policy.score(pool, goal).items()
                }
        person = people.next_judge(rng)
        tier = judge_tiers.tier_of(people.spam.get(person))
        where = by_chance if rng.random() < setting.control else position[tier]
        slot = where.draw(is_free, rng.random()) if policy.is_random else int(np.argmax(is_free))
        sheet = int(slot_sheet[slot])
        if sheet in people.done.setdefault(person, set()):
            continue  # nobody gets a questionnaire twice
        people.done[person].add(sheet)
        is_free[slot] = False
        asked = campaign.sheet[sheet]
        label, _spammed = simulation.answers(
            campaign.truth[asked], crowd.spam[person, 0], crowd.strategy[person, 0], rng
        )
        votes.add(asked, label, person)
    item, label, _coder = votes.arrays()
    return Outcome(len(votes), _decided(campaign, goal, item, label))


class RunningVotes:
    """The votes of a campaign so far."""

    def __init__(self) -> None:
        self._items: list[Ints] = []
        self._labels: list[Ints] = []
        self._coders: list[Ints] = []
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def add(self, items: Ints, labels: Ints, coder: int) -> None:
        """Add the votes of one questionnaire."""
        self._items.append(items)
        self._labels.append(labels)
        self._coders.append(np.full(len(items), coder))
        self._n += len(items)

    def arrays(self) -> tuple[Ints, Ints, Ints]:
        """Return item, label and judge of each vote."""
        parts = (self._items, self._labels, self._coders)
        item, label, coder = (np.concatenate(part) if part else np.empty(0, dtype=np.int64) for part in parts)
        return item, label, coder


class Crowd:
    """The people who come: new ones, and those who come again while they may."""

    def __init__(self, setting: Setting, is_limited: bool) -> None:
        self._setting, self._is_limited = setting, is_limited
        self.spam: dict[int, float] = {}
        self.done: dict[int, set[int]] = {}
        self._come = 0

    def next_judge(self, rng: np.random.Generator) -> int:
        """Return who comes next: a new judge as often as if all did all their questionnaires, else one again."""
        if self._setting.per_person > 1 and rng.random() >= 1 / self._setting.per_person:
            ready = [
                person for person, sheets in self.done.items()
                if len(sheets) < self._setting.per_person
                and (not self._is_limited or judge_tiers.may_continue(self.spam.get(person)))
            ]  # fmt: skip
            if ready:
                return int(ready[rng.integers(len(ready))])
        self._come += 1
        return self._come - 1


def _spam(item: Ints, label: Ints, coder: Ints, rng: np.random.Generator) -> dict[int, float]:
    """Estimate the judges' spam probabilities by MACE; empty if the votes cannot show them."""
    items, unit = np.unique(item, return_inverse=True)
    people, annotator = np.unique(coder, return_inverse=True)
    try:
        fitted = mace.fit(
            unit, annotator, label, rng=rng, items=len(items), annotators=len(people), labels=3,
            settings=mace.MaceSettings(restarts=2, max_iter=50),
        )  # fmt: skip
    except (mace.NoOverlapError, mace.SingleLabelError):
        return {}
    return dict(zip(people.tolist(), fitted.spam_probability.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Circle:
    """Slots in the order of their positions: `adaptive_draws.draw` in a few steps, since few of them are taken."""

    position: Floats
    slot: Ints

    @classmethod
    def of(cls, weight: Floats, is_free: NDArray[np.bool_], rng: np.random.Generator) -> Circle:
        """Lay out the free slots."""
        ends = adaptive_draws.positions(weight, rng)
        order = np.argsort(ends)
        return cls(ends[order], np.flatnonzero(is_free)[order])

    def draw(self, is_free: NDArray[np.bool_], uniform: float) -> int:
        """Return the first free slot at or after a number."""
        place = int(np.searchsorted(self.position, uniform))
        while not is_free[self.slot[place % len(self.slot)]]:
            place += 1
        return int(self.slot[place % len(self.slot)])


def _decided(campaign: Campaign, goal: Goal | None, item: Ints, label: Ints) -> bool | None:
    """Return whether the decision is right; None if nothing is decided yet.

    Bradley-Terry merits of systems with the sandwich variance over topics, against Robbins' normal mixture boundary,
    each comparison at the error divided by their number.
    """
    systems = len(campaign.setting.merit)
    one, other, topic = campaign.first[item], campaign.second[item], campaign.topic[item]
    if len(np.unique(topic)) < FEWEST_TOPICS:
        return None
    won = 1.0 - label / 2.0
    design = np.zeros((len(item), systems))
    rows = np.arange(len(item))
    design[rows, one], design[rows, other] = 1.0, -1.0
    merit = np.zeros(systems)
    for _ in range(20):
        chance = scipy.special.expit(design @ merit)
        hessian = design.T @ (design * (chance * (1 - chance))[:, None]) + 0.01 * np.eye(systems)
        step = np.linalg.solve(hessian, design.T @ (won - chance) - 0.01 * merit)
        merit += step
        if np.abs(step).max() < 1e-7:
            break
    residual = design * (won - scipy.special.expit(design @ merit))[:, None]
    sums = np.zeros((campaign.setting.topics, systems))
    np.add.at(sums, topic, residual)
    bread = np.linalg.inv(hessian)
    n = len(np.unique(topic))
    covariance = bread @ (sums.T @ sums) @ bread * n / (n - 1)
    some = [int(name) for name in goal.systems] if goal else list(range(systems))
    order = sorted(some, key=lambda system: -merit[system])
    pairs = list(combinations(order, 2)) if goal is None or goal.kind == GoalKind.RANKING else [
        (order[0], worse) for worse in order[1:]
    ]  # fmt: skip
    truth = campaign.setting.merit
    right = True
    for better, worse in pairs:
        contrast = np.zeros(systems)
        contrast[better], contrast[worse] = 1.0, -1.0
        variance = float(contrast @ covariance @ contrast)
        lead = merit[better] - merit[worse]
        level = ERROR / len(pairs)
        bound = np.sqrt(variance * (1 + TUNED * variance) * np.log((1 + 1 / (TUNED * variance)) / level**2))
        if lead <= bound:
            return None
        right &= truth[better] >= truth[worse]
    return bool(right)


def of_difference(difference: float, systems: int = 6, **more: object) -> Setting:
    """Return a campaign in which the systems stand at equal distances; neighbours differ so much on the log scale."""
    merit = difference * (np.arange(systems) - (systems - 1) / 2)
    return replace(Setting(tuple(merit.tolist())), **more)  # type: ignore[arg-type]
