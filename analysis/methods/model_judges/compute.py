"""Language models as judges: votes, consistency, agreement with people, and self-preference.

Each model's judgments form a pool of their own (design 2); they never influence the gold labels they are compared with,
which come from the analysed pool.

Design 7.9, last sentence: the responses of any study can serve for measuring self-preference. The reference is the gold
label: a model that prefers its own responses as often as people do may simply have written better ones.

crowdrag25, section 5.4, Table 9.
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.bootstrap import CORRELATION, Floats, resample_weights, weighted_mean
from analysis.stats.correlation import rho
from analysis.stats.judgments import canonical

from ...inputs.arrays import COMBINED, INDIVIDUAL, Inputs, Ints, Pool
from ...tables.rows import Row
from .. import estimates
from ..context import Context, Tables
from ..estimates import Estimate, noted, undefined
from ..interdependence.compute import correlation, labels_of
from ..order_effects.compute import ALL, FRONT, NEUTRAL
from ..settings import named_rng

INFERENCES = {COMBINED: "combined", INDIVIDUAL: "individual"}
#: Labels of presented pairs (indices of the left and the right response), by dimension.
Gold = dict[str, dict[tuple[int, int], int]]


@dataclass(frozen=True, eq=False)
class ModelVotes:
    """The labels of one model, with one prompt type.

    Attributes
    ----------
    left, right, topic : ndarray of int, shape (n_pairs,)
        The presented pairs, as indices of the inputs' responses; topics as indices among those that the model judged.
    labels : dict of str to ndarray of int, shape (n_pairs,)
        Its labels by dimension, as presented (0, 1, 2: A, N, B); -1 if missing. Preferences only.
    """

    left: Ints
    right: Ints
    topic: Ints
    labels: dict[str, Ints]

    def beside(self, labels: dict[tuple[int, int], int]) -> Ints:
        """Return other labels of the same presented pairs; -1 if there is none."""
        pairs = zip(self.left.tolist(), self.right.tolist(), strict=True)
        return np.array([labels.get(pair, -1) for pair in pairs], dtype=np.int64)

    def by_pair(self, dimension: str) -> dict[tuple[int, int], int]:
        """Return its labels on a dimension, by presented pair."""
        votes = zip(self.left.tolist(), self.right.tolist(), self.labels[dimension].tolist(), strict=True)
        return {(left, right): label for left, right, label in votes if label >= 0}


@dataclass(frozen=True, eq=False)
class Judge:
    """A model as a judge: its labels by prompt type, and the resamples of its topics."""

    name: str
    votes: dict[str, ModelVotes]
    weights: Floats


def judges(analysed: Context) -> list[Judge]:
    """Return the models that judged pairs, sorted by name."""
    inputs, settings = analysed.inputs, analysed.settings
    pools = {way: inputs.pools[name] for name, way in INFERENCES.items() if name in inputs.pools}
    model_judges = []
    for name in sorted({name for pool in pools.values() for name in pool.participants}):
        votes = {way: _model_votes(inputs, pool, name) for way, pool in pools.items() if name in pool.participants}
        votes = {way: judged for way, judged in votes.items() if judged.labels}
        if not votes:
            continue
        topics = np.unique(np.concatenate([judged.topic for judged in votes.values()]))
        for way, judged in votes.items():
            topic_index = np.searchsorted(topics, judged.topic)
            votes[way] = ModelVotes(judged.left, judged.right, topic_index, judged.labels)
        rng = named_rng(analysed.seed, f"topics of the model {name}")
        model_judges.append(Judge(name, votes, resample_weights(len(topics), settings.resamples, rng)))
    return model_judges


def two_coders(first: Ints, second: Ints, topic: Ints, nothing: str) -> Estimate:
    """Compute Krippendorff's alpha of two labels per pair (-1: none).

    `nothing` is the reason given if no pair has both.
    """
    both_labelled = (first >= 0) & (second >= 0)
    if not both_labelled.any():
        return undefined(nothing)
    pairs = int(both_labelled.sum())
    votes = (
        np.tile(np.arange(pairs), 2),
        np.repeat([0, 1], pairs),
        np.concatenate([first[both_labelled], second[both_labelled]]),
    )
    return estimates.alpha(votes, topic[both_labelled], values=3, drawn_coders=False)


def with_gold_label(labels: Ints, gold: Ints, topic: Ints, nothing: str) -> Estimate:
    """Compute Krippendorff's alpha between a model and the gold label, without an interval.

    The quality of the labels depends on which judges took part. Resampling topics does not reflect that: the coverage
    of intervals over topics was only 90 % (docs/methods/intervals.md).
    """
    agreement = two_coders(labels, gold, topic, nothing)
    return agreement if agreement.problem else replace(agreement, terms=None, has_interval=False)


def gold_labels(analysed: Context) -> Gold:
    """Return the gold label of each presented pair (indices of its responses), by dimension."""
    main = analysed.main
    sides = list(zip(main.pool.left.tolist(), main.pool.right.tolist(), strict=True))
    return {
        fit.dimension.name: {
            pair: label for pair, label in zip(sides, labels_of(fit).tolist(), strict=True) if label >= 0
        }
        for fit in main.fits
    }


def _model_votes(inputs: Inputs, pool: Pool, name: str) -> ModelVotes:
    """Return the labels of one model in a pool; the first of repeated judgments counts."""
    of_model = (pool.coder == pool.participants.index(name)) & (pool.right[pool.unit] >= 0)
    units, unit = np.unique(pool.unit[of_model], return_inverse=True)
    labels = {}
    for dimension_index in np.unique(pool.dimension[of_model]).tolist():
        dimension = inputs.dimensions[dimension_index]
        if dimension.is_preference:
            on_dimension = pool.dimension[of_model] == dimension_index
            labels[dimension.name] = np.full(len(units), -1, dtype=np.int64)
            labels[dimension.name][unit[on_dimension]] = pool.value[of_model][on_dimension]
    return ModelVotes(pool.left[units], pool.right[units], pool.topic[units], labels)


# Codes of labels after the model's own response is moved to the left.
OWN = 0
NO_OWN = "no pair on which both the model and the gold label chose has one response by the model and one by another"
NO_OWN_GOLD = "no pair of one response by the model and one by another has a gold label"
NO_OTHER_GOLD = "no pair without the model's own responses has a gold label: let it also judge pairs of other responses"
SHARES = ("model", "gold", "difference")
#: Agreement with people on pairs with exactly one of the model's own responses, and on all other pairs.
AGREEMENTS = ("alpha_own", "alpha_others")
SELF_PREFERENCE_MEASURES = (*SHARES, *AGREEMENTS)


def self_preference_rows(judge: Judge, gold: Gold, inputs: Inputs) -> list[Row]:
    """Make one row for each prompt type and dimension; none if the model judged no response of its own."""
    is_own_response = own_responses(judge.name, inputs)
    rows = []
    for way, judged in judge.votes.items():
        if not np.any(is_own_response[judged.left] != is_own_response[judged.right]):
            continue
        preferences = {
            name: _preferences(judged, name, gold.get(name, {}), is_own_response, judge.weights)
            for name in judged.labels
        }
        shares = {name: preference[0] for name, preference in preferences.items()}
        shares[ALL] = {
            measure: estimates.mean([estimates_of_name[measure] for estimates_of_name in shares.values()])
            for measure in SELF_PREFERENCE_MEASURES
        }
        undecided = {name: preference[1] for name, preference in preferences.items()}
        undecided[ALL] = max(undecided.values())
        rows += [_self_preference_row(judge.name, way, name, shares[name], undecided[name]) for name in shares]
    return rows


def own_responses(judge: str, inputs: Inputs) -> np.ndarray:
    """Return a mask of the responses that the same model wrote, with any prompt."""
    model = dict(inputs.models)
    if judge not in model:
        return np.zeros(len(inputs.responses), dtype=bool)
    return np.array(
        [
            response.origin == "model" and model.get(response.participant, response.participant) == model[judge]
            for response in inputs.responses
        ],
        dtype=bool,
    )


def _preferences(
    judged: ModelVotes, name: str, gold: dict[tuple[int, int], int], is_own_response: np.ndarray, weights: Floats
) -> tuple[dict[str, Estimate], int]:
    """Compute the shares of choices for the own response by the model and the gold label.

    Also returns their agreement, and the number of undecided pairs.
    """
    label, model_labels = judged.beside(gold), judged.labels[name]
    is_own = is_own_response[judged.left] != is_own_response[judged.right]
    agreements = {
        "alpha_own": with_gold_label(np.where(is_own, model_labels, -1), label, judged.topic, NO_OWN_GOLD),
        "alpha_others": with_gold_label(np.where(is_own, -1, model_labels), label, judged.topic, NO_OTHER_GOLD),
    }
    both_labelled = is_own & (model_labels >= 0) & (label >= 0)
    decided = both_labelled & (model_labels != NEUTRAL) & (label != NEUTRAL)
    n, undecided = int(decided.sum()), int((both_labelled & ~decided).sum())
    if not n:
        return dict.fromkeys(SHARES, undefined(NO_OWN)) | agreements, undecided
    # Rank the own response lower, so that the canonical orientation puts it first, whatever its side.
    rank = np.where(is_own_response, 0, 1)
    sides = canonical(rank[judged.left[decided]], rank[judged.right[decided]])
    chose = {"model": sides.labels(model_labels[decided]) == OWN, "gold": sides.labels(label[decided]) == OWN}
    topic = judged.topic[decided]
    shares = {
        measure: estimates.share(chosen_own, topic, None, problem=NO_OWN) for measure, chosen_own in chose.items()
    }
    apart = weighted_mean(chose["model"].astype(float) - chose["gold"], topic, weights.shape[1])
    difference = estimates.of_clusters(apart, weights, topics=len(np.unique(topic)), n=n)
    shares["difference"] = replace(difference, bounds=CORRELATION)
    return shares | agreements, undecided


def _self_preference_row(judge: str, way: str, name: str, shares: dict[str, Estimate], undecided: int) -> Row:
    row: Row = {"participant": judge, "inference": way, "dimension": name}
    row |= shares["model"].columns("model", "model_low", "model_high")
    row |= shares["gold"].columns("gold", "gold_low", "gold_high")
    row |= shares["difference"].columns("difference")
    row |= {"n": shares["difference"].n, "undecided": undecided}
    for measure, items in zip(AGREEMENTS, ("items_own", "items_others"), strict=True):
        row |= shares[measure].columns(measure, f"{measure}_low", f"{measure}_high")
        row[items] = shares[measure].n
    return noted(row, [shares[measure].note for measure in ("difference", *AGREEMENTS)])


NO_REVERSE = "the model judged no pair in both orders on this dimension: let it judge each pair in both orders"
NO_GOLD = "no pair that the model judged on this dimension has a gold label: let people judge the same pairs"
NO_INFERENCE = "only one prompt type was used: let the model judge all dimensions at once and one at a time"
ONE_DIMENSION = "the model judged no other dimension of these pairs"
NO_CHOICE = "the model chose neither response in any pair"
ALL_EQUAL = "all judgments of the model on this dimension are the same"
#: A single judgment is always equal to itself.
FEWEST_EQUAL = 2
MEASURES = ("alpha_orders", "alpha_gold", "alpha_inference", "mean_rho", "front_preference")
SIZES = ("pairs_in_both_orders", "items_with_gold", "items_in_both_inferences")


def compute_tables(analysed: Context) -> Tables:
    """Make one row for each model, prompt type and dimension, and the rows about self-preference."""
    gold = gold_labels(analysed)
    model_judges = judges(analysed)
    rows = [row for judge in model_judges for row in _rows(judge, gold)]
    return {
        "model_judges": rows,
        "model_self_preference": [
            row for judge in model_judges for row in self_preference_rows(judge, gold, analysed.inputs)
        ],
    }


def _rows(judge: Judge, gold: Gold) -> list[Row]:
    rows = []
    for way, judged in judge.votes.items():
        other = next((other_votes for other_way, other_votes in judge.votes.items() if other_way != way), None)
        estimates_by_name = {
            name: {
                "alpha_orders": _between_orders(judged, name),
                "alpha_gold": _with_gold(judged, name, gold.get(name, {})),
                "alpha_inference": _between_inferences(judged, other, name),
                "mean_rho": _with_other_dimensions(judged, name, judge.weights),
                "front_preference": _front(judged, name),
            }
            for name in judged.labels
        }
        sizes = {name: int((labels >= 0).sum()) for name, labels in judged.labels.items()}
        estimates_by_name[ALL] = {
            measure: estimates.mean([measures[measure] for measures in estimates_by_name.values()])
            for measure in MEASURES
        }
        sizes[ALL] = max(sizes.values())
        key: Row = {"participant": judge.name, "inference": way}
        rows += [
            _row(key | {"dimension": name}, measures, sizes[name], _remark(judged.labels.get(name)))
            for name, measures in estimates_by_name.items()
        ]
    return rows


def _remark(labels: Ints | None) -> str:
    """Return a note on a model that always gave the same answer: its figures describe that answer, not the texts."""
    labels_given = np.zeros(0, dtype=np.int64) if labels is None else labels[labels >= 0]
    return ALL_EQUAL if len(labels_given) >= FEWEST_EQUAL and len(np.unique(labels_given)) == 1 else ""


def _row(key: Row, measures: dict[str, Estimate], items: int, remark: str) -> Row:
    row = dict(key)
    for name in MEASURES:
        row |= measures[name].columns(name, f"{name}_low", f"{name}_high")
    row["items"] = items
    row |= {size: measures[measure].n for size, measure in zip(SIZES, MEASURES, strict=False)}
    row["choices"] = measures["front_preference"].n
    return noted(row, [remark, *(measures[name].note for name in MEASURES)])


def _between_orders(judged: ModelVotes, name: str) -> Estimate:
    """Compute agreement between orders: coders are the model with the lower response ID left and with it right.

    The units are pairs of responses.
    """
    labelled = judged.labels[name] >= 0
    if not labelled.any():
        return undefined(NO_REVERSE)
    sides = canonical(judged.left[labelled], judged.right[labelled])
    label = sides.labels(judged.labels[name][labelled])
    _, pair = np.unique(np.column_stack([sides.low, sides.high]), axis=0, return_inverse=True)
    both = np.bincount(pair)[pair] > 1
    if not both.any():
        return undefined(NO_REVERSE)
    topic = np.zeros(pair.max() + 1, dtype=np.int64)
    topic[pair] = judged.topic[labelled]
    votes = (pair[both], sides.flipped[both].astype(np.int64), label[both])
    return estimates.alpha(votes, topic, values=3, drawn_coders=False)


def _with_gold(judged: ModelVotes, name: str, gold: dict[tuple[int, int], int]) -> Estimate:
    """Compute agreement with the gold label; the units are the pairs as presented."""
    return with_gold_label(judged.labels[name], judged.beside(gold), judged.topic, NO_GOLD)


def _between_inferences(judged: ModelVotes, other: ModelVotes | None, name: str) -> Estimate:
    """Compute agreement between both prompt types; the units are the pairs as presented."""
    if other is None or name not in other.labels:
        return undefined(NO_INFERENCE)
    label = judged.beside(other.by_pair(name))
    return two_coders(judged.labels[name], label, judged.topic, NO_INFERENCE)


def _with_other_dimensions(judged: ModelVotes, name: str, weights: Floats) -> Estimate:
    """Compute the mean Spearman's rho with the model's judgments of the same pairs on each other dimension."""
    dimension_labels = judged.labels[name]
    others = [
        correlation(dimension_labels, labels, judged.topic, weights, rho)
        for other, labels in judged.labels.items()
        if other != name
    ]
    return estimates.mean(others) if others else undefined(ONE_DIMENSION)


def _front(judged: ModelVotes, name: str) -> Estimate:
    """Compute the share of choices for the response shown first."""
    label = judged.labels[name]
    chosen = (label >= 0) & (label != NEUTRAL)
    topic = judged.topic[chosen]
    return estimates.share(label[chosen] == FRONT, topic, None, problem=NO_CHOICE)
