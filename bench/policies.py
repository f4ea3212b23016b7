"""Policies that choose questionnaires, each against its random arm: replayed on published votes, and simulated.

    CROWDRAG_DATA=../shared python -m bench policies
    CROWDRAG_DATA=../shared python -m bench policies --replications 40 --campaigns 100

Replay: each policy chooses some of the sample's votes one after the other, seeing only those chosen so far. Kendall's
tau compares the order of each topic's responses by these votes with that by all votes. Simulation: campaigns with the
competence of the published crowd run until their question is decided at a confidence of 95 %.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from analysis.stats import bradley_terry, judge_tiers, mace, policies
from analysis.stats.goals import Goal, GoalKind
from bench._policy_campaigns import Circle, Outcome, Setting, of_difference, until_decided
from bench._votes import DIMENSIONS
from bench.planning_subsamples import corpus

Floats, Ints = NDArray[np.float64], NDArray[np.int64]
SHARES = (0.4, 0.6, 0.8)
CONTROL = 0.1
#: Votes between two looks of a policy, and votes by which a judge becomes known.
EVERY, TRIAL = 100, 5
#: Judges who are at work at the same time.
AT_WORK = 40
#: Two standard errors below random are within what chance explains.
ERRORS = 2.0


class Replay:
    """The sample's votes, and the order of responses by any part of them."""

    def __init__(self, folder: Path) -> None:
        study = corpus(folder)
        self.topic, self.first, self.second = study.topic, study.first, study.second
        self.item, self.coder, self.label = study.item, study.coder, study.label
        self.topics, self.responses = study.design.topics, study.design.responses
        self.whole = self.grades(np.arange(len(self.item)))

    def grades(self, votes: Ints) -> Floats:
        """Return the grades by these votes, shape (n_topics, n_dimensions, n_responses), by Rao and Kupper."""
        item, dimensions = self.item[votes], self.label.shape[1]
        problem = self.topic[item][:, None] * dimensions + np.arange(dimensions)
        each = [np.repeat(side[item], dimensions) for side in (self.first, self.second)]
        tallies = bradley_terry.tally(
            problem.ravel(), *each, self.label[votes].ravel() - 1.0,
            problems=self.topics * dimensions, items=self.responses,
        )  # fmt: skip
        grade = bradley_terry.fit(tallies, errors=False).grade
        unknown = (self.responses + 1) / 2
        return np.where(np.isnan(grade), unknown, grade).reshape(self.topics, dimensions, -1)

    def tau(self, votes: Ints) -> tuple[Floats, Floats]:
        """Return tau-b to the grades by all votes: of responses within topics (mean), and of systems; by dimension."""
        part = self.grades(votes)
        within = _tau(part, self.whole)
        return np.nanmean(within, axis=0), _tau(part.mean(axis=0), self.whole.mean(axis=0))

    def pool(self, taken: Ints, of_item: Ints, votes: Ints) -> policies.Pool:
        """Return what a policy sees: each item is a questionnaire of its own."""
        item = self.item[votes]
        n = len(self.topic)
        return policies.Pool(
            first=self.topic * self.responses + self.first, second=self.topic * self.responses + self.second,
            topic=np.repeat(np.arange(self.topics), self.responses),
            system=np.tile(np.arange(self.responses), self.topics), systems=self.responses,
            entry_questionnaire=np.arange(n), entry_item=np.arange(n), known=np.zeros(n), taken=taken,
            free=of_item - taken,
            votes=[policies.Votes(item, 1.0 - self.label[votes, d], np.full(len(votes), 0.5))
                   for d in range(self.label.shape[1])],
        )  # fmt: skip

    def by_items(self, name: str, size: int, rng: np.random.Generator) -> Ints:
        """Choose votes as a policy that chooses items does; whose votes they are is left to chance."""
        order = np.lexsort((rng.random(len(self.item)), self.item))
        of_item = np.bincount(self.item, minlength=len(self.topic))
        begin = np.cumsum(of_item) - of_item
        slot_item = np.repeat(np.arange(len(of_item)), of_item)
        is_free, taken = np.ones(len(order), dtype=bool), np.zeros(len(of_item), dtype=np.int64)
        chosen: list[int] = []
        policy = policies.POLICIES[name]
        while len(chosen) < size:
            pool = self.pool(taken, of_item, np.array(chosen, dtype=np.int64))
            control = Circle.of(policies.balanced_weights(pool), is_free, rng)
            circle = control
            if policy.score is not None and chosen:
                score = policy.score(pool, None)[judge_tiers.Tier.TRUSTED]
                circle = Circle.of(policies.slot_weights(score, pool), is_free, rng)
            for _ in range(min(EVERY, size - len(chosen))):
                slot = (control if rng.random() < CONTROL else circle).draw(is_free, rng.random())
                is_free[slot] = False
                item = slot_item[slot]
                chosen.append(int(order[begin[item] + taken[item]]))
                taken[item] += 1
        return np.array(chosen)

    def by_judges(self, size: int, rng: np.random.Generator, *, is_limited: bool) -> Ints:
        """Choose votes as judges come, some at a time: first a trial of each, then the rest of those who go on.

        Doubtful judges do not go on, but for the control share of them. If no judge is left, their votes follow.
        """
        people = rng.permutation(int(self.coder.max()) + 1)
        shuffled = rng.permutation(len(self.item))
        of_person = np.split(
            shuffled[np.argsort(self.coder[shuffled], kind="stable")], np.cumsum(np.bincount(self.coder))[:-1]
        )
        chosen: list[int] = []
        left_out: list[int] = []
        for start in range(0, len(people), AT_WORK):
            group = people[start : start + AT_WORK].tolist()
            for person in group:
                chosen += of_person[person][:TRIAL].tolist()
            spam = self._spam(np.array(chosen), rng) if is_limited and len(chosen) < size else {}
            for person in group:
                goes_on = person not in spam or judge_tiers.may_continue(spam[person]) or rng.random() < CONTROL
                (chosen if goes_on else left_out).extend(of_person[person][TRIAL:].tolist())
            if len(chosen) >= size:
                break
        return np.array((chosen + left_out)[:size])

    def _spam(self, votes: Ints, rng: np.random.Generator) -> dict[int, float]:
        """Return the spam probability of each judge, of all dimensions together."""
        dimensions = self.label.shape[1]
        people, coder = np.unique(self.coder[votes], return_inverse=True)
        units, unit = np.unique(self.item[votes][:, None] * dimensions + np.arange(dimensions), return_inverse=True)
        fitted = mace.fit(
            unit.ravel(), np.repeat(coder, dimensions), self.label[votes].ravel(), rng=rng, items=len(units),
            annotators=len(people), labels=3, settings=mace.MaceSettings(restarts=2, max_iter=30),
        )  # fmt: skip
        return dict(zip(people.tolist(), fitted.spam_probability.tolist(), strict=True))


def _tau(part: Floats, whole: Floats) -> Floats:
    signs = [np.sign(grade[..., :, None] - grade[..., None, :]) for grade in (part, whole)]
    size = np.sqrt((signs[0] ** 2).sum(axis=(-2, -1)) * (signs[1] ** 2).sum(axis=(-2, -1)))
    product = (signs[0] * signs[1]).sum(axis=(-2, -1))
    return np.divide(product, size, out=np.full(size.shape, np.nan), where=size > 0)


def replay(folder: Path, replications: int, shares: tuple[float, ...] = SHARES) -> Iterator[dict]:
    """Compare each policy with its random arm on the sample's votes."""
    sample = Replay(folder)
    arms = {
        "information gain": (
            lambda size, rng: sample.by_items("INFORMATION", size, rng),
            lambda size, rng: sample.by_items("RANDOM", size, rng),
        ),
        "competence-aware routing": (
            lambda size, rng: sample.by_judges(size, rng, is_limited=True),
            lambda size, rng: sample.by_judges(size, rng, is_limited=False),
        ),
    }
    for name, (choose, by_chance) in arms.items():
        for share in shares:
            size = round(share * len(sample.item))
            taus = np.array([
                [
                    sample.tau(way(size, np.random.default_rng([number, kind])))
                    for kind, way in enumerate((choose, by_chance))
                ]
                for number in range(replications)
            ])  # fmt: skip
            # (replications, arms, within topics or of systems, dimensions)
            gain = taus[:, 0] - taus[:, 1]
            mean, error = gain.mean(axis=0), gain.std(axis=0, ddof=1) / np.sqrt(replications)
            overall = gain[:, 0].mean(axis=1)
            middle, spread = overall.mean(), overall.std(ddof=1) / np.sqrt(replications)
            by_dimension = ", ".join(
                f"{dimension} {taus[:, 0, 0, d].mean():.3f}/{taus[:, 1, 0, d].mean():.3f} "
                f"({mean[0, d]:+.3f} ± {1.96 * error[0, d]:.3f})"
                for d, dimension in enumerate(DIMENSIONS)
            )
            yield {
                "name": f"replay at {share:.0%} of the votes, {name}: two standard errors over the loss to random",
                "ratio": ERRORS * spread / max(-middle, 1e-9),
                "target": 1,
                "detail": f"tau within topics, policy/random, {replications} replays: mean {middle:+.4f} "
                f"± {1.96 * spread:.4f}; {by_dimension}; systems {np.nanmean(taus[:, 0, 1]):.3f}/"
                f"{np.nanmean(taus[:, 1, 1]):.3f}",
            }


#: Each question with a campaign: systems stand at equal distances on the log scale, of which two neighbours are asked
#: about, the best, or the whole order.
QUESTIONS = {
    "is A better than B": Goal(GoalKind.BETTER, ("2", "3")),
    "which is best": Goal(GoalKind.BEST, tuple("012345")),
    "ranking of all": None,
}
CAMPAIGNS: tuple[tuple[str, str, tuple[float, ...], Setting], ...] = (
    ("is A better than B", "INFORMATION", (0.8, 1.2, 1.6, 2.4), Setting((), topics=60)),
    ("is A better than B", "INFORMATION", (1.6,), Setting((), topics=60, items=15, every=150)),
    ("which is best", "INFORMATION", (1.6, 2.4), Setting((), topics=60)),
    ("ranking of all", "INFORMATION", (1.6, 2.4), Setting((), topics=60)),
    ("is A better than B", "COMPETENCE", (1.2, 1.6, 2.4), Setting((), topics=60, items=5, per_person=5)),
    ("ranking of all", "COMPETENCE", (1.6, 2.4), Setting((), topics=60, items=5, per_person=5)),
)


def curve(campaigns: int) -> Iterator[dict]:
    """Count judgments until decided, each policy and its random arm on the same seeds."""
    for question, policy, differences, setting in CAMPAIGNS:
        for difference in differences:
            here = replace(setting, merit=of_difference(difference).merit)
            found = {
                name: [
                    until_decided(here, policies.POLICIES[name], QUESTIONS[question], np.random.default_rng(seed))
                    for seed in range(campaigns)
                ]
                for name in (policy, "RANDOM")
            }
            yield _compared(question, policy, difference, here, found[policy], found["RANDOM"])


def _compared(
    question: str, policy: str, difference: float, setting: Setting, chosen: list[Outcome], by_chance: list[Outcome]
) -> dict:
    counts = np.array([[each.judgments for each in arm] for arm in (chosen, by_chance)], dtype=float)
    saved = 1 - counts[0].mean() / counts[1].mean()
    error = (counts[0] - counts[1]).std(ddof=1) / np.sqrt(counts.shape[1]) / counts[1].mean()
    wrong = [sum(each.is_right is False for each in arm) for arm in (chosen, by_chance)]
    open_ = [sum(each.is_right is None for each in arm) for arm in (chosen, by_chance)]
    title = policies.POLICIES[policy].title.lower()
    return {
        "name": f"{question}, {title}, neighbours {difference} apart on the log scale, {setting.items} pairs a "
        "questionnaire: two standard errors over the loss to random",
        "ratio": ERRORS * error / max(-saved, 1e-9),
        "target": 1,
        "detail": f"judgments {counts[0].mean():.0f}/{counts[1].mean():.0f} (policy/random), saved {saved:.1%} ± "
        f"{1.96 * error:.1%}, {counts.shape[1]} campaigns each; false {wrong[0]}/{wrong[1]}, "
        f"not decided with {len(setting.merit) * (len(setting.merit) - 1) // 2 * setting.topics * setting.k} "
        f"judgments {open_[0]}/{open_[1]}",
    }


def run(replications: int = 20, campaigns: int = 40) -> Iterator[dict]:
    """Replay on the sample, and simulate."""
    folder = os.environ.get("CROWDRAG_DATA")
    if folder and (Path(folder) / "crowdrag25").exists():
        yield from replay(Path(folder) / "crowdrag25", replications)
    yield from curve(campaigns)
