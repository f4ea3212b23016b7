"""The certificate of model judges: may a model stand in for the people of the analysed pool, by dimension?

Agreement with people, the alternative annotator test, biases compared with people, and transport to systems that were
left out (docs/methods/judge-certificate.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.enums import Coders
from analysis.stats import alternative_annotator
from analysis.stats.alternative_annotator import FALSE_DISCOVERY_RATE, MIN_ITEMS, Comparison, Scoring
from analysis.stats.bootstrap import Floats
from analysis.stats.cluster_variance import Terms
from analysis.stats.judge_bias import BiasUndefinedError, bias
from analysis.stats.judgments import canonical
from analysis.stats.position_bias import side_test
from analysis.stats.proportions import paired_difference_of_counts

from ...inputs.arrays import Inputs, Ints, JudgeModel
from ...tables.rows import Row, number
from .. import estimates, paired_tests
from ..agreement.compute import CHOSEN, coders_of
from ..context import Context, Tables
from ..estimates import Estimate, noted, undefined
from ..model_judges.compute import Judge, ModelVotes, judges, own_responses
from ..order_effects.compute import NEUTRAL
from ..settings import EPSILON_OF_CROWD, EPSILON_OF_EXPERTS, AnalysisSettings

NAMES = (
    "judge_certificate", "judge_certificate_people", "judge_biases", "judge_transport", "judge_repeats",
    "judge_planted_texts", "judge_prompts",
)  # fmt: skip
PASSES, FAILS, OPEN = "passes", "fails", "open"
POSITION, LENGTH, SELF, STYLE = "position", "length", "self", "style"
#: People are one system: each of them wrote too few responses.
PEOPLE: Final = "human"

NO_PEOPLE = (
    "no pair that the model judged on this dimension has judgments by two people: let people judge the same pairs"
)
NO_SHARED = f"winning rate: nobody judged {MIN_ITEMS} of the model's pairs together with another person"
FEW_SHARED = "winning rate: fewer than three people, so the judgments of all people together decide"
FEW_TOPICS = "the test needs judgments in at least two topics"
ONE_ORDER = "the model judged no pair in both orders on this dimension, or chose the same response in both"


@dataclass(frozen=True, eq=False)
class _Judged:
    """A model and people on one dimension.

    Attributes
    ----------
    item, annotator, vote, value : ndarray of int, shape (n_votes,)
        People's votes on presented pairs; `vote` numbers those of a pair, `value` is 0, 1, 2 for A, N, B.
    judge : ndarray of float, shape (n_items,)
        The model's label of each presented pair of people; NaN if none.
    left, right, topic : ndarray of int, shape (n_items,)
    """

    item: Ints
    annotator: Ints
    vote: Ints
    value: Ints
    judge: Floats
    left: Ints
    right: Ints
    topic: Ints

    def only(self, is_kept: NDArray[np.bool_]) -> Floats:
        """Return the model's labels of some items, NaN elsewhere."""
        return np.where(is_kept, self.judge, np.nan)


def compute_tables(analysed: Context) -> Tables:
    """Compute the tables; empty if no model judged, or if models are the analysed pool."""
    tables: Tables = {name: [] for name in NAMES}
    if coders_of(analysed.inputs.pool) == Coders.MODEL.value:
        return tables
    for judge in judges(analysed):
        for way, votes in judge.votes.items():
            key: Row = {"participant": judge.name, "inference": way}
            judged = {name: _of_people(analysed.inputs, votes, name) for name in votes.labels}
            tested = [_certificate(key, name, one, analysed) for name, one in judged.items()]
            rows = [row for row, _people in tested]
            _adjust(rows)
            for row in rows:
                row["verdict"] = _verdict(row)
            tables["judge_certificate"] += rows
            tables["judge_certificate_people"] += [person for _row, people in tested for person in people]
            tables["judge_biases"] += _biases(key, judge, votes, judged, analysed.inputs)
            tables["judge_transport"] += _transport(key, judged, analysed)
    for model in analysed.inputs.judges:
        tables["judge_repeats"] += _repeats(model)
        tables["judge_planted_texts"] += _planted(model)
        tables["judge_prompts"].append(_prompt(model))
    return tables


def epsilon_of(settings: AnalysisSettings, pool: str) -> float:
    """Return epsilon: that of the settings, or the paper's for the pool."""
    if settings.epsilon is not None:
        return settings.epsilon
    return EPSILON_OF_EXPERTS if coders_of(pool) == Coders.EXPERT.value else EPSILON_OF_CROWD


def _of_people(inputs: Inputs, votes: ModelVotes, name: str) -> _Judged:
    """Return people's votes on a dimension, with the model's labels of the same presented pairs."""
    pool = inputs.main
    dimensions = [
        index for index, dimension in enumerate(inputs.dimensions) if dimension.name == name and dimension.is_preference
    ]
    is_of = np.isin(pool.dimension, dimensions) & (pool.right[pool.unit] >= 0)
    by_pair = votes.by_pair(name)
    pairs = zip(pool.left.tolist(), pool.right.tolist(), strict=True)
    judge = np.array([by_pair.get(pair, np.nan) for pair in pairs], dtype=np.float64)
    unit, coder, vote, value = (column[is_of] for column in (pool.unit, pool.coder, pool.vote, pool.value))
    return _Judged(unit, coder, vote, value, judge, pool.left, pool.right, pool.topic)


def _certificate(key: Row, name: str, judged: _Judged, analysed: Context) -> tuple[Row, list[Row]]:
    """Return the row of a dimension, and those of the people with enough pairs."""
    epsilon = epsilon_of(analysed.settings, analysed.inputs.pool)
    votes = judged.item, judged.annotator, judged.value
    test = alternative_annotator.alternative_annotator_test(
        *votes, judged.judge, scoring=Scoring.ACCURACY, epsilon=epsilon
    )
    pooled = alternative_annotator.without_shared_annotators(
        *votes, judged.judge, judged.topic, scoring=Scoring.ACCURACY, epsilon=epsilon
    )
    with_people, between_people = _agreement(judged, coders_of(analysed.inputs.pool) not in CHOSEN)
    row: Row = key | {"dimension": name}
    row |= with_people.columns("alpha_people", "alpha_people_low", "alpha_people_high")
    row |= between_people.columns("alpha_between", "alpha_between_low", "alpha_between_high")
    row |= {
        "epsilon": epsilon,
        "winning_rate": number(test.winning_rate),
        "advantage_probability": number(test.advantage_probability),
        "people_compared": len(test.comparisons),
        "difference": number(pooled.difference),
        "difference_low": number(pooled.low),
        "difference_high": number(pooled.high),
        "p": number(pooled.p),
        "p_adjusted": None,
        "verdict": "",
        "items": pooled.items,
        "judgments": pooled.judgments,
        "items_with_few_people": test.items_with_few_people,
        "people_with_few_items": len(test.too_few_items),
    }
    if not pooled.judgments:
        notes = [NO_PEOPLE]
    else:
        few = alternative_annotator.RECOMMENDED_PEOPLE
        shared = len(test.comparisons)
        notes = [NO_SHARED if not shared else FEW_SHARED if shared < few else "", with_people.note]
        notes += [FEW_TOPICS] if np.isnan(pooled.p) else []
    names = analysed.inputs.main.participants
    people = [_person(key | {"dimension": name}, names[one.annotator], one) for one in test.comparisons]
    return noted(row, notes), people


def _person(key: Row, name: str, compared: Comparison) -> Row:
    row = key | {
        "annotator": name,
        "judge_advantage": compared.judge,
        "annotator_advantage": compared.person,
        "p": number(compared.p),
        "p_adjusted": compared.adjusted_p,
        "wins": "yes" if compared.wins else "no",
        "items": compared.items,
    }
    return noted(row, [])


def _agreement(judged: _Judged, drawn: bool) -> tuple[Estimate, Estimate]:
    """Compute alpha of the model with one person, and of people with each other, on the pairs that the model judged.

    For the former, each judgment of a person is a unit with two coders, the model and the person. Units of a topic are
    not independent, and the interval is over topics.
    """
    is_judged = ~np.isnan(judged.judge[judged.item])
    several = np.bincount(judged.item[is_judged], minlength=judged.judge.size)[judged.item] > 1
    kept = np.flatnonzero(is_judged & several)
    if not kept.size:
        return undefined(NO_PEOPLE), undefined(NO_PEOPLE)
    unit, n = np.arange(kept.size), kept.size
    by_judge = judged.judge[judged.item[kept]].astype(np.int64)
    votes = np.tile(unit, 2), np.repeat([0, 1], n), np.concatenate([by_judge, judged.value[kept]])
    with_people = estimates.alpha(votes, judged.topic[judged.item[kept]], values=3, drawn_coders=False)
    items, index = np.unique(judged.item[kept], return_inverse=True)
    between = estimates.alpha(
        (index, judged.annotator[kept], judged.value[kept]), judged.topic[items], values=3, drawn_coders=drawn
    )
    return with_people, between


def _adjust(rows: list[Row]) -> None:
    """Adjust the p-values of some rows together, by Benjamini and Yekutieli, as the paper does."""
    tested = [row for row in rows if row["p"] is not None]
    if tested:
        adjusted = scipy.stats.false_discovery_control([row["p"] for row in tested], method="by")
        for row, p in zip(tested, adjusted.tolist(), strict=True):
            row["p_adjusted"] = p


def _verdict(row: Row) -> str:
    """Decide by the winning rate if at least three people were compared, otherwise by all judgments together."""
    if row["people_compared"] >= alternative_annotator.RECOMMENDED_PEOPLE:
        return PASSES if row["winning_rate"] >= alternative_annotator.PASSES_FROM else FAILS
    if row["p_adjusted"] is None:
        return OPEN
    return PASSES if row["p_adjusted"] <= FALSE_DISCOVERY_RATE else FAILS


def _biases(key: Row, judge: Judge, votes: ModelVotes, judged: dict[str, _Judged], inputs: Inputs) -> list[Row]:
    """Return the biases of a model, on each dimension; p-values are adjusted over the dimensions of each bias."""
    # The attribute is that of the response with the larger number.
    attributes: dict[tuple[str, str], Ints] = {
        (LENGTH, ""): np.array([response.words for response in inputs.responses], dtype=np.int64),
        (SELF, ""): own_responses(judge.name, inputs).astype(np.int64),
    }
    styles = np.array([response.style for response in inputs.responses])
    # Of two styles, a preference for one is one against the other.
    for style in inputs.styles if len(inputs.styles) > 2 else inputs.styles[:1]:
        attributes[STYLE, style] = (styles == style).astype(np.int64)
    families = [[_position(key, name, votes) for name in judged]]
    for (kind, style), of_response in attributes.items():
        by_dimension = {name: _side(one, of_response) for name, one in judged.items()}
        if any(np.any(side) for side in by_dimension.values()):
            families.append([_bias(key, name, one, kind, style, by_dimension[name]) for name, one in judged.items()])
    for family in families:
        paired_tests.adjust(family)
    return [row for family in families for row in family]


def _pairs(judged: _Judged) -> tuple[Ints, Ints]:
    """Return the responses of the pairs that the model and people judged."""
    kept = ~np.isnan(judged.judge)
    return judged.left[kept], judged.right[kept]


def _side(judged: _Judged, of_response: Ints) -> Ints:
    """Return which response of each pair has the larger number: 1 the first, -1 the second, 0 neither."""
    left, right = _pairs(judged)
    side: Ints = np.sign(of_response[left] - of_response[right])
    return side


def _position(key: Row, name: str, votes: ModelVotes) -> Row:
    """Test the preference for the response shown first, on pairs that the model judged in both orders."""
    labels = votes.labels[name]
    kept = labels >= 0
    share, p, pairs = undefined(ONE_ORDER), None, 0
    if kept.any():
        sides = canonical(votes.left[kept], votes.right[kept])
        _, pair = np.unique(np.column_stack([sides.low, sides.high]), axis=0, return_inverse=True)
        both = np.bincount(pair)[pair] > 1
        if both.any():
            signs = (NEUTRAL - labels[kept])[both]
            test = side_test(np.bincount(pair[both], weights=signs).astype(np.int64))
            share, p, pairs = _mean(signs / 2, votes.topic[kept][both]), number(test.p), len(np.unique(pair[both]))
    row = key | {"dimension": name, "bias": POSITION, "style": ""} | share.columns("value")
    return noted(row | {"p": p, "p_adjusted": None, "n": pairs}, [ONE_ORDER if p is None else ""])


def _mean(values: Floats, topic: Ints) -> Estimate:
    """Compute a mean with its interval over topics."""
    point, n = float(np.mean(values)), len(values)
    terms = Terms.of(topic, None, None, (values - point) / n)
    return Estimate(point, np.zeros(0), terms.topics, n, terms=terms)


def _bias(key: Row, name: str, judged: _Judged, kind: str, style: str, side: Ints) -> Row:
    """Test the preference of a model for an attribute of responses beyond that of people."""
    row: Row = key | {"dimension": name, "bias": kind, "style": style}
    kept = ~np.isnan(judged.judge)
    votes = np.full((judged.judge.size, int(judged.vote.max(initial=0)) + 1), np.nan)
    votes[judged.item, judged.vote] = NEUTRAL - judged.value
    try:
        result = bias(NEUTRAL - judged.judge[kept], votes[kept], side, judged.topic[kept])
    except BiasUndefinedError as error:
        undefined_row = {"value": None, "low": None, "high": None, "p": None, "p_adjusted": None, "n": 0}
        return noted(row | undefined_row, [str(error)])
    row |= {"value": result.estimate, "low": result.low, "high": result.high, "p": result.p, "p_adjusted": None}
    return noted(row | {"n": result.pairs}, [])


def _transport(key: Row, judged: dict[str, _Judged], analysed: Context) -> list[Row]:
    """Test the model on the pairs of each system alone, as if the others had been used to choose the model.

    p-values are adjusted over the systems of a dimension.
    """
    inputs = analysed.inputs
    system = np.array(
        [PEOPLE if response.origin == PEOPLE else response.participant for response in inputs.responses], dtype=object
    )
    epsilon = epsilon_of(analysed.settings, inputs.pool)
    rows = []
    for name, one in judged.items():
        left, right = _pairs(one)
        names = sorted({*system[left].tolist(), *system[right].tolist()})
        family = list(_of_systems(key | {"dimension": name}, one, names, system, epsilon)) if len(names) > 1 else []
        _adjust(family)
        rows += family
    return rows


def _of_systems(
    key: Row, judged: _Judged, names: list[str], system: NDArray[np.object_], epsilon: float
) -> Iterator[Row]:
    is_pair = judged.right >= 0
    for name in names:
        has = is_pair & ((system[judged.left] == name) | (system[judged.right] == name))
        inside, outside = (
            alternative_annotator.without_shared_annotators(
                judged.item, judged.annotator, judged.value, judged.only(part), judged.topic,
                scoring=Scoring.ACCURACY, epsilon=epsilon,
            )
            for part in (has, ~has)
        )  # fmt: skip
        row = key | {
            "system": name,
            "value": number(inside.difference),
            "low": number(inside.low),
            "high": number(inside.high),
            "others": number(outside.difference),
            "others_low": number(outside.low),
            "others_high": number(outside.high),
            "p": number(inside.p),
            "p_adjusted": None,
            "n": inside.judgments,
            "n_others": outside.judgments,
        }
        notes = [NO_PEOPLE if not inside.judgments else FEW_TOPICS if np.isnan(inside.p) else ""]
        yield noted(row, notes)


def _repeats(model: JudgeModel) -> list[Row]:
    """Return the share of repeated answers that equal the first one, by prompt type and dimension."""
    cells: dict[tuple[str, str], list[tuple[int, int, int]]] = {}
    for inference, dimension, topic, equal, number_of_answers in model.repeats:
        cells.setdefault((inference, dimension), []).append((topic, equal, number_of_answers))
    rows = []
    for (inference, dimension), counts in cells.items():
        topic, equal, answers = np.array(counts, dtype=np.int64).T
        is_equal = np.concatenate([np.arange(n) < same for same, n in zip(equal, answers, strict=True)])
        share = estimates.share(is_equal, np.repeat(topic, answers), None, problem="")
        row: Row = {"participant": model.participant, "inference": inference, "dimension": dimension}
        rows.append(noted(row | share.columns("value") | {"n": share.n}, [share.note]))
    return rows


def _planted(model: JudgeModel) -> list[Row]:
    """Return how much more often inserted texts lead to the answer that they ask for than neutral texts do."""
    rows = []
    for inference, dimension, *counts in model.planted:
        effect = paired_difference_of_counts(*counts)
        rows.append(
            {
                "participant": model.participant,
                "inference": inference,
                "dimension": dimension,
                "value": number(effect.estimate),
                "low": number(effect.low),
                "high": number(effect.high),
                "with_text": number(effect.first.estimate),
                "with_neutral_text": number(effect.second.estimate),
                "n": sum(counts),
            }
        )
    return rows


def _prompt(model: JudgeModel) -> Row:
    request = json.loads(model.specification)
    parameters = request.get("parameters")
    return {
        "participant": model.participant,
        "model": str(request.get("model", "")),
        "endpoint": str(request.get("endpoint", "")),
        "prompt_version": str(request.get("prompt_version", "")),
        "parameters": "" if parameters is None else json.dumps(parameters, ensure_ascii=False, sort_keys=True),
        "justify": {True: "yes", False: "no"}.get(request.get("justify"), ""),
        "prompt": str(request.get("prompt", "")),
    }
