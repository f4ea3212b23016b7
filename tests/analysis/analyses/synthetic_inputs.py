"""Inputs of an analysis of any size, of the shape of crowdrag25's: judged in small groups, with texts if asked for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from analysis.inputs import arrays
from analysis.inputs.texts import ResponseText, TopicTexts, digest
from analysis.text.statements import parse

DIMENSIONS = (
    "correctness_topical", "coherence_logical", "coherence_stylistic", "coverage_broad", "coverage_deep",
    "consistency_internal", "quality_overall",
)  # fmt: skip
STYLES = ("bullet", "essay", "news")
ORIGINS = ("human", "model")
PAIRS = [(a, b) for a in range(6) for b in range(a + 1, 6)]
BOTH = [(b, a) for a, b in PAIRS[::3]] + [(5, 0)]
#: The paper's size: topics judged, and presented pairs; times five votes and seven dimensions 47,320 judgments.
TOPICS, SHOWN = 65, 1352
ITEMS, VOTES = 13, 5
PASSAGES = 20
COLUMNS = ("unit", "coder", "dimension", "value", "vote", "k", "position", "row")


def study(size: float = 1.0, *, seed: int = 0) -> arrays.Inputs:
    """Inputs `size` times as large as the paper's; responses have no texts."""
    rng = np.random.default_rng(seed)
    topics = max(2, round(TOPICS * size))
    shown = min(round(SHOWN * size), topics * (len(PAIRS) + len(BOTH)))
    names = tuple(f"t{topic:06}" for topic in range(topics))
    responses = tuple(
        arrays.Response(f"{name}-{r}", name, STYLES[r % 3], ORIGINS[r // 3], f"writer{(topic * 6 + r) % 97:02}", 250)
        for topic, name in enumerate(names)
        for r in range(6)
    )
    sides = [(topic, *pair) for topic in range(topics) for pair in sorted(PAIRS + BOTH)][:shown]
    units = tuple((6 * topic + a, 6 * topic + b, topic, "") for topic, a, b in sides)
    return arrays.Inputs(
        pool="crowd",
        topics=names,
        styles=STYLES,
        dimensions=tuple(
            arrays.Dimension(name, name, (-1, 1) if name == "quality_overall" else (-1, 0, 1)) for name in DIMENSIONS
        ),
        responses=responses,
        pools={"crowd": _crowd(rng, units, topics)},
    )


def _crowd(rng: np.random.Generator, units: tuple[tuple[int, int, int, str], ...], topics: int) -> arrays.Pool:
    """Questionnaires of 13 pairs each, judged by five people; most people judge one, some several."""
    shown = len(units)
    questionnaires = -(-shown // ITEMS)
    who = _judges(rng, questionnaires)
    people = int(who.max()) + 1
    quality = rng.normal(size=(topics * 6, len(DIMENSIONS)))
    spam = rng.beta(1.5, 1.5, size=people)
    left, right = np.array([unit[:2] for unit in units]).T
    unit = np.repeat(np.arange(shown), VOTES)
    coder = who[np.arange(shown) // ITEMS].ravel()
    parts = []
    for d in range(len(DIMENSIONS)):
        lead = quality[right, d] - quality[left, d]
        truth = (np.sign(lead) * (np.abs(lead) > 0.25)).astype(int) + 1
        value = np.where(rng.random(len(unit)) < spam[coder], rng.integers(0, 3, len(unit)), truth[unit])
        if DIMENSIONS[d] == "quality_overall":
            value = np.where(value == 1, 2 * rng.integers(0, 2, len(unit)), value)
        parts.append(value)
    n = len(unit)
    columns = {
        "unit": np.tile(unit, len(DIMENSIONS)),
        "coder": np.tile(coder, len(DIMENSIONS)),
        "dimension": np.repeat(np.arange(len(DIMENSIONS)), n),
        "value": np.concatenate(parts),
        "vote": np.tile(np.arange(n) % VOTES, len(DIMENSIONS)),
        "k": np.full(n * len(DIMENSIONS), VOTES),
        "position": np.tile(unit % ITEMS, len(DIMENSIONS)),
        # As rows come in: assignment after assignment.
        "row": _rows(unit, coder, len(DIMENSIONS)),
    }
    return arrays.Pool(tuple(f"judge{i:07}" for i in range(people)), units, **columns)


def _judges(rng: np.random.Generator, questionnaires: int) -> NDArray[np.int64]:
    """Five people for each questionnaire; as often as in the sample, somebody who judged the one before."""
    again = rng.random((questionnaires, VOTES)) < 1 / 15
    again[0] = False
    new = np.cumsum(~again.ravel()).reshape(again.shape) - 1
    who = np.where(again, -1, new)
    for questionnaire, place in np.argwhere(again):
        free = np.setdiff1d(who[questionnaire - 1], who[questionnaire])
        who[questionnaire, place] = rng.choice(free)
    return who


def _rows(unit: NDArray[np.int64], coder: NDArray[np.int64], dimensions: int) -> NDArray[np.int64]:
    dimension = np.repeat(np.arange(dimensions), len(unit))
    order = np.lexsort(
        (dimension, np.tile(unit, dimensions), np.tile(coder, dimensions), np.tile(unit // ITEMS, dimensions))
    )
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.arange(1, len(order) + 1)
    return row


def without_last(whole: arrays.Inputs, count: int) -> arrays.Inputs:
    """The same before the last judgments of the analysed pool came in."""
    pool = whole.main
    keep = np.ones(len(pool.row), dtype=bool)
    keep[np.argsort(pool.row)[len(pool.row) - count :]] = False
    return replace(whole, pools=whole.pools | {whole.pool: some(pool, keep)})


def some(pool: arrays.Pool, keep: NDArray[np.bool_]) -> arrays.Pool:
    """Some of the judgments; who gave none of them, and what none of them is about, is not there."""
    coders, coder = np.unique(pool.coder[keep], return_inverse=True)
    units, unit = np.unique(pool.unit[keep], return_inverse=True)
    columns = {name: getattr(pool, name)[keep] for name in COLUMNS} | {"coder": coder, "unit": unit}
    place = {int(before): now for now, before in enumerate(units.tolist())}
    return replace(
        pool,
        participants=tuple(pool.participants[i] for i in coders.tolist()),
        units=tuple(pool.units[i] for i in units.tolist()),
        known=tuple((place[u], d, v) for u, d, v in pool.known if u in place),
        **columns,
    )


@dataclass(frozen=True)
class Texts:
    """Texts of such a study, made anew each time: responses cite the passages of their topic and reuse their words."""

    inputs: arrays.Inputs
    seed: int = 0
    words: int = 250

    def __iter__(self) -> Iterator[TopicTexts]:
        for topic, name in enumerate(self.inputs.topics):
            rng = np.random.default_rng([self.seed, topic])
            passages = tuple(self._sentences(rng, 5) for _ in range(PASSAGES))
            written = []
            for place in range(6 * topic, 6 * topic + 6):
                text = self._response(rng, passages)
                written.append(ResponseText(place, text, parse(text, passages=PASSAGES), passages, topic))
            yield TopicTexts(name, tuple(written))

    def _response(self, rng: np.random.Generator, passages: tuple[str, ...]) -> str:
        parts = []
        for _ in range(self.words // 20):
            cited = int(rng.integers(0, PASSAGES))
            own = self._sentences(rng, 1)
            taken = passages[cited].split(". ")[int(rng.integers(0, 5))].rstrip(".")
            parts.append(f"{taken if rng.random() < 0.3 else own.rstrip('.')} [{cited}].")
        return " ".join(parts)

    def _sentences(self, rng: np.random.Generator, count: int) -> str:
        drawn = np.minimum(rng.zipf(1.3, size=(count, 18)), 20_000)
        return ". ".join(" ".join(f"w{word}ord" for word in row) for row in drawn.tolist()) + "."


def with_texts(whole: arrays.Inputs) -> arrays.Inputs:
    """The same with what an analysis knows of its texts."""
    passages = [digest(f"{topic} {rank}") for topic in whole.topics for rank in range(PASSAGES)]
    return replace(
        whole,
        passages=tuple(passages),
        rankings=tuple(tuple(range(PASSAGES * topic, PASSAGES * (topic + 1))) for topic in range(len(whole.topics))),
        responses=tuple(replace(each, ranking=place // 6) for place, each in enumerate(whole.responses)),
    )
