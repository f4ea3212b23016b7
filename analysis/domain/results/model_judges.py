"""Models as judges: how consistent, how close to people, how discerning (docs/methods/model-judges.md).

crowdrag25, section 5.4, Table 9. A model's judgments are a pool of their own: what they are compared with, the gold
label, is made of the analysed pool's votes alone.
"""

import numpy as np

from analysis.stats.bootstrap import Floats
from analysis.stats.correlation import rho
from analysis.stats.orientation import canonical

from ..inputs import Ints
from . import estimates
from .estimates import Estimate, noted, undefined
from .family import Analysed, Tables
from .interdependence import correlation
from .model_votes import Gold, Judge, Judged, gold_labels, judges, two_coders, with_gold_label
from .order_effects import ALL, FRONT, NEUTRAL
from .schema import Row
from .self_preference import self_preference_rows

NO_REVERSE = "the model judged no pair in both orders on this dimension: let it judge each pair in both"
NO_GOLD = "no pair that the model judged on this dimension has a gold label: let people judge the same pairs"
NO_INFERENCE = "the model was asked in one way only: let it judge all dimensions at once and one at a time"
ONE_DIMENSION = "the model judged no other dimension of these pairs"
NO_CHOICE = "the model chose neither response in any pair"
ALL_EQUAL = "all judgments of the model on this dimension are the same"
#: One judgment is not remarkable for being like itself.
FEWEST_EQUAL = 2
MEASURES = ("alpha_orders", "alpha_gold", "alpha_inference", "mean_rho", "front_preference")
SIZES = ("pairs_in_both_orders", "items_with_gold", "items_in_both_inferences")


def family(analysed: Analysed) -> Tables:
    """One row a model, way of asking and dimension; and what models that also wrote make of their own responses."""
    gold = gold_labels(analysed)
    found = judges(analysed)
    rows = [row for judge in found for row in _rows(judge, gold)]
    return {
        "model_judges": rows,
        "model_self_preference": [row for judge in found for row in self_preference_rows(judge, gold, analysed.inputs)],
    }


def _rows(judge: Judge, gold: Gold) -> list[Row]:
    rows = []
    for way, judged in judge.said.items():
        other = next((each for asked, each in judge.said.items() if asked != way), None)
        found = {
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
        found[ALL] = {measure: estimates.mean([each[measure] for each in found.values()]) for measure in MEASURES}
        sizes[ALL] = max(sizes.values())
        key: Row = {"participant": judge.name, "inference": way}
        rows += [
            _row(key | {"dimension": name}, measures, sizes[name], _remark(judged.labels.get(name)))
            for name, measures in found.items()
        ]
    return rows


def _remark(labels: Ints | None) -> str:
    """Say so where a model gave one answer to everything: then its figures tell of that answer, not of the texts."""
    given = np.zeros(0, dtype=np.int64) if labels is None else labels[labels >= 0]
    return ALL_EQUAL if len(given) >= FEWEST_EQUAL and len(np.unique(given)) == 1 else ""


def _row(key: Row, measures: dict[str, Estimate], items: int, remark: str) -> Row:
    row = dict(key)
    for name in MEASURES:
        row |= measures[name].columns(name, f"{name}_low", f"{name}_high")
    row["items"] = items
    row |= {size: measures[measure].n for size, measure in zip(SIZES, MEASURES, strict=False)}
    row["choices"] = measures["front_preference"].n
    return noted(row, [remark, *(measures[name].note for name in MEASURES)])


def _between_orders(judged: Judged, name: str) -> Estimate:
    """Two coders: the model with the lower response id left, and with it right; units are the two responses."""
    there = judged.labels[name] >= 0
    if not there.any():
        return undefined(NO_REVERSE)
    sides = canonical(judged.left[there], judged.right[there])
    label = sides.labels(judged.labels[name][there])
    _, pair = np.unique(np.column_stack([sides.low, sides.high]), axis=0, return_inverse=True)
    both = np.bincount(pair)[pair] > 1
    if not both.any():
        return undefined(NO_REVERSE)
    topic = np.zeros(pair.max() + 1, dtype=np.int64)
    topic[pair] = judged.topic[there]
    votes = (pair[both], sides.flipped[both].astype(np.int64), label[both])
    return estimates.alpha(votes, topic, values=3, drawn_coders=False)


def _with_gold(judged: Judged, name: str, gold: dict[tuple[int, int], int]) -> Estimate:
    """Two coders: the model and the gold label; units are the presented pairs, each as it was presented."""
    return with_gold_label(judged.labels[name], judged.beside(gold), judged.topic, NO_GOLD)


def _between_inferences(judged: Judged, other: Judged | None, name: str) -> Estimate:
    """Two coders: the model asked in both ways; units are the presented pairs, each as it was presented."""
    if other is None or name not in other.labels:
        return undefined(NO_INFERENCE)
    label = judged.beside(other.by_pair(name))
    return two_coders(judged.labels[name], label, judged.topic, NO_INFERENCE)


def _with_other_dimensions(judged: Judged, name: str, weights: Floats) -> Estimate:
    """The mean of Spearman's rho with the model's judgments on each other dimension, of the same presented pairs."""
    own = judged.labels[name]
    others = [
        correlation(own, labels, judged.topic, weights, rho) for other, labels in judged.labels.items() if other != name
    ]
    return estimates.mean(others) if others else undefined(ONE_DIMENSION)


def _front(judged: Judged, name: str) -> Estimate:
    """The share of choices for the response shown first."""
    label = judged.labels[name]
    chosen = (label >= 0) & (label != NEUTRAL)
    topic = judged.topic[chosen]
    return estimates.share(label[chosen] == FRONT, topic, None, problem=NO_CHOICE)
