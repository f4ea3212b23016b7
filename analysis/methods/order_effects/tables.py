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
        "Krippendorff's alpha (ordinal), with 95 % intervals over topics and judges. Within a pair: of pairs "
        "judged "
        "in both orders, each order alone and both together, votes turned so that they mean the same response. "
        "Across the questionnaire: of its first {first_positions} items and of the later ones."
    ),
    (
        DIMENSION,
        Column("effect", _("Effect"), words=EFFECTS),
        Column("part", _("Part"), words={name: label for parts in PARTS.values() for name, label in parts.items()}),
        estimate("alpha", _("Alpha"), n="items"),
        count("items", _("Pairs")),
    ),
    across=("effect", "part"),
    about="Krippendorff's alpha, ordinal, by order. Method: `methods/order-effects.md`.",
    meanings={
        "dimension": "`all`: the mean over dimensions",
        "effect, part": (
            "`within`: pairs judged in both orders, `forward` (the lower response id left), `reverse`, `both` "
            "together, votes turned; `across`: places in the questionnaire up to `first_positions` (`first`) and "
            "later (`second`)"
        ),
        "items": (
            "units with at least two judgments: two responses, whichever stood left (`within`), or presented "
            "pairs (`across`)"
        ),
    },
)
ORDER_DIFFERENCES = Table(
    "order_differences",
    _("Differences between orders"),
    _(
        "Differences of Krippendorff's alpha, with 95 % intervals over topics and judges. Largest: of "
        "both orders together from one of them, or of the first items from the later ones, whichever the sign; it "
        "is never below 0 and has no interval. Signed: one order less the other, the first items less the later "
        "ones; an interval that holds 0 tells of no effect."
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
            "dimensions' mean. Never below 0"
        ),
        "difference, low, high": "forward − reverse, or first − second",
        "items": "of the smaller part",
    },
)
FRONT_PREFERENCES = Table(
    "front_preferences",
    _("Preference for the response shown first"),
    _(
        "Share of choices (neutral judgments left out) for the response shown first, with 95 % intervals "
        "over topics and judges; n choices. Over all pairs it may come from which responses stood first; "
        "over pairs judged in "
        "both orders it cannot. There p is of a randomisation test that sides do not matter, also adjusted by "
        "Benjamini and Hochberg over the dimensions."
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
        "coders": "`crowd`, `expert`: the analysed pool, and experts",
        "dimension": "`all`: choices on all dimensions together",
        "pairs": "`all`, or `both_orders`: those judged in both orders, where each response stood first",
        "front_preference, low, high": "share of choices (neutral judgments left out) for the response shown first",
        "p, p_adjusted": "of `both_orders`: that sides do not matter; adjusted over the dimensions",
        "n": "choices",
    },
)

TABLES = (
    ORDER_EFFECTS,
    ORDER_DIFFERENCES,
    FRONT_PREFERENCES,
)
