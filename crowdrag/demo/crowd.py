"""A simulated crowd that judges pairs of responses, for the demo study and for tests of the statistics.

The generative model, in the order of the draws:

1. **Quality.** Each response has an overall merit ``M ~ Normal(expected, spread)``; its merit on a dimension is
   ``m = M + Normal(0, offset)``, or ``M`` on the overall dimension. Merits are on a log scale, like Rao-Kupper's.
2. **Pairs.** All pairs of a topic's responses with balanced sides; a third of them in both orders. They are shuffled
and split into questionnaires of 15, with the two orders of a pair in different questionnaires if possible.
3. **People.** Most have a small spam probability e0, and some (`spammers`) a large one; it varies a little between
dimensions. Each person has a strategy (a distribution over a, n and b from which they draw when they spam), a
slight lean to one side (position bias) and a pace.
4. **Judgments** (MACE's generative model with noisy perception). With probability e0, a person draws from the
strategy. Otherwise, they perceive ``x = sharpness (m_left - m_right) + lean + Logistic(0, 1)`` and answer a (left)
if ``x > threshold``, b (right) if ``x < -threshold``, and n between: exactly the probabilities of the Rao-Kupper
model. Dimensions without a neutral option have threshold 0, and each side gets half of the strategy's n.
5. **Times.** Log-normal seconds per item, shorter for spammers, but at least 40 s on average because the published
study rejected questionnaires that took less than ten minutes.

The latent values are returned with the judgments, so that estimates can be compared with them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.stats import simulation

A, N, B = -1, 0, 1  # judgments as presented: a is the left response, b the right one

DIMENSIONS = (
    "correctness_topical",
    "coherence_logical",
    "coherence_stylistic",
    "coverage_broad",
    "coverage_deep",
    "consistency_internal",
    "quality_overall",
)
OVERALL = "quality_overall"


class NothingToJudgeError(ValueError):
    """No topic has two responses."""


class UnknownResponseError(ValueError):
    """An expected merit is given for a response that no topic has."""


class TooFewPeopleError(ValueError):
    """There are fewer people than judges needed for a questionnaire."""


@dataclass(frozen=True)
class CrowdSettings:
    """Parameters of the crowd. With the defaults, agreement is slightly above the published one (alpha 0.2 to 0.3)."""

    dimensions: tuple[str, ...] = DIMENSIONS
    forced: frozenset[str] = frozenset({OVERALL})  # dimensions without a neutral option
    reversed_share: float = 1 / 3
    pairs_per_questionnaire: int = 15
    judges: int = 5
    participants: int | None = None  # None: each person answers one questionnaire
    spread: float = 1.0
    offset: float = 0.5
    sharpness: float = 2.5
    threshold: float = 0.7
    spammers: float = 0.25
    lean: float = 0.15
    seconds: float = 85.0  # median per item
    fewest_seconds: float = 40.0  # per item, averaged over a questionnaire
    days: float = 3.0  # period in which everybody begins


@dataclass(frozen=True)
class Pair:
    """Two responses to a topic, as presented."""

    topic: str
    left: str
    right: str

    def reverse(self) -> "Pair":
        """Return the pair in the other order."""
        return Pair(self.topic, self.right, self.left)


@dataclass(frozen=True)
class Questionnaire:
    """Pairs that a person judges in order in one session."""

    number: int
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Person:
    """A simulated judge; `spam_probability` is aligned with the settings' dimensions, `strategy` is over a, n, b."""

    id: str
    spam_probability: tuple[float, ...]
    strategy: tuple[float, float, float]
    lean: float
    pace: float


@dataclass(frozen=True)
class Assignment:
    """A questionnaire answered by one person."""

    questionnaire: int
    participant: str
    started_at: datetime
    submitted_at: datetime


@dataclass(frozen=True)
class Judgment:
    """A judgment as presented: -1 is a (left better), 0 n (neither), 1 b (right better)."""

    questionnaire: int
    participant: str
    position: int  # position of the pair in the questionnaire, from 1
    pair: Pair
    dimension: str
    value: int
    judged_at: datetime


@dataclass(frozen=True)
class Truth:
    """The latent values.

    Attributes
    ----------
    merit : mapping of response to its merits, aligned with the settings' dimensions
    values : mapping of pair to the true judgments (-1, 0, 1) on the dimensions
    people : the judges with their spam probabilities
    spammed : whether each judgment was spam, aligned with `Crowd.judgments`
    """

    merit: Mapping[str, tuple[float, ...]]
    values: Mapping[Pair, tuple[int, ...]]
    people: tuple[Person, ...]
    spammed: tuple[bool, ...] = field(repr=False)


@dataclass(frozen=True)
class Crowd:
    """The result of a simulation."""

    settings: CrowdSettings
    questionnaires: tuple[Questionnaire, ...]
    assignments: tuple[Assignment, ...]
    judgments: tuple[Judgment, ...] = field(repr=False)
    truth: Truth = field(repr=False)


def simulate(
    topics: Mapping[str, Sequence[str]],
    *,
    rng: np.random.Generator,
    opened_at: datetime,
    settings: CrowdSettings | None = None,
    expected: Mapping[str, float] | None = None,
) -> Crowd:
    """Simulate a crowd that judges all pairs of each topic's responses.

    Parameters
    ----------
    topics : mapping of topic to the IDs of its responses
        Each response belongs to one topic. Topics with a single response have no pairs.
    rng : Generator
        The only source of randomness: equal state and input give the same crowd.
    opened_at : datetime
        Timezone-aware; nobody begins before it.
    settings : Settings, optional
    expected : mapping of response to the mean of its overall merit, optional
        Default 0. A difference of 1 is one standard deviation between responses.

    Raises
    ------
    NothingToJudgeError, UnknownResponseError, TooFewPeopleError
    ValueError
        If `opened_at` is naive or a response occurs twice.
    """
    settings = settings or CrowdSettings()
    expected = expected or {}
    responses = [response for group in topics.values() for response in group]
    _check(responses, expected, opened_at)

    merit = draw_merits(responses, expected=expected, settings=settings, rng=rng)
    pairs = draw_pairs(topics, reversed_share=settings.reversed_share, rng=rng)
    if not pairs:
        raise NothingToJudgeError("no topic has two responses: add a second response to at least one topic")
    questionnaires = deal(pairs, size=settings.pairs_per_questionnaire, rng=rng)
    people = draw_people(settings.participants or settings.judges * len(questionnaires), settings=settings, rng=rng)

    assignments, judgments, spammed = [], [], []
    free_at: dict[str, datetime] = {}
    for questionnaire, person in _staff(questionnaires, people, judges=settings.judges, rng=rng):
        begins = opened_at + timedelta(days=float(rng.uniform(0, settings.days)))
        begins = max(begins, free_at.get(person.id, begins))
        seconds = _seconds(person, len(questionnaire.pairs), settings=settings, rng=rng)
        done = [begins + timedelta(seconds=float(total)) for total in np.cumsum(seconds)]
        free_at[person.id] = done[-1] + timedelta(minutes=5)
        assignments.append(Assignment(questionnaire.number, person.id, begins, done[-1]))

        values, spam = answer(person, questionnaire.pairs, merit=merit, settings=settings, rng=rng)
        spammed += spam.ravel().tolist()
        judgments += [
            Judgment(
                questionnaire.number, person.id, index + 1, pair, dimension, int(values[index, column]), done[index]
            )
            for index, pair in enumerate(questionnaire.pairs)
            for column, dimension in enumerate(settings.dimensions)
        ]
    truth = Truth(
        merit=merit,
        values={pair: true_values(pair, merit=merit, settings=settings) for pair in pairs},
        people=people,
        spammed=tuple(spammed),
    )
    return Crowd(settings, questionnaires, tuple(assignments), tuple(judgments), truth)


def draw_merits(
    responses: Sequence[str], *, expected: Mapping[str, float], settings: CrowdSettings, rng: np.random.Generator
) -> dict[str, tuple[float, ...]]:
    """Draw the merit of each response on each dimension (step 1)."""
    means = np.array([expected.get(response, 0.0) for response in responses])
    overall = rng.normal(means, settings.spread)
    offsets = rng.normal(0, settings.offset, (len(responses), len(settings.dimensions)))
    offsets *= [dimension != OVERALL for dimension in settings.dimensions]
    merits = overall[:, None] + offsets
    return {response: tuple(row) for response, row in zip(responses, merits.tolist(), strict=True)}


def draw_pairs(topics: Mapping[str, Sequence[str]], *, reversed_share: float, rng: np.random.Generator) -> list[Pair]:
    """Return all pairs of each topic once, with sides balanced by response, and a share of them also reversed (step 2).

    The reversed pairs are a systematic sample over the topics, so that each topic has its share of them, within one.
    """
    forward = []
    for topic, group in topics.items():
        order = [group[i] for i in rng.permutation(len(group))]
        drawn = []
        for (i, first), (j, second) in combinations(enumerate(order), 2):
            # At odd distances the first is left, at even ones right, so that each response is balanced within one.
            drawn.append(Pair(topic, first, second) if (j - i) % 2 else Pair(topic, second, first))
        forward += [drawn[i] for i in rng.permutation(len(drawn))]
    marks = np.floor(np.arange(len(forward) + 1) * reversed_share + rng.uniform())
    return forward + [pair.reverse() for pair, step in zip(forward, np.diff(marks), strict=True) if step]


def deal(pairs: Sequence[Pair], *, size: int, rng: np.random.Generator) -> tuple[Questionnaire, ...]:
    """Shuffle pairs into questionnaires of `size` (the last may be shorter); separate a pair's orders if possible."""
    dealt = [pairs[i] for i in rng.permutation(len(pairs))]
    index_of_pair = {pair: index for index, pair in enumerate(dealt)}

    def clashes(pair: Pair, index: int) -> bool:
        twin = index_of_pair.get(pair.reverse())
        return twin is not None and twin // size == index // size

    for index in range(len(dealt)):
        if not clashes(dealt[index], index):
            continue
        for other in rng.permutation(len(dealt)).tolist():
            if other // size != index // size and not clashes(dealt[index], other) and not clashes(dealt[other], index):
                dealt[index], dealt[other] = dealt[other], dealt[index]
                index_of_pair[dealt[index]], index_of_pair[dealt[other]] = index, other
                break
    starts = range(0, len(dealt), size)
    return tuple(Questionnaire(number, tuple(dealt[at : at + size])) for number, at in enumerate(starts, 1))


def draw_people(count: int, *, settings: CrowdSettings, rng: np.random.Generator) -> tuple[Person, ...]:
    """Draw judges (step 3): e0 from Beta(2, 8), for spammers Beta(12, 2), plus Normal(0, 0.3) on the logit scale."""
    if count < settings.judges:
        raise TooFewPeopleError(f"{count} people cannot give {settings.judges} judgments each: raise `participants`")
    spammer = np.zeros(count, dtype=bool)
    spammer[rng.permutation(count)[: round(settings.spammers * count)]] = True
    spam = np.where(spammer, rng.beta(12, 2, count), rng.beta(2, 8, count))
    logits = np.log(spam / (1 - spam))[:, None] + rng.normal(0, 0.3, (count, len(settings.dimensions)))
    spam_by_dimension = (1 / (1 + np.exp(-logits))).tolist()
    strategies = rng.dirichlet([0.7, 0.7, 0.7], count).tolist()
    leans = rng.normal(0, settings.lean, count).tolist()
    paces = rng.lognormal(0, 0.3, count).tolist()
    digits = max(3, len(str(count)))
    return tuple(
        Person(f"simulated-{i + 1:0{digits}}", tuple(spam_by_dimension[i]), tuple(strategies[i]), leans[i], paces[i])
        for i in range(count)
    )


def answer(
    person: Person,
    pairs: Sequence[Pair],
    *,
    merit: Mapping[str, Sequence[float]],
    settings: CrowdSettings,
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Let a person judge pairs as presented (step 4).

    Returns
    -------
    values, spammed : ndarray of shape (n_pairs, n_dimensions)
        The judgments (-1, 0, 1), and whether each was spam.
    """
    perceived = settings.sharpness * _lead(pairs, merit) + person.lean
    perceived = perceived + rng.logistic(0, 1, perceived.shape)
    honest = simulation.verdict(perceived, _thresholds(settings))

    a, n, b = person.strategy
    forced = np.array([dimension in settings.forced for dimension in settings.dimensions])
    strategy = np.where(forced[:, None], [a + n / 2, 0.0, n / 2 + b], [a, n, b])
    label, spammed = simulation.answers(honest, np.array(person.spam_probability), strategy, rng)
    return label + A, spammed  # labels count from 0


def true_values(pair: Pair, *, merit: Mapping[str, Sequence[float]], settings: CrowdSettings) -> tuple[int, ...]:
    """Judge a pair without noise, lean or spam."""
    lead = settings.sharpness * _lead([pair], merit)
    return tuple((simulation.verdict(lead, _thresholds(settings))[0] + A).tolist())


def _lead(pairs: Sequence[Pair], merit: Mapping[str, Sequence[float]]) -> NDArray[np.float64]:
    """Return how much better the left response is, shape (n_pairs, n_dimensions)."""
    left = np.array([merit[pair.left] for pair in pairs], dtype=np.float64)
    return np.subtract(left, np.array([merit[pair.right] for pair in pairs], dtype=np.float64))


def _thresholds(settings: CrowdSettings) -> NDArray[np.float64]:
    return np.array([0.0 if dimension in settings.forced else settings.threshold for dimension in settings.dimensions])


def _staff(
    questionnaires: Sequence[Questionnaire], people: Sequence[Person], *, judges: int, rng: np.random.Generator
) -> list[tuple[Questionnaire, Person]]:
    """Assign judges to each questionnaire: those with the fewest so far, at random among equals."""
    load = np.zeros(len(people))
    staffed = []
    for questionnaire in questionnaires:
        chosen = np.lexsort((rng.uniform(size=len(people)), load))[:judges]
        load[chosen] += 1
        staffed += [(questionnaire, people[i]) for i in chosen]
    return staffed


def _seconds(person: Person, count: int, *, settings: CrowdSettings, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw seconds per item (step 5), to a tenth; a questionnaire below the limit is stretched to just above it."""
    haste = 1 - 0.6 * float(np.mean(person.spam_probability))
    seconds = settings.seconds * person.pace * haste * rng.lognormal(0, 0.4, count)
    least = settings.fewest_seconds * count
    if seconds.sum() < least:
        seconds *= least * rng.uniform(1.01, 1.2) / seconds.sum()
    return np.maximum(np.round(seconds, 1), 0.1)


def _check(responses: Sequence[str], expected: Mapping[str, float], opened_at: datetime) -> None:
    if len(set(responses)) < len(responses):
        raise ValueError("a response occurs twice: list each response once, under one topic")
    unknown = sorted(set(expected) - set(responses))
    if unknown:
        raise UnknownResponseError(f"`expected` names responses that no topic has: {', '.join(unknown[:5])}")
    if opened_at.tzinfo is None:
        raise ValueError("`opened_at` has no time zone: pass an aware datetime, in UTC for example")
