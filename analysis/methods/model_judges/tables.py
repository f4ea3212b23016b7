"""Tables of language models as judges: their columns, and how people read them."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Holds, Table, count, estimate, named_estimate
from ..shared_columns import DIMENSION

INFERENCES = {"combined": _("all at once"), "individual": _("one at a time")}
MEASURES = {
    "alpha_orders": _("With itself, other order"),
    "alpha_gold": _("With the gold label"),
    "alpha_inference": _("With itself, asked otherwise"),
    "mean_rho": _("Between dimensions"),
    "front_preference": _("First response preferred"),
}
SIZES = {"alpha_orders": "pairs_in_both_orders", "alpha_gold": "items_with_gold",
         "alpha_inference": "items_in_both_inferences", "mean_rho": "items", "front_preference": "choices"}  # fmt: skip

MODEL_JUDGES = Table(
    "model_judges",
    _("Language models as judges"),
    _(
        "Krippendorff's alpha (ordinal) of a model with itself in the other order, with the gold label of the "
        "people, and with itself asked in the other way; the mean of Spearman's rho between its judgments on a "
        "dimension and on the others; and the share of its choices for the response shown first. Each has a 95 % "
        "interval over topics, except alpha with the gold label: that depends on which people judged, too."
    ),
    (
        Column("participant", _("Model"), words="participant"),
        Column("inference", _("Asked"), words=INFERENCES),
        DIMENSION,
        *(named_estimate(name, label, n=SIZES[name]) for name, label in MEASURES.items()),
        count("items", _("Pairs")),
        count("pairs_in_both_orders", _("In both orders")),
        count("items_with_gold", _("With gold label")),
        count("items_in_both_inferences", _("Asked in both ways")),
        count("choices", _("Choices")),
    ),
    holds=Holds.PSEUDONYMS,
    about=(
        "One row a model, way of asking and dimension; empty where no model judged. Method: `methods/model-judges.md`."
    ),
    meanings={
        "participant, inference, dimension": "the model; `combined` or `individual`; `all`: the mean over dimensions",
        "alpha_orders, alpha_gold, alpha_inference, mean_rho, front_preference": (
            "each with `_low` and `_high`: alpha with itself in the other order, with the gold label, with itself"
            " asked in the other way; mean of Spearman's rho with the other dimensions; share of choices for the "
            "response shown first. `alpha_gold` has no interval: its `_low` and `_high` are empty"
        ),
        "items": "presented pairs that it judged",
        "pairs_in_both_orders, items_with_gold, items_in_both_inferences, choices": (
            "what the alphas and the share are of"
        ),
    },
)
MODEL_SELF_PREFERENCE = Table(
    "model_self_preference",
    _("Models on their own responses"),
    _(
        "Of presented pairs with one response of the model and one of somebody else's, on which both the model and "
        "the gold label of the people chose: the share of choices for the model's own response by each, and the "
        "difference, with 95 % intervals over topics. Undecided: pairs on which one of them is neutral. "
        "Agreement: Krippendorff's alpha of the model and the gold label on pairs with one response of its own, "
        "and on the others, without an interval."
    ),
    (
        Column("participant", _("Model"), words="participant"),
        Column("inference", _("Asked"), words=INFERENCES),
        DIMENSION,
        named_estimate("model", _("The model chose it"), n="n"),
        named_estimate("gold", _("The gold label chose it"), n="n"),
        estimate("difference", _("Difference"), n="n"),
        count("n", _("Pairs")),
        count("undecided", _("Undecided")),
        named_estimate("alpha_own", _("Agreement on its own"), n="items_own"),
        named_estimate("alpha_others", _("Agreement on others"), n="items_others"),
        count("items_own", _("Pairs with its own")),
        count("items_others", _("Pairs of others")),
    ),
    holds=Holds.PSEUDONYMS,
    about=(
        "Models that also wrote: their own response against somebody else's, on pairs on which both the model and"
        " the gold label chose."
    ),
    meanings={
        "participant, inference, dimension": "as in `model_judges`",
        "model, gold": (
            "each with `_low` and `_high`: share of choices for the model's own response, by the model and by the"
            " gold label"
        ),
        "difference, low, high": "the first less the second, paired",
        "n, undecided": "pairs; pairs left out as one of the two is neutral",
        "alpha_own, alpha_others": (
            "Krippendorff's alpha of the model and the gold label on presented pairs with one response of its "
            "own, and on the others; `_low` and `_high` are empty"
        ),
        "items_own, items_others": "presented pairs that these are of",
    },
)

TABLES = (
    MODEL_JUDGES,
    MODEL_SELF_PREFERENCE,
)
