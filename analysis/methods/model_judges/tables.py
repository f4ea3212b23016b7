"""Tables of language models as judges: columns and captions."""

from ...tables.table import Column, Holds, Table, count, estimate, named_estimate
from ..shared_columns import DIMENSION

INFERENCES = {"combined": "all at once", "individual": "one at a time"}
MEASURES = {
    "alpha_orders": "Alpha with itself, other order",
    "alpha_gold": "Alpha with gold label",
    "alpha_inference": "Alpha with itself, other prompt type",
    "mean_rho": "Rho between dimensions",
    "front_preference": "First response preferred",
}
SIZES = {"alpha_orders": "pairs_in_both_orders", "alpha_gold": "items_with_gold",
         "alpha_inference": "items_in_both_inferences", "mean_rho": "items", "front_preference": "choices"}  # fmt: skip

MODEL_JUDGES = Table(
    "model_judges",
    "Language models as judges",
    (
        "Krippendorff's alpha (ordinal) of a model with itself in the other order, with the gold label "
        "of people, and with itself with the other prompt type. Also the mean Spearman's rho between its "
        "judgments on a dimension and on the others, and the share of its choices for the response shown "
        "first. Each has a 95 % interval over topics, except alpha with the gold label, which also "
        "depends on who judged."
    ),
    (
        Column("participant", "Model", words="participant"),
        Column("inference", "Prompt type", words=INFERENCES),
        DIMENSION,
        *(named_estimate(name, label, n=SIZES[name]) for name, label in MEASURES.items()),
        count("items", "Pairs"),
        count("pairs_in_both_orders", "Pairs in both orders"),
        count("items_with_gold", "Pairs with gold label"),
        count("items_in_both_inferences", "Pairs with both prompt types"),
        count("choices", "Choices"),
    ),
    holds=Holds.PSEUDONYMS,
    about=(
        "One row per model, prompt type and dimension. Empty if no model judged. Method: `methods/model-judges.md`."
    ),
    meanings={
        "participant, inference, dimension": (
            "the model; the prompt type: `combined` or `individual`; `all`: the mean over dimensions"
        ),
        "alpha_orders, alpha_gold, alpha_inference, mean_rho, front_preference": (
            "each with `_low` and `_high`: alpha with itself in the other order, with the gold label, with "
            "itself with the other prompt type; mean Spearman's rho with the other dimensions; share of "
            "choices for the response shown first. `alpha_gold` has no interval: its `_low` and `_high` are "
            "empty"
        ),
        "items": "number of presented pairs that the model judged",
        "pairs_in_both_orders, items_with_gold, items_in_both_inferences, choices": (
            "numbers of pairs or choices behind the alphas and the share"
        ),
    },
)
MODEL_SELF_PREFERENCE = Table(
    "model_self_preference",
    "Self-preference of models",
    (
        "Share of choices for the model's own response, by the model and by the gold label of people, "
        "and their difference. With 95 % intervals over topics. Pairs: one response by the model and one "
        "by another writer, with a choice by both. Undecided: pairs with a neutral judgment or label. "
        "Agreement: Krippendorff's alpha of the model and the gold label on pairs with one of its own "
        "responses, and on other pairs, without an interval."
    ),
    (
        Column("participant", "Model", words="participant"),
        Column("inference", "Prompt type", words=INFERENCES),
        DIMENSION,
        named_estimate("model", "Chosen by the model", n="n"),
        named_estimate("gold", "Chosen by the gold label", n="n"),
        estimate("difference", "Difference", n="n"),
        count("n", "Pairs"),
        count("undecided", "Undecided"),
        named_estimate("alpha_own", "Agreement, own responses", n="items_own"),
        named_estimate("alpha_others", "Agreement, other responses", n="items_others"),
        count("items_own", "Pairs with own responses"),
        count("items_others", "Pairs of other responses"),
    ),
    holds=Holds.PSEUDONYMS,
    about=(
        "Models that also wrote responses: their own response against another one, on pairs on which "
        "both the model and the gold label chose."
    ),
    meanings={
        "participant, inference, dimension": "as in `model_judges`",
        "model, gold": (
            "each with `_low` and `_high`: share of choices for the model's own response, by the model and by the"
            " gold label"
        ),
        "difference, low, high": "`model` minus `gold`, paired",
        "n, undecided": "number of pairs; number of pairs left out because the model or the gold label is neutral",
        "alpha_own, alpha_others": (
            "Krippendorff's alpha of the model and the gold label on presented pairs with one of its own "
            "responses, and on other pairs; `_low` and `_high` are empty"
        ),
        "items_own, items_others": "numbers of presented pairs behind these",
    },
)

TABLES = (
    MODEL_JUDGES,
    MODEL_SELF_PREFERENCE,
)
