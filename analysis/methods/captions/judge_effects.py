"""Tables and charts about what sways judges, and about models as judges."""

from django.utils.translation import gettext_lazy as _

from ...tables.table import Column, Figure, Table, count, estimate, named_estimate
from .judging import CODERS, DIMENSION

EFFECTS = {"within": _("within a pair"), "across": _("across the questionnaire")}
#: The parts of each effect.
PARTS = {
    "within": {"forward": _("one order"), "reverse": _("the other order"), "both": _("both orders together")},
    "across": {"first": _("first items"), "second": _("later items")},
}
PAIRS = {"all": _("all pairs"), "both_orders": _("pairs judged in both orders")}
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

TABLES = {
    "order_effects": Table(
        "agreement",
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
    ),
    "order_differences": Table(
        "agreement",
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
    ),
    "front_preferences": Table(
        "agreement",
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
    ),
    "interdependence": Table(
        "labels",
        _("Interdependence of the dimensions"),
        _(
            "Kendall's tau-b between the gold labels of two dimensions on the same presented pairs, and the mean of "
            "each dimension with all others."
        ),
        (
            Column("dimension_1", _("Dimension"), words="dimension"),
            Column("dimension_2", _("Other dimension"), words="dimension"),
            estimate("tau", _("Tau"), n="items"),
            count("items", _("Pairs")),
        ),
        across=("dimension_2",),
    ),
    "model_judges": Table(
        "models",
        _("Language models as judges"),
        _(
            "Krippendorff's alpha (ordinal) of a model with itself in the other order, with the gold label of the "
            "people, and with itself asked in the other way; the mean of Spearman's rho between its judgments on a "
            "dimension and on the others; and the share of its choices for the response shown first. Each has a 95 % "
            "interval over topics, except alpha with the gold label: that depends on which people judged, too."
        ),
        (
            Column("participant", _("Model"), words="id"),
            Column("inference", _("Asked"), words=INFERENCES),
            DIMENSION,
            *(named_estimate(name, label, n=SIZES[name]) for name, label in MEASURES.items()),
            count("items", _("Pairs")),
            count("pairs_in_both_orders", _("In both orders")),
            count("items_with_gold", _("With gold label")),
            count("items_in_both_inferences", _("Asked in both ways")),
            count("choices", _("Choices")),
        ),
    ),
    "model_self_preference": Table(
        "models",
        _("Models on their own responses"),
        _(
            "Of presented pairs with one response of the model and one of somebody else's, on which both the model and "
            "the gold label of the people chose: the share of choices for the model's own response by each, and the "
            "difference, with 95 % intervals over topics. Undecided: pairs on which one of them is neutral. "
            "Agreement: Krippendorff's alpha of the model and the gold label on pairs with one response of its own, "
            "and on the others, without an interval."
        ),
        (
            Column("participant", _("Model"), words="id"),
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
    ),
}

FIGURES = {
    "order_effects": Figure(
        "agreement",
        _("Order effects"),
        _(
            "Krippendorff's alpha by dimension, with 95 % intervals over topics and judges: of pairs judged in both "
            "orders, each order alone and both together; of the first {first_positions} items of a questionnaire and "
            "of the later ones."
        ),
        _("Points with intervals: alpha by dimension, one colour for each part, a panel for each kind of order."),
    ),
    "interdependence": Figure(
        "labels",
        _("Interdependence of the dimensions"),
        _("Kendall's tau-b between the gold labels of two dimensions; the stronger the colour, the closer they go."),
        _("A matrix of the dimensions with the correlation of each two in a coloured cell."),
    ),
    "model_judges": Figure(
        "models",
        _("Language models as judges"),
        _(
            "Agreement of models with themselves and with people, correlation between dimensions and preference for "
            "the response shown first, by dimension, with 95 % intervals over topics (agreement with the gold label "
            "has none). Dashed: what chance gives."
        ),
        _("Points with intervals by dimension: a panel for each measure, one colour for each way of asking."),
    ),
    "model_self_preference": Figure(
        "models",
        _("Models on their own responses"),
        _(
            "Share of choices for a model's own response by the model and by the gold label of the people, on the same "
            "pairs, by dimension, with 95 % bootstrap intervals over topics. Dashed: one half."
        ),
        _("Points with intervals by dimension, one colour for the model and one for the gold label."),
    ),
}
