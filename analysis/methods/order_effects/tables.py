"""Tables of order effects (Table 5 of the CrowdRAG paper): columns and captions."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Table, count, estimate, named_estimate
from ..shared_columns import CODERS, DIMENSION

EFFECTS = {"within": _("within a pair"), "across": _("across the questionnaire")}
#: The parts of each effect.
PARTS = {
    "within": {"forward": _("one order"), "reverse": _("the other order"), "both": _("both orders together")},
    "across": {"first": _("first items"), "second": _("later items")},
}
PAIRS = {"all": _("all pairs"), "both_orders": _("pairs judged in both orders")}

ORDER_EFFECTS = Table(
    "order_effects",
    _("Order effects"),
    _(
        "Krippendorff's alpha (ordinal), with 95 % intervals over topics and judges. Within a pair: "
        "pairs judged in both orders, each order alone and both together, with votes aligned to the same "
        "response. Across the questionnaire: the first {first_positions} items and the later ones."
    ),
    (
        DIMENSION,
        Column("effect", _("Effect"), words=EFFECTS),
        Column("part", _("Part"), words={name: label for parts in PARTS.values() for name, label in parts.items()}),
        estimate("alpha", _("Alpha"), n="items"),
        count("items", _("Pairs")),
    ),
    across=("effect", "part"),
    about="Krippendorff's alpha (ordinal) by order. Method: `methods/order-effects.md`.",
    meanings={
        "dimension": "`all`: the mean over dimensions",
        "effect, part": (
            "`within`: pairs judged in both orders: `forward` (lower response ID on the left), `reverse`, or "
            "`both` together with aligned votes; `across`: positions in the questionnaire up to "
            "`first_positions` (`first`) and later (`second`)"
        ),
        "items": (
            "number of units with at least two judgments: pairs of responses in either order (`within`), or "
            "presented pairs (`across`)"
        ),
    },
)
ORDER_DIFFERENCES = Table(
    "order_differences",
    _("Differences between orders"),
    _(
        "Differences of Krippendorff's alpha, with 95 % intervals over topics and judges. Largest: "
        "largest absolute difference between both orders together and one of them, or between first and "
        "later items, without an interval. Signed: one order minus the other, or first minus later "
        "items. An interval that includes 0 shows no effect."
    ),
    (
        DIMENSION,
        Column("effect", _("Effect"), words=EFFECTS),
        named_estimate("largest", _("Largest difference"), n="items"),
        estimate("difference", _("Signed difference"), n="items"),
        count("items", _("Pairs")),
    ),
    meanings={
        "dimension, effect": "as in `order_effects`",
        "largest, largest_low, largest_high": (
            "the larger of |both − forward| and |both − reverse|, or |first − second|; in the row `all` the "
            "mean over dimensions"
        ),
        "difference, low, high": "forward − reverse, or first − second",
        "items": "number of units in the smaller part",
    },
)
FRONT_PREFERENCES = Table(
    "front_preferences",
    _("Position bias"),
    _(
        "Share of choices (without neutral judgments) for the response shown first, with 95 % intervals "
        "over topics and judges. n: choices. Over all pairs, it also depends on which responses were "
        "shown first. Over pairs judged in both orders, it does not. For these, p is from a "
        "randomisation test of no position bias, also adjusted by Benjamini and Hochberg over dimensions."
    ),
    (
        Column("coders", _("Judges"), words=CODERS),
        DIMENSION,
        Column("pairs", _("Pairs"), words=PAIRS),
        estimate("front_preference", _("First preferred"), n="n"),
        Column("p", _("p"), 4),
        Column("p_adjusted", _("p adjusted"), 4),
        count("n", _("Choices")),
    ),
    meanings={
        "coders": "`crowd`: the analysed judges; `expert`: experts",
        "dimension": "`all`: choices on all dimensions together",
        "pairs": "`all`, or `both_orders`: pairs judged in both orders, so that each response was shown first",
        "front_preference, low, high": "share of choices for the response shown first, without neutral judgments",
        "p, p_adjusted": "for `both_orders`: test of no position bias; adjusted over dimensions",
        "n": "choices",
    },
)

TABLES = (
    ORDER_EFFECTS,
    ORDER_DIFFERENCES,
    FRONT_PREFERENCES,
)
