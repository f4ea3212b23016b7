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
#: Votes between two looks of a policy.
EVERY = 100
#: Competence is estimated at every so-many-th look.
REFIT = 4
MACE = mace.MaceSettings(restarts=3, max_iter=50)
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
        """Return the grades by these votes, shape (n_topics, n_dimensions, n_responses), as an analysis computes them.

        MACE gives each judged pair its likeliest label, and Rao and Kupper's model grades from labels.
        """
        dimensions = self.label.shape[1]
        items, item = np.unique(self.item[votes], return_inverse=True)
        people, coder = np.unique(self.coder[votes], return_inverse=True)
        label = np.stack([
            mace.fit(item, coder, self.label[votes, d], rng=np.random.default_rng(d), items=len(items),
                     annotators=len(people), labels=3, settings=MACE).posterior.argmax(axis=1)
            for d in range(dimensions)
        ], axis=1)  # fmt: skip
        problem = self.topic[items][:, None] * dimensions + np.arange(dimensions)
        each = [np.repeat(side[items], dimensions) for side in (self.first, self.second)]
        tallies = bradley_terry.tally(
            problem.ravel(), *each, label.ravel() - 1.0, problems=self.topics * dimensions, items=self.responses
        )
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

    def choose(self, name: str, size: int, rng: np.random.Generator) -> Ints:
        """Choose votes one after the other as a policy does.

        Information gain chooses the item, and chance whose vote it is. Routing chooses the vote: items are drawn as in
        the random arm, and votes of doubtful judges come last, but for the control share.
        """
        of_item = np.bincount(self.item, minlength=len(self.topic))
        waiting = [votes.tolist() for votes in np.split(
            np.lexsort((rng.random(len(self.item)), self.item)), np.cumsum(of_item)[:-1]
        )]  # fmt: skip
        slot_item = np.repeat(np.arange(len(of_item)), of_item)
        is_free, taken = np.ones(len(slot_item), dtype=bool), np.zeros(len(of_item), dtype=np.int64)
        chosen: list[int] = []
        spam: dict[int, float] = {}
        policy = policies.POLICIES[name]
        while len(chosen) < size:
            votes = np.array(chosen, dtype=np.int64)
            pool = self.pool(taken, of_item, votes)
            control = circle = Circle.of(policies.balanced_weights(pool), is_free, rng)
            if name == "INFORMATION" and chosen and policy.score is not None:
                score = policy.score(pool, None)[judge_tiers.Tier.TRUSTED]
                circle = Circle.of(policies.slot_weights(score, pool), is_free, rng)
            if policy.limits_unproven and chosen and len(chosen) % (REFIT * EVERY) == 0:
                spam = self._spam(votes, rng)
            for _ in range(min(EVERY, size - len(chosen))):
                is_control = rng.random() < CONTROL
                slot = (control if is_control else circle).draw(is_free, rng.random())
                is_free[slot] = False
                item = slot_item[slot]
                rest = waiting[item]
                preferred = (
                    number for number, vote in enumerate(rest)
                    if is_control or judge_tiers.may_continue(spam.get(int(self.coder[vote]), 0.0))
                )  # fmt: skip
                chosen.append(rest.pop(next(preferred, 0)))
                taken[item] += 1
        return np.array(chosen)

    def _spam(self, votes: Ints, rng: np.random.Generator) -> dict[int, float]:
        """Return the spam probability of each judge, of all dimensions together."""
        dimensions = self.label.shape[1]
        people, coder = np.unique(self.coder[votes], return_inverse=True)
        units, unit = np.unique(self.item[votes][:, None] * dimensions + np.arange(dimensions), return_inverse=True)
        try:
            fitted = mace.fit(
                unit.ravel(), np.repeat(coder, dimensions), self.label[votes].ravel(), rng=rng, items=len(units),
                annotators=len(people), labels=3, settings=MACE,
            )  # fmt: skip
        except mace.NoOverlapError:
            return {}
        return dict(zip(people.tolist(), fitted.spam_probability.tolist(), strict=True))


def _ratio(gain: float, error: float) -> float:
    """Return two standard errors over the loss, at most 10."""
    return float(ERRORS * error / max(-gain, ERRORS * error / 10, 1e-12))


def _tau(part: Floats, whole: Floats) -> Floats:
    signs = [np.sign(grade[..., :, None] - grade[..., None, :]) for grade in (part, whole)]
    size = np.sqrt((signs[0] ** 2).sum(axis=(-2, -1)) * (signs[1] ** 2).sum(axis=(-2, -1)))
    product = (signs[0] * signs[1]).sum(axis=(-2, -1))
    return np.divide(product, size, out=np.full(size.shape, np.nan), where=size > 0)


def replay(folder: Path, replications: int, shares: tuple[float, ...] = SHARES) -> Iterator[dict]:
    """Compare each policy with its random arm on the sample's votes."""
    sample = Replay(folder)
    for share in shares:
        size = round(share * len(sample.item))
        taus = {
            name: np.array([
                sample.tau(sample.choose(name, size, np.random.default_rng([number, kind])))
                for number in range(replications)
            ])
            for kind, name in enumerate(("RANDOM", "INFORMATION", "COMPETENCE"))
        }  # fmt: skip
        for name in ("INFORMATION", "COMPETENCE"):
            yield _replayed(name, share, taus[name], taus["RANDOM"])


def _replayed(name: str, share: float, chosen: Floats, by_chance: Floats) -> dict:
    """Return the row of one policy; arrays have shape (replications, within topics or of systems, dimensions)."""
    replications = len(chosen)
    gain = chosen - by_chance
    error = gain[:, 0].std(axis=0, ddof=1) / np.sqrt(replications)
    middle = gain.mean(axis=(0, 2))
    spread = gain.mean(axis=2).std(axis=0, ddof=1) / np.sqrt(replications)
    within = ", ".join(
        f"{dimension} {one:.3f}/{other:.3f} ({mean:+.3f} ± {1.96 * wide:.3f})"
        for dimension, one, other, mean, wide in zip(
            DIMENSIONS, chosen[:, 0].mean(axis=0), by_chance[:, 0].mean(axis=0), gain[:, 0].mean(axis=0), error,
            strict=True,
        )
    )  # fmt: skip
    return {
        "name": f"replay at {share:.0%} of the votes, {policies.POLICIES[name].title.lower()}: two standard errors "
        "over the loss to random",
        "ratio": min(_ratio(middle[0], spread[0]), _ratio(middle[1], spread[1])),
        "target": 1,
        "detail": f"tau, policy/random, {replications} replays: within topics {middle[0]:+.4f} "
        f"± {1.96 * spread[0]:.4f}, {within}; of systems {chosen[:, 1].mean():.3f}/{by_chance[:, 1].mean():.3f} "
        f"({middle[1]:+.4f} ± {1.96 * spread[1]:.4f})",
    }


#: Six systems stand at equal distances on the log scale, of which two neighbours or the best are asked about; or the
#: order of four is.
QUESTIONS = {
    "is A better than B": Goal(GoalKind.BETTER, ("2", "3")),
    "which is best": Goal(GoalKind.BEST, tuple("012345")),
    "ranking of four": None,
}
CAMPAIGNS: tuple[tuple[str, str, tuple[float, ...], Setting], ...] = (
    ("is A better than B", "INFORMATION", (0.8, 1.2, 1.6, 2.4), Setting((), topics=60)),
    ("is A better than B", "INFORMATION", (1.6,), Setting((), topics=60, items=15, every=150)),
    ("which is best", "INFORMATION", (1.6, 2.4), Setting((), topics=60)),
    ("ranking of four", "INFORMATION", (1.6, 2.4), Setting((), topics=150)),
    ("is A better than B", "COMPETENCE", (1.2, 1.6, 2.4), Setting((), topics=60, items=5, per_person=5)),
    ("ranking of four", "COMPETENCE", (1.6, 2.4), Setting((), topics=150, items=5, per_person=5)),
)


def curve(campaigns: int) -> Iterator[dict]:
    """Count judgments until decided, each policy and its random arm on the same seeds."""
    for question, policy, differences, setting in CAMPAIGNS:
        for difference in differences:
            systems = 4 if QUESTIONS[question] is None else 6
            here = replace(setting, merit=of_difference(difference, systems).merit)
            found = {
                name: [
                    until_decided(here, policies.POLICIES[name], QUESTIONS[question], np.random.default_rng(seed))
                    for seed in range(campaigns)
                ]
                for name in (policy, "RANDOM", "FIXED")
            }
            yield _compared(question, policy, difference, here, *found.values())


def _compared(
    question: str,
    policy: str,
    difference: float,
    setting: Setting,
    chosen: list[Outcome],
    by_chance: list[Outcome],
    in_order: list[Outcome],
) -> dict:
    counts = np.array([[each.judgments for each in arm] for arm in (chosen, by_chance, in_order)], dtype=float)
    saved = 1 - counts[0].mean() / counts[1].mean()
    error = (counts[0] - counts[1]).std(ddof=1) / np.sqrt(counts.shape[1]) / counts[1].mean()
    wrong = [sum(each.is_right is False for each in arm) for arm in (chosen, by_chance, in_order)]
    still_open = [sum(each.is_right is None for each in arm) for arm in (chosen, by_chance, in_order)]
    title = policies.POLICIES[policy].title.lower()
    return {
        "name": f"{question}, {title}, neighbours {difference} apart on the log scale, {setting.items} pairs a "
        "questionnaire: two standard errors over the loss to random",
        "ratio": _ratio(saved, error),
        "target": 1,
        "detail": f"judgments {'/'.join(f'{mean:.0f}' for mean in counts.mean(axis=1))} (policy/random/fixed order), "
        f"saved {saved:.1%} ± {1.96 * error:.1%} of random, {counts.shape[1]} campaigns each; false "
        f"{'/'.join(map(str, wrong))}, "
        f"not decided with {len(setting.merit) * (len(setting.merit) - 1) // 2 * setting.topics * setting.k} "
        f"judgments {'/'.join(map(str, still_open))}",
    }


def run(replications: int = 20, campaigns: int = 40) -> Iterator[dict]:
    """Replay on the sample, and simulate."""
    folder = os.environ.get("CROWDRAG_DATA")
    if folder and (Path(folder) / "crowdrag25").exists():
        yield from replay(Path(folder) / "crowdrag25", replications)
    yield from curve(campaigns)
