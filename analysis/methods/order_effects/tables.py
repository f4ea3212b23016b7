"""Tables of order effects (crowdrag25, Table 5): columns and captions."""

from ...tables.table import Column, Table, count, estimate, named_estimate
from ..shared_columns import CODERS, DIMENSION

EFFECTS = {"within": "within a pair", "across": "across the questionnaire"}
#: The parts of each effect.
PARTS = {
    "within": {"forward": "one order", "reverse": "the other order", "both": "both orders together"},
    "across": {"first": "first items", "second": "later items"},
}
PAIRS = {"all": "all pairs", "both_orders": "pairs judged in both orders"}

ORDER_EFFECTS = Table(
    "order_effects",
    "Order effects",
    (
        "Krippendorff's alpha (ordinal), with 95 % intervals over topics and judges. Within a pair: "
        "pairs judged in both orders, each order alone and both together, with judgments aligned to the same "
        "response. Across the questionnaire: the first {first_positions} items and the later ones."
    ),
    (
        DIMENSION,
        Column("effect", "Effect", words=EFFECTS),
        Column("part", "Part", words={name: label for parts in PARTS.values() for name, label in parts.items()}),
        estimate("alpha", "Alpha", n="items"),
        count("items", "Pairs"),
    ),
    across=("effect", "part"),
    about="Krippendorff's alpha (ordinal) by order. Method: `methods/order-effects.md`.",
    meanings={
        "dimension": "`all`: the mean over dimensions",
        "effect, part": (
            "`within`: pairs judged in both orders: `forward` (lower response ID on the left), `reverse`, or "
            "`both` together with aligned judgments; `across`: positions in the questionnaire up to "
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
    "Differences between orders",
    (
        "Differences of Krippendorff's alpha, with 95 % intervals over topics and judges. Largest: "
        "largest absolute difference between both orders together and one of them, or between first and "
        "later items, without an interval. Signed: one order minus the other, or first minus later "
        "items. If an interval includes 0, the data do not show an effect."
    ),
    (
        DIMENSION,
        Column("effect", "Effect", words=EFFECTS),
        named_estimate("largest", "Largest difference", n="items"),
        estimate("difference", "Signed difference", n="items"),
        count("items", "Pairs"),
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
    "Position bias",
    (
        "Share of choices (without neutral judgments) for the response shown first, with 95 % intervals "
        "over topics and judges. n: choices. Over all pairs, it also depends on which responses were "
        "shown first. Over pairs judged in both orders, it does not. For these, p is from a "
        "randomisation test of no position bias, also adjusted by Benjamini and Hochberg over dimensions."
    ),
    (
        Column("coders", "Judges", words=CODERS),
        DIMENSION,
        Column("pairs", "Pairs", words=PAIRS),
        estimate("front_preference", "First preferred", n="n"),
        Column("p", "p", 4),
        Column("p_adjusted", "p adjusted", 4),
        count("n", "Choices"),
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
