"""A run's inputs as arrays: the exact judgments, responses and topics, and their digest.

Everything is identified by public IDs (pseudonyms, response and topic IDs) and sorted by these, never by primary keys.
An archive imported into another system therefore gives the same digest and, with the same parameters and seed,
byte-identical tables.
"""

import hashlib
import json
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from itertools import count
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

Ints = NDArray[np.int64]

SCHEMA = 2
EXPERT, POINTWISE = "expert", "pointwise"
#: Pools of judgments by language models, by prompt type (design 7.6).
COMBINED, INDIVIDUAL = "model_combined", "model_individual"
#: Number of fields of a response in the first schema.
JUDGED = 6
#: Columns of a pool's judgments in the digest.
COLUMNS = ("unit", "coder", "dimension", "value", "vote", "k", "position")


@dataclass(frozen=True)
class Dimension:
    """A dimension of the inputs; `values` are its options in ascending order."""

    name: str
    label: str
    values: tuple[int, ...]

    @property
    def is_preference(self) -> bool:
        """Whether the answers are A, N or B."""
        return set(self.values) <= {-1, 0, 1}

    @property
    def domain(self) -> tuple[int, ...]:
        """Values between which distances are measured: A, N, B for all preferences, with or without neutral."""
        return (-1, 0, 1) if self.is_preference else self.values


@dataclass(frozen=True)
class Response:
    """A response of the inputs; `topic` and `participant` are names.

    `text` is the digest of its text, which is not part of the inputs (`texts.Texts` reads it). `ranking` is the index
    of its topic's passages in `Inputs.rankings`, or -1 in inputs of the first schema, which have neither.
    """

    name: str
    topic: str
    style: str
    origin: str
    participant: str
    words: int
    text: str = ""
    ranking: int = -1


@dataclass(frozen=True)
class Answer:
    """A writer's numeric answer to a question before or after writing; `response` is an index."""

    response: int
    kind: str
    question: str
    value: float


@dataclass(frozen=True)
class Process:
    """Measures of a response's writing log; NaN is stored as None.

    `measures` are named in `writing_process.measures.NAMES`.
    """

    response: int
    measures: dict[str, float | None]


@dataclass(frozen=True)
class Wage:
    """Payment for a response or a questionnaire of the analysed pool, if known.

    `response` is an index, -1 for a questionnaire. Money is in minor units of the currency; `charges` are the
    platform's fee and tax, `seconds` the working time; None if unknown.
    """

    response: int
    pay: int
    charges: int | None
    seconds: float | None


@dataclass(frozen=True)
class SimilarityScores:
    """BERTScore F1 of responses as stored when a run read them, and the encoder that computed them.

    `pairs` are two indices of responses, the lower one first, and F1 (None: undefined). Of responses with the same
    text, only the first is listed.
    """

    model: str
    layer: int
    version: str
    pairs: tuple[tuple[int, int, float | None], ...]


@dataclass(frozen=True)
class JudgeModel:
    """A language model as a judge: how it was asked, and what is known of it besides the judgments that count.

    `specification` is JSON: model, endpoint, prompt, parameters. `repeats` compare repeated answers with the first one:
    inference, dimension, index of the topic, equal answers, all. `planted` are results of its newest injection test on
    a dimension: inference, dimension, and the numbers of pairs on which the answer that an inserted text asks for was
    given after both the text and a neutral one, after the text alone, after the neutral one alone, and after neither.
    """

    participant: str
    specification: str
    repeats: tuple[tuple[str, str, int, int, int], ...] = ()
    planted: tuple[tuple[str, str, int, int, int, int], ...] = ()


@dataclass(frozen=True, eq=False)
class Pool:
    """Judgments of one pool of judges, one entry each, ordered by dimension, unit and vote.

    Attributes
    ----------
    participants : tuple of str
        Pseudonyms; `coder` is an index in them.
    units : tuple of (int, int, int, str)
        What was judged, as presented: left response, right response (indices in `Inputs.responses`, -1: none), topic,
        and the item's name if it is not a response of the study (pointwise).
    unit, coder, dimension, value : ndarray of int, shape (n_judgments,)
        `value` is the index of the answer in the dimension's values; for pairs 0 is A, 1 is N, 2 is B.
    vote : ndarray of int, shape (n_judgments,)
        Sequence number of the judgment within unit and dimension, from 0, by questionnaire and assignment.
    k : ndarray of int, shape (n_judgments,)
        Number of votes that its campaign requested.
    position : ndarray of int, shape (n_judgments,)
        Position of the item in the questionnaire, from 1; 0 if unknown.
    row : ndarray of int, shape (n_judgments,)
        Primary keys of the judgments. Not in the digest, because they differ between databases.
    repeated : int
        Number of judgments left out because the participant had already judged the unit on the dimension.
    known : tuple of (int, int, int)
        Known labels (of gold items): unit, dimension, value. Part of the digest if there are any.
    """

    participants: tuple[str, ...]
    units: tuple[tuple[int, int, int, str], ...]
    unit: Ints
    coder: Ints
    dimension: Ints
    value: Ints
    vote: Ints
    k: Ints
    position: Ints
    row: Ints
    repeated: int = 0
    known: tuple[tuple[int, int, int], ...] = ()

    @cached_property
    def left(self) -> Ints:
        """Left response of each unit."""
        return np.array([unit[0] for unit in self.units], dtype=np.int64)

    @cached_property
    def right(self) -> Ints:
        """Right response of each unit."""
        return np.array([unit[1] for unit in self.units], dtype=np.int64)

    @cached_property
    def topic(self) -> Ints:
        """Topic of each unit."""
        return np.array([unit[2] for unit in self.units], dtype=np.int64)

    def known_of(self, dimension: int) -> Ints:
        """Return the known label of each unit on a dimension; -1 if there is none."""
        labels = np.full(len(self.units), -1, dtype=np.int64)
        for unit, label_dimension, value in self.known:
            if label_dimension == dimension:
                labels[unit] = value
        return labels

    def first_votes(self, k: int | None = None) -> NDArray[np.bool_]:
        """Return a mask of the first k judgments of each unit and dimension; k defaults to the campaign's number."""
        return np.asarray(self.vote < (self.k if k is None else k))


@dataclass(frozen=True, eq=False)
class Inputs:
    """Inputs of a run.

    `pools` has the analysed pool as `main`, and the pools it is compared with, if any: experts, pointwise raters, and
    models as judges by prompt type. `counts` are sizes of pools that are only counted, such as the models' judgments;
    `seconds` are durations of questionnaires; `simulated` says whether some judgments are generated. `passages` are
    digests of texts; `rankings` are the passages of topics as shown, by rank, as indices in `passages` (-1 at a rank
    without one). `answers` are survey answers of writers, `processes` measures of their logs, `wages` payments to them
    and to judges in `currency`; `language` is that of the texts. `models` are the participants that are language
    models, with their model names: the same model is a different participant with another prompt, and as a writer or a
    judge. `judges` are those that judged, with their prompts. `similarity_scores` are stored BERTScores. `schema` is
    the version of the format: version 1 has neither texts nor data about writing.
    """

    pool: str
    topics: tuple[str, ...]
    styles: tuple[str, ...]
    dimensions: tuple[Dimension, ...]
    responses: tuple[Response, ...]
    pools: dict[str, Pool]
    counts: dict[str, int] = field(default_factory=dict)
    seconds: tuple[float, ...] = ()
    simulated: bool = False
    passages: tuple[str, ...] = ()
    rankings: tuple[tuple[int, ...], ...] = ()
    answers: tuple[Answer, ...] = ()
    processes: tuple[Process, ...] = ()
    wages: tuple[Wage, ...] = ()
    language: str = "en"
    currency: str = ""
    models: tuple[tuple[str, str], ...] = ()
    judges: tuple[JudgeModel, ...] = ()
    similarity_scores: SimilarityScores | None = None
    schema: int = SCHEMA

    def similarity(self, candidate: int, reference: int) -> float | None:
        """Return BERTScore F1 of two responses by index; None if not computed or undefined."""
        one, other = sorted((self._first_of_text[candidate], self._first_of_text[reference]))
        return self._f1_by_pair.get((one, other))

    @cached_property
    def _first_of_text(self) -> list[int]:
        """Index of the first response with the same text, for each response."""
        seen: dict[str, int] = {}
        return [seen.setdefault(response.text, index) for index, response in enumerate(self.responses)]

    @cached_property
    def _f1_by_pair(self) -> dict[tuple[int, int], float | None]:
        """F1 by indices; a non-empty text has F1 of 1 with itself."""
        pairs = self.similarity_scores.pairs if self.similarity_scores else ()
        same = {(index, index): 1.0 for *places, f1 in pairs if f1 is not None for index in places}
        return same | {(first, second): f1 for first, second, f1 in pairs}

    @property
    def main(self) -> Pool:
        """The analysed pool."""
        return self.pools[self.pool]

    def sides(self, unit: int) -> tuple[str, str]:
        """Return the IDs of the left and the right response of a pair in the main pool."""
        left, right = self.main.units[unit][:2]
        return self.responses[left].name, self.responses[right].name

    def written_by(self, participant: str) -> frozenset[str]:
        """Return the names of a participant's responses."""
        return frozenset(response.name for response in self.responses if response.participant == participant)

    def without_writing_of(self, participant: str) -> "Inputs":
        """Return the inputs without a participant's survey answers, writing measures and pay."""
        theirs = {index for index, response in enumerate(self.responses) if response.participant == participant}
        return replace(
            self,
            answers=tuple(answer for answer in self.answers if answer.response not in theirs),
            processes=tuple(process for process in self.processes if process.response not in theirs),
            wages=tuple(wage for wage in self.wages if wage.response not in theirs),
        )

    def without_name_of(self, participant: str) -> "Inputs":
        """Return the inputs with a participant's name replaced: votes and word counts stay, without their author."""
        taken = {name for pool in self.pools.values() for name in pool.participants}
        taken |= {response.participant for response in self.responses}
        name = next(f"erased-{n}" for n in count(1) if f"erased-{n}" not in taken)

        def known(before: str) -> str:
            return name if before == participant else before

        return replace(
            self,
            responses=tuple(replace(response, participant=known(response.participant)) for response in self.responses),
            pools={
                key: replace(pool, participants=tuple(map(known, pool.participants)))
                for key, pool in self.pools.items()
            },
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything except primary keys."""
        sha = hashlib.sha256()
        for part in self._parts():
            sha.update(part)
        return sha.hexdigest()

    def pack(self) -> bytes:
        """Return everything, including primary keys, compressed; `unpack` reads it."""
        parts = self._parts()
        rows = [_bytes(self.pools[name].row) for name in sorted(self.pools)]
        sizes = len(parts[0]).to_bytes(8, "little")
        # At once: compressed part by part, the same inputs would give other bytes, and archives another digest.
        return zstandard.ZstdCompressor(level=6).compress(b"".join([sizes, *parts, *rows]))

    def _parts(self) -> list[bytes | memoryview]:
        header = {
            "schema": self.schema,
            "pool": self.pool,
            "topics": self.topics,
            "styles": self.styles,
            "dimensions": [_values(dimension) for dimension in self.dimensions],
            "responses": [_values(response)[: None if self.schema > 1 else JUDGED] for response in self.responses],
            "counts": self.counts,
            "seconds": self.seconds,
            "simulated": self.simulated,
            "pools": {
                name: {
                    "participants": pool.participants,
                    "units": pool.units,
                    "judgments": len(pool.unit),
                    "repeated": pool.repeated,
                }
                | ({"known": pool.known} if pool.known else {})
                for name, pool in self.pools.items()
            },
        }
        if self.schema > 1:
            header |= {
                "passages": self.passages,
                "rankings": self.rankings,
                "answers": [_values(answer) for answer in self.answers],
                "processes": [_values(process) for process in self.processes],
                "wages": [_values(wage) for wage in self.wages],
                "language": self.language,
                "currency": self.currency,
            }
        if self.models:
            header["models"] = self.models
        if self.judges:
            header["judges"] = [_values(judge) for judge in self.judges]
        if self.similarity_scores:
            header["likenesses"] = _values(self.similarity_scores)
        text = json.dumps(header, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        arrays = [_bytes(getattr(self.pools[name], column)) for name in sorted(self.pools) for column in COLUMNS]
        return [text.encode(), *arrays]


def unpack(packed: bytes) -> Inputs:
    """Read the result of `Inputs.pack`."""
    data = zstandard.ZstdDecompressor().decompress(packed)
    end = 8 + int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(data[8:end])
    arrays: dict[str, dict[str, Ints]] = {name: {} for name in header["pools"]}
    order = [(name, column) for name in sorted(arrays) for column in COLUMNS] + [
        (name, "row") for name in sorted(arrays)
    ]
    for name, column in order:
        size = 8 * header["pools"][name]["judgments"]
        arrays[name][column] = np.frombuffer(data[end : end + size], dtype="<i8").astype(np.int64)
        end += size
    pools = {
        name: Pool(
            participants=tuple(about["participants"]),
            units=tuple((left, right, topic, item) for left, right, topic, item in about["units"]),
            repeated=about["repeated"],
            known=tuple((unit, dimension, value) for unit, dimension, value in about.get("known", ())),
            **arrays[name],
        )
        for name, about in header["pools"].items()
    }
    return Inputs(
        pool=header["pool"],
        topics=tuple(header["topics"]),
        styles=tuple(header["styles"]),
        dimensions=tuple(Dimension(name, label, tuple(values)) for name, label, values in header["dimensions"]),
        responses=tuple(Response(*values) for values in header["responses"]),
        pools=pools,
        counts=header["counts"],
        seconds=tuple(header["seconds"]),
        simulated=header["simulated"],
        schema=header["schema"],
        passages=tuple(header.get("passages", ())),
        rankings=tuple(tuple(ranking) for ranking in header.get("rankings", ())),
        answers=tuple(Answer(*values) for values in header.get("answers", ())),
        processes=tuple(Process(*values) for values in header.get("processes", ())),
        wages=tuple(Wage(*values) for values in header.get("wages", ())),
        language=header.get("language", "en"),
        currency=header.get("currency", ""),
        models=tuple((participant, model) for participant, model in header.get("models", ())),
        judges=tuple(
            JudgeModel(name, specification, *(tuple(map(tuple, rows)) for rows in checks))
            for name, specification, *checks in header.get("judges", ())
        ),
        similarity_scores=_similarity_scores(header.get("likenesses")),
    )


def _similarity_scores(values: list[Any] | None) -> SimilarityScores | None:
    if values is None:
        return None
    model, layer, version, pairs = values
    return SimilarityScores(model, layer, version, tuple((first, second, f1) for first, second, f1 in pairs))


def _values(record: Dimension | Response | Answer | Process | Wage | JudgeModel | SimilarityScores) -> list[Any]:
    kind: type = type(record)
    return [getattr(record, name) for name in _names(kind)]


@cache
def _names(record: type) -> list[str]:
    return [field.name for field in fields(record)]


def _bytes(array: Ints) -> memoryview:
    return np.ascontiguousarray(array, dtype="<i8").data.cast("B")
