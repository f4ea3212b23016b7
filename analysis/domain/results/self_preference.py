"""Self-preference of models that also wrote: their own response against others (docs/methods/model-judges.md).

design 7.9, last sentence: any study's own responses can be such a bank. The yardstick is the gold label: a model that
chooses its own response as often as people do may simply have written better ones.
"""

from dataclasses import replace

import numpy as np

from analysis.stats.bootstrap import Floats, weighted_mean
from analysis.stats.orientation import canonical

from ..inputs import Inputs
from . import estimates
from .estimates import Estimate, noted, undefined
from .model_votes import Gold, Judge, Judged, with_gold_label
from .order_effects import ALL, NEUTRAL
from .schema import Row

# Codes of labels when the own response is turned to the front.
OWN = 0
NO_OWN = "no pair on which both the model and the gold label chose holds one response of the model and one of another's"
NO_OWN_GOLD = "no pair of one response of the model and one of another's has a gold label"
NO_OTHER_GOLD = "no pair without a response of the model's own has a gold label: let it judge others' responses too"
SHARES = ("model", "gold", "difference")
#: Its agreement with people where one of the two responses is its own, and where none is or both are.
AGREEMENTS = ("alpha_own", "alpha_others")
MEASURES = (*SHARES, *AGREEMENTS)


def self_preference_rows(judge: Judge, gold: Gold, inputs: Inputs) -> list[Row]:
    """One row a way of asking and dimension; none for a model that wrote no response that it judged."""
    own = own_responses(judge.name, inputs)
    rows = []
    for way, judged in judge.said.items():
        if not np.any(own[judged.left] != own[judged.right]):
            continue
        found = {name: _preferences(judged, name, gold.get(name, {}), own, judge.weights) for name in judged.labels}
        shares = {name: each[0] for name, each in found.items()}
        shares[ALL] = {measure: estimates.mean([each[measure] for each in shares.values()]) for measure in MEASURES}
        undecided = {name: each[1] for name, each in found.items()}
        undecided[ALL] = max(undecided.values())
        rows += [_row(judge.name, way, name, shares[name], undecided[name]) for name in shares]
    return rows


def own_responses(judge: str, inputs: Inputs) -> np.ndarray:
    """Which responses the same model wrote, whatever it was told."""
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
    judged: Judged, name: str, gold: dict[tuple[int, int], int], own: np.ndarray, weights: Floats
) -> tuple[dict[str, Estimate], int]:
    """Shares of choices for the own response by model and by gold label, how far both agree, and undecided pairs."""
    label, said = judged.beside(gold), judged.labels[name]
    is_own = own[judged.left] != own[judged.right]
    agreements = {
        "alpha_own": with_gold_label(np.where(is_own, said, -1), label, judged.topic, NO_OWN_GOLD),
        "alpha_others": with_gold_label(np.where(is_own, -1, said), label, judged.topic, NO_OTHER_GOLD),
    }
    there = is_own & (said >= 0) & (label >= 0)
    decided = there & (said != NEUTRAL) & (label != NEUTRAL)
    n, undecided = int(decided.sum()), int((there & ~decided).sum())
    if not n:
        return dict.fromkeys(SHARES, undefined(NO_OWN)) | agreements, undecided
    # The own response has the lower number, so that the canonical orientation puts it first on whichever side it stood.
    rank = np.where(own, 0, 1)
    sides = canonical(rank[judged.left[decided]], rank[judged.right[decided]])
    chose = {"model": sides.labels(said[decided]) == OWN, "gold": sides.labels(label[decided]) == OWN}
    topic = judged.topic[decided]
    shares = {measure: estimates.share(own, topic, None, problem=NO_OWN) for measure, own in chose.items()}
    apart = weighted_mean(chose["model"].astype(float) - chose["gold"], topic, weights.shape[1])
    difference = estimates.of_clusters(apart, weights, topics=len(np.unique(topic)), n=n)
    shares["difference"] = replace(difference, bounds=(-1.0, 1.0))
    return shares | agreements, undecided


def _row(judge: str, way: str, name: str, shares: dict[str, Estimate], undecided: int) -> Row:
    row: Row = {"participant": judge, "inference": way, "dimension": name}
    row |= shares["model"].columns("model", "model_low", "model_high")
    row |= shares["gold"].columns("gold", "gold_low", "gold_high")
    row |= shares["difference"].columns("difference")
    row |= {"n": shares["difference"].n, "undecided": undecided}
    for measure, items in zip(AGREEMENTS, ("items_own", "items_others"), strict=True):
        row |= shares[measure].columns(measure, f"{measure}_low", f"{measure}_high")
        row[items] = shares[measure].n
    return noted(row, [shares[measure].note for measure in ("difference", *AGREEMENTS)])
